package workflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/state"
)

// Defer adds deferred work to the list, under an id that was never used.
func (m *Manager) Defer(ctx context.Context, title, body string) (*Deferral, error) {
	d := &Deferral{Title: oneLine(title), Body: body, Status: Open, CapturedBy: m.opts.Author}
	if d.Title == "" {
		return nil, badRequest("ken state defer add TITLE", "the title is empty")
	}
	m = m.shared()
	err := m.locked(ctx, "defer add", func(h *state.Locked) error {
		f, err := m.deferred()
		if err != nil {
			return err
		}
		j, err := m.journal()
		if err != nil {
			return err
		}
		d.ID = deferralID(f.last(j.lastID(m.name(contract.Deferred))) + 1)
		d.CapturedAt = stamp(m.opts.Now())
		f.add(*d)
		return m.writeDeferred(h, "defer add", f, d.ID)
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Deferred lists deferred work.
func (m *Manager) Deferred(ctx context.Context) ([]Deferral, error) {
	f, err := m.shared().readDeferred(ctx, "defer list")
	if err != nil {
		return nil, err
	}
	return f.list(), nil
}

// Done marks deferred work as closed. Work that is closed already stays as it is.
func (m *Manager) Done(ctx context.Context, id string) (*Deferral, error) {
	return m.mark(ctx, "defer close", id, Closed)
}

// Reopen marks deferred work as open again.
func (m *Manager) Reopen(ctx context.Context, id string) (*Deferral, error) {
	return m.mark(ctx, "defer reopen", id, Open)
}

func (m *Manager) mark(ctx context.Context, verb, id, status string) (*Deferral, error) {
	m = m.shared()
	f, err := m.readDeferred(ctx, verb)
	if err != nil {
		return nil, err
	}
	if _, err := f.find(id); err != nil {
		return nil, err // before the lock creates the directory
	}
	var d Deferral
	err = m.locked(ctx, verb, func(h *state.Locked) error {
		f, err := m.deferred()
		if err != nil {
			return err
		}
		at, err := f.find(id)
		if err != nil {
			return err
		}
		d = f.items[at].Deferral
		if d.Status == status {
			return nil
		}
		d.Status, d.ClosedAt, d.ClosedBy = status, "", ""
		if status == Closed {
			d.ClosedAt, d.ClosedBy = stamp(m.opts.Now()), m.opts.Author
		}
		j, err := m.journal()
		if err != nil {
			return err
		}
		last := deferralID(f.last(j.lastID(m.name(contract.Deferred))))
		f.setStatus(at, d)
		return m.writeDeferred(h, verb, f, last)
	})
	if err != nil {
		return nil, err
	}
	return &d, nil
}

// readDeferred reads the list before or after a change.
func (m *Manager) readDeferred(ctx context.Context, verb string) (f *deferredFile, err error) {
	err = m.reading(ctx, verb, func() (err error) {
		f, err = m.deferred()
		return err
	})
	return f, err
}

func (m *Manager) deferred() (*deferredFile, error) {
	b, err := m.dir.Read(m.name(contract.Deferred))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return parseDeferred(b), nil
}

func (m *Manager) writeDeferred(h *state.Locked, verb string, f *deferredFile, last string) error {
	r := Record{Verb: verb, File: m.name(contract.Deferred), WorkflowID: m.currentID(), LastID: last}
	return m.replace(h, r, f.bytes())
}

// find returns the index of an entry.
func (f *deferredFile) find(id string) (int, error) {
	var ids []string
	found := -1
	for i, it := range f.items {
		if it.ID == id && found >= 0 {
			return 0, &fault.Error{Hint: "edit the file and give one of them another id", Err: fmt.Errorf("two entries have the id %s", id)}
		}
		if it.ID == id {
			found = i
		}
		ids = append(ids, it.ID)
	}
	if found >= 0 {
		return found, nil
	}
	hint := "list the ids with: ken state defer list"
	if n := number(id); n > 0 && slices.Contains(ids, deferralID(n)) {
		hint = "did you mean " + deferralID(n) + "?"
	}
	return 0, &fault.Error{Hint: hint, Err: fmt.Errorf("no deferred work has the id %q", id)}
}

// lastID returns the highest id in the journal.
func (j journal) lastID(file string) string {
	for _, r := range slices.Backward(j) {
		if r.File == file && r.LastID != "" {
			return r.LastID
		}
	}
	return ""
}
