package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"ken/internal/fault"
	"ken/internal/git/command"
	"ken/internal/git/history"
	"ken/internal/repo"
)

// FilterHistory sets which trailers, markers and moves the history index stores. Call it once,
// before the first call of [Repo.History].
func (r *Repo) FilterHistory(f repo.HistoryFilter) { r.filter = &f }

// historyTrailers returns the keys of the trailers that the index stores. Case does not matter.
func (r *Repo) historyTrailers() []string {
	if r.filter == nil {
		return nil
	}
	return r.filter.Trailers
}

// A History is an index of the commits that some heads reach. It may also have commits that none of
// the heads reaches. It does not change, and several goroutines may use it.
type History struct {
	*history.Index
	gap     string
	remarks []string
}

// Gap returns the reason why the history is incomplete, "" if it is complete.
func (h *History) Gap() string { return h.gap }

// Remarks returns messages for the user about reading the history, for example that the cache is not
// writable. They do not change an answer.
func (h *History) Remarks() []string { return slices.Clone(h.remarks) }

// History returns the history of all commits that heads reach. It updates the index in the cache
// directory by a walk over the new commits. If there are none, it starts no process. It ignores zero
// ids.
//
// If git cannot read a part of the history, History returns an error and does not change the index.
// If the index cannot be written, the history has a remark.
func (r *Repo) History(ctx context.Context, heads []repo.ID) (*History, error) {
	if r.filter == nil {
		return nil, errors.New("read history: FilterHistory was not called")
	}
	heads = slices.DeleteFunc(slices.Clone(heads), repo.ID.IsZero)
	// Another process may deepen a shallow clone during the walk.
	for range 3 {
		before, err := r.historyInputs(ctx)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		h, err := r.updateHistory(ctx, before, heads)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if !h.changed {
			return h.History, nil
		}
		after, err := r.historyInputs(ctx)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if before.key != after.key {
			continue
		}
		if err := r.saveHistory(h.Index); err != nil {
			h.remarks = append(h.remarks, fmt.Sprintf("the index of the history could not be written to %s, so every command builds it again: %v", r.historyDir(), cause(err)))
		}
		return h.History, nil
	}
	return nil, &fault.Error{
		Hint: "wait for git fetch to finish, and try again",
		Err:  errors.New("read history: the repository keeps changing"),
	}
}

// An update is a history; changed says that the cache does not have all of it.
type update struct {
	*History
	changed bool
}

// updateHistory reads the index from the cache and adds the new commits.
func (r *Repo) updateHistory(ctx context.Context, in historyInputs, heads []repo.ID) (update, error) {
	u := update{History: &History{Index: r.loadHistory(in.key)}}
	missing := u.Missing(heads)
	if len(missing) > 0 {
		b, err := r.readNew(ctx, u.Index, missing)
		if errors.Is(err, history.ErrInconsistent) && u.Len() > 0 {
			u.Index = &history.Index{}
			b, err = r.readNew(ctx, u.Index, heads)
		}
		if err == nil {
			err = u.Append(b, in.key)
		}
		if err != nil {
			return u, err
		}
		u.changed = true
		if missing = u.Missing(missing); len(missing) > 0 {
			return u, fmt.Errorf("%s is not a commit", missing[0])
		}
	}
	u.gap = in.gap(u.History)
	return u, nil
}

// readNew reads the commits that heads reach and the index does not have.
func (r *Repo) readNew(ctx context.Context, h *history.Index, heads []repo.ID) (*history.Builder, error) {
	b, err := r.walkNew(ctx, h, heads)
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

// maxBoundary is the number of known commits at which git is told to stop. If more are known, the walk
// takes longer and the builder ignores the repeated commits.
const maxBoundary = 100

// walkNew walks the commits that heads reach and the index does not have.
func (r *Repo) walkNew(ctx context.Context, h *history.Index, heads []repo.ID) (*history.Builder, error) {
	tips := h.Tips()
	known := tips[max(0, len(tips)-maxBoundary):]
	b := history.NewBuilder(h, r.format, *r.filter)
	var err error
	if len(known) == 0 {
		err = r.walkAll(ctx, heads, r.historyTrailers(), b.Add)
	} else {
		err = r.Walk(ctx, heads, known, r.historyTrailers(), b.Add)
	}
	if _, refused := errors.AsType[*command.Error](err); !refused || len(known) == 0 {
		return b, err
	}
	// Git may have pruned one of the known commits.
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

// present returns the commits that the repository has.
func (r *Repo) present(ctx context.Context, ids []repo.ID) ([]repo.ID, error) {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	found, err := r.objects().Resolve(ctx, names)
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

// fileMoves returns the moves that git finds in the commits, among the files that the filter follows,
// in one run of git. Other files cost no time and cannot be taken for the source of a move. The moves
// of a merge are those from each parent.
func (r *Repo) fileMoves(ctx context.Context, commits []repo.ID) ([]history.FileMove, error) {
	if len(commits) == 0 || r.filter.MoveName == "" {
		return nil, nil
	}
	var in bytes.Buffer
	for _, id := range commits {
		fmt.Fprintf(&in, "%s\n", id)
	}
	// In a commit with more than a thousand candidates git finds only moves without edits. That is
	// git's default limit.
	out, err := r.git().Read(ctx, &in, "diff-tree", "--stdin", "-m", "-r", "-M50%", "-l1000", "--raw", "-z", "--no-abbrev",
		"--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--format=%H%x00", "--", string(r.filter.MoveDir))
	if err != nil {
		return nil, err
	}
	return history.ParseMoves(out, *r.filter)
}
