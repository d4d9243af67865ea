package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/survey"
)

// A commitTree is the tree of a commit, read from git's objects alone.
type commitTree struct {
	w      *workspace
	commit repo.ID
}

// Commit is the commit itself.
func (t *commitTree) Commit() repo.ID { return t.commit }

// Files lists what the commit has. What kind a file is, its name alone must tell.
func (t *commitTree) Files(ctx context.Context) ([]survey.File, error) {
	list, err := t.w.git.FilesAt(ctx, t.commit)
	if err != nil {
		return nil, err
	}
	files := make([]survey.File, len(list))
	for i, f := range list {
		kind := t.w.files.KindByName(f.Path)
		switch f.Mode {
		case repo.Symlink:
			kind = repo.KindSymlink
		case repo.Gitlink:
			kind = repo.KindGitlink
		default:
		}
		files[i] = survey.File{
			Path: f.Path, ID: f.ID, Size: f.Size, Kind: kind, Excluded: t.w.cfg.Registry.Excluded(f.Path, kind, f.Size),
		}
	}
	slices.SortFunc(files, func(a, b survey.File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return files, nil
}

// Read reads a file's content from git.
func (t *commitTree) Read(ctx context.Context, f *survey.File, most int) ([]byte, error) {
	if f.Size > int64(most) {
		return nil, fmt.Errorf("read %s: %d bytes, more than %d", f.Path, f.Size, most)
	}
	found, err := t.w.git.Blobs(ctx, []repo.ID{f.ID})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Outlines reads the contents from git.
func (t *commitTree) Outlines(ctx context.Context, files []*survey.File) ([]*outline.Outline, error) {
	return t.w.outlines(ctx, files, func(which []int, see func(k int, content []byte)) error {
		for k, i := range which {
			if files[i].Size > outline.MaxBytes {
				continue
			}
			b, err := t.w.git.Blobs(ctx, []repo.ID{files[i].ID})
			if err != nil {
				return err
			}
			see(k, b[0])
		}
		return nil
	})
}

// Summaries returns what was written about the contents.
func (t *commitTree) Summaries(ctx context.Context, files []*survey.File) ([]survey.Summary, error) {
	return t.w.summaries(ctx, files, func(f *survey.File) (repo.Content, bool) { return repo.Content{ID: f.ID}, true })
}
