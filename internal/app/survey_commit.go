package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ken/internal/content"
	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/term"
)

// A commitTree is the tree of a commit, read from git's objects alone.
type commitTree struct {
	w      *workspace
	commit repo.ID

	once  sync.Once
	files []survey.File
	err   error
}

// Commit is the commit itself.
func (t *commitTree) Commit() repo.ID { return t.commit }

// Files lists what the commit has.
func (t *commitTree) Files(ctx context.Context) ([]survey.File, error) {
	t.once.Do(func() { t.files, t.err = t.list(ctx) })
	return t.files, t.err
}

func (t *commitTree) list(ctx context.Context) ([]survey.File, error) {
	list, err := t.w.git.FilesAt(ctx, t.commit)
	if err != nil {
		return nil, err
	}
	files := make([]survey.File, len(list))
	var unsure []*survey.File
	for i, f := range list {
		files[i] = survey.File{Path: f.Path, ID: f.ID, Size: f.Size, Kind: t.w.files.KindByName(f.Path)}
		switch f.Mode {
		case repo.Symlink:
			files[i].Kind = repo.KindSymlink
		case repo.Gitlink:
			files[i].Kind = repo.KindGitlink
		default:
			if t.excluded(&files[i]) == "" {
				unsure = append(unsure, &files[i])
			}
		}
	}
	if err := t.kinds(ctx, unsure); err != nil {
		return nil, err
	}
	for i := range files {
		files[i].Size = max(0, files[i].Size) // of what is not here it is not known
		files[i].Excluded = t.excluded(&files[i])
	}
	slices.SortFunc(files, func(a, b survey.File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return files, nil
}

func (t *commitTree) excluded(f *survey.File) string {
	return t.w.cfg.Registry.Excluded(f.Path, f.Kind, f.Size)
}

// kinds finds what kinds files are of whose names do not exclude them: their contents
// may, as in the work tree. Most of them are there still, and were looked at; the
// others are read, some at a time.
func (t *commitTree) kinds(ctx context.Context, files []*survey.File) error {
	known := make(map[repo.Path]store.FileRow)
	for row, err := range t.w.store.Rows(ctx, t.w.git.Worktree()) {
		if err != nil {
			return err
		}
		known[row.Path] = row
	}
	files = slices.DeleteFunc(files, func(f *survey.File) bool {
		row, ok := known[f.Path]
		if ok = ok && row.Content.ID == f.ID; ok {
			f.Kind = row.Kind
		}
		return ok
	})
	files, err := t.unfiltered(ctx, t.here(files), known)
	if err != nil {
		return err
	}
	for len(files) > 0 {
		var ids []repo.ID
		for size := int64(0); len(ids) < len(files) && (len(ids) == 0 || size < commitBatch); {
			f := files[len(ids)]
			ids, size = append(ids, f.ID), size+f.Size
		}
		contents, err := t.w.git.Blobs(ctx, ids)
		if err != nil {
			return err
		}
		for i, b := range contents {
			files[i].Kind = content.KindOf(files[i].Path, b)
		}
		files = files[len(ids):]
	}
	return nil
}

// here returns the files whose contents this clone has. What others are is not known.
func (t *commitTree) here(files []*survey.File) []*survey.File {
	rest := files[:0]
	for _, f := range files {
		if f.Size >= 0 {
			rest = append(rest, f)
			continue
		}
		f.ID, f.Problem = repo.ID{}, survey.NotHere
	}
	if n := len(files) - len(rest); n > 0 {
		t.w.remarks = append(t.w.remarks, fmt.Sprintf("contents of %s are not in this clone; fetch them: git fetch --refetch --no-filter", term.Count(n, "file")))
	}
	return rest
}

// unfiltered returns the files that no filter stands between a commit and a work tree of.
// What is said of the others was written from the bytes that a filter made, which no
// commit has: how they differ is not known.
func (t *commitTree) unfiltered(ctx context.Context, files []*survey.File, known map[repo.Path]store.FileRow) ([]*survey.File, error) {
	if len(files) == 0 {
		return nil, nil
	}
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	attrs, err := t.w.git.Attributes(ctx, paths)
	if err != nil {
		return nil, err
	}
	rest := files[:0]
	for i, f := range files {
		if !attrs[i].Filtered {
			rest = append(rest, f)
			continue
		}
		f.ID, f.Problem = repo.ID{}, survey.Incomparable
		if row, ok := known[f.Path]; ok {
			f.Kind = row.Kind
		}
	}
	return rest, nil
}

// commitBatch is about how many bytes of contents are read at a time.
const commitBatch = 8 << 20

// Read reads a file's content from git.
func (t *commitTree) Read(ctx context.Context, f *survey.File, most int) ([]byte, error) {
	if f.Size > int64(most) {
		return nil, fmt.Errorf("read %s: %d bytes, more than %d", f.Path, f.Size, most)
	}
	found, err := t.w.git.Blobs(ctx, []repo.ID{f.ID})
	if err != nil {
		return nil, err
	}
	// Of a large blob, or of one that is not here, there is less.
	if int64(len(found[0])) != f.Size {
		return nil, fmt.Errorf("read %s: got only %d of %d bytes", f.Path, len(found[0]), f.Size)
	}
	return found[0], nil
}

// Patch has git compare two contents.
func (t *commitTree) Patch(ctx context.Context, f *survey.File, old repo.ID) (string, error) {
	return t.w.patchFrom(ctx, f, old, func() (string, error) { return t.w.git.DiffBlobs(ctx, old, f.ID) })
}

// Outlines reads the contents from git.
func (t *commitTree) Outlines(ctx context.Context, files []*survey.File) ([]survey.Seen, error) {
	list, err := t.w.outlines(ctx, files, func(which []int, see func(k int, content []byte)) error {
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
	return seen(list), err
}

// seen is what a tree says of outlines that it has from the contents that it listed.
func seen(list []*outline.Outline) []survey.Seen {
	out := make([]survey.Seen, len(list))
	for i, o := range list {
		out[i].Outline = o
	}
	return out
}

// Summaries returns what was written about the contents.
func (t *commitTree) Summaries(ctx context.Context, files []*survey.File) ([]survey.Summary, error) {
	return t.w.summaries(ctx, files, func(f *survey.File) (repo.Content, bool) { return repo.Content{ID: f.ID}, true })
}

// commitOf returns the commit that somebody calls rev.
func (w *workspace) commitOf(ctx context.Context, rev string) (repo.ID, error) {
	commit, ok, err := w.git.Resolve(ctx, rev)
	if err == nil && !ok {
		err = &fault.Error{Kind: fault.Usage, Hint: "check it with: git log -1 " + fault.Quote(rev), Err: fmt.Errorf("no such commit: %q", rev)}
	}
	return commit, err
}
