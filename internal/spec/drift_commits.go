package spec

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// A Timeline is the history of a node and its code: versions, acks and drift. Each list has the newest first.
type Timeline struct {
	Versions []HistoryRow
	Acks     []derive.Ack  // since the latest version
	Drift    []DriftCommit // commits to its code since the latest version or ack
}

// A DriftCommit is a commit that changed governed code after the spec was edited or acknowledged.
type DriftCommit struct {
	Commit  repo.ID
	Date    string // RFC 3339
	Subject string
	Session *string
	Paths   []repo.Path // the governed paths that it changed, sorted
	Format  bool        // it changed only comments or layout; such commits do not count for the gate
}

// Drift returns the commits that the drift of a node counts, newest first. It returns an error if the drift is
// unknown.
func (r *Reader) Drift(ctx context.Context, id string) ([]DriftCommit, error) {
	f, head, err := r.factsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, u := range f.Unknown {
		if u.What == derive.FactDrift {
			return nil, fmt.Errorf("drift of %s unknown: %s", id, u.Why)
		}
	}
	return r.driftCommits(ctx, f, head)
}

// DriftPatch returns the changes that a drift commit made to governed code, as a patch.
func (r *Reader) DriftPatch(ctx context.Context, c DriftCommit) (string, error) {
	return r.ws.Git.Patch(ctx, c.Commit, c.Paths)
}

// Timeline returns the history of a node. Like [Reader.History], it returns an error if the history is incomplete.
func (r *Reader) Timeline(ctx context.Context, id string) (*Timeline, error) {
	f, head, err := r.factsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	rows, err := r.rows(ctx, f)
	if err != nil {
		return nil, err
	}
	ahead, err := r.driftCommits(ctx, f, head)
	if err != nil {
		return nil, err
	}
	return &Timeline{Versions: rows, Acks: f.Acks, Drift: ahead}, nil
}

// driftCommits returns the commits that a drift counts, from the history of head.
func (r *Reader) driftCommits(ctx context.Context, f *derive.Facts, head repo.ID) ([]DriftCommit, error) {
	if len(f.DriftCommits) == 0 {
		return nil, nil
	}
	h, err := r.readHistory(ctx, []repo.ID{head})
	if err != nil {
		return nil, err
	}
	var list []DriftCommit
	for _, n := range slices.SortedFunc(maps.Keys(f.DriftCommits), func(a, b repo.CommitNumber) int { return cmp.Compare(b, a) }) {
		c, paths := h.Commit(n), slices.Clone(f.DriftCommits[n])
		slices.Sort(paths)
		list = append(list, DriftCommit{
			Commit: c.ID, Date: c.Date, Subject: c.Subject, Session: derive.Session(c.Trailers),
			Paths: slices.Compact(paths), Format: f.Format[n],
		})
	}
	return list, nil
}

// DriftCommitDiff returns the changes that a commit of the drift of a node made to governed code, as a patch. prefix
// is the beginning of the commit id.
func (r *Reader) DriftCommitDiff(ctx context.Context, id, prefix string) (repo.ID, string, error) {
	f, head, err := r.factsOf(ctx, id)
	if err != nil {
		return repo.ID{}, "", err
	}
	ahead, err := r.driftCommits(ctx, f, head)
	if err != nil {
		return repo.ID{}, "", err
	}
	for _, m := range ahead {
		if len(prefix) >= minPrefix && len(prefix) <= len(m.Commit.String()) && m.Commit.String()[:len(prefix)] == prefix {
			patch, err := r.DriftPatch(ctx, m)
			return m.Commit, patch, err
		}
	}
	return repo.ID{}, "", &fault.Error{
		Kind: fault.Usage, Hint: "list its drift: ken spec drift " + fault.Quote(id),
		Err: fmt.Errorf("commit %s is not part of the drift of %s", parse.Quote(prefix), id),
	}
}
