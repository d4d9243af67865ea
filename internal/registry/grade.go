package registry

import (
	"context"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// maxGraded is how many paths one request has graded. To look into a file costs more
// than all else that is done about it, and where more have moved at once it is a
// branch that was switched; they count as content until they move again.
const maxGraded = 500

// A Grader says how far contents are apart.
type Grader interface {
	// Grades answers in the order of the moves, and with content where nothing finer
	// is known. The only error is that of a context that is done.
	Grades(ctx context.Context, moves []Moved) ([]fresh.Grade, error)
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

// moved reports whether a row's text is about other content, and both are known.
func (r *Row) moved() bool {
	return r.Excluded == "" && !r.About.Content.ID.IsZero() && !r.Content.ID.IsZero() && !r.About.Holds(r.Content)
}

// grade marks rows with how far they have moved. What was found of a row before holds
// as long as it is about the same two contents.
func (r *Registry) grade(ctx context.Context, rows []Row, before func(k int) Row) error {
	var moves []Moved
	var which []int
	for k := range rows {
		row, was := &rows[k], before(k)
		row.Marks &^= graded | Spared
		switch {
		case !row.moved():
		case was.About == row.About && was.Content.ID == row.Content.ID && was.Marks&graded != 0:
			row.Marks |= r.spare(was.Marks & graded)
		case r.opts.Grader != nil && r.asked < maxGraded:
			r.asked++
			which = append(which, k)
			moves = append(moves, Moved{row.Path, row.About.Content.ID, row.Content.ID})
		}
	}
	if len(moves) == 0 {
		return nil
	}
	grades, err := r.opts.Grader.Grades(ctx, moves)
	if err != nil {
		return err
	}
	for i, k := range which {
		rows[k].Marks |= r.spare(markOf[grades[i]])
	}
	return nil
}

// spare adds to the marks of a grade whether the policy lets it pass.
func (r *Registry) spare(m Marks) Marks {
	if !r.opts.Policy.Counts(m.Grade()) {
		m |= Spared
	}
	return m
}
