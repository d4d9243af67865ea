// Package agenthook parses the input that an agent's client sends to a hook, decides what to tell the agent, and encodes
// the answer in the client's format.
//
// An answer never blocks an agent. Other packages find the facts about the repository and store the memory of a
// session.
package agenthook

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// An Event is an event in an agent's session, named as the command of ken hook.
type Event string

// The events.
const (
	SessionStart  Event = "session-start"
	SubagentStart Event = "subagent-start"
	PreToolUse    Event = "pre-tool-use"
	PostToolUse   Event = "post-tool-use" // tells nothing
)

// Events lists all events, in the order in which they happen.
var Events = []Event{SessionStart, SubagentStart, PreToolUse, PostToolUse}

// wireNames has the names that clients use for the events.
var wireNames = map[Event]string{
	SessionStart: "SessionStart", SubagentStart: "SubagentStart", PreToolUse: "PreToolUse",
	PostToolUse: "PostToolUse",
}

// A Dialect is the format of a client's answers. Most clients use that of Claude Code.
type Dialect string

// The dialects that differ.
const (
	Claude Dialect = "claude"
	Cursor Dialect = "cursor"
)

// An Access is the way in which a tool uses files.
type Access int

// The kinds of access.
const (
	Other Access = iota // an unknown tool, or a partial read
	Read
	Edit
)

// An Input is the input that a client sends to a hook.
type Input struct {
	Client  string // as in ken install; the client does not send it
	Session string
	Dir     string   // the directory of the agent; "" if the client does not send it
	Access  Access   // by the tool
	Paths   []string // that the tool reads or edits, as the client sends them
}

// MaxInput is the limit for the size of an input. Clients send the content of edited files.
const MaxInput = 16 << 20

// maxPaths is the limit for the files of one input.
const maxPaths = 20

// Parse decodes the input of a hook. It ignores unknown fields, and leaves missing ones
// empty, since clients differ and change.
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
		c.Access = Other // an agent that read some lines has not seen the file
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

// accessOf has the access of each tool, by [toolKey].
var accessOf = map[string]Access{
	"read": Read, "readfile": Read, "notebookread": Read, "viewfile": Read,

	"edit": Edit, "multiedit": Edit, "write": Edit, "notebookedit": Edit, "applypatch": Edit, "strreplace": Edit,
	"editfile": Edit, "editfiles": Edit, "writefile": Edit, "createfile": Edit, "replacestringinfile": Edit,
	"multireplacestringinfile": Edit, "inserteditintofile": Edit, "editnotebookfile": Edit, "delete": Edit, "deletefile": Edit,
}

// toolKey returns the name of a tool without case and punctuation.
func toolKey(tool string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(tool))
}

// partialRead reports whether a tool reads only some lines of a file.
func partialRead(input json.RawMessage) bool {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return false
	}
	keys := []string{"offset", "limit", "pages", "start_line", "end_line", "startLine", "endLine", "view_range"}
	return slices.ContainsFunc(keys, func(key string) bool { return in[key] != nil && string(in[key]) != "null" })
}

// paths lists the files in the arguments of a tool.
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

// patchPaths lists the files in a patch, in the format of Codex.
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

// Answer encodes a text for the agent; nil for an empty text, and for an event that the client cannot answer.
func (d Dialect) Answer(e Event, text string) []byte {
	if text == "" {
		return nil
	}
	var doc any
	switch {
	case d == Cursor && e == SessionStart:
		doc = map[string]string{"additional_context": text}
	case d == Cursor:
		return nil
	default:
		doc = map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": wireNames[e], "additionalContext": text}}
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return nil
	}
	return append(out, '\n')
}
