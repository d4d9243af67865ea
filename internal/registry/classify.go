package registry

import (
	"context"

	"ken/internal/repo"
	"ken/internal/store"
)

// attributes returns the git attributes of items, if there can be any.
func (v *verification) attributes(ctx context.Context, items []item) ([]repo.Attributes, error) {
	if !v.view.attributed {
		return make([]repo.Attributes, len(items)), nil
	}
	paths := make([]repo.Path, len(items))
	for k, it := range items {
		paths[k] = v.view.snap.Index.Entries[it.i].Path
	}
	return v.git.Attributes(ctx, paths)
}

// readUnread reads the items whose bytes are needed and were not read yet: for a row that will be written, and
// always if only the bytes determine the content.
func (v *verification) readUnread(ctx context.Context, items []item, attrs []repo.Attributes) error {
	var unread []int
	var known []repo.Content
	for k, it := range items {
		s := v.view.pathState(it.i)
		if s.mode == repo.Gitlink || s.state != same && s.state != changed {
			continue
		}
		was, marks := it.before().Content, it.before().Marks
		sameRow := it.row != nil && was.ID == s.content.ID
		asRow := sameRow && !was.MD5.IsZero() && !marks.Has(store.MarkRaw) && !v.view.outdated(it.i, it.before())
		// If the index was written under other attributes, its content differs from what git would store now. A row
		// that was verified under the current attributes has the right one.
		converted := attrs[k].Convert == repo.ConvertText || attrs[k].Convert == repo.ConvertGit
		misled := converted && (!sameRow || !v.view.sameAttributes)
		telling := (attrs[k].Filtered || marks.Has(store.MarkRaw) || misled) && !s.raw && s.bytes.IsZero()
		wanted := v.opts.Full || v.distrustRows && s.bytes.IsZero() || s.content.MD5.IsZero() && !asRow
		if !telling && (!wanted || v.dry && !v.readsForKind(it, s, attrs[k])) {
			continue
		}
		// A known content saves work only if it is of the same bytes, and if only the digests are needed.
		if was.MD5.IsZero() || marks.Has(store.MarkConverted) || v.view.policy != v.base.Policy {
			was = repo.Content{}
		}
		unread, known = append(unread, it.i), append(known, was)
	}
	if err := v.read(ctx, v.view, unread, known); err != nil {
		return err
	}
	for _, i := range unread {
		v.missedChange = v.missedChange || v.view.isModified(i)
	}
	return nil
}

// maxReadForKind limits how many files a run that writes nothing reads only to learn their kind. If there are more,
// nothing was verified yet, and the next verification reads them all and stores their kinds.
const maxReadForKind = 2000

// readsForKind reports whether a run that writes nothing still reads an item: its bytes may exclude it, and
// neither its row nor its name and size show that.
func (v *verification) readsForKind(it item, s pathState, a repo.Attributes) bool {
	e, was := &v.view.snap.Index.Entries[it.i], it.before()
	if s.kind != repo.KindUnknown || it.row != nil && was.Content.ID == s.content.ID && !was.Content.MD5.IsZero() || v.readForKind >= maxReadForKind {
		return false
	}
	kind := refineKind(v.files.KindByName(e.Path), s.mode, a)
	if v.Registry.opts.Policy.Excluded(e.Path, kind, s.size) != "" {
		return false
	}
	v.readForKind++
	return true
}

// classify returns the row of each item for its path state; SummaryBasis is unchanged. An item whose content is unknown
// keeps its row. So does one with a filter driver that is not checked out, if its bytes were ever read: they do
// not follow from its blob.
func (v *verification) classify(items []item, attrs []repo.Attributes) []store.FileRow {
	rows := make([]store.FileRow, len(items))
	for k, it := range items {
		e, s := &v.view.snap.Index.Entries[it.i], v.view.pathState(it.i)
		was := it.before()
		row := was
		row.Path, row.Mode = e.Path, s.mode
		a := attrs[k]
		// Git may ignore attributes that are not checked out. While they are the same, they apply as before.
		unseen := s.state == sparse && (a.Filtered || was.Marks.Has(store.MarkRaw) && v.view.policy == v.base.Policy)
		s.raw = s.raw || unseen
		if (s.state == same || s.state == changed || s.state == sparse) && (!unseen || !was.Marks.Has(store.MarkRaw)) {
			row.Content, row.Stat = s.content, s.stat
			if s.content.MD5.IsZero() && was.Content.ID == s.content.ID {
				row.Content.MD5 = was.Content.MD5
				if v.view.converts() {
					row.Stat = was.Stat // the one for which the md5 was computed
				}
			}
		}
		if s.state == absent && !tellsKind(was, e, s) {
			row.Content, row.Stat = repo.Content{ID: e.ID}, repo.Stat{}
		}
		if a.Filtered && !s.bytes.IsZero() {
			row.Content.ID, s.raw = s.bytes, true
		}
		row.Marks = v.marks(it, s, row)
		row.Kind = v.kindOf(e, s, a, was)
		row.Excluded = v.Registry.opts.Policy.Excluded(e.Path, row.Kind, s.size)
		rows[k] = row
	}
	return rows
}

// marks returns in which ways the row of a path state is exceptional.
func (v *verification) marks(it item, s pathState, row store.FileRow) store.FileMarks {
	var m store.FileMarks
	was := it.before()
	unread := s.bytes.IsZero() && row.Content.ID == was.Content.ID
	switch {
	case s.raw, unread && was.Marks.Has(store.MarkRaw):
		m |= store.MarkRaw
	case unread:
		m |= was.Marks & (store.MarkConverted | store.MarkConvertible)
	case !s.bytes.IsZero() && s.bytes != row.Content.ID:
		m |= store.MarkConverted
	}
	if s.crlf {
		m |= store.MarkConvertible
	}
	if v.view.differsFromIndex(it.i, s) {
		m |= store.MarkDiffersFromIndex
	}
	return m
}

// kindOf returns the kind of an entry: by its mode, by git attributes, by its bytes, and if those were not read by
// its row or its name.
func (v *verification) kindOf(e *repo.Entry, s pathState, a repo.Attributes, was store.FileRow) repo.Kind {
	kind := s.kind
	if kind == repo.KindUnknown && tellsKind(was, e, s) {
		kind = was.Kind
	}
	if kind == repo.KindUnknown {
		kind = v.files.KindByName(e.Path)
	}
	return refineKind(kind, s.mode, a)
}

// tellsKind reports whether the kind in a row is still right for the entry. The kind of a link says nothing about
// a file. For a missing file, or one that is not checked out, the kind of the content in the index counts, not
// that of the former content of the path.
func tellsKind(was store.FileRow, e *repo.Entry, s pathState) bool {
	switch {
	case was.Kind == repo.KindSymlink && s.mode != repo.Symlink, was.Kind == repo.KindGitlink && s.mode != repo.Gitlink:
		return false
	case s.state == absent, s.state == sparse:
		return was.Content.ID == e.ID || was.Marks.Has(store.MarkRaw)
	default:
		return true
	}
}

// refineKind returns the kind of a file. Mode and attributes overrule the kind that name and bytes suggest.
func refineKind(kind repo.Kind, mode repo.Mode, a repo.Attributes) repo.Kind {
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
