package team

import (
	"context"
	"encoding/json"
	"time"

	"ken/internal/store"
	"ken/internal/store/postgres"
)

// marks record how far this clone has synchronized with a shared store.
type marks struct {
	Scope  string     `json:"base"`   // the repository and database, from [postgres.Store.Scope]
	Pulled store.Mark `json:"pulled"` // in the shared store: the local store has all records up to here
	Pushed store.Mark `json:"pushed"` // in the local store: the shared store has all records up to here
	// PushedEnd is the end of the shared store after the last push. It may be after Pulled, because others
	// write too. A shared store that was restored to a point before it has lost pushed records.
	PushedEnd store.Mark `json:"given,omitempty"`
	// Bad counts the bad records of the shared store. FirstBad lists the first of them.
	Bad      int               `json:"aside,omitempty"`
	FirstBad []store.BadRecord `json:"first_aside,omitempty"`
	// Again is where to continue when a record that is dated in the future is due; nil if there is none.
	Again *rewind `json:"again,omitempty"`
	// Before has the marks of other scopes at the same address, the most recent first. A user who
	// switches to another repository name and back then continues with the old marks.
	Before []marks `json:"before,omitempty"`
}

// A rewind has the marks before the first record that is dated in the future.
type rewind struct {
	Due    time.Time  `json:"due"` // of the earliest such record
	Pulled store.Mark `json:"pulled"`
	Bad    int        `json:"aside,omitempty"`
}

// note notes the bad records after the marks that are dated in the future.
func (m *marks) note(list []store.BadRecord) {
	for _, b := range list {
		switch {
		case b.Due.IsZero():
		case m.Again == nil:
			m.Again = &rewind{Due: b.Due, Pulled: m.Pulled, Bad: m.Bad}
		case b.Due.Before(m.Again.Due):
			m.Again.Due = b.Due
		}
	}
}

// rewind goes back to Again if it is due. It reports whether it did.
func (m *marks) rewind(now time.Time) bool {
	if m.Again == nil || m.Again.Due.After(now) {
		return false
	}
	m.Pulled = m.Again.Pulled
	m.Bad = m.Again.Bad
	m.FirstBad = m.FirstBad[:min(m.Bad, len(m.FirstBad))]
	m.Again = nil
	return true
}

// maxBefore limits the other scopes that are remembered.
const maxBefore = 3

// forScope returns the marks of a scope. They are empty if the scope is not remembered.
func (m marks) forScope(scope string) marks {
	if m.Scope == scope {
		return m
	}
	found := marks{Scope: scope}
	others := m.Before
	if m.Scope != "" {
		m.Before = nil
		others = append([]marks{m}, others...)
	}
	var rest []marks
	for _, b := range others {
		if b.Scope == scope {
			found = b
		} else {
			rest = append(rest, b)
		}
	}
	found.Before = rest[:min(len(rest), maxBefore)]
	return found
}

// reset returns empty marks for the same scope.
func (m marks) reset() marks { return marks{Scope: m.Scope, Before: m.Before} }

// marksKey returns the key of the marks in the local store.
func (t *Team) marksKey() string { return "team " + t.address.String() }

// loadMarks reads the marks from the local store.
func (t *Team) loadMarks(ctx context.Context) (m marks, err error) {
	text, err := t.opts.Local.Value(ctx, t.marksKey())
	if err != nil || text == "" {
		return m, err
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return marks{}, nil // damaged: synchronize again from the beginning
	}
	return m, nil
}

// saveMarks writes the marks to the local store.
func (t *Team) saveMarks(ctx context.Context) error {
	text, err := json.Marshal(t.marks)
	if err != nil {
		return err
	}
	return t.opts.Local.SetValue(ctx, t.marksKey(), string(text))
}

// connect opens the shared store and loads the marks for it.
func (t *Team) connect(ctx context.Context, step stepper) error {
	if t.opts.Refused != nil {
		return t.opts.Refused
	}
	if t.shared == nil {
		repository, err := t.opts.Repository(ctx)
		if err != nil {
			return err
		}
		t.shared, err = postgres.Open(t.opts.Address, postgres.Options{Repository: repository, Connections: 2, Now: t.opts.Now})
		if err != nil {
			return err
		}
	}
	marks, err := t.loadMarks(ctx)
	if err != nil {
		return err
	}
	t.marks = marks
	return step(ctx, func(ctx context.Context) error {
		scope, err := t.shared.Scope(ctx)
		if err != nil {
			return err
		}
		t.marks = t.marks.forScope(scope)
		known := true
		t.hasNew = true
		if t.marks.Pulled+t.marks.PushedEnd != "" {
			known, t.hasNew, err = t.shared.CheckMarks(ctx, t.marks.Pulled, t.marks.PushedEnd)
			if err != nil {
				return err
			}
		}
		if !known {
			// The shared store was restored from a backup and may lack our records: send all of them again.
			t.marks = t.marks.reset()
		}
		if t.marks.rewind(t.opts.Now()) {
			t.hasNew = true
		}
		return nil
	})
}
