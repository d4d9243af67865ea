package install

// An AgentTool is a tool for agents that keeps files in repositories.
type AgentTool struct {
	Name  string
	Holds string
	// Paths are relative to the root. A name may end with a star.
	Paths []string
}

// AgentTools lists the tools that ken recognises, without the instructions for agents
// (CLAUDE.md, AGENTS.md), which people write.
var AgentTools = []AgentTool{
	{"Agent OS", "standards and specs", []string{".agent-os"}},
	{"Aider", "chat history, settings and cache", []string{".aider*"}},
	{"Amazon Q", "settings and rules", []string{".amazonq"}},
	{"Amp", "settings", []string{".amp"}},
	{"Augment", "settings and rules", []string{".augment", ".augment-guidelines"}},
	{"Beads", "issues", []string{".beads"}},
	{"BMAD", "agents and workflows", []string{".bmad-core", "_bmad", "_bmad-output"}},
	{"Claude Code", "settings, agents, commands, skills", []string{".claude"}},
	{"claude-flow", "memory and swarm state", []string{".claude-flow", ".hive-mind", ".swarm"}},
	{"Cline", "rules and memory bank", []string{".clinerules", ".cline", "memory-bank"}},
	{"Codex", "settings and skills", []string{".codex"}},
	{"Continue", "settings and rules", []string{".continue"}},
	{"Copilot", "instructions, prompts and agents", []string{
		".github/agents", ".github/chatmodes", ".github/copilot-instructions.md", ".github/instructions", ".github/prompts",
	}},
	{"Crush", "sessions and logs", []string{".crush"}},
	{"Cursor", "rules and settings", []string{".cursor", ".cursorrules"}},
	{"devt", "workflow state and memory", []string{".devt"}},
	{"Factory", "settings and droids", []string{".factory"}},
	{"Gemini CLI", "settings and commands", []string{".gemini"}},
	{"Get Shit Done", "plans and progress", []string{".planning"}},
	{"Goose", "settings and hints", []string{".goose", ".goosehints"}},
	{"Junie", "guidelines", []string{".junie"}},
	{"Kilo Code", "rules and memory", []string{".kilocode"}},
	{"Kiro", "specs and steering", []string{".kiro"}},
	{"MCP clients", "servers of the project", []string{".mcp.json"}},
	{"oh-my-claudecode", "state and plans", []string{".omc"}},
	{"OpenCode", "settings, agents and plugins", []string{".opencode"}},
	{"OpenHands", "settings and microagents", []string{".openhands"}},
	{"OpenSpec", "specs and changes", []string{"openspec"}},
	{"Playwright MCP", "browser snapshots and traces", []string{".playwright-mcp"}},
	{"Qwen Code", "settings", []string{".qwen"}},
	{"Repomix", "the repository packed for a model", []string{"repomix-output*"}},
	{"Roo Code", "rules and modes", []string{".roo", ".roomodes", ".roorules"}},
	{"Ruler", "rules for other tools", []string{".ruler"}},
	{"Serena", "memories and caches", []string{".serena"}},
	{"Spec Kit", "constitution, templates and scripts", []string{".specify"}},
	{"Task Master", "tasks and reports", []string{".taskmaster"}},
	{"Trae", "rules", []string{".trae"}},
	{"Windsurf", "rules and workflows", []string{".windsurf", ".windsurfrules"}},
	{"Zencoder", "rules", []string{".zencoder"}},
}
