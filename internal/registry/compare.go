package registry

import (
	"context"
	"errors"
	"iter"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A verification is one comparison of rows with what is there.
type verification struct {
	*Registry
	*entered
	opts VerifyOptions
	dry  bool // nothing will be written: read nothing that only a row would want
	rep  *Report

	change Change
	again  bool            // no row is taken at its word
	left   map[repo.ID]Row // rows whose path is no longer tracked, by content
	raw    int             // rows matched on raw bytes
	found  bool            // a read found content that a stat had vouched for
}

// An item is an entry that takes more than comparing two ids.
type item struct {
	i   int
	row *Row // nil when there is none
}

// before is the row as it was, zero when there was none.
func (it item) before() Row {
	if it.row == nil {
		return Row{}
	}
	return *it.row
}

// clean reports whether nothing turned out to have moved.
func (v *verification) clean() bool {
	return !v.found && v.rep.Counts.Unknown == 0 && v.rep.Counts.Conflicted == 0
}

// compare fills the report and returns the rows to write.
func (v *verification) compare(ctx context.Context) (Change, error) {
	v.left = map[repo.ID]Row{}
	v.again = v.opts.Full || !v.verified || v.view.policy != v.base.Policy
	items, done, err := v.pairExceptions(ctx)
	if err == nil && !done {
		items, err = v.pair(ctx)
	}
	if err != nil {
		return Change{}, err
	}
	if !v.dry {
		v.change.Put = make([]Row, 0, len(items))
	}
	for done, total := 0, len(items); done < total; {
		n := min(total-done, readBatch)
		if err := v.settleAll(ctx, items[done:done+n]); err != nil {
			return Change{}, err
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
		if i := at(k); !v.again && v.plain(i, row) {
			v.count(row, FoundMatch)
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
func (v *verification) scope(ctx context.Context) (iter.Seq2[Row, error], []int, error) {
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
	within := func(yield func(Row, error) bool) {
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
func (v *verification) plain(i int, row Row) bool {
	s, looked := v.view.seen[i]
	if !looked {
		e := &v.view.snap.Index.Entries[i]
		return e.ID == row.Content.ID && e.Mode == row.Mode && row.Marks&(Raw|Astray) == 0
	}
	return (s.state == same || s.state == changed) && s.content.ID == row.Content.ID &&
		s.mode == row.Mode && s.raw == row.Marks.Has(Raw) && v.view.astray(i, s) == row.Marks.Has(Astray) &&
		(s.content.MD5.IsZero() || s.content.MD5 == row.Content.MD5 && s.stat == row.Stat)
}

// count reports a row that stays as it is.
func (v *verification) count(row Row, f Finding) {
	if row.Marks.Has(Raw) {
		v.raw++
	}
	v.rep.add(v.matched(row, f), v.opts.All)
}

// forget drops the row of a path that is no longer tracked. Its text stays
// reachable by content, for whoever comes to hold that content next.
func (v *verification) forget(row Row) {
	v.change.Delete = append(v.change.Delete, row.Path)
	if _, taken := v.left[row.Content.ID]; !taken && !row.Content.ID.IsZero() {
		v.left[row.Content.ID] = row
	}
	v.rep.add(Verdict{
		path: row.Path, Verdict: FoundMissing, MD5: row.Content.MD5, ID: row.Content.ID,
		Summary: fresh.None, Kind: row.Kind, Reason: reasonUntracked,
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
	contents := make([]repo.Content, 0, len(rows))
	for _, row := range rows {
		if !row.Content.ID.IsZero() {
			contents = append(contents, row.Content)
		}
	}
	known, err := v.store.Known(ctx, contents)
	if err != nil {
		return err
	}
	if err := v.recall(ctx, items, rows, known); err != nil {
		return err
	}
	for k, it := range items {
		v.judgeItem(it, rows[k], known[rows[k].Content])
		delete(v.view.seen, it.i) // a full run would otherwise hold them all
	}
	return nil
}

// recall lets rows that are new, and whose content nobody has described, be about
// the text that was last written at their path: from another worktree, or from
// before a detour over a commit without them.
func (v *verification) recall(ctx context.Context, items []item, rows []Row, known map[repo.Content]fresh.Basis) error {
	var paths []repo.Path
	for k, it := range items {
		if it.row == nil && known[rows[k].Content].IsZero() {
			paths = append(paths, rows[k].Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	written, err := v.store.WrittenAt(ctx, paths)
	if err != nil {
		return err
	}
	for k, it := range items {
		if it.row == nil {
			rows[k].About = written[rows[k].Path]
		}
	}
	return nil
}

// attributes looks up the git attributes of items, where there can be any.
func (v *verification) attributes(ctx context.Context, items []item) ([]repo.Attributes, error) {
	if !v.view.snap.Attributed {
		return make([]repo.Attributes, len(items)), nil
	}
	paths := make([]repo.Path, len(items))
	for k, it := range items {
		paths[k] = v.view.snap.Index.Entries[it.i].Path
	}
	return v.git.Attributes(ctx, paths)
}

// readUnread reads the items whose bytes are needed and nobody has read yet: for
// a row, if one is to be written, and in any case where only they can tell what
// the content is.
func (v *verification) readUnread(ctx context.Context, items []item, attrs []repo.Attributes) error {
	var unread []int
	var known []repo.Content
	for k, it := range items {
		s := v.view.sight(it.i)
		if s.mode == repo.Gitlink || s.state != same && s.state != changed {
			continue
		}
		was, marks := it.before().Content, it.before().Marks
		asRow := was.ID == s.content.ID && !was.MD5.IsZero() && !marks.Has(Raw)
		telling := (attrs[k].Filtered || marks.Has(Raw)) && !s.raw && s.bytes.IsZero()
		wanted := v.opts.Full || v.again && s.bytes.IsZero() || s.content.MD5.IsZero() && !asRow
		if !telling && (v.dry || !wanted) {
			continue
		}
		// A guess saves work only where it is of the same bytes, and where
		// nothing but the digests is asked for.
		if marks.Has(Converted) || v.view.policy != v.base.Policy {
			was = repo.Content{}
		}
		unread, known = append(unread, it.i), append(known, was)
	}
	if err := v.read(ctx, v.view, unread, known); err != nil {
		return err
	}
	for _, i := range unread {
		v.found = v.found || v.view.moved(i)
	}
	return nil
}

// classify makes the row that each item's sight amounts to, About left as it
// was. An item whose content could not be established keeps its row.
func (v *verification) classify(items []item, attrs []repo.Attributes) []Row {
	rows := make([]Row, len(items))
	for k, it := range items {
		e, s := &v.view.snap.Index.Entries[it.i], v.view.sight(it.i)
		was := it.before()
		row := was
		row.Path, row.Mode = e.Path, s.mode
		if s.state == same || s.state == changed || s.state == sparse {
			row.Content, row.Stat = s.content, s.stat
			if s.content.MD5.IsZero() && was.Content.ID == s.content.ID {
				row.Content.MD5 = was.Content.MD5
			}
		}
		a := attrs[k]
		if a.Filtered && !s.bytes.IsZero() {
			row.Content.ID, s.raw = s.bytes, true
		}
		row.Marks = v.marks(it, s, row)
		row.Kind = v.kindOf(e, s, a, was.Kind)
		row.Excluded = v.Registry.opts.Policy.Excluded(e.Path, row.Kind, s.size)
		rows[k] = row
	}
	return rows
}

// marks says in which ways the row made of a sight is out of the ordinary.
func (v *verification) marks(it item, s sight, row Row) Marks {
	var m Marks
	was := it.before()
	unread := s.bytes.IsZero() && row.Content.ID == was.Content.ID
	switch {
	case s.raw, unread && was.Marks.Has(Raw):
		m |= Raw
	case unread:
		m |= was.Marks & (Converted | Convertible)
	case !s.bytes.IsZero() && s.bytes != row.Content.ID:
		m |= Converted
	}
	if s.crlf {
		m |= Convertible
	}
	if v.view.astray(it.i, s) {
		m |= Astray
	}
	return m
}

// kindOf settles what sort of file an entry is: by its mode, by what git
// attributes say, by its bytes, and where those were not read by what its row
// or its name says.
func (v *verification) kindOf(e *repo.Entry, s sight, a repo.Attributes, before repo.Kind) repo.Kind {
	kind := s.kind
	if kind == repo.KindUnknown {
		kind = before
	}
	if kind == repo.KindUnknown {
		kind = v.files.KindByName(e.Path)
	}
	return refine(kind, s.mode, a)
}

// refine lets mode and attributes overrule the kind that name and bytes suggest.
func refine(kind repo.Kind, mode repo.Mode, a repo.Attributes) repo.Kind {
	is := func(b *bool) bool { return b != nil && *b }
	not := func(b *bool) bool { return b != nil && !*b }
	switch {
	case mode == repo.Symlink:
		return repo.KindSymlink
	case mode == repo.Gitlink:
		return repo.KindGitlink
	case is(a.Vendored):
		return repo.KindVendored
	case is(a.Generated):
		return repo.KindGenerated
	case not(a.Vendored) && kind == repo.KindVendored, not(a.Generated) && kind == repo.KindGenerated:
		return repo.KindSource
	case a.Binary && kind != repo.KindLFS:
		return repo.KindBinary
	default:
		return kind
	}
}

// judgeItem reports on one item and queues its row if it is another than before.
func (v *verification) judgeItem(it item, row Row, known fresh.Basis) {
	s := v.view.sight(it.i)
	verdict := Verdict{path: row.Path, Kind: row.Kind, MD5: row.Content.MD5, ID: row.Content.ID}
	if !known.IsZero() {
		row.About = known.Key()
	}
	keep := true // whether the row is to be kept, new or not
	switch s.state {
	case same, changed:
		switch {
		case it.row == nil:
			verdict.Verdict = FoundNew
			if old, ok := v.left[row.Content.ID]; ok {
				j := old.Path.JSON()
				verdict.before, verdict.PathChanged, verdict.ChangedB64 = old.Path, j.Path, j.B64
				if row.About.IsZero() {
					row.About = old.About
				}
			}
		case it.row.Content.ID == row.Content.ID:
			verdict.Verdict = FoundMatch
		default:
			verdict.Verdict = FoundMismatch
			verdict.Restored = !known.IsZero()
		}
	case sparse:
		verdict.Verdict, verdict.Reason = FoundSparse, "not checked out"
	case conflicted:
		verdict.Verdict, verdict.Reason = FoundConflicted, "unmerged"
		verdict.ID, verdict.MD5 = repo.ID{}, repo.MD5{}
	case absent:
		verdict.Verdict, verdict.Reason = FoundMissing, because(s.err, "tracked, and gone from the disk")
		keep = it.row != nil
	default:
		verdict.Verdict, verdict.Reason = FoundUnknown, because(s.err, "could not be read")
		verdict.ID, verdict.MD5 = repo.ID{}, repo.MD5{}
		keep = it.row != nil
	}
	verdict.Summary, verdict.Grade = v.summaryOf(s.state, row)
	if verdict.Summary == fresh.Excluded && verdict.Reason == "" {
		verdict.Reason = row.Excluded
	}
	if keep && row.Marks.Has(Raw) {
		v.raw++
	}
	if verdict.Verdict == FoundNew && v.state == StateBootstrap && v.opts.OmitNew {
		v.rep.tally(verdict)
	} else {
		v.rep.add(verdict, v.opts.All)
	}
	if keep && row != it.before() {
		v.change.Put = append(v.change.Put, row)
	}
}

// summaryOf says what the text for a row is worth, given what stands there. A
// path that is gone or unmerged has no content for a text to be fresh about.
func (v *verification) summaryOf(state sightState, row Row) (fresh.State, fresh.Grade) {
	switch state {
	case unreadable:
		return fresh.Unknown, ""
	case absent, conflicted:
		if row.Excluded != "" {
			return fresh.Excluded, ""
		}
		if row.About.IsZero() {
			return fresh.None, ""
		}
		return fresh.Stale, fresh.GradeContent
	default:
		return v.judge(row)
	}
}

// judge says what a row's text is worth, and how far the content has moved from
// it. A change whose grade the policy does not count leaves the text fresh.
func (r *Registry) judge(row Row) (fresh.State, fresh.Grade) {
	if row.Excluded != "" {
		return fresh.Excluded, ""
	}
	state := fresh.Judge(row.About, row.Content)
	if state != fresh.Stale {
		return state, ""
	}
	grade := fresh.GradeContent
	if !r.opts.Policy.counts(grade) {
		state = fresh.Fresh
	}
	return state, grade
}

// because returns err's text, or what to say without one.
func because(err error, otherwise string) string {
	if err == nil {
		return otherwise
	}
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}

// reasonUntracked is why a row went: it is the one verdict about a path that is
// no longer there to be asked about.
const reasonUntracked = "no longer tracked"
