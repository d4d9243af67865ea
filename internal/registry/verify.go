package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// VerifyOptions select the files to read and the verdicts to list. The zero value verifies everything that may have
// changed and lists the notable verdicts.
type VerifyOptions struct {
	Full       bool        // read every byte, regardless of its stat
	All        bool        // list every path
	Untracked  bool        // list untracked files too
	OmitNew    bool        // do not list the new files of a bootstrap, unless their summary does not hold
	OmitSparse bool        // do not list files that are not checked out, unless their summary does not hold
	Paths      []repo.Path // only these files, or files below these; nil means all
}

// omits reports whether a verdict is counted but not listed. A verdict that does not hold is always listed.
func (o VerifyOptions) omits(v FileState, at State) bool {
	if v.Summary == fresh.Stale || slices.Contains(o.Paths, v.path) {
		return false
	}
	isNew := v.Content.State == fresh.None && at == StateBootstrap
	isSparse := v.Content.Reason == fresh.NotCheckedOut
	return o.OmitNew && isNew || o.OmitSparse && isSparse
}

// Status returns the report of a verification and writes nothing.
func (r *Registry) Status(ctx context.Context, opts VerifyOptions) (*Report, error) {
	return r.withLacking(ctx, opts, true)
}

// Verify compares every row with the work tree and stores the result. If it compared all paths, HEAD becomes the
// commit of the last verification, unless HEAD or the index changed meanwhile.
func (r *Registry) Verify(ctx context.Context, opts VerifyOptions) (*Report, error) {
	return r.withLacking(ctx, opts, false)
}

// withLacking returns the report of a verification. The files whose content git lacks are unknown in it.
func (r *Registry) withLacking(ctx context.Context, opts VerifyOptions, dry bool) (*Report, error) {
	rep, err := r.verify(ctx, opts, dry)
	if err != nil {
		return nil, err
	}
	list := rep.Verdicts
	return rep, r.addLacking(ctx, len(list), func(i int) (repo.ID, bool) {
		return list[i].ID, list[i].Content.Reason == fresh.NotCheckedOut && list[i].Summary == fresh.None
	}, func(i int) { list[i].Summary, list[i].Reason = fresh.Unknown, reasonLacking })
}

func (r *Registry) verify(ctx context.Context, opts VerifyOptions, dry bool) (*Report, error) {
	e, err := r.enter(ctx, dry)
	if err != nil {
		return nil, err
	}
	rep := e.report()
	if opts.Untracked {
		if err := r.listUntracked(ctx, rep); err != nil {
			return nil, err
		}
	}
	if e.state == StateNew && len(opts.Paths) == 0 {
		return rep, nil
	}
	// If git may convert bytes, a checkout changes the md5 of files whose content id stays the same. The stats of files
	// that had to be read are stored, so that the next run need not read them.
	settled := dry || !e.view.converts() && !e.view.readAny()
	isDefault := !opts.Full && opts.Paths == nil
	if e.state == StateTrust && settled && isDefault {
		put, err := r.trust(ctx, e, rep, opts)
		same := false
		if err == nil {
			same, err = r.sameRows(ctx, e)
		}
		switch {
		case err != nil || same && dry:
			return rep, err
		case !same:
			return r.verify(ctx, opts, dry)
		}
		return rep, r.commitRows(ctx, e, rep, store.FileChanges{Put: put}, e.baseline(r, true, e.base.Raw))
	}
	run := &verification{Registry: r, session: e, opts: opts, dry: dry, rep: rep}
	e.view.full = opts.Full
	change, err := run.compare(ctx)
	if err != nil {
		return nil, err
	}
	rep.sort()
	if dry {
		return rep, nil
	}
	var next *store.Verification
	if opts.Paths == nil {
		next = e.baseline(r, run.clean(), run.raw)
		change.Worktrees = r.opts.Worktrees
	}
	return rep, r.commitRows(ctx, e, rep, change, next)
}

