package git

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ken/internal/fault"
	"ken/internal/git/history"
	"ken/internal/repo"
)

// FilterHistory says what the histories of the repository keep of commits. It must be
// called once, before the first call of [Repo.History].
func (r *Repo) FilterHistory(f repo.HistoryFilter) { r.filter = &f }

// historyTrailers are the keys of the trailers that are kept, in any case.
func (r *Repo) historyTrailers() []string {
	if r.filter == nil {
		return nil
	}
	return r.filter.Trailers
}

// A History is what happened, as far as it can be reached from some heads: commits,
// the paths they changed and the moves of the files that its filter follows. It may hold commits that none
// of the heads reaches. It does not change, and may be read from several goroutines.
type History struct {
	*history.Index
	gap     string
	remarks []string
}

// Gap says why the history does not go back to the beginning, "" when it does.
func (h *History) Gap() string { return h.gap }

// Remarks are what the user may want to know of how the history was read, a cache
// that could not be written say. None of it changes an answer.
func (h *History) Remarks() []string { return slices.Clone(h.remarks) }

// History returns the history of everything that can be reached from heads. It comes
// from an index in the cache directory, which is first brought up to date by a walk
// over what is new. When nothing is, no process is started. Zero heads are skipped.
//
// A history that cannot be read whole is an error, and leaves the index as it was;
// an index that cannot be written is a remark.
func (r *Repo) History(ctx context.Context, heads []repo.ID) (*History, error) {
	if r.filter == nil {
		return nil, errors.New("read history: FilterHistory was not called")
	}
	heads = slices.DeleteFunc(slices.Clone(heads), repo.ID.IsZero)
	// Someone may fetch what a shallow clone lacks while we walk.
	for range 3 {
		before, err := r.historyView(ctx)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		h, err := r.historyOf(ctx, before, heads)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if !h.fresh {
			return h.History, nil
		}
		after, err := r.historyView(ctx)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if before.key != after.key {
			continue
		}
		if err := r.saveHistory(h.Index); err != nil {
			h.remarks = append(h.remarks, fmt.Sprintf("the index of the history could not be written to %s, and has to be made again each time: %v", r.historyDir(), cause(err)))
		}
		return h.History, nil
	}
	return nil, &fault.Error{
		Hint: "wait for git fetch to finish, and try again",
		Err:  errors.New("read history: it keeps changing"),
	}
}

// An update is a history, and whether it holds what the cache does not.
type update struct {
	*History
	fresh bool
}

// historyOf returns the history as one view has it.
func (r *Repo) historyOf(ctx context.Context, v view, heads []repo.ID) (update, error) {
	early := r.walkEarly(ctx, v.key, heads)
	u := update{History: &History{Index: r.loadHistory(v.key)}}
	missing := u.Missing(heads)
	if !early.fits(missing, knownOf(u.Tips())) {
		early.drop()
		early = nil
	}
	if early != nil {
		u.LoadParents() // while git walks
	}
	if len(missing) > 0 {
		b, err := r.whatIsNew(ctx, u.Index, missing, early)
		if errors.Is(err, history.ErrInconsistent) && u.Len() > 0 {
			u.Index = &history.Index{}
			b, err = r.whatIsNew(ctx, u.Index, heads, nil)
		}
		if err == nil {
			err = u.Append(b, v.key)
		}
		if err != nil {
			return u, err
		}
		u.fresh = true
		if missing = u.Missing(missing); len(missing) > 0 {
			return u, fmt.Errorf("%s is no commit", missing[0])
		}
	}
	u.gap = v.gap(u.History)
	return u, nil
}

// whatIsNew returns what can be reached from heads and is not in the history. The
// walk over it may have begun early.
func (r *Repo) whatIsNew(ctx context.Context, h *history.Index, heads []repo.ID, early *earlyWalk) (*history.Builder, error) {
	b, err := r.walkNew(ctx, h, heads, early)
	if err != nil {
		return nil, err
	}
	if err := b.Number(); err != nil {
		return nil, err
	}
	moves, err := r.fileMoves(ctx, b.Moving())
	if err != nil {
		return nil, err
	}
	return b, b.SetMoves(moves)
}

// maxKnown is how many commits are named to git as known. One that is left out costs
// a longer walk, since what comes again is recognised.
const maxKnown = 100

// knownOf returns those of the tips of a history that are named.
func knownOf(tips []repo.ID) []repo.ID { return tips[max(0, len(tips)-maxKnown):] }

// walkNew walks what can be reached from heads and is not in the history.
func (r *Repo) walkNew(ctx context.Context, h *history.Index, heads []repo.ID, early *earlyWalk) (*history.Builder, error) {
	known := knownOf(h.Tips())
	b := history.NewBuilder(h, r.format, *r.filter)
	var err error
	switch {
	case early != nil:
		err = early.take(b.Add)
	case len(known) == 0:
		err = r.walkAll(ctx, heads, r.historyTrailers(), b.Add)
	default:
		err = r.Walk(ctx, heads, known, r.historyTrailers(), b.Add)
	}
	if _, refused := errors.AsType[*refusal](err); !refused || len(known) == 0 {
		return b, err
	}
	// Of what is known, something may have been pruned since.
	here, probeErr := r.present(ctx, known)
	if probeErr != nil || len(here) == len(known) {
		return nil, err
	}
	b = history.NewBuilder(h, r.format, *r.filter)
	for _, id := range known {
		if !slices.Contains(here, id) {
			b.DropTip(id)
		}
	}
	return b, r.Walk(ctx, heads, here, r.historyTrailers(), b.Add)
}

// present returns those of some commits that are in the repository.
func (r *Repo) present(ctx context.Context, ids []repo.ID) ([]repo.ID, error) {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	found, err := r.batchCheck(ctx, names)
	if err != nil {
		return nil, err
	}
	var here []repo.ID
	for i, id := range found {
		if !id.IsZero() {
			here = append(here, ids[i])
		}
	}
	return here, nil
}
