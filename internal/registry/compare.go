package registry

import (
	"context"
	"iter"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A verification is one comparison of rows with what is there.
type verification struct {
	*Registry
	*entered
	opts VerifyOptions
	dry  bool // nothing will be written: read nothing that only a row would want
	rep  *Report

	change store.FileChanges
	again  bool                      // no row is taken at its word
	left   map[repo.ID]store.FileRow // rows whose path is no longer tracked, by content
	gone   map[repo.Path]bool        // their paths
	raw    int                       // rows matched on raw bytes
	found  bool                      // a read found content that a stat had vouched for
	failed bool                      // some content should have been read, and could not be
	peeked int                       // files read for their kind alone
}

// An item is an entry that takes more than comparing two ids.
type item struct {
	i   int
	row *store.FileRow // nil when there is none
}

// before is the row as it was, zero when there was none.
func (it item) before() store.FileRow {
	if it.row == nil {
		return store.FileRow{}
	}
	return *it.row
}

// clean reports whether nothing turned out to have moved. What is not checked out
// cannot have, whether or not its text can be judged.
func (v *verification) clean() bool {
	return !v.found && !v.failed && v.rep.Counts.Conflicted == 0
}

// compare fills the report and returns the rows to write.
func (v *verification) compare(ctx context.Context) (store.FileChanges, error) {
	v.left, v.gone = map[repo.ID]store.FileRow{}, map[repo.Path]bool{}
	v.again = v.opts.Full || !v.verified || v.view.policy != v.base.Policy
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

// pair walks rows and entries side by side. What plainly matches is counted
// then and there; the rest is returned.
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
			v.forget(row)
			continue
		}
		if i := at(k); !v.again && !v.renewed[row.Path] && v.plain(i, row) {
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

// scope returns the rows and entries the options ask for; only is nil when that
// is all of them.
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
	only, err := selected(entries, named, v.opts.Paths)
	if err != nil {
		return nil, nil, err
	}
	v.rep.Counts.Files = len(only)
	within := func(yield func(store.FileRow, error) bool) {
		for row, err := range v.store.Rows(ctx, wt) {
			if err == nil && !underAny(row.Path, v.opts.Paths) {
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

func underAny(p repo.Path, dirs []repo.Path) bool {
	for _, d := range dirs {
		if p.Under(d) {
			return true
		}
	}
	return false
}

// plain reports whether the row says all there is to say about entry i.
func (v *verification) plain(i int, row store.FileRow) bool {
	s, looked := v.view.seen[i]
	if !looked {
		e := &v.view.snap.Index.Entries[i]
		return e.ID == row.Content.ID && e.Mode == row.Mode && row.Marks&(store.MarkRaw|store.MarkDiffersFromIndex) == 0 &&
			(v.dry || !v.view.outdated(i, row))
	}
	return (s.state == same || s.state == changed) && s.content.ID == row.Content.ID &&
		s.mode == row.Mode && s.raw == row.Marks.Has(store.MarkRaw) && v.view.differsFromIndex(i, s) == row.Marks.Has(store.MarkDiffersFromIndex) &&
		(s.content.MD5.IsZero() || s.content.MD5 == row.Content.MD5 && s.stat == row.Stat)
}

// count reports a row that stays as it is.
func (v *verification) count(i int, row store.FileRow) {
	if row.Marks.Has(store.MarkRaw) {
		v.raw++
	}
	v.rep.add(v.matched(row, v.view, i), v.opts.All)
}

// forget drops the row of a path that is no longer tracked. Its text stays
// reachable by content, for whoever comes to hold that content next.
func (v *verification) forget(row store.FileRow) {
	v.change.Delete = append(v.change.Delete, row.Path)
	v.gone[row.Path] = true
	if _, taken := v.left[row.Content.ID]; !taken && !row.Content.ID.IsZero() {
		v.left[row.Content.ID] = row
	}
	v.rep.add(Verdict{
		path: row.Path, Verdict: FoundMissing, MD5: row.Content.MD5, ID: row.Content.ID,
		Summary: fresh.None, Kind: row.Kind, Reason: reasonUntracked, untracked: true,
	}, v.opts.All)
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
		delete(v.view.seen, it.i) // a full run would otherwise hold them all
	}
	return nil
}

// reasonUntracked is why a row went: it is the one verdict about a path that is
// no longer there to be asked about.
const reasonUntracked = "no longer tracked"

// reasonSparse is why nothing stands at a path that is as it should be.
const reasonSparse = "not checked out"

// reasonUnseen is why nobody can say whether a text holds whose file is, or was when
// it was last seen, under a filter driver, and is not checked out.
const reasonUnseen = "not checked out, and its bytes come from a filter: they cannot be compared"
