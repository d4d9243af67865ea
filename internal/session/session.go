// Package session knows the session of the agent that runs ken, and keeps a file for each session of a worktree: which
// files the agent saw and what hooks told it. The files are a cache.
package session

import (
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// variables are the environment variables in which agents name their session. The first one that is set counts: ken's
// own comes before those of agents, and these come before a name that any agent may use.
var variables = []string{
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

// maxLength is longer than the session id of any agent, and fits a line.
const maxLength = 200

// ID returns the session that ken runs in, "" for none.
func ID() string {
	for _, name := range variables {
		if id := Clean(os.Getenv(name)); id != "" {
			return id
		}
	}
	return ""
}

// Clean makes a session id fit for a trailer: one line of printable characters, not too long.
func Clean(value string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(value), "\n")
	line = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, line)
	if len(line) > maxLength {
		line = line[:maxLength]
		for !utf8.ValidString(line) {
			line = line[:len(line)-1]
		}
	}
	return strings.TrimSpace(line)
}
