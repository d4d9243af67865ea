package workflow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/state"
)

// A PutResult is the result of Put.
type PutResult struct {
	Name       string             `json:"name"`
	Bucket     contract.Bucket    `json:"bucket"`
	Size       int                `json:"size"`
	SHA256     string             `json:"sha256"`
	WorkflowID string             `json:"workflow_id,omitempty"`
	Problems   []contract.Problem `json:"problems,omitempty"`
}

// Put writes a file. The contract must allow the name and, unless force is set, the
// content. The journal records the current workflow as its author.
func (m *Manager) Put(ctx context.Context, name string, content []byte, force bool) (*PutResult, error) {
	if err := m.legal(name); err != nil {
		return nil, err
	}
	w := &PutResult{Name: name, Bucket: m.c.Bucket(name), Size: len(content), SHA256: digest(content), Problems: m.c.Check(name, content)}
	if len(w.Problems) > 0 && !force {
		var lines []string
		for _, p := range w.Problems {
			lines = append(lines, fmt.Sprintf("%s: %s, expected %s", p.File, p.Problem, p.Expected))
		}
		return nil, badRequest("correct the content, or write it anyway with --force", "%s", strings.Join(lines, "\n"))
	}
	err := m.locked(ctx, "put", func(h *state.Locked) error {
		d, err := m.load()
		if err != nil {
			return err
		}
		w.WorkflowID = d.id(keyID)
		return m.replace(h, Record{Verb: "put", File: name, WorkflowID: w.WorkflowID}, content)
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// legal returns an error if the contract does not allow the name.
func (m *Manager) legal(name string) error {
	if !utf8.ValidString(name) || strings.ContainsAny(name, "/\\\x00") {
		return badRequest("", "%q is not a file name; files are written directly to the state directory", name)
	}
	f, known := m.c.File(name)
	if by := m.keptBy(f); known && by != "" {
		return badRequest(by, "put does not write %s", name)
	}
	if b := m.c.Bucket(name); known && !f.Dir || b == contract.PatternAllowed {
		return nil
	}
	return m.foreignName(name)
}

// foreignName returns the error for a name that is not allowed, with suggestions.
func (m *Manager) foreignName(name string) error {
	if f, _ := m.c.File(name); f.Dir {
		return badRequest("", "%s is a directory", name)
	}
	if m.c.Bucket(name) == contract.Ephemeral {
		return badRequest("write temporary files elsewhere, or use the final name", "%q is the name of a temporary file", name)
	}
	text := fmt.Sprintf("the contract does not allow the file name %q", name)
	hint := "list the allowed names with: ken state contract"
	if near, ok := m.c.SuggestFile(name); ok {
		text += fmt.Sprintf("; did you mean %s?", near)
		hint = "use " + near
	}
	if line := m.c.Line(name); line != "" {
		hint += "; or allow it in .ken/contract.yaml: " + line
	}
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: errors.New(text)}
}

// keptBy says how a file is written that put does not write, "" for others.
func (m *Manager) keptBy(f contract.Entry) string {
	switch f.Role {
	case contract.Workflow:
		return "ken state update KEY=VALUE"
	case contract.Deferred:
		return "ken state defer add TITLE"
	case contract.Lock, contract.Archive, contract.Journal:
		return "ken itself writes it"
	case contract.Probes:
	}
	if f.Log {
		return "append a line to the log: " + fault.Quote(m.dir.Path()+"/"+f.Name)
	}
	return ""
}
