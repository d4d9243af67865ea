package spec

import (
	"context"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// newCommits describes the commits between two heads. The later head descends from the earlier one.
type newCommits struct {
	changed      map[repo.Path]bool // the paths that a commit changed, or that differ between the heads
	specsChanged bool               // a spec is among the changed paths
	acked        []string           // the ids that new acks name
}

// maxNewCommits is the most new commits to look through. With more, deriving all nodes again is faster.
const maxNewCommits = 2_000

// newCommitsSince returns the commits that to reaches and from does not. It returns nil if to does not descend
// from from, or if the history does not tell.
func (r *Reader) newCommitsSince(ctx context.Context, h derive.History, from, to repo.ID) (*newCommits, error) {
	a, known := h.Find(from)
	b, ok := h.Find(to)
	if !known || !ok || h.Gap() != "" {
		return nil, nil
	}
	fresh, merges, ok := between(h, a, b)
	if !ok {
		return nil, nil
	}
	w := &newCommits{changed: make(map[repo.Path]bool)}
	if len(fresh) == 0 {
		return w, nil
	}
	isFresh := make(map[repo.CommitNumber]bool, len(fresh))
	for _, n := range fresh {
		isFresh[n] = true
	}
	for _, t := range h.Since(fresh[len(fresh)-1]) {
		for _, x := range t.Touches {
			if isFresh[x.Commit] {
				w.add(t.Path)
				break
			}
		}
	}
	for _, n := range h.Marked() {
		if isFresh[n] {
			w.acked = append(w.acked, derive.AckedIDs(h.Commit(n).Trailers)...)
		}
	}
	if !merges {
		return w, nil
	}
	// A merge can take the version of either parent, so a path can change without a commit that changed it.
	paths, err := r.ws.Git.DifferingPaths(ctx, from, to)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil //nolint:nilerr // the caller derives all nodes again, and reports a lasting error then
	}
	for _, p := range paths {
		w.add(p)
	}
	return w, nil
}

func (w *newCommits) add(p repo.Path) {
	w.changed[p] = true
	w.specsChanged = w.specsChanged || parse.IsSpec(p)
}

// between returns the commits that to reaches and from does not, in descending order, and whether one of them is a
// merge. ok is false if to does not reach from, or if there are more than maxNewCommits.
func between(h derive.History, from, to repo.CommitNumber) (fresh []repo.CommitNumber, merges, ok bool) {
	const (
		above = 1 // reached by to
		below = 2 // reached by from
	)
	marks := map[repo.CommitNumber]int{to: above}
	marks[from] |= below
	pending := 1 // commits marked above only and not visited yet
	if from == to {
		pending = 0
	}
	lines := h.Parents()
	for n := max(from, to); n >= 0 && pending > 0; n-- {
		mark := marks[n]
		if mark == 0 {
			continue
		}
		parents := lines.Of(n)
		if mark == above {
			pending--
			if fresh = append(fresh, n); len(fresh) > maxNewCommits {
				return nil, false, false
			}
			merges = merges || len(parents) > 1
		}
		for _, p := range parents {
			before := marks[p]
			marks[p] = before | mark
			switch {
			case before == 0 && mark == above:
				pending++
			case before == above && mark != above:
				pending--
			}
		}
	}
	return fresh, merges, marks[from]&above != 0
}