// sameRows reports whether the rows are those of the verification that the session began with. Otherwise another
// process changed them meanwhile, and they may be of contents that the session has not seen.
func (r *Registry) sameRows(ctx context.Context, e *session) (bool, error) {
	now, _, err := r.store.LastVerification(ctx, e.view.snap.Worktree)
	return now.Generation == e.base.Generation, err
}

// commitRows writes the changed rows, and the verification if it differs from the last.
func (r *Registry) commitRows(ctx context.Context, e *session, rep *Report, c store.FileChanges, next *store.Verification) error {
	// Changing rows without a new verification would invalidate the last one.
	if next != nil && (!e.verified || !next.Same(e.base) || len(c.Put)+len(c.Delete) > 0) {
		c.Verification = next
	}
	if c.IsZero() {
		return nil
	}
	committed := false
	err := r.store.Commit(ctx, e.view.snap.Worktree, c, func() (bool, error) {
		var err error
		committed, err = r.git.StillCurrent(ctx, e.view.snap)
		return committed, err
	})
	if err != nil {
		return fmt.Errorf("record the verification: %w", err)
	}
	if committed && c.Verification != nil {
		rep.LastVerified = c.Verification.Head
		rep.Clean = c.Verification.Clean
	}
	return nil
}

// sparseScanRatio is a limit: if more than 1/sparseScanRatio of the files are not checked out, reading all rows is
// faster than looking them up.
const sparseScanRatio = 4

// trust fills a report from the rows alone. It returns the rows that show another summary because of new records.
func (r *Registry) trust(ctx context.Context, e *session, rep *Report, opts VerifyOptions) (put []store.FileRow, err error) {
	wt := e.view.snap.Worktree
	renewed, before, err := r.chooseAgain(ctx, e)
	if err != nil {
		return nil, err
	}
	for path, row := range renewed {
		if row != before[path] {
			put = append(put, row)
		}
	}
	slices.SortFunc(put, func(a, b store.FileRow) int { return strings.Compare(string(a.Path), string(b.Path)) })
	left := e.view.sparsePaths()
	listed := !opts.OmitSparse && len(left) > 0
	if opts.All || listed && len(left) > len(e.view.snap.Index.Entries)/sparseScanRatio {
		for row, err := range r.store.Rows(ctx, wt) {
			if err != nil {
				return nil, err
			}
			if now, ok := renewed[row.Path]; ok {
				row = now
			}
			rep.list(r.trustedVerdict(e, row, left), opts)
		}
		return put, nil
	}
	t, err := r.store.Counts(ctx, wt)
	if err != nil {
		return nil, err
	}
	notable := map[repo.Path]store.FileRow{}
	if listed {
		if notable, err = r.store.RowsOf(ctx, wt, slices.Collect(maps.Keys(left))); err != nil {
			return nil, err
		}
	}
	// These rows include those with a filter, whose verdict may be unknown.
	if t.Stale > 0 || e.base.Raw > 0 {
		if err := r.loadExceptions(ctx, e.view); err != nil {
			return nil, err
		}
		maps.Copy(notable, e.view.exceptions)
	}
	maps.Copy(notable, before)
	for path, row := range notable {
		t.Add(row, -1)
		if now, ok := renewed[path]; ok {
			row = now
		}
		rep.list(r.trustedVerdict(e, row, left), opts)
		delete(left, path)
	}
	rep.sort()
	rep.matches(t)
	// The other rows are unchanged and only counted.
	rep.Counts.Match -= len(left)
	rep.Counts.Sparse += len(left)
	return put, nil
}

