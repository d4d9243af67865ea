package app

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"ken/internal/find"
	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/survey"
)

// A findTree gives find the files of a tree and the history behind it.
type findTree struct {
	survey.Tree
	w      *workspace
	listed map[repo.Path]*survey.File // nil until the files are listed
	files  []find.File
	stale  map[repo.Path]bool // files whose summary is of another content
	behind bool               // another process is updating the index: it may be of an older tree
}

// State verifies the work tree and names the rows that its list of files is made from.
func (t *findTree) State(ctx context.Context) (string, error) {
	if work, ok := t.Tree.(*surveyTree); ok {
		return work.rowsName(ctx)
	}
	return "", nil
}

// Files lists the files with the summaries that are fresh.
func (t *findTree) Files(ctx context.Context) ([]find.File, error) {
	if t.listed != nil {
		return t.files, nil
	}
	files, err := t.Tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	listed := make(map[repo.Path]*survey.File, len(files))
	all := make([]*survey.File, len(files))
	for i := range files {
		all[i] = &files[i]
		listed[files[i].Path] = all[i]
	}
	said, err := t.Summaries(ctx, all)
	if err != nil {
		return nil, err
	}
	t.stale = make(map[repo.Path]bool)
	list := make([]find.File, 0, len(files))
	for i, f := range all {
		if said[i].State == fresh.Stale {
			t.stale[f.Path] = true
		}
		if f.Problem != "" {
			continue
		}
		one := find.File{Path: f.Path, ID: f.ID, Kind: f.Kind, Size: f.Size}
		if said[i].State == fresh.Fresh {
			one.Note = said[i].Text
		}
		list = append(list, one)
	}
	t.listed = listed
	t.files = list
	return list, nil
}

// factsAtOnce is how many files are read before the first of them is stored.
const factsAtOnce = 256

