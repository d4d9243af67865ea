package spec

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A Story is how a node and its code came to where they are. Each list has the newest
// first.
type Story struct {
	Versions []HistoryRow
	Acks     []Ack         // since the latest version
	Advances []DriftCommit // of its code, since the latest of both
}

// A DriftCommit is a commit that changed code that a node governs, ahead of its spec.
type DriftCommit struct {
	Commit  repo.ID
	Date    string // RFC 3339
	Subject string
	Session *string
	Paths   []repo.Path // what it changed of that, sorted
}

// Drift returns the commits that the drift of a node counts, newest first. A drift that is
// not known is an error.
func (r *Reader) Drift(ctx context.Context, id string) ([]DriftCommit, error) {
	f, err := r.factsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, u := range f.Unknown {
		if u.Fact == FactDrift {
			return nil, fmt.Errorf("drift of %s unknown: %s", id, u.Reason)
		}
	}
	return r.advances(ctx, f)
}

// DriftPatch returns what a commit of a drift changed in the code that the node governs.
func (r *Reader) DriftPatch(ctx context.Context, c DriftCommit) (string, error) {
	return r.past.Patch(ctx, c.Commit, c.Paths)
}

// ahead returns the commits that drift counts, and which files each changed.
func (s *study) ahead() map[repo.CommitNumber][]repo.Path {
	at := make(map[repo.CommitNumber][]repo.Path)
	for _, b := range s.loud() {
		for _, t := range b.touches {
			at[t.Commit] = append(at[t.Commit], b.file.path)
		}
	}
	return at
}

// Story returns the story of a node. As with [Reader.History], one that does not reach
// back to the beginning is an error.
func (r *Reader) Story(ctx context.Context, id string) (*Story, error) {
	f, err := r.factsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	rows, err := r.rows(ctx, f)
	if err != nil {
		return nil, err
	}
	ahead, err := r.advances(ctx, f)
	if err != nil {
		return nil, err
	}
	return &Story{Versions: rows, Acks: f.Acks, Advances: ahead}, nil
}

// advances reads the commits that a drift counts.
func (r *Reader) advances(ctx context.Context, f *Facts) ([]DriftCommit, error) {
	if len(f.ahead) == 0 {
		return nil, nil
	}
	h, err := r.past.History(ctx, []repo.ID{f.at})
	if err != nil {
		return nil, err
	}
	var list []DriftCommit
	for _, n := range slices.SortedFunc(maps.Keys(f.ahead), func(a, b repo.CommitNumber) int { return cmp.Compare(b, a) }) {
		c, paths := h.Commit(n), slices.Clone(f.ahead[n])
		slices.Sort(paths)
		list = append(list, DriftCommit{Commit: c.ID, Date: c.Date, Subject: c.Subject, Session: session(c.Trailers), Paths: slices.Compact(paths)})
	}
	return list, nil
}

// AdvanceDiff returns what a commit changed in the code that a node governs, ahead of its
// spec, as a patch. The commit is named by the beginning of its id.
func (r *Reader) AdvanceDiff(ctx context.Context, id, prefix string) (repo.ID, string, error) {
	f, err := r.factsOf(ctx, id)
	if err != nil {
		return repo.ID{}, "", err
	}
	ahead, err := r.advances(ctx, f)
	if err != nil {
		return repo.ID{}, "", err
	}
	for _, m := range ahead {
		if len(prefix) >= leastPrefix && len(prefix) <= len(m.Commit.String()) && m.Commit.String()[:len(prefix)] == prefix {
			patch, err := r.DriftPatch(ctx, m)
			return m.Commit, patch, err
		}
	}
	return repo.ID{}, "", &fault.Error{
		Kind: fault.Usage, Hint: "list its drift: ken spec drift " + fault.Quote(id),
		Err: fmt.Errorf("commit %s is not part of the drift of %s", show(prefix), id),
	}
}
