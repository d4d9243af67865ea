package find

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"sync"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/tree"
	"ken/internal/workspace"
)

// An IndexedTree is the work tree or a commit, with the summaries of its files and the history behind it. It implements
// [Tree].
type IndexedTree struct {
	workspace.Tree
	Work      *tree.WorkTree // the same tree; nil for a commit
	Workspace *workspace.Workspace
	// IndexBusy is set if another process is updating the index, which may be of an older tree.
	IndexBusy bool
	// Shallow is set if the clone is shallow, so that the index does not have older commits.
	Shallow bool

	listed    map[repo.Path]*repo.File        // nil until the files are listed
	files     []repo.File                     // those without a problem
	summaries map[repo.Path]workspace.Summary // those that are fresh or stale
}

// NewWorkTree returns the work tree.
func NewWorkTree(work *tree.WorkTree) *IndexedTree {
	return &IndexedTree{Tree: work, Work: work, Workspace: work.Workspace}
}

// newCommitTree returns the tree of a commit.
func newCommitTree(commit *tree.CommitTree) *IndexedTree {
	return &IndexedTree{Tree: commit, Workspace: commit.Workspace}
}

// Listed returns a file of the tree, nil if it has none at the path. Files must have been called.
func (t *IndexedTree) Listed(p repo.Path) *repo.File { return t.listed[p] }

// Paths returns the paths of all files, sorted. Files must have been called.
func (t *IndexedTree) Paths() []repo.Path { return slices.Sorted(maps.Keys(t.listed)) }

// Stale reports whether the summary of a file is of another content. Files must have been called.
func (t *IndexedTree) Stale(p repo.Path) bool { return t.summaries[p].State == fresh.Stale }

// Summary returns the summary of a file if it is fresh, otherwise "". Files must have been called.
func (t *IndexedTree) Summary(p repo.Path) string {
	s := t.summaries[p]
	if s.State != fresh.Fresh {
		return ""
	}
	return s.Text
}

// State verifies the work tree and returns the key of the rows that Files is made from; see [tree.WorkTree.RowsKey]. It is
// "" for a commit.
func (t *IndexedTree) State(ctx context.Context) (string, error) {
	if t.Work == nil {
		return "", nil
	}
	return t.Work.RowsKey(ctx)
}

// Files lists the files whose content is known.
func (t *IndexedTree) Files(ctx context.Context) ([]repo.File, error) {
	if t.listed != nil {
		return t.files, nil
	}
	files, err := t.Tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	listed := make(map[repo.Path]*repo.File, len(files))
	all := make([]*repo.File, len(files))
	for i := range files {
		all[i] = &files[i]
		listed[files[i].Path] = all[i]
	}
	summaries, err := t.Summaries(ctx, all)
	if err != nil {
		return nil, err
	}
	t.summaries = make(map[repo.Path]workspace.Summary)
	for i, s := range summaries {
		if s.State == fresh.Fresh || s.State == fresh.Stale {
			t.summaries[all[i].Path] = s
		}
	}
	t.listed = listed
	t.files = slices.DeleteFunc(slices.Clone(files), func(f repo.File) bool { return f.Problem != "" })
	return t.files, nil
}

// Unread lists the files whose content is not known, with the problem. Files must have been called.
func (t *IndexedTree) Unread() []repo.File {
	var list []repo.File
	for _, p := range t.Paths() {
		if f := t.listed[p]; f.Problem != "" {
			list = append(list, *f)
		}
	}
	return list
}

// factsAtOnce limits how many files are read before they are stored.
const factsAtOnce = 256

