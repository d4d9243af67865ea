package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"ken/internal/content"
	"ken/internal/git"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
)

// Spec answers for the specs of the work tree.
func (w *workspace) Spec() *spec.Reader {
	return spec.NewReader(specSource{w.files, w.git, w.specs}, specPast{w.git, w}, specMemo{w.git})
}

// GatePolicy is how strict the repository has its gate.
func (w *workspace) GatePolicy() spec.GatePolicy { return w.cfg.Spec.Gate }

// A specSource is the work tree as specs are read from it.
type specSource struct {
	*content.Tree
	git  *git.Repo
	last *lastSpecs // nil for who reads them once
}

// Specs adds those that are not checked out.
func (s specSource) Specs(ctx context.Context) ([]repo.LoadedFile, repo.StatDigest, error) {
	read := func() ([]repo.LoadedFile, repo.StatDigest, error) { return withSparse(ctx, s.Tree, s.git) }
	if s.last == nil {
		return read()
	}
	return s.last.get(func(l repo.StatDigest) bool { return s.Unchanged(ctx, l) }, read)
}

// lastSpecs are the specs of one work tree as they were last read, for a server, which reads
// them after every change of anything: opening thousands of files takes ten times as long as
// seeing that they are the same.
type lastSpecs struct {
	mu    sync.Mutex
	files []repo.LoadedFile
	look  repo.StatDigest
}

func (l *lastSpecs) get(same func(repo.StatDigest) bool, read func() ([]repo.LoadedFile, repo.StatDigest, error)) ([]repo.LoadedFile, repo.StatDigest, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !same(l.look) {
		files, look, err := read()
		if err != nil {
			return nil, repo.StatDigest{}, err
		}
		l.files, l.look = files, look
	}
	return slices.Clone(l.files), l.look, nil
}

// withSparse returns the specs of a checkout: as they lie there, and those that a sparse
// checkout leaves out as they are in the index. What they look like is then nobody's to
// say.
func withSparse(ctx context.Context, files *content.Tree, g *git.Repo) ([]repo.LoadedFile, repo.StatDigest, error) {
	found, look, err := files.LoadNamed(ctx, spec.Root, spec.FileName)
	if err != nil || !g.Sparse() {
		return found, look, err
	}
	there := make(map[repo.Path]bool, len(found))
	for _, f := range found {
		there[f.Path] = true
	}
	snapshot, err := g.Snapshot(ctx)
	if err != nil {
		return nil, repo.StatDigest{}, err
	}
	var ids []repo.ID
	var paths []repo.Path
	for _, e := range snapshot.Index.Entries {
		if e.Flags.Has(repo.SkipWorktree) && spec.IsSpec(e.Path) && !there[e.Path] && e.Mode.SameType(repo.Regular) {
			ids, paths = append(ids, e.ID), append(paths, e.Path)
		}
	}
	contents, err := g.Blobs(ctx, ids)
	if err != nil {
		return nil, repo.StatDigest{}, err
	}
	for i, p := range paths {
		found = append(found, repo.LoadedFile{Path: p, Content: contents[i], ID: ids[i]})
	}
	return found, repo.StatDigest{}, nil
}

func (s specSource) Tracked(ctx context.Context) ([]repo.Entry, error) {
	snapshot, err := s.git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return snapshot.Index.Entries, nil
}

// IndexStamp goes by the checksum that git puts under its index.
func (s specSource) IndexStamp(context.Context) string { return s.git.IndexStamp() }

// Edited reads what it lists.
func (s specSource) Edited(ctx context.Context, entries []repo.Entry, most int64) (map[repo.Path][]byte, error) {
	paths, err := s.Tree.Edited(ctx, entries)
	if err != nil {
		return nil, err
	}
	read := make([][]byte, len(paths))
	err = s.Bytes(ctx, paths, most, func(i int, content []byte, err error) {
		if err == nil {
			read[i] = append([]byte{}, content...)
		}
	})
	if err != nil {
		return nil, err
	}
	edited := make(map[repo.Path][]byte, len(paths))
	for i, p := range paths {
		edited[p] = read[i]
	}
	return edited, nil
}

// Covered goes by the name alone: what is written by hand, to be run.
func (s specSource) Covered(path repo.Path) bool { return s.KindByName(path) == repo.KindSource }

// A specPast is the history behind it.
type specPast struct {
	*git.Repo
	w *workspace
}

func (s specPast) Mainline(ctx context.Context) (string, repo.ID, error) {
	return s.Repo.Mainline(ctx, s.w.cfg.Spec.Main)
}

func (s specPast) History(ctx context.Context, heads []repo.ID) (spec.History, error) {
	h, err := s.Repo.History(ctx, heads)
	if err != nil {
		return nil, err
	}
	s.w.remarks = append(s.w.remarks, h.Remarks()...)
	return h, nil
}

// Worktrees lists the checkouts with what lies in them.
func (s specPast) Worktrees(ctx context.Context) ([]spec.Worktree, error) {
	list, err := s.Checkouts(ctx)
	if err != nil {
		return nil, err
	}
	trees := make([]spec.Worktree, len(list))
	for i, c := range list {
		trees[i] = spec.Worktree{Name: c.Name, Here: c.Here, Head: c.Head, Err: c.Err}
		if c.Err == nil {
			trees[i].Work = specWork{content.Open(c.Repo.Root(), content.Options{Format: c.Repo.ObjectFormat()}), c.Repo}
		}
	}
	return trees, nil
}

