package install

import "strings"

// Clients returns all clients. It is a function because hooks, which start ken often, do not
// need the list.
func Clients() []Client {
	return []Client{
		{
			Name: "claude", Title: "Claude Code",
			Files: []ClientFile{
				{Scope: Project, Base: Work, Path: ".mcp.json", Parts: servers("mcpServers", stdio)},
				{Scope: Project, Base: Work, Path: ".claude/settings.json", Parts: claudeHooks(), Retired: retiredHooks()},
				{Scope: User, Base: ClaudeFile, Path: ".claude.json", Parts: servers("mcpServers", stdio)},
				{Scope: User, Base: ClaudeDir, Path: "settings.json", Parts: claudeHooks(), Retired: retiredHooks()},
			},
		},
		{
			Name: "codex", Title: "Codex",
			Files: []ClientFile{
				{Scope: Project, Base: Work, Path: ".codex/config.toml", Format: TOML, Parts: servers("mcp_servers", bare), Note: codexTrust},
				{Scope: Project, Base: Work, Path: ".codex/hooks.json", Parts: codexHooks(), Retired: retiredHooks(), Note: codexReview},
				{Scope: User, Base: CodexDir, Path: "config.toml", Format: TOML, Parts: servers("mcp_servers", bare)},
				{Scope: User, Base: CodexDir, Path: "hooks.json", Parts: codexHooks(), Retired: retiredHooks(), Note: codexReview},
			},
		},
		{
			Name: "cursor", Title: "Cursor",
			Files: []ClientFile{
				{Scope: Project, Base: Work, Path: ".cursor/mcp.json", Parts: servers("mcpServers", bare)},
				{Scope: Project, Base: Work, Path: ".cursor/hooks.json", Head: `"version":1`, Parts: cursorHooks()},
				{Scope: User, Base: Home, Path: ".cursor/mcp.json", Parts: servers("mcpServers", bare)},
				{Scope: User, Base: Home, Path: ".cursor/hooks.json", Head: `"version":1`, Parts: cursorHooks()},
			},
		},
		{
			Name: "vscode", Title: "VS Code", Reads: "claude",
			Files: []ClientFile{
				{Scope: Project, Base: Work, Path: ".vscode/mcp.json", Parts: servers("servers", stdio)},
				{Scope: Project, Base: Work, Path: ".github/hooks/ken.json", Parts: codeHooks(), Retired: retiredHooks(), Note: codeTwice},
				{Scope: User, Base: CodeDir, Path: "mcp.json", Parts: servers("servers", stdio)},
				{Scope: User, Base: Home, Path: ".copilot/hooks/ken.json", Parts: codeHooks(), Retired: retiredHooks(), Note: codeTwice},
			},
		},
		{
			Name: "opencode", Title: "OpenCode",
			Files: []ClientFile{
				{Scope: Project, Base: Work, Path: "opencode.json", Head: openCodeSchema, Parts: servers("mcp", openCode)},
				{Scope: User, Base: ConfigDir, Path: "opencode/opencode.json", Head: openCodeSchema, Parts: servers("mcp", openCode)},
			},
		},
		{
			Name: "antigravity", Title: "Antigravity",
			Files: []ClientFile{
				{Scope: Project, Base: Work, Path: ".agents/mcp_config.json", Parts: servers("mcpServers", bare)},
				{Scope: User, Base: Home, Path: ".gemini/config/mcp_config.json", Older: ".gemini/antigravity/mcp_config.json", Parts: servers("mcpServers", bare)},
			},
		},
	}
}

// The server, in the format of each client.
const (
	bare     = `{"command":"ken","args":["mcp"]}`
	stdio    = `{"type":"stdio","command":"ken","args":["mcp"]}`
	openCode = `{"type":"local","command":["ken","mcp"],"enabled":true}`

	openCodeSchema = `"$schema":"https://opencode.ai/config.json"`
)

const (
	codexTrust  = "Codex reads this file after you trust the project"
	codexReview = "Codex runs these hooks after you review them: type /hooks in Codex"
	codeTwice   = "VS Code also runs the hooks of Claude Code; with both installed, an agent gets each message twice"
)

// serverName is the name of ken in the list of servers.
const serverName = "ken"

func servers(at, value string) []Part {
	return []Part{{At: []string{at}, Name: serverName, Value: value}}
}

// The tools of Claude Code that read and edit files.
const (
	edits = "Edit|MultiEdit|Write|NotebookEdit"
	reads = "Read|NotebookRead"
)

// claudeHooks and the functions below return the hooks in the format of each client. Claude Code and Codex run them in a POSIX shell,
// which first checks that ken exists, since not everybody who works in the repository has
// it. Cursor has one command for POSIX shells and for PowerShell, so its hooks end with
// exit 0 instead; it reads the answer of a hook only when a session starts and after a
// tool.
func claudeHooks() []Part {
	return []Part{
		claudeHook("SessionStart", "session-start", ""),
		claudeHook("SubagentStart", "subagent-start", ""),
		claudeHook("PreToolUse", "pre-tool-use", edits),
		claudeHook("PostToolUse", "post-tool-use", reads+"|"+edits),
	}
}

func codexHooks() []Part {
	return []Part{
		codexHook("SessionStart", "session-start", ""),
		codexHook("SubagentStart", "subagent-start", ""),
		codexHook("PreToolUse", "pre-tool-use", "apply_patch"),
		codexHook("PostToolUse", "post-tool-use", "apply_patch"),
	}
}

func cursorHooks() []Part {
	return []Part{
		cursorHook("sessionStart", "session-start", ""),
		cursorHook("postToolUse", "post-tool-use", "Read|Write|Edit"),
	}
}

func codeHooks() []Part {
	return []Part{
		codeHook("SessionStart", "session-start"),
		codeHook("SubagentStart", "subagent-start"),
		codeHook("PreToolUse", "pre-tool-use"),
		codeHook("PostToolUse", "post-tool-use"),
	}
}

func retiredHooks() []Part {
	return []Part{hook("UserPromptSubmit", "user-prompt-submit", ""), hook("Stop", "stop", "")}
}

func hook(at, event, value string) Part {
	return Part{At: []string{"hooks", at}, Event: event, Value: value}
}

// run returns the command of a hook. ifInstalled returns it for a shell, where it does nothing
// if ken is not on the PATH.
func run(event, client string) string {
	if client != "" {
		client = " --client " + client
	}
	return "ken hook " + event + client
}

func ifInstalled(event, client string) string {
	return "! command -v ken >/dev/null 2>&1 || " + run(event, client)
}

func matcher(tools string) string {
	if tools == "" {
		return ""
	}
	return `"matcher":"` + tools + `",`
}

func claudeHook(at, event, tools string) Part {
	return hook(at, event, `{`+matcher(tools)+`"hooks":[{"type":"command","command":"`+ifInstalled(event, "")+`","timeout":5}]}`)
}

func codexHook(at, event, tools string) Part {
	return hook(at, event, `{`+matcher(tools)+`"hooks":[{"type":"command","command":"`+ifInstalled(event, "codex")+
		`","commandWindows":"`+run(event, "codex")+`","timeout":5}]}`)
}

func cursorHook(at, event, tools string) Part {
	return hook(at, event, strings.TrimSuffix(`{"command":"`+run(event, "cursor")+`; exit 0","timeout":5,`+matcher(tools), ",")+`}`)
}

func codeHook(at, event string) Part {
	return hook(at, event, `{"type":"command","command":"`+ifInstalled(event, "vscode")+`","windows":"`+run(event, "vscode")+`","timeout":5}`)
}
