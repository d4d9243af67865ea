package registry

import (
	"context"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Grader says how far contents are apart.
type Grader interface {
	// Grades answers in the order of the moves, and with content where nothing finer
	// is known. The only error is that of a context that is done.
	Grades(ctx context.Context, moves []Moved) ([]fresh.Grade, error)
	// Version names the rules by which it grades.
	Version() string
}

// Moved is a path whose text was written from other content than it has.
type Moved struct {
	Path     repo.Path
	From, To repo.ID
}

// spare adds to the marks of a grade whether the policy lets it pass.
func (r *Registry) spare(m store.FileMarks) store.FileMarks {
	if !r.opts.Policy.Counts(m.Grade()) {
		m |= store.MarkUncounted
	}
	return m
}