// SpecsAt leaves links out: a link is no spec.
func (s specPast) SpecsAt(ctx context.Context, commit repo.ID) (spec.Set, error) {
	return cachedAnswer(ctx, s, "specs-at", commit.String(), func() (map[repo.Path]repo.ID, bool, error) {
		set, err := s.FilesNamed(ctx, commit, spec.Root, spec.FileName)
		return set, true, err
	})
}

// cachedAnswer returns an answer that depends on commits alone. ask also says whether the
// answer is complete; only then it is cached.
func cachedAnswer[V any](ctx context.Context, s specPast, kind, question string, ask func() (map[repo.Path]V, bool, error)) (map[repo.Path]V, error) {
	view, err := s.HistoryView(ctx)
	if err != nil {
		return nil, err
	}
	answers := s.w.answers()
	key := answers.Key(kind)
	fmt.Fprintf(key, "%q %q", view, question)
	type row struct {
		Path  []byte
		Value V
	}
	var rows []row
	if kept, ok := answers.Load(key); ok && json.Unmarshal(kept, &rows) == nil {
		answer := make(map[repo.Path]V, len(rows))
		for _, r := range rows {
			answer[repo.Path(r.Path)] = r.Value
		}
		return answer, nil
	}
	answer, complete, err := ask()
	if err != nil || !complete {
		return answer, err
	}
	rows = make([]row, 0, len(answer))
	for _, p := range slices.Sorted(maps.Keys(answer)) {
		rows = append(rows, row{[]byte(p), answer[p]})
	}
	if text, err := json.Marshal(rows); err == nil {
		answers.Save(key, text)
	}
	return answer, nil
}

func (s specPast) View(ctx context.Context) (string, error) { return s.HistoryView(ctx) }

func (s specPast) Contents() spec.Contents { return specContents{s.Repo.Contents(), s} }

// specContents caches which paths a merge keeps: git takes long to make a merge.
type specContents struct {
	*git.Contents
	past specPast
}

// MergeKeeps asks git once for two commits.
func (c specContents) MergeKeeps(ctx context.Context, main, branch repo.ID, paths []repo.Path) (map[repo.Path]bool, error) {
	question := fmt.Sprintf("%s %s %q", main, branch, paths)
	return cachedAnswer(ctx, c.past, "merge-keeps", question, func() (map[repo.Path]bool, bool, error) {
		keeps, err := c.Contents.MergeKeeps(ctx, main, branch, paths)
		return keeps, len(keeps) == len(paths), err
	})
}

// Outlines reads contents from git, unless what a grammar saw in them is kept. One that
// git cuts short has none.
func (s specPast) Outlines(ctx context.Context, shapes []spec.Shape) ([]*outline.Outline, error) {
	files := make([]*survey.File, len(shapes))
	for i, shape := range shapes {
		files[i] = &survey.File{Path: shape.Path, ID: shape.ID}
	}
	return s.w.outlines(ctx, files, func(which []int, see func(k int, content []byte)) error {
		ids, places := byContent(files, which)
		return s.EachBlob(ctx, ids, func(i int, content []byte, size int64) {
			if size < 0 || size >= outline.MaxBytes {
				return
			}
			for _, k := range places[ids[i]] {
				see(k, content)
			}
		})
	})
}

func (s specPast) Blob(content []byte) repo.ID { return s.ObjectFormat().Blob(content) }

// Stored allows for line ends that git turns into its own.
func (s specPast) Stored(content []byte, id repo.ID) bool {
	return s.asStored(content, id) != nil
}

// asStored returns the bytes that git stores under id, if content is a file with that id:
// content itself, or content with Unix line ends. It returns nil for any other file.
func (s specPast) asStored(content []byte, id repo.ID) []byte {
	if s.ObjectFormat().Blob(content) == id {
		return append([]byte{}, content...)
	}
	if unix := unixLines(content); s.ObjectFormat().Blob(unix) == id {
		return unix
	}
	return nil
}

func unixLines(content []byte) []byte {
	return bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
}

// A specWork is what lies in one of the checkouts.
type specWork struct {
	*content.Tree
	git *git.Repo
}

// Specs adds those that are not checked out.
func (w specWork) Specs(ctx context.Context) ([]repo.LoadedFile, repo.StatDigest, error) {
	return withSparse(ctx, w.Tree, w.git)
}

// Changed adds to what is staged and untracked the files that were edited since.
// A file that merely was touched is not among them.
func (w specWork) Changed(ctx context.Context, since repo.ID) ([]repo.Path, error) {
	paths, err := w.git.ChangedSince(ctx, since)
	if err != nil {
		return nil, err
	}
	snapshot, err := w.git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	edited, err := w.Edited(ctx, snapshot.Index.Entries)
	if err != nil {
		return nil, err
	}
	paths = append(paths, edited...)
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// A specMemo keeps answers in the work tree's git directory.
type specMemo struct{ git *git.Repo }

func (m specMemo) Load(kind string) []byte { return m.git.LoadMemo(kind) }

// Save keeps nothing where nothing can be kept: the next answer takes longer.
func (m specMemo) Save(kind string, answer []byte) { _ = m.git.SaveMemo(kind, answer) }

// Maker names this very build.
func (m specMemo) Maker() string { return program() }
