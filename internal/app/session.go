package app

import (
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sessionVariables are where agents say, in the environment of what they start, which
// session it is. The first that is set counts, so what is meant for ken stands before
// what names an agent, and that before a name that any agent may use.
var sessionVariables = []string{
	"KEN_SESSION",
	"CLAUDE_CODE_SESSION_ID",        // Claude Code
	"CLAUDE_CODE_REMOTE_SESSION_ID", // Claude Code in the cloud
	"CLAUDE_SESSION_ID",             // Claude Code before it had one: set by plugins
	"CODEX_THREAD_ID",               // Codex
	"CURSOR_CONVERSATION_ID",        // Cursor
	"COPILOT_AGENT_SESSION_ID",      // Copilot CLI
	"GEMINI_SESSION_ID",             // Gemini CLI
	"AMP_CURRENT_THREAD_ID",         // Amp
	"OPENCODE_SESSION_ID",           // OpenCode: set by plugins
	"AGENT_SESSION_ID",              // Goose
}

// maxSession is longer than any agent's session id, and fits a line.
const maxSession = 200

// session names the agent's session that ken runs in, "" for none.
func session() string {
	for _, name := range sessionVariables {
		if id := sessionID(os.Getenv(name)); id != "" {
			return id
		}
	}
	return ""
}

// sessionID makes of a variable's value what can stand in a trailer: one line of
// characters that show, and not too many of them.
func sessionID(value string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(value), "\n")
	line = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, line)
	if len(line) > maxSession {
		line = line[:maxSession]
		for !utf8.ValidString(line) {
			line = line[:len(line)-1]
		}
	}
	return strings.TrimSpace(line)
}
