package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/store"
)

// A session has the entry state and the facts that it was decided from. All answers of one run use one session.
type session struct {
	view     *view
	base     store.Verification
	verified bool // there is a base
	tree     repo.ID
	upstream repo.Upstream
	dirty    bool
	flagged  bool
	inMerge  bool
	state    State
	reasons  []Reason
	records  int64              // the mark of the newest record
	renewed  map[repo.Path]bool // tracked paths with new records since the last verification
}

// settled reports whether the row of a path shows the right summary, provided that its content is the same.
func (e *session) settled(path repo.Path) bool {
	return e.verified && e.base.Policy == e.view.policy && !e.renewed[path]
}

// sameHistory reports whether files have the same former paths as at the last verification.
func (e *session) sameHistory() bool {
	index := e.view.snap.Index.Tree
	return e.base.Head == e.view.snap.Head.Commit && !index.IsZero() && e.base.Index == index
}

// findRenewed finds the tracked paths that may show another summary than at the last verification although their content
// is the same: there are new records, or their former paths changed.
func (r *Registry) findRenewed(ctx context.Context, e *session) error {
	paths, now, err := r.store.PathsSince(ctx, e.base.Records)
	if err != nil {
		return err
	}
	e.records = now
	e.renewed = map[repo.Path]bool{}
	came := make(map[repo.Path]bool, len(paths))
	gone := false
	for _, path := range paths {
		came[path] = true
		_, tracked := repo.FindEntry(e.view.snap.Index.Entries, path)
		if tracked {
			e.renewed[path] = true
		} else {
			gone = true
		}
	}
	moved := e.verified && e.records > 0 && !e.sameHistory()
	if !gone && !moved {
		return nil
	}
	former, err := r.formerPaths(ctx, e.view.snap)
	if err != nil {
		return err
	}
	for path, before := range former {
		if moved || slices.ContainsFunc(before, func(old repo.Path) bool { return came[old] }) {
			e.renewed[path] = true
		}
	}
	if !moved {
		return nil
	}
	return r.findRenewedByHistory(ctx, e)
}

// findRenewedByHistory adds the paths whose summary was written at a former path, and those without a finer grade: git may
// have the content by now.
func (r *Registry) findRenewedByHistory(ctx context.Context, e *session) error {
	if err := r.loadExceptions(ctx, e.view); err != nil {
		return err
	}
	written, err := r.store.HeadersAt(ctx, slices.Collect(maps.Keys(e.view.exceptions)))
	if err != nil {
		return err
	}
	for path, row := range e.view.exceptions {
		own := slices.ContainsFunc(written[path], func(c store.RecordHeader) bool { return c.Basis.Key() == row.SummaryBasis })
		stale := !row.SummaryBasis.IsZero() && !row.SummaryBasis.Matches(row.Content)
		_, tracked := repo.FindEntry(e.view.snap.Index.Entries, path)
		if tracked && stale && (!own || row.Marks&store.MarkGraded == 0) {
			e.renewed[path] = true
		}
	}
	return nil
}

// enter reads the repository and decides the entry state.
func (r *Registry) enter(ctx context.Context, dry bool) (*session, error) {
	snap, err := r.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	e := &session{view: &view{snap: snap}}
	if len(snap.Index.Entries) == 0 {
		e.state, e.reasons = EntryState(EntryFacts{})
		e.upstream, err = r.git.Upstream(ctx, snap, repo.Upstream{}, repo.ID{})
		return e, err
	}
	if e.base, e.verified, err = r.store.LastVerification(ctx, snap.Worktree); err != nil {
		return nil, err
	}
	counts, err := r.store.Counts(ctx, snap.Worktree)
	if err != nil {
		return nil, err
	}
	if e.view, err = r.readView(ctx, snap, e.base, nil, dry); err != nil {
		return nil, err
	}
	if err := r.findRenewed(ctx, e); err != nil {
		return nil, err
	}
	if e.upstream, err = r.git.Upstream(ctx, snap, e.base.Upstream, e.base.Head); err != nil {
		return nil, err
	}
	if err := r.setFacts(ctx, e); err != nil {
		return nil, err
	}
	s := EntryFacts{
		Tracked: len(snap.Index.Entries), Rows: e.verified || counts.Files > 0, Verified: e.verified, Baseline: e.base,
		Head: snap.Head.Commit, Tree: e.tree, Dirty: e.dirty, Conflicted: e.inMerge, Flagged: e.flagged,
		Behind: e.upstream.Behind, Policy: e.view.policy,
	}
	if e.verified && !e.base.Head.IsZero() && e.base.Head != s.Head && e.base.Tree != s.Tree {
		reachable, err := r.git.Reachable(ctx, e.base.Head)
		if err != nil {
			return nil, err
		}
		s.BaselineLost = !reachable
	}
	e.state, e.reasons = EntryState(s)
	return e, nil
}

// setFacts sets the facts that follow from the snapshot and the work tree.
func (r *Registry) setFacts(ctx context.Context, e *session) error {
	snap := e.view.snap
	var flags repo.Flags
	for i := range snap.Index.Entries {
		of := snap.Index.Entries[i].Flags
		flags |= of
		// A file that is not checked out and does not exist cannot hide a change.
		e.flagged = e.flagged || of.Has(repo.AssumeUnchanged) ||
			of.Has(repo.SkipWorktree) && e.view.pathState(i).state != sparse
	}
	e.inMerge = flags.Has(repo.Conflicted)
	for i := range e.view.states {
		e.dirty = e.dirty || e.view.isModified(i)
	}
	e.tree = e.base.Tree
	if head := snap.Head.Commit; head.IsZero() {
		e.tree = repo.ID{}
	} else if head != e.base.Head || e.base.Tree.IsZero() {
		tree, ok, err := r.git.Tree(ctx, head)
		if err != nil {
			return err
		}
		if !ok {
			return &fault.Error{
				Hint: "see what the repository lacks with: git fsck",
				Err:  fmt.Errorf("the repository does not have the commit %s that HEAD names", head),
			}
		}
		e.tree = tree
	}
	if e.dirty {
		return nil
	}
	staged, err := r.git.IndexDiffers(ctx, snap, e.tree)
	e.dirty = staged
	return err
}

// report returns the report of a run, without verdicts.
func (e *session) report() *Report {
	rep := &Report{
		State: e.state, Reasons: e.reasons, Head: e.view.snap.Head.Commit, LastVerified: e.base.Head,
		Upstream: Upstream{State: "unknown"}, Verdicts: []FileState{},
	}
	if rep.Reasons == nil {
		rep.Reasons = []Reason{}
	}
	if e.upstream.Known {
		rep.Upstream = Upstream{State: "known", Ahead: e.upstream.Ahead, Behind: e.upstream.Behind}
	}
	rep.Counts.Files = len(e.view.snap.Index.Entries)
	return rep
}

// baseline returns the verification to store together with the rows.
func (e *session) baseline(r *Registry, clean bool, raw int) *store.Verification {
	return &store.Verification{
		Generation: e.base.Generation,
		Head:       e.view.snap.Head.Commit, Tree: e.tree, Index: e.view.snap.Index.Tree, Policy: e.view.policy, Raw: raw, Records: e.records, Upstream: e.upstream,
		Clean: clean && !e.dirty && !e.flagged && !e.inMerge,
		At:    r.opts.Now().UTC(),
	}
}
