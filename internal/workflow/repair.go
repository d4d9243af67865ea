package workflow

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"ken/internal/contract"
	"ken/internal/state"
)

// A Repair is what became of a workflow document that could not be read.
type Repair struct {
	Repaired bool      `json:"repaired"` // false: there was nothing to mend
	Problem  string    `json:"problem,omitempty"`
	Kept     []string  `json:"kept"`    // keys whose value could be read
	Dropped  []int     `json:"dropped"` // lines that could not; the archive has them
	Archive  *string   `json:"archive"` // the bad copy
	Workflow *Document `json:"workflow"`
	Remarks  []string  `json:"remarks,omitempty"`
}

// Repair makes a readable workflow document of a corrupt one: every line that is
// a key and a value by itself is kept, and the bad copy goes to the archive. A
// document that can be read stays as it is.
func (k *Keeper) Repair(ctx context.Context) (*Repair, error) {
	var r *Repair
	err := k.reading(ctx, "repair", func() (err error) {
		r, err = k.sound()
		return err
	})
	if r != nil || err != nil {
		return r, err
	}
	err = k.locked(ctx, "repair", func(h *state.Locked) (err error) {
		if r, err = k.sound(); r != nil || err != nil {
			return err
		}
		r, err = k.repair(ctx, h)
		return err
	})
	return r, err
}

// sound returns the answer for a document that needs no repair, nil for one that
// does.
func (k *Keeper) sound() (*Repair, error) {
	d, err := k.load()
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

func (k *Keeper) repair(ctx context.Context, h *state.Locked) (*Repair, error) {
	name := k.name(contract.Workflow)
	b, err := k.dir.Read(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	_, why := parseDocument(b)
	d, dropped := salvage(b)
	kept := append([]string{}, d.Keys()...)
	d.Set("repair", "saved from a corrupt document at "+stamp(k.opts.Now()))
	d.heal()
	text, err := d.YAML()
	if err != nil {
		return nil, err
	}
	id := d.id(keyID)
	if err := k.note(h, Record{Verb: "repair", File: name, SHA256: digest(text), WorkflowID: id}); err != nil {
		return nil, err
	}
	moves := []state.Move{{Name: name, Bucket: contract.Canonical.String(), Reason: "corrupt: " + why.Error()}}
	applied, err := h.Apply(ctx, state.Change{
		Verb: "repair", Time: k.opts.Now(), WorkflowID: id, Moves: moves,
		// The bad copy is kept even where sweeps delete: someone may know better.
		Writes: []state.Write{{Name: name, Content: text}}, Keep: max(k.keep(), 1),
	})
	if err != nil {
		return nil, err
	}
	swept := k.swept(moves, applied)
	return &Repair{
		Repaired: true, Problem: why.Error(), Kept: kept, Dropped: dropped,
		Archive: swept.Archive, Workflow: d, Remarks: swept.Remarks,
	}, nil
}

// indented reports a line that belongs to the one above it.
func indented(line string) bool {
	return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "- ")
}

// salvage reads line by line what can be read, and lists the numbers of the lines
// that cannot. Of a key that comes twice, as in a conflict, the first is kept.
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
