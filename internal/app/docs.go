package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"ken/internal/cli"
	"ken/internal/content"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/repo"
)

// Docs judges the documents of the work tree, unless nothing has changed since.
func (w *workspace) Docs(ctx context.Context, opts cli.DocsOptions) (*docs.Report, error) {
	snapshot, err := w.git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	missed, err := undocumented(snapshot, opts.Paths)
	if err != nil {
		return nil, err
	}
	rep, err := w.judgeDocs(ctx, snapshot, opts)
	if err != nil {
		return nil, err
	}
	rep.Missed = missed
	for i := range snapshot.Index.Entries {
		p := snapshot.Index.Entries[i].Path
		if docs.UnreadForm(p) && (opts.Paths == nil || slices.ContainsFunc(opts.Paths, p.Under)) {
			rep.Passed++
		}
	}
	return rep, nil
}

// undocumented returns the paths at which nothing is a document. One at which nothing is
// tracked was mistyped.
func undocumented(s *repo.Snapshot, paths []repo.Path) (none []repo.Path, err error) {
	for _, p := range paths {
		tracked, document := p == "", false
		for i := range s.Index.Entries {
			if e := &s.Index.Entries[i]; e.Path.Under(p) {
				tracked = true
				document = document || e.Mode.SameType(repo.Regular) && docs.IsDocument(e.Path)
			}
		}
		if !tracked {
			return nil, &fault.Error{
				Kind: fault.Usage, Hint: "git ls-files; a new document is judged after: git add " + fault.Quote(string(p)),
				Err: fmt.Errorf("git tracks nothing at %s", p),
			}
		}
		if !document {
			none = append(none, p)
		}
	}
	return none, nil
}

