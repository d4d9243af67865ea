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

// A Written is an artifact that was put into the directory.
type Written struct {
	Name       string             `json:"name"`
	Bucket     contract.Bucket    `json:"bucket"`
	Size       int                `json:"size"`
	SHA256     string             `json:"sha256"`
	WorkflowID string             `json:"workflow_id,omitempty"`
	Problems   []contract.Problem `json:"problems,omitempty"`
}

// Put writes an artifact. Its name must be one the contract allows and its
// content what the contract asks for, unless forced; its author is the workflow
// at hand.
func (k *Keeper) Put(ctx context.Context, name string, content []byte, force bool) (*Written, error) {
	if err := k.legal(name); err != nil {
		return nil, err
	}
	w := &Written{Name: name, Bucket: k.c.Bucket(name), Size: len(content), SHA256: digest(content), Problems: k.c.Check(name, content)}
	if len(w.Problems) > 0 && !force {
		var lines []string
		for _, p := range w.Problems {
			lines = append(lines, fmt.Sprintf("%s: %s, expected %s", p.File, p.Problem, p.Expected))
		}
		return nil, badRequest("correct the content, or write it anyway with --force", "%s", strings.Join(lines, "\n"))
	}
	err := k.locked(ctx, "put", func(h *state.Locked) error {
		d, err := k.load()
		if err != nil {
			return err
		}
		if d != nil {
			w.WorkflowID = d.id(keyID)
		}
		if err := k.note(h, Record{Verb: "put", File: name, SHA256: w.SHA256, WorkflowID: w.WorkflowID}); err != nil {
			return err
		}
		return h.Replace(name, content)
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// legal says why an artifact cannot have this name, nil if it can.
func (k *Keeper) legal(name string) error {
	if !utf8.ValidString(name) || strings.ContainsAny(name, "/\\\x00") {
		return badRequest("", "%q is no file name: an artifact lies directly in the state directory", name)
	}
	f, known := k.c.File(name)
	if by := keptBy(f); known && by != "" {
		return badRequest(by, "%s is not written by put", name)
	}
	if b := k.c.Bucket(name); known && !f.Dir || b == contract.PatternAllowed {
		return nil
	}
	return k.foreignName(name)
}

// foreignName refuses a name, and helps to find the one that was meant.
func (k *Keeper) foreignName(name string) error {
	if f, _ := k.c.File(name); f.Dir {
		return badRequest("", "%s is a directory", name)
	}
	if k.c.Bucket(name) == contract.Ephemeral {
		return badRequest("write what is temporary elsewhere, or under the name it is to have", "%q is the name of a leftover", name)
	}
	text := fmt.Sprintf("the contract knows no file %q", name)
	hint := "see the legal names with: ken state contract"
	if near, ok := k.c.Nearest(name); ok {
		text += fmt.Sprintf("; the nearest legal name is %s", near)
		hint = "use " + near
	}
	if line := k.c.Line(name); line != "" {
		hint += "; or allow it in .ken/contract.yaml: " + line
	}
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: errors.New(text)}
}

// keptBy names the verb that keeps a file which put may not write, "" for others.
func keptBy(f contract.File) string {
	switch f.Role {
	case contract.Workflow:
		return "ken state update KEY=VALUE"
	case contract.Deferred:
		return "ken state defer add TITLE"
	case contract.Lock, contract.Archive, contract.Journal:
		return "ken keeps it"
	case contract.Probes, contract.Handoff, contract.Narrative:
	}
	if f.Log {
		return "ken state log " + f.Name
	}
	return ""
}
