package registry

import (
	"context"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/workspace"
)

// A ContentChange is a path whose summary was written from other content than the path has now.
type ContentChange struct {
	Path     repo.Path
	From, To repo.ID
}

// Grades compares the outlines of the two contents of each change. It finds a content in git or in the work tree. The
// grade is content if one of the two is not found. The only error is that of a context that is done.
func Grades(ctx context.Context, w *workspace.Workspace, changes []ContentChange) ([]fresh.Grade, error) {
	grades := make([]fresh.Grade, len(changes))
	outlines, err := changeOutlines(ctx, w, changes)
	for i := range changes {
		grades[i] = fresh.GradeContent
		if err == nil {
			grades[i] = outline.Grade(outlines[2*i], outlines[2*i+1])
		}
	}
	return grades, ctx.Err()
}

// changeOutlines returns two outlines for each change: of the old and of the new content.
func changeOutlines(ctx context.Context, w *workspace.Workspace, changes []ContentChange) ([]*outline.Outline, error) {
	files := make([]*repo.File, 0, 2*len(changes))
	for _, c := range changes {
		files = append(files, &repo.File{Path: c.Path, ID: c.From}, &repo.File{Path: c.Path, ID: c.To})
	}
	outlines, err := w.BlobOutlines(ctx, files)
	if err != nil {
		return nil, err
	}
	// Git may not have the new content yet. An old content that git does not have is lost.
	var paths []repo.Path
	var which []int
	for i := range changes {
		if outlines[2*i] != nil && outlines[2*i+1] == nil {
			paths = append(paths, changes[i].Path)
			which = append(which, i)
		}
	}
	if len(paths) == 0 {
		return outlines, nil
	}
	err = w.Files.Bytes(ctx, paths, outline.MaxBytes, func(k int, content []byte, err error) {
		change := changes[which[k]]
		stored := w.BytesOfBlob(content, change.To)
		if err != nil || stored == nil {
			return
		}
		if o, err := outline.Parse(change.Path, stored); err == nil {
			outlines[2*which[k]+1] = o
		}
	})
	return outlines, err
}

// markUncounted adds MarkUncounted to the marks of a grade that the policy does not count.
func (r *Registry) markUncounted(m store.FileMarks) store.FileMarks {
	if !r.opts.Policy.Counts(m.Grade()) {
		m |= store.MarkUncounted
	}
	return m
}
