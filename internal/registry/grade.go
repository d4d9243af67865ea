package registry

import (
	"context"

	"ken/internal/fresh"
	"ken/internal/repo"
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

// markOf are the marks of a grade; content has none.
var markOf = map[fresh.Grade]Marks{
	fresh.GradeFormat: gradedFormat, fresh.GradeBody: gradedBody, fresh.GradeInterface: gradedInterface,
	fresh.GradeContent: 0,
}

// Grade is how far the content of a stale row has moved from what its text is about.
func (m Marks) Grade() fresh.Grade {
	for grade, mark := range markOf {
		if m&graded == mark {
			return grade
		}
	}
	return fresh.GradeContent
}

// spare adds to the marks of a grade whether the policy lets it pass.
func (r *Registry) spare(m Marks) Marks {
	if !r.opts.Policy.Counts(m.Grade()) {
		m |= Spared
	}
	return m
}
