package team

import (
	"context"
	"encoding/json"
	"time"

	"ken/internal/store"
	"ken/internal/store/postgres"
)

// marks are how far this clone has come with a base.
type marks struct {
	Base   string     `json:"base"`   // the base that they are about
	Pulled store.Mark `json:"pulled"` // of the base: what is up to here is in the local store
	Pushed store.Mark `json:"pushed"` // of the local store: what is up to here is in the base
	// Given is where the base was when that was handed over. What others wrote in between is
	// pulled later, and a base that was put back to a moment in between has lost ours.
	Given store.Mark `json:"given,omitempty"`
	// Aside are records of the base that were not taken over: how many, and the first of them.
	Aside      int               `json:"aside,omitempty"`
	FirstAside []store.BadRecord `json:"first_aside,omitempty"`
	// Told is the generation of the work tree's rows that the base was told of, and Rows that
	// of the rows it has.
	Told map[string]int64 `json:"told,omitempty"`
	Rows map[string]int64 `json:"rows,omitempty"`
	// RowsAt is when rows were last handed over.
	RowsAt time.Time `json:"rows_at,omitzero"`
	// Before are those of other bases at the same address, the last one first: who names another
	// repository, and then the old one again, has not lost his place.
	Before []marks `json:"before,omitempty"`
}

// beforeMost is how many other bases are remembered.
const beforeMost = 3

// of returns the marks about a base: empty ones, unless it is one that was gone to before.
func (m marks) of(base string) marks {
	if m.Base == base {
		return m
	}
	now, others := marks{Base: base}, m.Before
	if m.Base != "" {
		m.Before = nil
		others = append([]marks{m}, others...)
	}
	var rest []marks
	for _, b := range others {
		if b.Base == base {
			now = b
		} else {
			rest = append(rest, b)
		}
	}
	now.Before = rest[:min(len(rest), beforeMost)]
	return now
}

// anew returns the marks of who begins from the beginning with the same base.
func (m marks) anew() marks { return marks{Base: m.Base, Before: m.Before} }

// key is what the marks are remembered under.
func (t *Team) key() string { return "team " + t.address.String() }

func (t *Team) load(ctx context.Context) (m marks, err error) {
	text, err := t.opts.Local.Remembered(ctx, t.key())
	if err != nil || text == "" {
		return m, err
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return marks{}, nil // what cannot be read is the beginning, which costs time alone
	}
	return m, nil
}

func (t *Team) save(ctx context.Context) error {
	text, err := json.Marshal(t.marks)
	if err != nil {
		return err
	}
	return t.opts.Local.Remember(ctx, t.key(), string(text))
}

// enter connects, and finds out how far this clone has come with the base that is there.
func (t *Team) enter(ctx context.Context, step stepper) error {
	if t.opts.Refused != nil {
		return t.opts.Refused
	}
	if t.base == nil {
		repository, err := t.opts.Repository(ctx)
		if err != nil {
			return err
		}
		machine := t.machine()
		if t.base, err = postgres.Open(t.opts.Address, postgres.Options{Repository: repository, Machine: machine.ID, Host: machine.Host, Connections: 2}); err != nil {
			return err
		}
	}
	marks, err := t.load(ctx)
	if err != nil {
		return err
	}
	t.marks = marks
	return step(ctx, func(ctx context.Context) error {
		base, err := t.base.Scope(ctx)
		if err != nil {
			return err
		}
		t.marks = t.marks.of(base)
		known := true
		t.news = true
		if t.marks.Pulled+t.marks.Given != "" {
			if known, t.news, err = t.base.Stand(ctx, t.marks.Pulled, t.marks.Given); err != nil {
				return err
			}
		}
		if !known {
			// It is as it was on an earlier day: what it has of ours is not known, and everything is
			// handed over again.
			t.marks = t.marks.anew()
		}
		return nil
	})
}