// Facts reads the files some at a time, so that not all of them are in memory.
func (t *findTree) Facts(ctx context.Context, files []find.File, see func(find.File, find.Facts, []byte) error) error {
	for some := range slices.Chunk(files, factsAtOnce) {
		listed := t.of(some)
		contents, err := t.contents(ctx, listed)
		if err != nil {
			return err
		}
		outlines, refs, err := t.w.facts(ctx, listed, parseAtOnce(contents))
		if err != nil {
			return err
		}
		for i, f := range some {
			if err := see(f, find.Facts{Outline: outlines[i], References: refs[i]}, contents[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// References returns what is kept of the references, and reads only files of which nothing is
// kept.
func (t *findTree) References(ctx context.Context, files []find.File, see func(find.File, *outline.References) error) error {
	for some := range slices.Chunk(files, factsAtOnce) {
		listed := t.of(some)
		refs, err := t.w.references(ctx, listed, func(which []int, seeContent func(int, []byte)) error {
			missing := make([]*survey.File, len(which))
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

func (t *findTree) of(files []find.File) []*survey.File {
	listed := make([]*survey.File, len(files))
	for i, f := range files {
		listed[i] = t.listed[f.Path]
	}
	return listed
}

// parseAtOnce hands contents to a parser on all cores.
func parseAtOnce(contents [][]byte) readContents {
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

// contents reads files of at most find.MaxBytes; the others are nil.
func (t *findTree) contents(ctx context.Context, files []*survey.File) ([][]byte, error) {
	contents := make([][]byte, len(files))
	if _, ok := t.Tree.(*commitTree); ok {
		ids := make([]repo.ID, len(files))
		for i, f := range files {
			ids[i] = f.ID
		}
		err := t.w.git.EachBlob(ctx, ids, func(i int, b []byte, size int64) {
			if size <= find.MaxBytes {
				contents[i] = append([]byte{}, b...)
			}
		})
		return contents, err
	}
	past := specPast{t.w.git, t.w}
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	err := t.w.files.Bytes(ctx, paths, find.MaxBytes, func(i int, b []byte, err error) {
		if err == nil {
			contents[i] = past.asStored(b, files[i].ID)
		}
	})
	return contents, err
}

// Head is the commit that the tree belongs to.
func (t *findTree) Head(ctx context.Context) (repo.ID, error) {
	if work, ok := t.Tree.(*surveyTree); ok {
		if err := work.verify(ctx); err != nil {
			return repo.ID{}, err
		}
	}
	return t.Commit(), nil
}

func (t *findTree) Recent(ctx context.Context, head repo.ID, limit int) ([]repo.ID, bool, error) {
	return t.w.git.Recent(ctx, head, limit)
}

func (t *findTree) Commits(ctx context.Context, ids []repo.ID, f func(repo.Commit) error) error {
	return t.w.git.Commits(ctx, ids, f)
}

// Read returns the content of a file, nil if it is too large or not the one that was listed.
func (t *findTree) Read(ctx context.Context, p repo.Path) []byte {
	f := t.listed[p]
	if work, ok := t.Tree.(*surveyTree); ok && t.listed == nil {
		f, _ = work.one(ctx, p) // an error is the same as no content
	}
	if f == nil {
		return nil
	}
	contents, err := t.contents(ctx, []*survey.File{f})
	if err != nil {
		return nil
	}
	return contents[0]
}

// searchIndexFile is where the index of a worktree is.
func (w *workspace) searchIndexFile() string {
	return filepath.Join(w.git.GitDir(), "ken", "cache", "search.db")
}

// hasSearchIndex reports whether an index has been built.
func (w *workspace) hasSearchIndex(ctx context.Context) bool {
	x := searchindex.OpenExisting(ctx, w.searchIndexFile())
	if x == nil {
		return false
	}
	n, err := x.Size(ctx)
	return errors.Join(err, x.Close()) == nil && n > 0
}

// askIndex brings the search index up to date with the work tree, or with the commit that at
// names, lists the files and calls ask. The remarks say what limits the answer; cut says that
// the clone is shallow.
func (w *workspace) askIndex(ctx context.Context, at string, ask func(x *searchindex.Index, t *findTree, cut bool) error) (remarks []string, err error) {
	return w.askIndexOnly(ctx, at, func(x *searchindex.Index, t *findTree, cut bool) error {
		if _, err := t.Files(ctx); err != nil {
			return err
		}
		return ask(x, t, cut)
	})
}

// askIndexOnly is askIndex for questions that the index answers by itself: it does not list
// the files if they are as they were at the last update.
func (w *workspace) askIndexOnly(ctx context.Context, at string, ask func(x *searchindex.Index, t *findTree, cut bool) error) (remarks []string, err error) {
	tree := &findTree{w: w}
	update := (*searchindex.Index).Update
	if at == "" {
		tree.Tree = w.workTree()
	} else {
		commit, err := w.commitOf(ctx, at)
		if err != nil {
			return nil, err
		}
		if w.bare {
			if err := w.configAt(ctx, commit); err != nil {
				return nil, err
			}
		}
		tree.Tree = &commitTree{w: w, commit: commit}
		update = (*searchindex.Index).Try
	}
	x, err := searchindex.Open(ctx, w.searchIndexFile())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	cut := false
	err = update(x, ctx, func(writer *searchindex.Writer) error {
		if cut, err = find.Update(ctx, writer, tree); err != nil || at == "" {
			return err
		}
		return ask(x, tree, cut)
	})
	if errors.Is(err, searchindex.ErrBusy) && at == "" && w.hasSearchIndex(ctx) {
		tree.behind = true
		remarks = append(remarks, "another process is updating the search index; this answer is from the index as it was before")
		err = nil
	}
	if err == nil && at == "" {
		err = ask(x, tree, cut)
	}
	return remarks, err
}

// Find searches the work tree, or the commit that at names.
func (w *workspace) Find(ctx context.Context, q find.Query, at string) (answer *find.Answer, err error) {
	shallow := false
	remarks, err := w.askIndexOnly(ctx, at, func(x *searchindex.Index, t *findTree, cut bool) (err error) {
		shallow = cut
		if answer, err = find.Search(ctx, x, t, q); err != nil {
			return err
		}
		gone, err := w.removedWords(ctx, t, q.Words)
		answer.Remarks = append(answer.Remarks, gone...)
		return err
	})
	if err != nil {
		return nil, err
	}
	if at != "" {
		commit, err := w.commitOf(ctx, at)
		if err != nil {
			return nil, err
		}
		answer.At = commit.String()
	}
	if shallow {
		remarks = append(remarks, "the clone is shallow: older commits are not searched (git fetch --unshallow)")
	}
	answer.Remarks = append(answer.Remarks, remarks...)
	return answer, nil
}