// Facts reads the files in batches, so that not all of them are in memory.
func (t *IndexedTree) Facts(ctx context.Context, files []repo.File, see func(repo.File, Facts, []byte) error) error {
	for some := range slices.Chunk(files, factsAtOnce) {
		listed := t.of(some)
		contents, err := t.contents(ctx, listed)
		if err != nil {
			return err
		}
		outlines, refs, err := t.Workspace.OutlinesAndReferences(ctx, listed, parseAtOnce(contents))
		if err != nil {
			return err
		}
		for i, f := range some {
			if err := see(f, Facts{Outline: outlines[i], References: refs[i]}, contents[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// References calls see with the references of each file. It reads only the files whose references are not stored.
func (t *IndexedTree) References(ctx context.Context, files []repo.File, see func(repo.File, *outline.References) error) error {
	for some := range slices.Chunk(files, factsAtOnce) {
		listed := t.of(some)
		refs, err := t.Workspace.References(ctx, listed, func(which []int, seeContent func(int, []byte)) error {
			missing := make([]*repo.File, len(which))
			for k, i := range which {
				missing[k] = listed[i]
			}
			contents, err := t.contents(ctx, missing)
			if err != nil {
				return err
			}
			return parseAtOnce(contents)(indexes(len(which)), seeContent)
		})
		if err != nil {
			return err
		}
		for i, f := range some {
			if err := see(f, refs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func indexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func (t *IndexedTree) of(files []repo.File) []*repo.File {
	listed := make([]*repo.File, len(files))
	for i, f := range files {
		listed[i] = t.listed[f.Path]
	}
	return listed
}

// parseAtOnce parses contents on all cores.
func parseAtOnce(contents [][]byte) workspace.ReadContents {
	return func(which []int, see func(int, []byte)) error {
		var wg sync.WaitGroup
		next := make(chan int)
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				for k := range next {
					see(k, contents[which[k]])
				}
			})
		}
		for k, i := range which {
			if contents[i] != nil {
				next <- k
			}
		}
		close(next)
		wg.Wait()
		return nil
	}
}

// contents reads files of at most MaxBytes; the others are nil.
func (t *IndexedTree) contents(ctx context.Context, files []*repo.File) ([][]byte, error) {
	contents := make([][]byte, len(files))
	if t.Work == nil {
		ids := make([]repo.ID, len(files))
		for i, f := range files {
			ids[i] = f.ID
		}
		return t.Blobs(ctx, ids)
	}
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	absent := make([]bool, len(files))
	err := t.Workspace.Files.Bytes(ctx, paths, MaxBytes, func(i int, b []byte, err error) {
		if err == nil {
			contents[i] = t.Workspace.BytesOfBlob(b, files[i].ID)
		}
		absent[i] = errors.Is(err, fs.ErrNotExist)
	})
	if err != nil || !t.Workspace.Git.Sparse() {
		return contents, err
	}
	err = t.Work.ReadSparse(ctx, files, indexes(len(files)), func(i int, b []byte) {
		if len(b) <= MaxBytes {
			contents[i] = bytes.Clone(b)
		}
	}, absent)
	return contents, err
}

// Recent lists the newest commits that head reaches.
func (t *IndexedTree) Recent(ctx context.Context, head repo.ID, limit int) ([]repo.ID, bool, error) {
	return t.Workspace.Git.Recent(ctx, head, limit)
}

// Commits calls f with each of some commits.
func (t *IndexedTree) Commits(ctx context.Context, ids []repo.ID, f func(repo.Commit) error) error {
	return t.Workspace.Git.Commits(ctx, ids, f)
}

// AuthorDate returns when the author of a commit wrote it.
func (t *IndexedTree) AuthorDate(ctx context.Context, commit repo.ID) (string, error) {
	return t.Workspace.Git.AuthorDate(ctx, commit)
}

// ContentsAt returns the content ids of files in commits.
func (t *IndexedTree) ContentsAt(ctx context.Context, places []repo.CommitPath) ([]repo.ID, error) {
	return t.Workspace.Git.Contents().At(ctx, places)
}

// Blobs returns contents of git of at most MaxBytes; the others are nil.
func (t *IndexedTree) Blobs(ctx context.Context, ids []repo.ID) ([][]byte, error) {
	contents := make([][]byte, len(ids))
	err := t.Workspace.Git.EachBlob(ctx, ids, func(i int, b []byte, size int64) {
		if size >= 0 && size <= MaxBytes {
			contents[i] = append([]byte{}, b...)
		}
	})
	return contents, err
}

// Read returns the content of a file; that of a symbolic link is its target. It returns nil if the file is too large or
// no longer has the listed content.
func (t *IndexedTree) Read(ctx context.Context, p repo.Path) []byte {
	f := t.listed[p]
	if t.listed == nil && t.Work != nil {
		f, _ = t.Work.File(ctx, p) // an error counts as no content
	}
	if f == nil {
		return nil
	}
	if f.Kind == repo.KindSymlink && t.Work != nil {
		target, err := t.Workspace.Files.LinkTarget(ctx, p)
		if err != nil {
			return nil
		}
		return t.Workspace.BytesOfBlob(target, f.ID)
	}
	contents, err := t.contents(ctx, []*repo.File{f})
	if err != nil {
		return nil
	}
	return contents[0]
}
