package registry

import (
	"errors"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// judgeItem adds the verdict of an item to the report, and queues its row if the row changed.
func (v *verification) judgeItem(it item, row store.FileRow, known fresh.Basis) {
	s := v.view.pathState(it.i)
	verdict := FileState{path: row.Path, Kind: row.Kind, MD5: row.Content.MD5, ID: row.Content.ID}
	verdict.Summary, verdict.Grade = v.verdictOf(s.state, row)
	keep := true // whether the worktree has a row of it afterwards
	switch s.state {
	case same, changed:
		if s.content.MD5.IsZero() && v.view.outdated(it.i, row) {
			verdict.MD5 = repo.MD5{}
		}
		switch {
		case it.row == nil:
			verdict.Content.State = fresh.None
			if old, ok := v.formerPath(row); ok {
				j := old.JSON()
				verdict.former, verdict.PathChanged, verdict.ChangedB64 = old, j.Path, j.B64
			}
		case it.row.Content.ID == row.Content.ID, sameMD5(it.row.Content, row.Content):
			verdict.Content.State = fresh.Fresh
		default:
			verdict.Content.State = fresh.Stale
			verdict.Restored = !known.IsZero()
		}
	case sparse:
		verdict = v.sparseVerdict(row)
	case conflicted:
		verdict.Content.Reason = fresh.Conflicted
		verdict.Reason = reasonConflict
		verdict.ID, verdict.MD5 = repo.ID{}, repo.MD5{}
	case absent:
		verdict.Content.State = fresh.Gone
		verdict.lost = !row.SummaryBasis.IsZero()
		verdict.Reason = reasonText(s.err, reasonDeleted)
		keep = it.row != nil
	default:
		v.failed = true
		verdict.Reason = reasonText(s.err, "could not be read")
		verdict.ID, verdict.MD5 = repo.ID{}, repo.MD5{}
		keep = it.row != nil
	}
	if verdict.Summary == fresh.Excluded && verdict.Reason == "" {
		verdict.Reason = row.Excluded
	}
	if keep && row.Marks.Has(store.MarkRaw) {
		v.raw++
	}
	v.rep.list(verdict, v.opts)
	if keep && row != it.before() {
		v.change.Put = append(v.change.Put, row)
	}
}

// sameMD5 reports whether two contents have the same md5. Their ids differ if git converts the bytes in another way
// than before.
func sameMD5(a, b repo.Content) bool { return !a.MD5.IsZero() && a.MD5 == b.MD5 }

// formerPath returns the path that the file of a new row had at the last verification: one that is no longer tracked,
// with the same content, or that git considers the same file.
func (v *verification) formerPath(row store.FileRow) (repo.Path, bool) {
	if old, ok := v.untrackedRows[row.Content.ID]; ok {
		return old.Path, true
	}
	for _, old := range v.former[row.Path] {
		if v.untrackedPaths[old] {
			return old, true
		}
	}
	return "", false
}

// verdictOf returns the verdict of a row's summary, given the state of its path, and the grade of the difference. Every
// answer about a path comes from here.
func (r *Registry) verdictOf(state contentState, row store.FileRow) (fresh.State, fresh.Grade) {
	switch {
	case state == unreadable, state == conflicted:
		return fresh.Unknown, ""
	case state == absent:
		return fresh.Gone, ""
	case row.Excluded != "":
		return fresh.Excluded, ""
	case state == sparse:
		seen := r.sparseVerdict(row)
		return seen.Summary, seen.Grade
	default:
		return r.judge(row)
	}
}

// sparseVerdict returns the verdict of a path that is not checked out. Its blob is its content, unless a filter changes
// the bytes. Then the verdict is unknown.
func (r *Registry) sparseVerdict(row store.FileRow) FileState {
	v := r.rowVerdict(row)
	v.Content.Reason = fresh.NotCheckedOut
	v.Reason = reasonSparse
	if !row.Marks.Has(store.MarkRaw) {
		return v
	}
	v.ID, v.MD5 = repo.ID{}, repo.MD5{}
	if v.Summary != fresh.None && v.Summary != fresh.Excluded {
		v.Content, v.Summary, v.Grade, v.Reason = Comparison{}, fresh.Unknown, "", reasonFiltered
	}
	return v
}

// judge returns the verdict of a row's summary, and the grade of the difference. A change whose grade the policy
// does not count leaves the summary fresh.
func (r *Registry) judge(row store.FileRow) (fresh.State, fresh.Grade) {
	if row.Excluded != "" {
		return fresh.Excluded, ""
	}
	state := fresh.Judge(row.SummaryBasis, row.Content)
	if state != fresh.Stale {
		return state, ""
	}
	grade := row.Marks.Grade()
	if !r.opts.Policy.Counts(grade) {
		state = fresh.Fresh
	}
	return state, grade
}

// reasonText returns the text of err, or otherwise if err is nil.
func reasonText(err error, otherwise string) string {
	if err == nil {
		return otherwise
	}
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}
