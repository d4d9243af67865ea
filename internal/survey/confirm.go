package survey

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// ConfirmedRecipe is the recipe of a summary that a person or an agent confirmed.
const ConfirmedRecipe = "hand"

// A Confirmation says of a directory that its text still holds.
type Confirmation struct {
	Path repo.Path
	// Read is the digest of the basis that was looked at, as Show has it; what is
	// there now is assumed when it is zero.
	Read   fresh.Digest
	Author string // the witness
}

// Confirmed tells what became of a confirmation.
type Confirmed struct {
	Path    repo.Path
	None    bool         // no directory of tracked files has that path, now or before
	Refused string       // why nothing was kept, "" when it was
	Basis   fresh.Digest // what the text is kept for
	Verdict Verdict      // about the directory, from now on
	Reasons []string     // for that verdict
	Above   []repo.Path  // the directories above that hold again because of it, nearest first
}

// Confirm stores the present summaries of directories again, for the current
// content. It starts with the deepest directories, so that those above see the
// result; answers are in the order of list. If a subdirectory has no summary
// or a stale one, Confirm still stores the text, and the verdict says so.
func (s *Survey) Confirm(ctx context.Context, list []Confirmation) ([]Confirmed, error) {
	j, err := s.judge(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Confirmed, len(list))
	at := make(map[repo.Path][]int)
	for i, c := range list {
		out[i] = Confirmed{Path: c.Path}
		at[c.Path] = append(at[c.Path], i)
		if _, err := j.find(c.Path); err != nil {
			said := len(j.latest[c.Path]) > 0
			out[i].None, out[i].Refused = !said, "the directory is gone: git tracks no file in it"
		}
	}
	var records []*store.DirRecord
	for _, d := range j.order {
		for _, i := range at[d.Path] {
			r, err := j.confirm(ctx, d, list[i], &out[i])
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
	if err := s.store.Keep(ctx, records); err != nil {
		return nil, fmt.Errorf("store the confirmation: %w", err)
	}
	return out, nil
}

// confirm makes the record that a confirmation amounts to, and judges the directory
// and those above it by it. It returns nil when there is nothing to be kept.
func (j *judgement) confirm(ctx context.Context, d *Directory, c Confirmation, out *Confirmed) (*store.DirRecord, error) {
	st := j.at[d]
	switch {
	case d.Excluded != "":
		out.Refused = "excluded: " + d.Excluded
	case st.Verdict == Unknown:
		out.Refused = "ken cannot read all of it: " + strings.Join(st.Reasons, ", ")
	case st.Record == nil:
		out.Refused = "there is no summary to confirm"
	case !c.Read.IsZero() && c.Read != j.basis(st).Digest():
		out.Refused = "the directory changed since you read it: read it again"
	}
	if out.Refused != "" {
		out.Verdict, out.Reasons = st.Verdict, st.Reasons
		return nil, nil
	}
	it, err := j.item(ctx, st)
	if errors.Is(err, ErrMoved) {
		out.Refused, out.Verdict, out.Reasons = err.Error(), st.Verdict, st.Reasons
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	it.Old = st.Record
	r, err := j.record(it, Draft{Keep: true}, c.Author, ConfirmedRecipe)
	if err != nil {
		out.Refused, out.Verdict, out.Reasons = err.Error(), st.Verdict, st.Reasons
		return nil, nil //nolint:nilerr // it is the answer
	}
	j.latest[d.Path] = []*store.DirRecord{r}
	delete(j.failed, d.Path)
	was := make(map[*Directory]Verdict)
	for up := d; up != nil; up = up.Parent {
		was[up] = j.at[up].Verdict
		if err := j.judgeLevel(ctx, []*Directory{up}); err != nil {
			return nil, err
		}
		if up != d && was[up] != Fresh && j.at[up].Verdict == Fresh {
			out.Above = append(out.Above, up.Path)
		}
	}
	out.Basis, out.Verdict, out.Reasons = r.Basis.Digest(), j.at[d].Verdict, j.at[d].Reasons
	return r, nil
}
