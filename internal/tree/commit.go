package tree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/content"
	"ken/internal/english"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/workspace"
)

// CommitTree is the tree of a commit, read from git's objects alone.
type CommitTree struct {
	Sources
	id    repo.ID
	files once[[]repo.File]
}

// NewCommitTree returns the tree of a commit.
func NewCommitTree(opts Sources, id repo.ID) *CommitTree { return &CommitTree{Sources: opts, id: id} }

// Commit returns the id of the commit.
func (t *CommitTree) Commit() repo.ID { return t.id }

// Files lists the files of the commit.
func (t *CommitTree) Files(ctx context.Context) ([]repo.File, error) {
	return t.files.get(func() ([]repo.File, error) { return t.list(ctx) })
}

func (t *CommitTree) list(ctx context.Context) ([]repo.File, error) {
	files, err := t.Workspace.Git.FilesAt(ctx, t.id)
	if err != nil {
		return nil, err
	}
	var unsure []*repo.File
	for i := range files {
		f := &files[i]
		switch f.Mode {
		case repo.Symlink:
			f.Kind = repo.KindSymlink
		case repo.Gitlink:
			f.Kind = repo.KindGitlink
		default:
			f.Kind = t.Workspace.Files.KindByName(f.Path)
			if t.excluded(f) == "" {
				unsure = append(unsure, f)
			}
		}
	}
	if err := t.kinds(ctx, unsure); err != nil {
		return nil, err
	}
	for i := range files {
		files[i].Size = max(0, files[i].Size) // it is -1 if the clone does not have the content
		files[i].Excluded = t.excluded(&files[i])
	}
	slices.SortFunc(files, func(a, b repo.File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return files, nil
}

func (t *CommitTree) excluded(f *repo.File) string {
	return t.Policy.Excluded(f.Path, f.Kind, f.Size)
}

// kinds sets the kinds of files whose names do not exclude them. Their contents may exclude them, as in the work tree. The
// rows of the work tree have the kinds of most contents; kinds reads the others in batches.
func (t *CommitTree) kinds(ctx context.Context, files []*repo.File) error {
	known := make(map[repo.Path]store.FileRow)
	for row, err := range t.Store.Rows(ctx, t.Workspace.Git.Worktree()) {
		if err != nil {
			return err
		}
		known[row.Path] = row
	}
	files = slices.DeleteFunc(files, func(f *repo.File) bool {
		row, ok := known[f.Path]
		if ok = ok && row.Content.ID == f.ID; ok {
			f.Kind = row.Kind
		}
		return ok
	})
	files, err := t.unfiltered(ctx, t.inClone(files), known)
	if err != nil {
		return err
	}
	for len(files) > 0 {
		var ids []repo.ID
		for size := int64(0); len(ids) < len(files) && (len(ids) == 0 || size < commitBatch); {
			f := files[len(ids)]
			ids, size = append(ids, f.ID), size+f.Size
		}
		contents, err := t.Workspace.Git.Blobs(ctx, ids)
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

// inClone returns the files whose contents this clone has. The others get a problem.
func (t *CommitTree) inClone(files []*repo.File) []*repo.File {
	rest := files[:0]
	for _, f := range files {
		if f.Size >= 0 {
			rest = append(rest, f)
			continue
		}
		f.ID, f.Problem = repo.ID{}, workspace.NotInClone
	}
	if n := len(files) - len(rest); n > 0 {
		t.Workspace.Remark(fmt.Sprintf("contents of %s are not in this clone; fetch them: git fetch --refetch --no-filter", english.Count(n, "file")))
	}
	return rest
}

// unfiltered returns the files without a filter between commit and work tree. Summaries of the others were written from
// the bytes that the filter made, and no commit has these bytes. So these files get a problem.
func (t *CommitTree) unfiltered(ctx context.Context, files []*repo.File, known map[repo.Path]store.FileRow) ([]*repo.File, error) {
	if len(files) == 0 {
		return nil, nil
	}
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	attrs, err := t.Workspace.Git.Attributes(ctx, paths)
	if err != nil {
		return nil, err
	}
	rest := files[:0]
	for i, f := range files {
		if !attrs[i].Filtered {
			rest = append(rest, f)
			continue
		}
		f.ID, f.Problem = repo.ID{}, workspace.NotComparable
		if row, ok := known[f.Path]; ok {
			f.Kind = row.Kind
		}
	}
	return rest, nil
}

// commitBatch is the approximate number of bytes in one batch of contents.
const commitBatch = 8 << 20

// Read reads a file's content from git.
func (t *CommitTree) Read(ctx context.Context, f *repo.File, most int) ([]byte, error) {
	if f.Size > int64(most) {
		return nil, fmt.Errorf("read %s: %d bytes, more than %d", f.Path, f.Size, most)
	}
	found, err := t.Workspace.Git.Blobs(ctx, []repo.ID{f.ID})
	if err != nil {
		return nil, err
	}
	// Git returns only the beginning of a large blob, and nothing of a blob that the clone does not have.
	if int64(len(found[0])) != f.Size {
		return nil, fmt.Errorf("read %s: got only %d of %d bytes", f.Path, len(found[0]), f.Size)
	}
	return found[0], nil
}

// Patch has git compare two contents.
func (t *CommitTree) Patch(ctx context.Context, f *repo.File, old repo.ID) (string, error) {
	return patchFrom(ctx, t.Workspace, f, old, func() (string, error) { return t.Workspace.Git.DiffBlobs(ctx, old, f.ID) })
}

// Outlines reads the contents from git.
func (t *CommitTree) Outlines(ctx context.Context, files []*repo.File) ([]workspace.OutlineResult, error) {
	list, err := t.Workspace.Outlines(ctx, files, func(which []int, see func(k int, content []byte)) error {
		for k, i := range which {
			if files[i].Size > outline.MaxBytes {
				continue
			}
			b, err := t.Workspace.Git.Blobs(ctx, []repo.ID{files[i].ID})
			if err != nil {
				return err
			}
			see(k, b[0])
		}
		return nil
	})
	return asOutlined(list), err
}

// asOutlined returns outlines without errors.
func asOutlined(list []*outline.Outline) []workspace.OutlineResult {
	out := make([]workspace.OutlineResult, len(list))
	for i, o := range list {
		out[i].Outline = o
	}
	return out
}

// Summaries returns the summaries of the contents.
func (t *CommitTree) Summaries(ctx context.Context, files []*repo.File) ([]workspace.Summary, error) {
	return summaries(ctx, t.records(), files, func(f *repo.File) (repo.Content, bool) { return repo.Content{ID: f.ID}, true })
}
