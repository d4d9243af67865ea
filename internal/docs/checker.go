package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ken/internal/content"
	"ken/internal/docs/mention"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/session"
	"ken/internal/workspace"
)

// A Checker checks the documents of one work tree.
type Checker struct {
	*workspace.Workspace

	Policy Policy
	Now    func() time.Time // the clock that decides whether a stat is too recent; time.Now if nil
}

// Options select documents.
type Options struct {
	Paths []repo.Path // documents, or directories of them; all if nil
	// Holding also returns the mentions that hold.
	Holding bool
	// Memories are documents outside of the repository, in which agents remember something about it.
	Memories []session.Memory
}

// Check checks documents. It judges only what changed since the last check of all documents.
func (c *Checker) Check(ctx context.Context, opts Options) (*Report, error) {
	snapshot, err := c.Git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	missed, err := undocumented(snapshot, opts.Paths)
	if err != nil {
		return nil, err
	}
	in, err := c.inputs(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	rep, err := c.check(ctx, in, opts)
	if err != nil {
		return nil, err
	}
	rep.WithoutDocuments = missed
	rep.UnreadFormats = countUnreadForms(snapshot, opts.Paths)
	return rep, nil
}

// CheckIfFast checks the documents of a small repository, or of one that was checked at the same commit. Otherwise the
// report is nil.
func (c *Checker) CheckIfFast(ctx context.Context) (*Report, error) {
	snapshot, err := c.Git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var last answer
	isKnown := c.load(answerKind, &last) && last.Report.Head == snapshot.Head.Commit
	if !isKnown && len(snapshot.Index.Entries) > 2000 { // it can take seconds
		return nil, nil
	}
	return c.Check(ctx, Options{})
}

// ErrSlow is the error for a question that ken cannot answer without a long check.
var ErrSlow = errors.New("the documents would have to be checked again")

// StaleForAgents returns the stale mentions in documents that agents read without being asked to, memories among them.
// wasChecked is false if all documents were never checked. Where [Checker.CheckIfFast] does not check, the error is
// ErrSlow. If the memories take longer than the context allows, the mentions in the repository are returned.
func (c *Checker) StaleForAgents(ctx context.Context, memories []session.Memory) (list []CheckedMention, wasChecked bool, err error) {
	if _, wasChecked = c.Cache.Load(c.placeKey(answerKind)); !wasChecked {
		return nil, false, nil
	}
	rep, err := c.CheckIfFast(ctx)
	if err == nil && rep == nil {
		err = ErrSlow
	}
	if err != nil {
		return nil, true, err
	}
	if len(memories) > 0 {
		all, err := c.Check(ctx, Options{Memories: memories})
		if err != nil && ctx.Err() == nil {
			return nil, true, err
		}
		if err == nil {
			rep = all
		}
	}
	return slices.DeleteFunc(rep.Stale(), func(m CheckedMention) bool { return !IsForAgents(m.File) }), true, nil
}

// countUnreadForms counts the tracked documents in formats that ken does not read.
func countUnreadForms(s *repo.Snapshot, paths []repo.Path) int {
	n := 0
	for i := range s.Index.Entries {
		p := s.Index.Entries[i].Path
		if mention.IsUnreadFormat(p) && (paths == nil || slices.ContainsFunc(paths, p.Under)) {
			n++
		}
	}
	return n
}

// undocumented returns the paths without any document. A path without a tracked file is an error: it was mistyped.
func undocumented(s *repo.Snapshot, paths []repo.Path) (none []repo.Path, err error) {
	for _, p := range paths {
		tracked, document := p == "", false
		for i := range s.Index.Entries {
			if e := &s.Index.Entries[i]; e.Path.Under(p) {
				tracked = true
				document = document || e.Mode.SameType(repo.Regular) && mention.IsDocument(e.Path)
			}
		}
		if !tracked {
			return nil, &fault.Error{
				Kind: fault.Usage, Hint: "list tracked files with: git ls-files; track a new document with: git add " + fault.Quote(string(p)),
				Err: fmt.Errorf("git tracks nothing at %s", p),
			}
		}
		if !document {
			none = append(none, p)
		}
	}
	return none, nil
}

// check implements Check, except for the results that need only the index.
func (c *Checker) check(ctx context.Context, in *inputs, opts Options) (*Report, error) {
	if !opts.Holding && opts.Memories == nil {
		if rep := c.answered(ctx, in); rep != nil {
			return rep.Below(opts.Paths), nil
		}
	}
	j := &judge{
		tree:   &workTree{git: c.Git, files: c.Files, inputs: in},
		past:   &historyReader{Repo: c.Git, head: in.snapshot.Head.Commit, contents: c.Git.Contents(), remark: c.Remark},
		policy: c.Policy, memories: opts.Memories, index: newTreeIndex(in.files), report: &Report{Head: in.snapshot.Head.Commit},
	}
	last := new(record)
	if !c.load(recordKind, last) || last.Sparse != c.Git.Sparse() {
		last = nil
		j.paths = opts.Paths
	}
	if err := j.run(ctx, c, last); err != nil {
		return nil, err
	}
	if j.paths == nil && j.memories == nil {
		c.save(ctx, in, j)
	}
	return j.report.Below(opts.Paths), nil
}

// Fix corrects the moved mentions of a report, unless dry is set. It returns the corrections and the mentions that
// stay stale. If a document cannot be written, Fix continues with the others.
func (c *Checker) Fix(ctx context.Context, rep *Report, dry bool) (FixResult, error) {
	var all FixResult
	var failed []error
	shown := rep.Stale()
	for len(shown) > 0 {
		p, n := shown[0].File, 1
		for n < len(shown) && shown[n].File == p {
			n++
		}
		fixed, err := c.fixDocument(ctx, p, shown[:n], dry)
		if err != nil {
			failed = append(failed, err)
		}
		all.Edits = append(all.Edits, fixed.Edits...)
		all.Unfixed = append(all.Unfixed, fixed.Unfixed...)
		if shown = shown[n:]; ctx.Err() != nil {
			break
		}
	}
	return all, errors.Join(failed...)
}

// fixDocument corrects the listed mentions of one document. If the document has changed since the check, it
// corrects those that are still at their position.
func (c *Checker) fixDocument(ctx context.Context, p repo.Path, listed []CheckedMention, dry bool) (fixed FixResult, err error) {
	if !slices.ContainsFunc(listed, func(j CheckedMention) bool { return j.hasNewName() }) {
		return FixResult{Unfixed: listed}, nil
	}
	files, name := c.Files, p
	if IsOutside(p) {
		files, name = content.Open(string(p.Dir()), content.Options{}), repo.Path(p.Base())
	}
	for range 5 { // another process may write to it
		var before, after []byte
		var failed error
		err = files.Bytes(ctx, []repo.Path{name}, mention.MaxBytes, func(_ int, b []byte, err error) {
			if failed = err; err == nil {
				before = bytes.Clone(b)
				after, fixed = Fix(p, before, listed)
			}
		})
		if err == nil {
			err = failed
		}
		if err == nil && len(fixed.Edits) > 0 && !dry {
			err = files.Replace(name, before, after)
		}
		if !errors.Is(err, content.ErrChanged) {
			break
		}
	}
	if err != nil {
		return FixResult{Unfixed: listed}, err
	}
	return fixed, nil
}
