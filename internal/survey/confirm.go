package survey

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey/describe"
	"ken/internal/workspace"
)

// confirmedRecipe is the recipe of a summary that a person or an agent confirmed.
const confirmedRecipe = "hand"

// A Confirmation says that the text of a directory is still right.
type Confirmation struct {
	Path repo.Path
	// Read is the digest of the basis that the author read, from Show. Zero means the present basis.
	Read   fresh.Digest
	Author string // who confirms
}

// Confirmed is the result of a confirmation.
type Confirmed struct {
	Path     repo.Path
	NotFound bool          // no directory of tracked files has that path, now or before
	Refused  string        // why nothing was stored, "" if it was
	Basis    fresh.Digest  // basis of the new record
	Verdict  fresh.Verdict // the new verdict of the directory
	Reasons  []string      // for that verdict
	Above    []repo.Path   // directories above that are fresh again because of it, nearest first
}

// Confirm stores the present summaries of directories again, for the current content. It starts with the deepest
// directories, so that those above see the result; answers are in the order of list. If a subdirectory has no
// summary or a stale one, Confirm still stores the text, and the verdict says so.
func (s *Survey) Confirm(ctx context.Context, list []Confirmation) ([]Confirmed, error) {
	ts, err := s.judge(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Confirmed, len(list))
	at := make(map[repo.Path][]int)
	for i, c := range list {
		out[i] = Confirmed{Path: c.Path}
		at[c.Path] = append(at[c.Path], i)
		if _, err := ts.find(c.Path); err != nil {
			described := len(ts.latest[c.Path]) > 0
			out[i].NotFound, out[i].Refused = !described, "the directory is gone: git tracks no file in it"
		}
	}
	var records []*store.DirRecord
	for _, d := range ts.order {
		for _, i := range at[d.Path] {
			r, err := ts.confirm(ctx, d, list[i], &out[i])
			if err != nil {
				return nil, err
			}
			if r != nil {
				records = append(records, r)
			}
		}
	}
	if len(records) == 0 {
		return out, nil
	}
	if err := s.store.SaveDirRecords(ctx, records); err != nil {
		return nil, fmt.Errorf("store the confirmation: %w", err)
	}
	return out, nil
}

// confirm makes the record of a confirmation, and judges the directory and those above it again. It returns nil if
// the confirmation is refused.
func (ts *treeStatus) confirm(ctx context.Context, d *Directory, c Confirmation, out *Confirmed) (*store.DirRecord, error) {
	st := ts.status[d]
	switch {
	case d.Excluded != "":
		out.Refused = "excluded: " + d.Excluded
	case st.Verdict.State == fresh.Unknown:
		out.Refused = "ken cannot read all of it: " + strings.Join(st.Reasons, ", ")
	case st.Record == nil:
		out.Refused = "there is no summary to confirm"
	case !c.Read.IsZero() && c.Read != ts.basis(st).Digest():
		out.Refused = "the directory changed since you read it: read it again"
	}
	if out.Refused != "" {
		out.Verdict, out.Reasons = st.Verdict, st.Reasons
		return nil, nil
	}
	it, err := ts.item(ctx, st)
	if errors.Is(err, workspace.ErrChanged) {
		out.Refused, out.Verdict, out.Reasons = err.Error(), st.Verdict, st.Reasons
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	it.Old = st.Record
	r, err := ts.record(it, describe.Draft{Keep: true}, c.Author, confirmedRecipe)
	if err != nil {
		out.Refused, out.Verdict, out.Reasons = err.Error(), st.Verdict, st.Reasons
		return nil, nil //nolint:nilerr // the result has the reason
	}
	ts.latest[d.Path] = []*store.DirRecord{r}
	delete(ts.failed, d.Path)
	was := make(map[*Directory]fresh.State)
	for up := d; up != nil; up = up.Parent {
		was[up] = ts.status[up].Verdict.State
		if err := ts.judgeLevel(ctx, []*Directory{up}); err != nil {
			return nil, err
		}
		if up != d && was[up] != fresh.Fresh && ts.status[up].Verdict.State == fresh.Fresh {
			out.Above = append(out.Above, up.Path)
		}
	}
	out.Basis, out.Verdict, out.Reasons = r.Basis.Digest(), ts.status[d].Verdict, ts.status[d].Reasons
	return r, nil
}
