package registry

import (
	"context"
	"iter"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/workspace"
)

// A verification is one comparison of rows with the work tree.
type verification struct {
	*Registry
	*session
	opts VerifyOptions
	dry  bool // write nothing, and read nothing that only a row needs
	rep  *Report

	change         store.FileChanges
	distrustRows   bool                      // no row proves anything
	untrackedRows  map[repo.ID]store.FileRow // rows whose path is no longer tracked, by content
	untrackedPaths map[repo.Path]bool        // their paths
	raw            int                       // rows that matched by raw bytes
	missedChange   bool                      // the bytes of a file differ although its stat was unchanged
	failed         bool                      // a file that had to be read could not be
	readForKind    int                       // files read for their kind alone
}

// An item is an entry that needs more than a comparison of two ids.
type item struct {
	i   int
	row *store.FileRow // nil if there is none
}

// before returns the stored row, zero if there is none.
func (it item) before() store.FileRow {
	if it.row == nil {
		return store.FileRow{}
	}
	return *it.row
}

// clean reports whether no file changed. A file that is not checked out is unchanged, even if its summary cannot be
// judged.
func (v *verification) clean() bool {
	return !v.missedChange && !v.failed && v.rep.Counts.Conflicted == 0
}

// compare fills the report and returns the rows to write.
func (v *verification) compare(ctx context.Context) (store.FileChanges, error) {
	v.untrackedRows, v.untrackedPaths = map[repo.ID]store.FileRow{}, map[repo.Path]bool{}
	v.distrustRows = v.opts.Full || !v.verified || v.view.policy != v.base.Policy
	items, done, err := v.pairExceptions(ctx)
	if err == nil && !done {
		items, err = v.pair(ctx)
	}
	if err != nil {
		return store.FileChanges{}, err
	}
	if !v.dry {
		v.change.Put = make([]store.FileRow, 0, len(items))
	}
	for done, total := 0, len(items); done < total; {
		n := min(total-done, readBatch)
		if err := v.settleAll(ctx, items[done:done+n]); err != nil {
			return store.FileChanges{}, err
		}
		done += n
		v.Registry.opts.Progress(done, total)
	}
	return v.change, nil
}

// pair walks rows and entries side by side. It counts those that match, and returns the rest.
func (v *verification) pair(ctx context.Context) ([]item, error) {
	entries := v.view.snap.Index.Entries
	rows, only, err := v.scope(ctx)
	if err != nil {
		return nil, err
	}
	var items []item
	k := 0 // next position in only, or in entries when only is nil
	size := len(entries)
	if only != nil {
		size = len(only)
	}
	at := func(k int) int {
		if only != nil {
			return only[k]
		}
		return k
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		for k < size && entries[at(k)].Path < row.Path {
			items = append(items, item{i: at(k)})
			k++
		}
		if k == size || entries[at(k)].Path != row.Path {
			v.dropRow(row)
			continue
		}
		if i := at(k); !v.distrustRows && !v.renewed[row.Path] && v.rowIsCurrent(i, row) {
			v.count(i, row)
		} else {
			items = append(items, item{i: i, row: &row})
		}
		k++
	}
	for ; k < size; k++ {
		items = append(items, item{i: at(k)})
	}
	return items, nil
}

// scope returns the rows and entries that the options select; only is nil for all of them.
func (v *verification) scope(ctx context.Context) (iter.Seq2[store.FileRow, error], []int, error) {
	wt := v.view.snap.Worktree
	if v.opts.Paths == nil {
		return v.store.Rows(ctx, wt), nil, nil
	}
	entries := v.view.snap.Index.Entries
	named, err := v.store.RowsOf(ctx, wt, v.opts.Paths)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range v.opts.Paths {
		if _, ok := named[p]; ok {
			continue
		}
		if _, tracked := repo.FindEntry(entries, p); tracked {
			continue
		}
		gone, err := v.removed(ctx, v.view.snap, p)
		if err != nil {
			return nil, nil, err
		}
		if gone {
			named[p] = store.FileRow{Path: p}
			v.rep.add(goneVerdict(named[p]), v.opts.All)
		}
	}
	only, err := selected(entries, named, v.opts.Paths)
	if err != nil {
		return nil, nil, err
	}
	v.rep.Counts.Files = len(only)
	within := func(yield func(store.FileRow, error) bool) {
		for row, err := range v.store.Rows(ctx, wt) {
			if err == nil && !slices.ContainsFunc(v.opts.Paths, row.Path.Under) {
				continue
			}
			if !yield(row, err) {
				return
			}
		}
	}
	if only == nil {
		only = []int{}
	}
	return within, only, nil
}

