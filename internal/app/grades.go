package app

import (
	"context"
	"strconv"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
)

// A grader compares what grammars see in two contents of a file.
type grader struct{ w *workspace }

// Version changes with what grammars see.
func (g grader) Version() string { return strconv.Itoa(outline.Version) }

// Grades finds the contents among what is kept, in git, and in the work tree.
func (g grader) Grades(ctx context.Context, moves []registry.Moved) ([]fresh.Grade, error) {
	past := specPast{g.w.git, g.w}
	shapes := make([]spec.Shape, 0, 2*len(moves))
	for _, m := range moves {
		shapes = append(shapes, spec.Shape{Path: m.Path, ID: m.From}, spec.Shape{Path: m.Path, ID: m.To})
	}
	grades := make([]fresh.Grade, len(moves))
	seen, err := g.outlines(ctx, past, shapes)
	for i := range moves {
		if grades[i] = fresh.GradeContent; err == nil {
			grades[i] = outline.Grade(seen[2*i], seen[2*i+1])
		}
	}
	return grades, ctx.Err()
}

// outlines is what is seen in contents: first by what git has, then of those that it
// does not have by what lies in the work tree, if it is that.
func (g grader) outlines(ctx context.Context, past specPast, shapes []spec.Shape) ([]*outline.Outline, error) {
	seen, err := past.Outlines(ctx, shapes)
	if err != nil {
		return nil, err
	}
	var paths []repo.Path
	var at []int
	for i, o := range seen {
		// Those that it was written from lie nowhere else.
		if o == nil && i%2 == 1 && seen[i-1] != nil {
			paths, at = append(paths, shapes[i].Path), append(at, i)
		}
	}
	if len(paths) == 0 {
		return seen, nil
	}
	err = g.w.files.Bytes(ctx, paths, outline.MaxBytes, func(k int, b []byte, err error) {
		shape := shapes[at[k]]
		stored := past.asStored(b, shape.ID)
		if err != nil || stored == nil {
			return
		}
		if o, err := outline.Of(shape.Path, stored); err == nil {
			seen[at[k]] = o
		}
	})
	return seen, err
}
