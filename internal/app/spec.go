package app

import (
	"bytes"
	"context"

	"ken/internal/content"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/spec"
)

// Spec answers for the specs of the work tree.
func (w *workspace) Spec() *spec.Reader {
	return spec.NewReader(specSource{w.files, w.git}, specPast{w.git, w})
}

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

// A specPast is the history behind it.
type specPast struct {
	*git.Repo
	w *workspace
}

func (s specPast) Mainline(ctx context.Context) (string, repo.ID, error) {
	return s.Repo.Mainline(ctx, s.w.mainline)
}

func (s specPast) History(ctx context.Context, heads []repo.ID) (spec.History, error) {
	h, err := s.Repo.History(ctx, heads)
	if err != nil {
		return nil, err
	}
	s.w.remarks = append(s.w.remarks, h.Remarks()...)
	return h, nil
}

func (s specPast) Contents() spec.Contents { return s.Repo.Contents() }

// Stored allows for line ends that git turns into its own.
func (s specPast) Stored(content []byte, id repo.ID) bool {
	return s.ObjectFormat().Blob(content) == id ||
		s.ObjectFormat().Blob(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))) == id
}