func (w *workspace) judgeDocs(ctx context.Context, snapshot *repo.Snapshot, opts cli.DocsOptions) (*docs.Report, error) {
	ground, edited, err := w.docsGround(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	if kept := w.keptDocs(ctx, ground); kept != nil && !opts.Holding {
		w.remarks = append(w.remarks, kept.Remarks...)
		if opts.Paths != nil {
			return kept.Report.Only(opts.Paths), nil
		}
		return kept.Report, nil
	}
	tree := &docsTree{w: w, snapshot: snapshot, edited: edited}
	past := &docsPast{Repo: w.git, head: snapshot.Head.Commit, contents: w.git.Contents()}
	rep, err := docs.Judge(ctx, tree, past, docs.Options{Paths: opts.Paths, OK: w.cfg.Docs.OK, Exclude: w.cfg.Docs.Exclude})
	w.remarks = append(w.remarks, past.remarks...)
	// What could not be had this time may be there the next, and nothing else differ.
	if err == nil && opts.Paths == nil && !past.lacks && !tree.lacks.Load() {
		w.keepDocs(ctx, ground, tree.looked, keptDocs{Report: rep, Remarks: past.remarks})
	}
	return rep, err
}

// FixDocs puts right what merely moved. A document that cannot be written keeps no other
// from it.
func (w *workspace) FixDocs(ctx context.Context, rep *docs.Report, dry bool) (docs.Fixed, error) {
	var all docs.Fixed
	var failed []error
	shown := rep.Shown()
	for len(shown) > 0 {
		p, n := shown[0].File, 1
		for n < len(shown) && shown[n].File == p {
			n++
		}
		fixed, err := w.fixDoc(ctx, p, shown[:n], dry)
		if err != nil {
			failed = append(failed, err)
		}
		all.Edits, all.Left = append(all.Edits, fixed.Edits...), append(all.Left, fixed.Left...)
		if shown = shown[n:]; ctx.Err() != nil {
			break
		}
	}
	return all, errors.Join(failed...)
}

// fixTries is how often a document that somebody else is writing to is read again.
const fixTries = 5

// fixDoc puts one document right, of which those mentions are listed. Where it was changed
// since it was judged, that which still stands in its place is.
func (w *workspace) fixDoc(ctx context.Context, p repo.Path, listed []docs.Judged, dry bool) (fixed docs.Fixed, err error) {
	if !slices.ContainsFunc(listed, func(j docs.Judged) bool { return j.Verdict == docs.Moved }) {
		return docs.Fixed{Left: listed}, nil
	}
	for range fixTries {
		var before, after []byte
		var failed error
		err = w.files.Bytes(ctx, []repo.Path{p}, docs.MaxBytes, func(_ int, b []byte, err error) {
			if failed = err; err == nil {
				before = bytes.Clone(b)
				after, fixed = docs.Fix(p, before, listed)
			}
		})
		if err == nil {
			err = failed
		}
		if err == nil && len(fixed.Edits) > 0 && !dry {
			err = w.files.Replace(p, before, after)
		}
		if !errors.Is(err, content.ErrChanged) {
			break
		}
	}
	if err != nil {
		return docs.Fixed{Left: listed}, err
	}
	return fixed, nil
}

// A docsTree is the work tree as documents are judged against it.
type docsTree struct {
	w        *workspace
	snapshot *repo.Snapshot
	edited   []bool      // of the index's entries: the file may be otherwise
	looked   []repo.Path // untracked places that had a say
	lacks    atomic.Bool // something could not be read, and not for what it is
}

func (t *docsTree) Files(context.Context) ([]docs.File, error) {
	files := make([]docs.File, len(t.snapshot.Index.Entries))
	for i, e := range t.snapshot.Index.Entries {
		files[i] = docs.File{Path: e.Path, ID: e.ID, Mode: e.Mode, Edited: t.edited[i]}
	}
	return files, nil
}

// Read takes what a sparse checkout leaves out from the index.
func (t *docsTree) Read(ctx context.Context, files []docs.File, most int64, see func(i int, content []byte, err error)) error {
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	tell := func(i int, b []byte, err error) {
		if errors.Is(err, content.ErrTooLarge) {
			err = tooLarge(paths[i], most)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.lacks.Store(true)
		}
		see(i, b, err)
	}
	if !t.w.git.Sparse() {
		return t.w.files.Bytes(ctx, paths, most, tell)
	}
	found, err := t.w.files.Stat(ctx, entriesOf(paths))
	if err != nil {
		return err
	}
	var here []repo.Path
	var ids []repo.ID
	var which, whose []int
	for i, f := range found {
		if f.Presence == repo.Absent && !files[i].ID.IsZero() {
			ids, whose = append(ids, files[i].ID), append(whose, i)
		} else {
			here, which = append(here, paths[i]), append(which, i)
		}
	}
	err = t.w.files.Bytes(ctx, here, most, func(i int, b []byte, err error) { tell(which[i], b, err) })
	if err != nil {
		return err
	}
	return t.w.git.EachBlob(ctx, ids, func(i int, b []byte, size int64) {
		p := paths[whose[i]]
		switch {
		case size < 0:
			t.lacks.Store(true)
			see(whose[i], nil, fmt.Errorf("read %s: it is not checked out: %w", p, docs.ErrAbsent))
		case size > most || size > int64(len(b)):
			see(whose[i], nil, tooLarge(p, min(most, int64(len(b)))))
		default:
			see(whose[i], b, nil)
		}
	})
}

// tooLarge says that a file is not read, unless by its name there is no text in it.
func tooLarge(p repo.Path, most int64) error {
	if content.KindOf(p, nil) == repo.KindBinary {
		return fmt.Errorf("%w: nor is it read to make sure, of more than %d bytes", docs.ErrNotText, most)
	}
	return fmt.Errorf("%w: more than %d bytes", docs.ErrTooLarge, most)
}

func (t *docsTree) Present(ctx context.Context, paths []repo.Path) ([]bool, error) {
	t.looked = append(t.looked, paths...)
	found, err := t.w.files.Stat(ctx, entriesOf(paths))
	there := make([]bool, len(found))
	for i, f := range found {
		// What cannot be looked at may be there.
		there[i] = f.Presence != repo.Absent && f.Presence != repo.Unlooked
	}
	return there, err
}

func entriesOf(paths []repo.Path) []repo.Entry {
	entries := make([]repo.Entry, len(paths))
	for i, p := range paths {
		entries[i].Path = p
	}
	return entries
}

func (t *docsTree) Ignored(ctx context.Context, paths []repo.Path) ([]bool, error) {
	return t.w.git.Ignored(ctx, paths)
}

// A docsPast is the history of HEAD.
type docsPast struct {
	*git.Repo
	head     repo.ID
	contents *git.Contents
	remarks  []string
	lacks    bool // contents were asked for that are not here
}

func (p *docsPast) Head() repo.ID { return p.head }

func (p *docsPast) History(ctx context.Context) (docs.History, error) {
	h, err := p.Repo.History(ctx, []repo.ID{p.head})
	if err != nil {
		return nil, err
	}
	p.remarks = append(p.remarks, h.Remarks()...)
	head, ok := h.Find(p.head)
	if !ok {
		return nil, fmt.Errorf("the history of %s does not have it", p.head.Short())
	}
	lines := h.Parents()
	reached := make([]bool, head+1)
	reached[head] = true
	for n := head; n >= 0; n-- {
		if reached[n] {
			for _, up := range lines.Of(n) {
				reached[up] = true
			}
		}
	}
	return docsHistory{h, reached, lines}, nil
}

func (p *docsPast) At(ctx context.Context, places []repo.CommitPath) ([]repo.ID, error) {
	return p.contents.At(ctx, places)
}

func (p *docsPast) FilesAt(ctx context.Context, commit repo.ID) ([]docs.File, error) {
	entries, err := p.EntriesAt(ctx, commit)
	files := make([]docs.File, len(entries))
	for i, e := range entries {
		files[i] = docs.File{Path: e.Path, ID: e.ID, Mode: e.Mode}
	}
	return files, err
}

func (p *docsPast) Blobs(ctx context.Context, ids []repo.ID, see func(i int, content []byte, err error)) error {
	return p.EachBlob(ctx, ids, func(i int, b []byte, size int64) {
		switch {
		case size < 0:
			p.lacks = true
			see(i, nil, docs.ErrAbsent)
		case size > int64(len(b)):
			see(i, nil, docs.ErrTooLarge)
		default:
			see(i, b, nil)
		}
	})
}

func (p *docsPast) Removals(ctx context.Context, commits []repo.ID) ([][]repo.Removal, error) {
	list, err := p.Repo.Removals(ctx, commits)
	for _, left := range list {
		p.lacks = p.lacks || slices.ContainsFunc(left, func(d repo.Removal) bool { return d.Unsearched })
	}
	return list, err
}

// A docsHistory is the part of a history that HEAD reaches.
type docsHistory struct {
	*git.History
	reached []bool
	lines   repo.ParentTable
}

func (h docsHistory) Commit(n repo.CommitNumber) docs.Commit {
	c := h.History.Commit(n)
	return docs.Commit{ID: c.ID, Date: c.Date, Subject: c.Subject}
}

func (h docsHistory) ParentsOf(n repo.CommitNumber) []repo.CommitNumber { return h.lines.Of(n) }

func (h docsHistory) Touching(path repo.Path) []repo.Touch {
	var list []repo.Touch
	for _, t := range h.History.Touching(path) {
		if int(t.Commit) < len(h.reached) && h.reached[t.Commit] {
			list = append(list, t)
		}
	}
	return list
}
