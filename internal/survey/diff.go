package survey

import (
	"context"
	"slices"

	"ken/internal/repo"
	"ken/internal/store"
)

// A DirDiff is the difference between a directory and the basis of its summary.
type DirDiff struct {
	Shown ListedDir
	Files []FileDiff
	// Children are the subdirectories with other summaries than in the basis.
	Children []repo.Path
}

// A FileDiff is a file with another content than in the basis of the summary.
type FileDiff struct {
	Path repo.Path
	Old  repo.ID // zero if the file is new
	New  repo.ID // zero if the file is gone
}

// Diff compares a directory with the basis of its summary; nil if the path is no directory of
// tracked files.
func (s *Survey) Diff(ctx context.Context, p repo.Path) (*DirDiff, error) {
	ts, err := s.judgeAndKeep(ctx)
	if err != nil {
		return nil, err
	}
	d, err := ts.find(p)
	if err != nil {
		return nil, nil //nolint:nilerr // the caller reports the path
	}
	st := ts.status[d]
	diff := &DirDiff{Shown: ts.shown(st)}
	if st.Record == nil {
		return diff, nil
	}
	join := func(name []byte) repo.Path {
		if p == "" {
			return repo.Path(name)
		}
		return p + "/" + repo.Path(name)
	}
	now := ts.basis(st)
	old := filesByName(st.Record)
	for _, f := range now.Files {
		before, known := old[string(f.Name)]
		delete(old, string(f.Name))
		if !known || before.ID != f.ID {
			diff.Files = append(diff.Files, FileDiff{join(f.Name), before.ID, f.ID})
		}
	}
	for _, f := range st.Record.Basis.Files {
		if _, absent := old[string(f.Name)]; absent && !st.leftOut(string(f.Name)) {
			diff.Files = append(diff.Files, FileDiff{Path: join(f.Name), Old: f.ID})
		}
	}
	for _, c := range now.Children {
		same := func(o store.BasisChild) bool { return string(o.Name) == string(c.Name) && o.Text == c.Text }
		if !slices.ContainsFunc(st.Record.Basis.Children, same) {
			diff.Children = append(diff.Children, join(c.Name))
		}
	}
	for _, c := range st.Record.Basis.Children {
		named := func(o store.BasisChild) bool { return string(o.Name) == string(c.Name) }
		if !slices.ContainsFunc(now.Children, named) && !st.leftOut(string(c.Name)) {
			diff.Children = append(diff.Children, join(c.Name))
		}
	}
	return diff, nil
}
