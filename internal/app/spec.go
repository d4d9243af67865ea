package app

import (
	"context"

	"ken/internal/content"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/spec"
)

// Spec answers for the specs of the work tree.
func (w *workspace) Spec() *spec.Reader { return spec.NewReader(specSource{w.files, w.git}) }

// A specSource is the work tree as specs are read from it.
type specSource struct {
	*content.Tree
	git *git.Repo
}

func (s specSource) Tracked(ctx context.Context) ([]repo.Path, error) {
	snapshot, err := s.git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var paths []repo.Path
	for _, e := range snapshot.Index.Entries {
		paths = append(paths, e.Path)
	}
	return paths, nil
}

// Covered goes by the name alone: what is written by hand, to be run.
func (s specSource) Covered(path repo.Path) bool { return s.KindByName(path) == repo.KindSource }
