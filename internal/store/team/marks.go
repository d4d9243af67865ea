package team

import (
	"context"
	"encoding/json"

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
	// Before has the marks of other scopes at the same address, the most recent first. A user who
	// switches to another repository name and back then continues with the old marks.
	Before []marks `json:"before,omitempty"`
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
		t.shared, err = postgres.Open(t.opts.Address, postgres.Options{Repository: repository, Connections: 2})
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
		return nil
	})
}