// rowIsCurrent reports whether the stored row is current for entry i.
func (v *verification) rowIsCurrent(i int, row store.FileRow) bool {
	s, seen := v.view.states[i]
	if !seen {
		e := &v.view.snap.Index.Entries[i]
		return e.ID == row.Content.ID && e.Mode == row.Mode && row.Marks&(store.MarkRaw|store.MarkDiffersFromIndex) == 0 &&
			(v.dry || !v.view.outdated(i, row))
	}
	return (s.state == same || s.state == changed) && s.content.ID == row.Content.ID &&
		s.mode == row.Mode && s.raw == row.Marks.Has(store.MarkRaw) && v.view.differsFromIndex(i, s) == row.Marks.Has(store.MarkDiffersFromIndex) &&
		(s.content.MD5.IsZero() || s.content.MD5 == row.Content.MD5 && s.stat == row.Stat)
}

// count adds an unchanged row to the report.
func (v *verification) count(i int, row store.FileRow) {
	if row.Marks.Has(store.MarkRaw) {
		v.raw++
	}
	v.rep.add(v.matchVerdict(row, v.view, i), v.opts.All)
}

// dropRow drops the row of a path that is no longer tracked. Its record stays: another path with the same content
// will show it.
func (v *verification) dropRow(row store.FileRow) {
	v.change.Delete = append(v.change.Delete, row.Path)
	v.untrackedPaths[row.Path] = true
	if _, taken := v.untrackedRows[row.Content.ID]; !taken && !row.Content.ID.IsZero() {
		v.untrackedRows[row.Content.ID] = row
	}
	v.rep.add(goneVerdict(row), v.opts.All)
}

// goneVerdict returns the verdict of a path that is no longer tracked.
func goneVerdict(row store.FileRow) FileState {
	return FileState{
		path: row.Path, Content: Comparison{State: fresh.Gone}, MD5: row.Content.MD5, ID: row.Content.ID,
		Summary: fresh.Gone, Kind: row.Kind, Reason: reasonUntracked, untracked: true,
	}
}

// settleAll reads, classifies and judges some items.
func (v *verification) settleAll(ctx context.Context, items []item) error {
	attrs, err := v.attributes(ctx, items)
	if err != nil {
		return err
	}
	if err := v.readUnread(ctx, items, attrs); err != nil {
		return err
	}
	rows := v.classify(items, attrs)
	exact, err := v.choose(ctx, v.view.snap, choice{
		rows:    rows,
		before:  func(k int) store.FileRow { return items[k].before() },
		bytes:   func(k int) repo.ID { return v.view.pathState(items[k].i).bytes },
		settled: v.settled,
		regrade: v.view.policy != v.base.Policy,
	})
	if err != nil {
		return err
	}
	for k, it := range items {
		v.judgeItem(it, rows[k], exact[rows[k].Content])
		delete(v.view.states, it.i) // otherwise a full run would hold all of them in memory
	}
	return nil
}

// reasonUntracked explains why a row was removed. It is the only verdict about a path that is no longer tracked.
const reasonUntracked = "no longer tracked"

// reasonDeleted explains why a tracked path is gone.
const reasonDeleted = "deleted on disk"

// reasonConflict explains why the content of an unmerged path is unknown.
const reasonConflict = "merge conflict"

// reasonLacking explains why nothing is known about a path that is not checked out.
const reasonLacking = "not checked out, and " + workspace.LacksContent

// reasonSparse explains why an unchanged path has no file.
const reasonSparse = "not checked out"

// reasonFiltered explains the unknown verdict of a file that is not checked out and has, or last had, a filter
// driver.
const reasonFiltered = "not checked out, and its bytes come from a filter: they cannot be compared"
