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
)

// gateRange judges the commits of a range A..B. A spec passes if
// any commit of the range edits it, because that author has seen
// the spec. A spec with an unresolved conflict does not pass.
func (r *Reader) gateRange(ctx context.Context, opts GateOptions) (*GateResult, error) {
	from, to, err := r.ends(ctx, opts.Range)
	if err != nil {
		return nil, err
	}
	nodes, err := r.nodesAt(ctx, to, r.anyIndex(ctx))
	if err != nil {
		return unjudged(ctx, FactSpecs, err)
	}
	h, err := r.past.History(ctx, []repo.ID{to, from})
	if ctx.Err() != nil {
		return nil, ctx.Err() // also of what came just in time
	}
	if err != nil {
		// What the range changed is not known either: it may be anybody's.
		g := passed("")
		for _, n := range nodes {
			if len(n.Code) > 0 {
				g.Unknown = append(g.Unknown, Unjudged{Node: n.ID, Unknown: Unknown{FactHistory, err.Error()}})
			}
		}
		return g, nil
	}
	first, ok := h.Find(from)
	last, found := h.Find(to)
	if !ok || !found {
		return nil, fmt.Errorf("gate: %s is not in the history", opts.Range)
	}
	below := newGraph(h, first)
	if below.has(last) {
		return emptyRange(opts.Range, from, to), nil
	}
	d := newDerivation(nodes, h, last, r.past.Contents())
	within := func(c repo.CommitNumber) bool { return d.g.has(c) && !below.has(c) }

	touches := func(list []repo.Touch) bool {
		return slices.ContainsFunc(list, func(t repo.Touch) bool { return within(t.Commit) })
	}
	var cases []gateCase
	for _, s := range d.studies {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.govern(s)
		c := gateCase{node: s.node}
		for _, f := range s.files {
			if touches(f.touches) {
				c.paths = append(c.paths, f.path)
			}
		}
		if len(c.paths) > 0 || s.beyond != "" || s.node.Blind != "" || torn(s.node.Problems) && touches(h.Touching(s.node.Path)) {
			cases = append(cases, c)
		}
	}
	touched := make([]*Node, len(cases))
	for i, c := range cases {
		touched[i] = c.node
	}
	facts, err := Derive(ctx, touched, r.standAt(to), h, r.past.Contents())
	if err != nil {
		return nil, err
	}
	var open []gateCase
	var drifts []drifted
	for i, f := range facts {
		edited := slices.ContainsFunc(f.Versions, func(v VersionRow) bool {
			n, ok := h.Find(v.Commit)
			return ok && within(n)
		})
		if !edited || torn(f.Node.Problems) {
			open, drifts = append(open, cases[i]), append(drifts, drifted{f.Drift, f.Unknown})
		}
	}
	return judge(open, drifts, opts.Threshold), nil
}

// emptyRange is the verdict on a range whose beginning reaches its end: nothing is judged.
// A branch that is behind has such a range, and so has somebody who swapped the ends.
func emptyRange(text string, from, to repo.ID) *GateResult {
	if from == to {
		return passed("the range is empty: both ends are " + to.Short())
	}
	a, b, _ := strings.Cut(text, "..")
	b = strings.TrimPrefix(b, ".")
	return passed("the range is empty: its end is an ancestor of its start; did you mean: ken spec gate --range " + fault.Quote(cmp.Or(b, "HEAD")+".."+a))
}

// ends returns the commits of a range, A..B, where an end that is not named is HEAD.
// A...B is the same: what B has of its own.
func (r *Reader) ends(ctx context.Context, text string) (from, to repo.ID, err error) {
	a, b, ok := strings.Cut(text, "..")
	if !ok {
		return from, to, &fault.Error{
			Kind: fault.Usage, Hint: "for example: ken spec gate --range origin/main..HEAD",
			Err: fmt.Errorf("range %s: expected A..B", show(text)),
		}
	}
	if from, err = r.end(ctx, a); err != nil {
		return from, to, err
	}
	to, err = r.end(ctx, strings.TrimPrefix(b, "."))
	return from, to, err
}

func (r *Reader) end(ctx context.Context, rev string) (repo.ID, error) {
	if rev == "" {
		rev = "HEAD"
	}
	id, ok, err := r.past.Resolve(ctx, rev)
	if err == nil && !ok {
		err = &fault.Error{
			Kind: fault.Usage, Hint: "check it with: git log -1 " + fault.Quote(rev),
			Err: errors.New("no such commit: " + show(rev)),
		}
	}
	return id, err
}
