// Package agenthook is what ken hears and says in the hooks of an agent's client: what a
// client tells a hook, in each one's words, what is worth telling the agent, and how
// that is written so that the client passes it on.
//
// It is given bytes and facts, and answers with bytes. An answer never blocks an agent
// and never decides for it. What is known of a repository, and where a session's memory
// is kept, is for others to find out.
package agenthook

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// An Event is a moment in an agent's life, named as the verb of ken hook.
type Event string

// The events.
const (
	SessionStart  Event = "session-start"
	SubagentStart Event = "subagent-start"
	PreToolUse    Event = "pre-tool-use"
	PostToolUse   Event = "post-tool-use"
	Stop          Event = "stop"
)

// Events are all of them, in the order in which they come.
var Events = []Event{SessionStart, SubagentStart, PreToolUse, PostToolUse, Stop}

// wireNames is how clients call the events that can be answered.
var wireNames = map[Event]string{
	SessionStart: "SessionStart", SubagentStart: "SubagentStart", PreToolUse: "PreToolUse", PostToolUse: "PostToolUse", Stop: "Stop",
}

// A Dialect is how a client writes. Claude Code's is that of most.
type Dialect string

// The dialects that differ.
const (
	Claude Dialect = "claude"
	Cursor Dialect = "cursor"
)

// A Access is what a tool does to files.
type Access int

// The accessOf.
const (
	Other Access = iota // nothing that ken knows of
	Read
	Edit
)

// A Input is what a client tells a hook.
type Input struct {
	Session string
	Dir     string   // where the agent is; "" when the client does not say
	Access  Access   // of the tool
	Paths   []string // that the tool reads or edits, as the client spells them
}

// MaxInput is more than a client says to a hook, the content of a large file included.
const MaxInput = 16 << 20

// maxPaths is how many files of one call are looked at.
const maxPaths = 20

// Parse reads what a client tells a hook. Unknown fields are ignored, and a field that
// is missing is empty: clients differ, and grow.
func Parse(input []byte) (Input, error) {
	var in struct {
		Session      string          `json:"session_id"`
		SessionID    string          `json:"sessionId"`
		Conversation string          `json:"conversation_id"`
		Dir          string          `json:"cwd"`
		Roots        []string        `json:"workspace_roots"`
		Tool         string          `json:"tool_name"`
		Input        json.RawMessage `json:"tool_input"`
	}
	input = bytes.TrimPrefix(bytes.TrimSpace(input), []byte("\uFEFF"))
	if len(input) == 0 {
		return Input{}, nil
	}
	if err := json.Unmarshal(input, &in); err != nil {
		if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); !wrong || input[0] != '{' {
			return Input{}, errors.New("the client's input is not a JSON object")
		}
	}
	c := Input{Dir: in.Dir, Access: accessOf[toolKey(in.Tool)]}
	if c.Access == Read && partialRead(in.Input) {
		c.Access = Other // who has seen some lines has not seen the content
	}
	for _, id := range []string{in.Session, in.SessionID, in.Conversation} {
		if c.Session == "" {
			c.Session = id
		}
	}
	if c.Dir == "" && len(in.Roots) > 0 {
		c.Dir = in.Roots[0]
	}
	if c.Access != Other {
		c.Paths = paths(in.Input)
	}
	return c, nil
}

// accessOf is what tools do, by their names without case and punctuation.
var accessOf = map[string]Access{
	"read": Read, "readfile": Read, "notebookread": Read, "viewfile": Read,

	"edit": Edit, "multiedit": Edit, "write": Edit, "notebookedit": Edit, "applypatch": Edit, "strreplace": Edit,
	"editfile": Edit, "editfiles": Edit, "writefile": Edit, "createfile": Edit, "replacestringinfile": Edit,
	"multireplacestringinfile": Edit, "inserteditintofile": Edit, "editnotebookfile": Edit, "delete": Edit, "deletefile": Edit,
}

func toolKey(tool string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(tool))
}

// partialRead reports whether a tool was asked for some lines of a file.
func partialRead(input json.RawMessage) bool {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return false
	}
	for _, key := range []string{"offset", "limit", "pages", "start_line", "end_line", "startLine", "endLine", "view_range"} {
		if v, ok := in[key]; ok && string(v) != "null" {
			return true
		}
	}
	return false
}

// paths are the files that a tool's input names.
func paths(input json.RawMessage) []string {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	var list []string
	add := func(p string) {
		if p != "" && !strings.ContainsRune(p, 0) && !slices.Contains(list, p) && len(list) < maxPaths {
			list = append(list, p)
		}
	}
	for _, key := range []string{"file_path", "notebook_path", "filePath", "path", "target_file"} {
		var p string
		if json.Unmarshal(in[key], &p) == nil {
			add(p)
		}
	}
	var files []string
	if json.Unmarshal(in["files"], &files) == nil {
		for _, p := range files {
			add(p)
		}
	}
	for _, key := range []string{"command", "input", "patch"} {
		var patch string
		if json.Unmarshal(in[key], &patch) == nil {
			for _, p := range patchPaths(patch) {
				add(p)
			}
		}
	}
	return list
}

// patchPaths are the files that a patch names, in the form that Codex hands it to its tool.
func patchPaths(patch string) []string {
	var list []string
	for line := range strings.Lines(patch) {
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if p, ok := strings.CutPrefix(line, head); ok {
				list = append(list, strings.TrimSpace(p))
			}
		}
	}
	return list
}

// Answer writes what the agent is told; nil where there is nothing to say, or no way to
// say it. At the end of a turn it is the user who is told.
func (d Dialect) Answer(e Event, text string) []byte {
	if text == "" {
		return nil
	}
	var doc any
	switch {
	case d == Cursor && (e == SessionStart || e == PostToolUse):
		doc = map[string]string{"additional_context": text}
	case d == Cursor:
		return nil
	case e == Stop:
		doc = map[string]string{"systemMessage": text}
	default:
		doc = map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": wireNames[e], "additionalContext": text}}
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return nil
	}
	return append(out, '\n')
}
