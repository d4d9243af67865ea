package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/state"
	"ken/internal/suggest"
)

// UpdateOptions has the changes of the workflow document.
type UpdateOptions struct {
	Pairs []Pair
	Force bool // write values that the contract does not allow, and mark the document
}

// Update sets pairs in the workflow document and returns it. The contract must allow the
// values of known keys; unknown keys are free.
func (m *Manager) Update(ctx context.Context, opts UpdateOptions) (*Document, error) {
	if len(opts.Pairs) == 0 {
		return nil, badRequest("ken state update phase=implement", "nothing to update")
	}
	var d *Document
	err := m.locked(ctx, "update", func(h *state.Locked) (err error) {
		if d, err = m.load(); err != nil {
			return err
		}
		if d == nil {
			d = NewDocument()
		}
		if err := m.set(d, opts.Pairs, opts.Force, stamper{now: m.opts.Now(), newID: m.opts.NewID}); err != nil {
			return err
		}
		return m.write(h, d)
	})
	return d, err
}

// write replaces the workflow document.
func (m *Manager) write(h *state.Locked, d *Document) error {
	text, err := d.YAML()
	if err != nil {
		return err
	}
	return m.replace(h, Record{Verb: "update", File: m.name(contract.Workflow), WorkflowID: d.id(keyID)}, text)
}

// set validates pairs, sets them in a document, and updates its validation status.
func (m *Manager) set(d *Document, pairs []Pair, force bool, by stamper) error {
	var wrong []string
	for _, p := range pairs {
		if err := checkKey(p.Key); err != nil {
			return badRequest("ken state update KEY=VALUE", "%w", err)
		}
		if s, ok := p.Value.(string); ok && !utf8.ValidString(s) {
			return badRequest("", "the value of %s is not UTF-8", p.Key)
		}
		if problem := m.keyProblem(p.Key, p.Value); problem != nil {
			wrong = append(wrong, fmt.Sprintf("%s, expected %s", problem.Problem, problem.Expected))
		}
	}
	if len(wrong) > 0 && !force {
		return badRequest("correct the value, allow it in .ken/contract.yaml, or write it anyway with --force", "%s", strings.Join(wrong, "\n"))
	}
	if err := d.merge(pairs, by); err != nil {
		return badRequest("start another workflow with: ken state init --type TYPE", "%w", err)
	}
	if n := len(m.keyProblems(d)); n > 0 {
		d.Set(keyValidated, "warned")
		d.Set(keyWarnings, int64(n))
	} else if d.Text(keyValidated) == "warned" {
		d.Set(keyValidated, "ok")
		d.Set(keyWarnings, int64(0))
	}
	return nil
}

// Warnings describes the values that are written though the contract does not know them.
func (m *Manager) Warnings(pairs []Pair) []string {
	var out []string
	for _, p := range pairs {
		known, _ := m.c.Key(p.Key)
		if problem, expected := known.Warning(p.Value); problem != "" {
			out = append(out, fmt.Sprintf("warning: %s, expected %s", problem, expected))
		}
	}
	return out
}

// keyProblem returns the problem of a value, nil if there is none.
func (m *Manager) keyProblem(key string, value any) *contract.Problem {
	known, ok := m.c.Key(key)
	if !ok {
		return nil
	}
	problem, expected := known.Check(value)
	if text, ok := value.(string); ok && (key == keyCreated || key == keyFirst) && parseStamp(text).IsZero() {
		problem, expected = fmt.Sprintf("%s is %q", key, text), "an RFC 3339 time such as 2026-01-02T15:04:05Z"
	}
	if problem == "" {
		return nil
	}
	return &contract.Problem{File: m.name(contract.Workflow), Problem: problem, Expected: expected}
}

// keyProblems checks every known key of a document.
func (m *Manager) keyProblems(d *Document) []contract.Problem {
	var out []contract.Problem
	for _, member := range d.members() {
		if p := m.keyProblem(member.Key, member.Value); p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// Get returns the workflow document, an empty one if there is none.
func (m *Manager) Get(ctx context.Context) (*Document, error) {
	var d *Document
	err := m.reading(ctx, "get", func() (err error) {
		d, err = m.load()
		return err
	})
	if d == nil && err == nil {
		d = NewDocument()
	}
	return d, err
}

// GetKey returns the value of one key.
func (m *Manager) GetKey(ctx context.Context, key string) (any, error) {
	d, err := m.Get(ctx)
	if err != nil {
		return nil, err
	}
	v, ok := d.Get(key)
	if key == keyHistory && ok {
		return d.historyValue(), nil
	}
	if ok {
		return v, nil
	}
	hint := "list the keys with: ken state get"
	if near, ok := suggest.Word(key, d.Keys()); ok {
		hint = "ken state get " + fault.Quote(near)
	}
	return nil, &fault.Error{Hint: hint, Err: fmt.Errorf("the workflow document has no key %q", key)}
}

// historyValue returns the history as a list.
func (d *Document) historyValue() any {
	list := []any{}
	for _, id := range d.history() {
		list = append(list, id)
	}
	return list
}

// ParsePair parses key=value.
func ParsePair(s string) (Pair, error) {
	key, value, ok := strings.Cut(s, "=")
	if !ok {
		return Pair{}, fmt.Errorf("%q has no =; expected key=value", s)
	}
	return Pair{key, parseValue(value)}, nil
}

// PairOf returns a pair with a value from JSON.
func PairOf(key string, raw []byte) (Pair, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return Pair{}, fmt.Errorf("%s: %w", key, err)
	}
	switch v.(type) {
	case nil, bool, json.Number, string:
		return Pair{key, v}, nil
	default:
		return Pair{}, fmt.Errorf("%s: expected a text, a number, true, false or null", key)
	}
}
