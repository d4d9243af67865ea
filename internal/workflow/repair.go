package workflow

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"ken/internal/contract"
	"ken/internal/state"
)

// A Repair is the result of Repair.
type Repair struct {
	Repaired bool      `json:"repaired"` // false if the document was readable
	Problem  string    `json:"problem,omitempty"`
	Kept     []string  `json:"kept"`    // keys with a readable value
	Dropped  []int     `json:"dropped"` // unreadable lines; the archive has them
	Archive  *string   `json:"archive"` // the broken copy
	Workflow *Document `json:"workflow"`
	Remarks  []string  `json:"remarks,omitempty"`
}

// Repair replaces a corrupt workflow document by its lines that are a key and a value
// on their own, and moves the broken copy to the archive. A readable document stays as
// it is.
func (m *Manager) Repair(ctx context.Context) (*Repair, error) {
	var r *Repair
	err := m.reading(ctx, "repair", func() (err error) {
		r, err = m.sound()
		return err
	})
	if r != nil || err != nil {
		return r, err
	}
	err = m.locked(ctx, "repair", func(h *state.Locked) (err error) {
		if r, err = m.sound(); r != nil || err != nil {
			return err
		}
		r, err = m.repair(ctx, h)
		return err
	})
	return r, err
}

// sound returns the result for a document that needs no repair, nil for a corrupt one.
func (m *Manager) sound() (*Repair, error) {
	d, err := m.load()
	_, corrupt := errors.AsType[*CorruptError](err)
	switch {
	case err == nil && d == nil:
		return &Repair{Kept: []string{}, Dropped: []int{}, Workflow: NewDocument()}, nil
	case err == nil:
		return &Repair{Kept: d.Keys(), Dropped: []int{}, Workflow: d}, nil
	case corrupt:
		return nil, nil
	default:
		return nil, err
	}
}

func (m *Manager) repair(ctx context.Context, h *state.Locked) (*Repair, error) {
	name := m.name(contract.Workflow)
	b, err := m.dir.Read(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	_, why := parseDocument(b)
	d, dropped := salvage(b)
	kept := append([]string{}, d.Keys()...)
	d.Set("repair", "saved from a corrupt document at "+stamp(m.opts.Now()))
	d.heal()
	text, err := d.YAML()
	if err != nil {
		return nil, err
	}
	id := d.id(keyID)
	if err := m.note(h, Record{Verb: "repair", File: name, SHA256: digest(text), WorkflowID: id}); err != nil {
		return nil, err
	}
	moves := []state.Move{{Name: name, Bucket: contract.Canonical.String(), Reason: "corrupt: " + why.Error()}}
	applied, err := h.Apply(ctx, state.Change{
		Verb: "repair", Time: m.opts.Now(), WorkflowID: id, Moves: moves,
		// The bad copy is kept even where sweeps delete: someone may know better.
		Writes: []state.Write{{Name: name, Content: text}}, Keep: max(m.keep(), 1),
	})
	if err != nil {
		return nil, err
	}
	swept := m.swept(moves, applied)
	return &Repair{
		Repaired: true, Problem: why.Error(), Kept: kept, Dropped: dropped,
		Archive: swept.Archive, Workflow: d, Remarks: swept.Remarks,
	}, nil
}

// indented reports whether a line belongs to the one above it.
func indented(line string) bool {
	return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "- ")
}

// salvage reads the document line by line and lists the numbers of unreadable lines. It
// keeps the first of duplicate keys, as in a merge conflict.
func salvage(b []byte) (d *Document, dropped []int) {
	d, dropped = NewDocument(), []int{}
	lines := strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	for i, line := range lines {
		if t := strings.TrimSpace(line); t == "" || strings.HasPrefix(t, "#") {
			continue
		}
		n := i + 1
		one, err := parseDocument([]byte(line + "\n"))
		if err != nil || len(one.Keys()) != 1 || indented(line) || i+1 < len(lines) && indented(lines[i+1]) {
			dropped = append(dropped, n)
			continue
		}
		key := one.Keys()[0]
		if _, ok := d.Get(key); ok || checkKey(key) != nil {
			dropped = append(dropped, n)
			continue
		}
		d.m.Content = append(d.m.Content, one.m.Content...)
	}
	return d, dropped
}