// chooseAgain chooses the summaries of the rows with new records again. It returns those rows, and the rows before.
func (r *Registry) chooseAgain(ctx context.Context, e *session) (now, before map[repo.Path]store.FileRow, err error) {
	if len(e.renewed) == 0 {
		return nil, nil, nil
	}
	before, err = r.store.RowsOf(ctx, e.view.snap.Worktree, slices.Collect(maps.Keys(e.renewed)))
	if err != nil {
		return nil, nil, err
	}
	rows := slices.Collect(maps.Values(before))
	_, err = r.choose(ctx, e.view.snap, choice{
		rows:    rows,
		before:  func(k int) store.FileRow { return before[rows[k].Path] },
		bytes:   func(int) repo.ID { return repo.ID{} },
		settled: e.settled,
	})
	if err != nil {
		return nil, nil, err
	}
	now = make(map[repo.Path]store.FileRow, len(rows))
	for _, row := range rows {
		now[row.Path] = row
	}
	return now, before, nil
}

// trustedVerdict returns the verdict of a path without reading it. left has the paths that are not checked
// out.
func (r *Registry) trustedVerdict(e *session, row store.FileRow, left map[repo.Path]bool) FileState {
	if left[row.Path] {
		return r.sparseVerdict(row)
	}
	i, tracked := repo.FindEntry(e.view.snap.Index.Entries, row.Path)
	if !tracked {
		return r.rowVerdict(row)
	}
	return r.matchVerdict(row, e.view, i)
}

// sparsePaths returns the paths that are not checked out.
func (v *view) sparsePaths() map[repo.Path]bool {
	left := map[repo.Path]bool{}
	for i, s := range v.states {
		if s.state == sparse {
			left[v.snap.Index.Entries[i].Path] = true
		}
	}
	return left
}

func (r *Registry) listUntracked(ctx context.Context, rep *Report) error {
	paths, err := r.git.Untracked(ctx)
	if err != nil {
		return err
	}
	rep.Untracked = &Paths{Count: len(paths), Paths: make([]repo.PathJSON, len(paths))}
	for i, p := range paths {
		rep.Untracked.Paths[i] = p.JSON()
	}
	return nil
}

// matchVerdict returns the verdict of entry i, whose row is current except for the md5: git may have converted the
// bytes on disk since they were stored.
func (r *Registry) matchVerdict(row store.FileRow, seen *view, i int) FileState {
	v := r.rowVerdict(row)
	read := seen.pathState(i).content.MD5
	switch {
	case !read.IsZero():
		v.MD5 = read
	case seen.outdated(i, row):
		v.MD5 = repo.MD5{}
	}
	return v
}

// rowVerdict returns the verdict of an unchanged path from its row.
func (r *Registry) rowVerdict(row store.FileRow) FileState {
	state, grade := r.judge(row)
	return FileState{
		path: row.Path, Content: Comparison{State: fresh.Fresh}, MD5: row.Content.MD5, ID: row.Content.ID,
		Summary: state, Grade: grade, Kind: row.Kind, Reason: row.Excluded,
	}
}

// A NotTrackedError lists the paths to verify that name no tracked file.
type NotTrackedError struct{ Paths []repo.Path }

func (e *NotTrackedError) Error() string {
	names := make([]string, len(e.Paths))
	for i, p := range e.Paths {
		names[i] = p.String()
	}
	return "not tracked: " + strings.Join(names, ", ")
}

// selected returns the entries and rows that opts.Paths names. It fails with a [NotTrackedError] if some paths name
// neither.
func selected(entries []repo.Entry, rows map[repo.Path]store.FileRow, paths []repo.Path) ([]int, error) {
	var only []int
	var unknown []repo.Path
	for _, p := range paths {
		n := len(only)
		from := sort.Search(len(entries), func(i int) bool { return entries[i].Path >= p })
		for i := from; i < len(entries) && strings.HasPrefix(string(entries[i].Path), string(p)); i++ {
			if entries[i].Path.Under(p) {
				only = append(only, i)
			}
		}
		if _, ok := rows[p]; len(only) == n && !ok {
			unknown = append(unknown, p)
		}
	}
	if len(unknown) > 0 {
		return nil, &fault.Error{
			Kind: fault.Usage,
			Hint: "list tracked files with: git ls-files",
			Err:  &NotTrackedError{Paths: unknown},
		}
	}
	slices.Sort(only)
	return slices.Compact(only), nil
}
