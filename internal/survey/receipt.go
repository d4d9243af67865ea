package survey

import (
	"context"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/workspace"
)

// A RecordCheck says whether a record is fresh for a directory, and why not. Reasons are for programs; Details name
// files and directories.
type RecordCheck struct {
	State   fresh.State
	Reasons []string
	Details []string
}

// The reasons why a record is not fresh, or why that is unknown.
const (
	reasonGone      = "gone"
	reasonExcluded  = "excluded"
	reasonUnread    = "not_readable"
	reasonContent   = "content_changed"
	reasonBelow     = "below_changed"
	reasonReworded  = "below_described_anew"
	reasonUnwritten = "children_without_text"
	reasonPartial   = "partial"
)

// CheckRecord reports whether a record is fresh for a directory of this tree, or for the overview if dir is the subject
// of its receipt. It is fresh if the files are those of its basis, except for changes that do not count, and the
// summaries of the subdirectories are the same and fresh.
//
// For a past tree, the summaries of that time are unknown. If only the summaries of subdirectories differ, the
// answer is unknown.
func (s *Survey) CheckRecord(ctx context.Context, r *store.DirRecord, dir repo.Path) (RecordCheck, error) {
	ts, err := s.judgeForReceipt(ctx)
	if err != nil {
		return RecordCheck{}, err
	}
	check, err := ts.checkRecord(ctx, r, dir)
	if s.opts.OfCommit {
		for i, why := range check.Reasons {
			check.Reasons[i] = inCommit(why)
		}
	}
	return check, err
}

// CheckBasis is CheckRecord for a record that this clone does not have, by the digest of its basis. Without
// subdirectories, another digest means stale. With subdirectories, this clone may lack their summaries of that
// time: an equal digest means fresh, any other unknown.
func (s *Survey) CheckBasis(ctx context.Context, basis fresh.Digest, dir repo.Path) (RecordCheck, error) {
	ts, err := s.judgeForReceipt(ctx)
	if err != nil {
		return RecordCheck{}, err
	}
	st := ts.subject(dir)
	if st == nil {
		return RecordCheck{}, nil
	}
	now := ts.basis(st)
	var check RecordCheck
	switch {
	case st.Verdict == Excluded || st.Verdict == Unknown || now.Digest() == basis:
		if check, err = ts.checkRecord(ctx, &store.DirRecord{Path: dir, Basis: now}, dir); err != nil {
			return RecordCheck{}, err
		}
	case st.CountedChildren == 0:
		check = RecordCheck{State: fresh.Stale, Reasons: []string{reasonContent}}
	}
	if s.opts.OfCommit {
		for i, why := range check.Reasons {
			check.Reasons[i] = inCommit(why)
		}
	}
	return check, nil
}

// judgeForReceipt judges the tree like Show. For a past tree it does not make outlines again, because the summaries
// of that time are unknown anyway.
func (s *Survey) judgeForReceipt(ctx context.Context) (*treeStatus, error) {
	return s.judgeAll(ctx, !s.opts.OfCommit)
}

// inCommit returns the form of a reason for the tree of a commit.
func inCommit(why string) string {
	switch why {
	case reasonContent:
		return "other_content_in_commit"
	case reasonGone:
		return "not_in_commit"
	case workspace.NotComparable:
		return why
	default:
		return why + "_in_commit"
	}
}

// subject returns the status of the subject of a receipt, nil if it is gone.
func (ts *treeStatus) subject(dir repo.Path) *DirStatus {
	if dir == overviewPath {
		return ts.repositoryStatus()
	}
	d, err := ts.find(dir)
	if err != nil {
		return nil
	}
	return ts.status[d]
}

// checkRecord checks a record against the present directory.
func (ts *treeStatus) checkRecord(ctx context.Context, r *store.DirRecord, dir repo.Path) (RecordCheck, error) {
	st := ts.subject(dir)
	if st == nil {
		return RecordCheck{fresh.Gone, []string{reasonGone}, nil}, nil
	}
	switch st.Verdict {
	case Excluded:
		return RecordCheck{fresh.Excluded, []string{reasonExcluded}, st.Reasons}, nil
	case Unknown:
		why := reasonUnread
		if slices.ContainsFunc(st.Dir.Files, func(f *workspace.File) bool { return f.Problem == workspace.NotComparable }) {
			why = workspace.NotComparable
		}
		return RecordCheck{fresh.Unknown, []string{why}, st.Reasons}, nil
	default:
	}
	shapes, err := ts.shapes(ctx, st.changedFiles(r))
	if err != nil {
		return RecordCheck{}, err
	}
	present := *st
	present.Reasons = nil
	now := ts.compare(&present, r, shapes)
	check := RecordCheck{State: now.Verdict.State(), Details: now.Reasons}
	switch now.Verdict {
	case StaleSelf:
		check.Reasons = []string{reasonContent}
	case StaleBelow:
		check.Reasons = []string{reasonBelow}
		if ts.opts.OfCommit && !slices.ContainsFunc(now.Reasons, func(why string) bool { return !strings.HasSuffix(why, describedAnew) }) {
			check.State, check.Reasons = fresh.Unknown, []string{reasonReworded}
		}
	case Unknown:
		check.Reasons = []string{reasonUnread}
	case Incomplete:
		check.Reasons = []string{reasonUnwritten}
	case Partial:
		check.Reasons = []string{reasonPartial}
	default:
	}
	return check, nil
}
