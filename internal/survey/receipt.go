package survey

import (
	"context"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A RecordCheck is whether a record holds for a directory, and why not. Reasons are words for
// programs, Details say the same of names.
type RecordCheck struct {
	State   fresh.State
	Reasons []string
	Details []string
}

// The reasons why a record does not hold, or why that is not known.
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

// Incomparable is the [File.Problem] of a file in a commit whose bytes in a work tree a
// filter makes: what was written from those cannot be compared with what git stores.
const Incomparable = "not_comparable_with_a_commit"

// NotHere is the [File.Problem] of a file in a commit whose content git does not have in
// this clone.
const NotHere = "not_in_this_clone"

// Holds reports whether a record holds for a directory of this tree,
// or for the overview if dir is the subject of its receipt: the files
// are those of its basis, except for changes that do not count, and
// the summaries of the subdirectories are the same and fresh.
//
// For a past tree, the summaries of that time are unknown. If only
// the summaries of subdirectories differ, the answer is unknown.
func (s *Survey) Holds(ctx context.Context, r *store.DirRecord, dir repo.Path) (RecordCheck, error) {
	j, err := s.judgeForReceipt(ctx)
	if err != nil {
		return RecordCheck{}, err
	}
	held, err := j.holds(ctx, r, dir)
	if s.opts.Past {
		for i, why := range held.Reasons {
			held.Reasons[i] = inCommit(why)
		}
	}
	return held, err
}

// HoldsBasis is Holds for a record that this clone does not have, by
// the digest of its basis. Without subdirectories, another digest means
// stale. With subdirectories, this clone may lack their summaries of
// that time: an equal digest means fresh, any other unknown.
func (s *Survey) HoldsBasis(ctx context.Context, basis fresh.Digest, dir repo.Path) (RecordCheck, error) {
	j, err := s.judgeForReceipt(ctx)
	if err != nil {
		return RecordCheck{}, err
	}
	st := j.subject(dir)
	if st == nil {
		return RecordCheck{}, nil
	}
	now := j.basis(st)
	var held RecordCheck
	switch {
	case st.Verdict == Excluded || st.Verdict == Unknown || now.Digest() == basis:
		if held, err = j.holds(ctx, &store.DirRecord{Path: dir, Basis: now}, dir); err != nil {
			return RecordCheck{}, err
		}
	case st.N == 0:
		held = RecordCheck{State: fresh.Stale, Reasons: []string{reasonContent}}
	}
	if s.opts.Past {
		for i, why := range held.Reasons {
			held.Reasons[i] = inCommit(why)
		}
	}
	return held, nil
}

// judgeForReceipt judges the tree as it is shown. The outlines of a past tree are not made
// again: which summaries there were at that time is unknown anyway.
func (s *Survey) judgeForReceipt(ctx context.Context) (*judgement, error) {
	return s.judgeAll(ctx, !s.opts.Past)
}

// inCommit is a reason as it is said of a commit.
func inCommit(why string) string {
	switch why {
	case reasonContent:
		return "other_content_in_commit"
	case reasonGone:
		return "not_in_commit"
	case Incomparable:
		return why
	default:
		return why + "_in_commit"
	}
}

// subject returns how the subject of a receipt stands, nil for one that is gone.
func (j *judgement) subject(dir repo.Path) *DirStatus {
	if dir == reportPath {
		return j.whole()
	}
	d, err := j.find(dir)
	if err != nil {
		return nil
	}
	return j.at[d]
}

func (j *judgement) holds(ctx context.Context, r *store.DirRecord, dir repo.Path) (RecordCheck, error) {
	st := j.subject(dir)
	if st == nil {
		return RecordCheck{fresh.Gone, []string{reasonGone}, nil}, nil
	}
	switch st.Verdict {
	case Excluded:
		return RecordCheck{fresh.Excluded, []string{reasonExcluded}, st.Reasons}, nil
	case Unknown:
		why := reasonUnread
		if slices.ContainsFunc(st.Dir.Files, func(f *File) bool { return f.Problem == Incomparable }) {
			why = Incomparable
		}
		return RecordCheck{fresh.Unknown, []string{why}, st.Reasons}, nil
	default:
	}
	shapes, err := j.shapes(ctx, st.moved(r))
	if err != nil {
		return RecordCheck{}, err
	}
	bare := *st
	bare.Reasons = nil
	now := j.compare(&bare, r, shapes)
	held := RecordCheck{State: now.Verdict.State(), Details: now.Reasons}
	switch now.Verdict {
	case StaleSelf:
		held.Reasons = []string{reasonContent}
	case StaleBelow:
		held.Reasons = []string{reasonBelow}
		if j.opts.Past && !slices.ContainsFunc(now.Reasons, func(why string) bool { return !strings.HasSuffix(why, describedAnew) }) {
			held.State, held.Reasons = fresh.Unknown, []string{reasonReworded}
		}
	case Unknown:
		held.Reasons = []string{reasonUnread}
	case Incomplete:
		held.Reasons = []string{reasonUnwritten}
	case Partial:
		held.Reasons = []string{reasonPartial}
	default:
	}
	return held, nil
}
