package spec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// gateRange judges the commits of a range A..B. A spec passes if
// any commit of the range edits it, because that author has seen
// the spec. A spec with an unresolved conflict does not pass.
func (r *Reader) gateRange(ctx context.Context, opts GateOptions) (*GateResult, error) {
	from, to, err := r.resolveRange(ctx, opts.Range)
	if err != nil {
		return nil, err
	}
	nodes, err := r.nodesAt(ctx, to, r.nodesOrNone(ctx))
	if err != nil {
		return gateUnknown(ctx, derive.FactSpecs, err)
	}
	h, err := r.readHistory(ctx, []repo.ID{to, from})
	if ctx.Err() != nil {
		return nil, ctx.Err() // prefer the cancellation error even if the result is complete
	}
	if err != nil {
		// The changes of the range are unknown, too, so any node may be affected.
		g := passed("")
		for _, n := range nodes {
			if len(n.Code) > 0 {
				g.Unknown = append(g.Unknown, fault.NewUnknown(n.ID, err))
			}
		}
		return g, nil
	}
	first, ok := h.Find(from)
	last, found := h.Find(to)
	if !ok || !found {
		return nil, fmt.Errorf("gate: %s is not in the history", opts.Range)
	}
	below := derive.NewGraph(h, first)
	if below.Has(last) {
		return emptyRange(opts.Range, from, to), nil
	}
	reached := derive.NewGraph(h, last)
	within := func(c repo.CommitNumber) bool { return reached.Has(c) && !below.Has(c) }
	changes, err := derive.GovernedChanges(ctx, nodes, h, last, within)
	if err != nil {
		return nil, err
	}
	moved, err := r.movedCode(ctx, to, nodes)
	if err != nil {
		return nil, err
	}
	touches := func(p repo.Path) bool {
		return slices.ContainsFunc(h.Touching(p), func(t repo.Touch) bool { return within(t.Commit) })
	}
	var cases []gateCase
	for i, n := range nodes {
		for _, p := range moved[n] {
			if touches(p) {
				changes[i].Paths = append(changes[i].Paths, p)
			}
		}
		mayGovern := !changes[i].All || n.CodeUnknown != ""
		editedConflict := parse.HasConflict(n.Problems) && touches(n.Path)
		if len(changes[i].Paths) > 0 || mayGovern || editedConflict {
			cases = append(cases, gateCase{n, changes[i].Paths})
		}
	}
	touched := make([]*parse.Node, len(cases))
	for i, c := range cases {
		touched[i] = c.node
	}
	facts, err := derive.Derive(ctx, touched, r.deriveOptions(to), h, r.ws.Git.Contents())
	if err != nil {
		return nil, err
	}
	var open []gateCase
	var drifts []nodeDrift
	for i, f := range facts {
		edited := slices.ContainsFunc(f.Versions, func(v derive.VersionRow) bool {
			n, ok := h.Find(v.Commit)
			return ok && within(n)
		})
		if !edited || parse.HasConflict(f.Node.Problems) {
			open, drifts = append(open, cases[i]), append(drifts, driftOf(&f))
		}
	}
	return judge(open, drifts, opts.Threshold), nil
}

// emptyRange is the verdict on a range without commits, because A reaches B. A branch that is behind has such a
// range; so has a range with swapped ends.
func emptyRange(text string, from, to repo.ID) *GateResult {
	if from == to {
		return passed("the range is empty: both ends are " + to.Short())
	}
	a, b, _ := strings.Cut(text, "..")
	b = strings.TrimPrefix(b, ".")
	return passed("the range is empty: its end is an ancestor of its start; did you mean: ken spec gate --range " + fault.Quote(cmp.Or(b, "HEAD")+".."+a))
}

// resolveRange returns the commits of a range A..B. A missing end is HEAD. A...B means the same here: the commits that
// only B reaches.
func (r *Reader) resolveRange(ctx context.Context, text string) (from, to repo.ID, err error) {
	a, b, ok := strings.Cut(text, "..")
	if !ok {
		return from, to, &fault.Error{
			Kind: fault.Usage, Hint: "for example: ken spec gate --range origin/main..HEAD",
			Err: fmt.Errorf("range %s: expected A..B", parse.Quote(text)),
		}
	}
	if from, err = r.resolveEnd(ctx, a); err != nil {
		return from, to, err
	}
	to, err = r.resolveEnd(ctx, strings.TrimPrefix(b, "."))
	return from, to, err
}

func (r *Reader) resolveEnd(ctx context.Context, rev string) (repo.ID, error) {
	if rev == "" {
		rev = "HEAD"
	}
	id, ok, err := r.ws.Git.Resolve(ctx, rev)
	if err == nil && !ok {
		err = &fault.Error{
			Kind: fault.Usage, Hint: "check it with: git log -1 " + fault.Quote(rev),
			Err: errors.New("no such commit: " + parse.Quote(rev)),
		}
	}
	return id, err
}
