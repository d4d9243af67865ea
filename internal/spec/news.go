package spec

import (
	"context"

	"ken/internal/repo"
)

// News is what happened between two commits, the later of which stands on the
// earlier one.
type news struct {
	changed map[repo.Path]bool // the paths that any commit changed, or that are not what they were
	specs   bool               // specs are among them
	acked   []string           // the ids in acks
}

// maxNews is from how many commits on it is not worth to look through them.
const maxNews = 2_000

// newsSince returns what the commits did that one head reaches and an earlier one
// does not; nil when the one does not stand on the other, or that cannot be told.
func (r *Reader) newsSince(ctx context.Context, h History, from, to repo.ID) (*news, error) {
	a, known := h.Find(from)
	b, ok := h.Find(to)
	if !known || !ok || h.Gap() != "" {
		return nil, nil
	}
	fresh, merges, ok := between(h, a, b)
	if !ok {
		return nil, nil
	}
	w := &news{changed: make(map[repo.Path]bool)}
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
			for _, a := range readAcks(h.Commit(n).Trailers) {
				w.acked = append(w.acked, a.id)
			}
		}
	}
	if !merges {
		return w, nil
	}
	// A merge can take a path from either side, and none of the commits changed it.
	paths, err := r.past.Differ(ctx, from, to)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil //nolint:nilerr // all of it is looked at again, and may then say why not
	}
	for _, p := range paths {
		w.add(p)
	}
	return w, nil
}

func (w *news) add(p repo.Path) {
	w.changed[p] = true
	w.specs = w.specs || IsSpec(p)
}

// between returns the commits that to reaches and from does not, descending, and
// whether any of them is a merge; ok is false when to does not reach from, or there
// are too many.
func between(h History, from, to repo.CommitNumber) (fresh []repo.CommitNumber, merges, ok bool) {
	const (
		above = 1 // to reaches it
		below = 2 // from does
	)
	marks := map[repo.CommitNumber]int{to: above}
	marks[from] |= below
	pending := 1 // marked as above and nothing else, and not looked at
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
			if fresh = append(fresh, n); len(fresh) > maxNews {
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
