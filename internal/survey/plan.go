package survey

import (
	"context"
	"fmt"

	"ken/internal/model"
	"ken/internal/repo"
	"ken/internal/survey/describe"
)

// A Plan lists the directories that need a summary, in the order of work.
type Plan struct {
	Directories []Planned `json:"directories"`
	Estimate    int64     `json:"estimate_tokens"` // for all directories
	Cost        *float64  `json:"estimate_cost"`   // the same in dollars; null when the price is not known
	// Unknown are the directories that could not be judged, because they or directories below could not be read.
	Unknown []UnknownPath `json:"unknown,omitempty"`
	// NeedSummary is the number of directories that a model or an agent would describe.
	NeedSummary int `json:"-"`
}

// An UnknownPath is a directory that could not be judged.
type UnknownPath struct {
	repo.PathJSON
	Reasons []string `json:"reasons"`
}

// A Planned is a directory of a plan.
type Planned struct {
	repo.PathJSON
	Rank     Rank           `json:"rank"`
	Depth    int            `json:"depth"`
	Files    int            `json:"files"` // number of its own files
	Children []PlannedChild `json:"children"`
	Verdict  Verdict        `json:"verdict"`
	Reasons  []string       `json:"reasons"`
	Estimate int64          `json:"estimate_tokens"`
}

// A PlannedChild is the status of a child that a prompt for the directory would contain now.
type PlannedChild struct {
	repo.PathJSON
	Status describe.ChildStatus `json:"status"`
	Reason string               `json:"reason"`
}

// PlanOptions selects the directories of a plan. The zero value selects all that need a summary.
type PlanOptions struct {
	All    bool      // also fresh and excluded directories
	Within repo.Path // only this directory and those below it
}

// Plan lists the directories that a writer would describe. Plans of outlines are cached. Plans of models are not: their
// estimates depend on the sizes of files, which the inputs of the cache do not contain.
func (s *Survey) Plan(ctx context.Context, w describe.Writer, opts PlanOptions) (*Plan, error) {
	judge := func(ctx context.Context) (*treeStatus, error) {
		ts, err := s.judgeStored(ctx)
		if err != nil {
			return nil, err
		}
		return ts, ts.checkWithin(opts.Within)
	}
	if !makesOutlines(w.Recipe()) {
		ts, err := judge(ctx)
		if err != nil {
			return nil, err
		}
		return ts.planFor(w, opts), nil
	}
	type cachedPlan struct {
		Plan        *Plan
		NeedSummary int
	}
	found, err := cached(ctx, s, fmt.Sprintf("plan %q %+v", w.Recipe(), opts), judge, func(ts *treeStatus) cachedPlan {
		p := ts.planFor(w, opts)
		return cachedPlan{p, p.NeedSummary}
	})
	if err != nil {
		return nil, err
	}
	found.Plan.NeedSummary = found.NeedSummary
	return found.Plan, nil
}

// planFor lists the directories that a writer would describe.
func (ts *treeStatus) planFor(w describe.Writer, opts PlanOptions) *Plan {
	p := &Plan{Directories: []Planned{}}
	var asked int64
	work := ts.work(w.Recipe(), func(s *DirStatus) bool { return wanted(s, w.Recipe()) })
	for d, st := range ts.status {
		if d.Path.Under(opts.Within) && wanted(st, LeaseRecipe) {
			p.NeedSummary++
		}
	}
	for _, d := range inOrder(ts.order) {
		st := ts.status[d]
		if !d.Path.Under(opts.Within) {
			continue
		}
		if st.Verdict == Unknown {
			p.Unknown = append(p.Unknown, UnknownPath{repo.DirLabel(d.Path).JSON(), append([]string{}, st.Reasons...)})
		}
		if !opts.All && !work[d] {
			continue
		}
		n := Planned{
			PathJSON: repo.DirLabel(d.Path).JSON(), Rank: d.rank, Depth: d.depth, Files: len(d.Files), Children: []PlannedChild{},
			Verdict: st.Verdict, Reasons: append([]string{}, st.Reasons...),
		}
		if st.Record != nil && st.Record.IsOutline() && st.Verdict.NeedsSummary() && st.Verdict != Failed {
			n.Verdict, n.Reasons = None, []string{} // an outline is never stale; there is no summary
		}
		for _, c := range st.children {
			child := c.child()
			n.Children = append(n.Children, PlannedChild{child.Path.JSON(), child.Status, child.Reason})
		}
		if work[d] && !makesOutlines(w.Recipe()) {
			n.Estimate = st.estimate()
			p.Estimate += n.Estimate
			asked++
		}
		p.Directories = append(p.Directories, n)
	}
	price := model.Price{Free: true}
	if m, ok := w.(*describe.ModelWriter); ok {
		price = m.Price()
		price.UpTo = 0 // it limits a single request
	}
	out := tokensAnswer * asked
	if cost := price.Cost(model.Usage{Input: p.Estimate - out, Output: out}); cost.Known() {
		p.Cost = &cost.USD
	}
	return p
}

// bytesPerToken is a rule of thumb for estimates.
const bytesPerToken = 4

// Assumptions of an estimate.
const (
	readBytes      = 32 << 10 // of one file
	shallowBytes   = 2 << 10
	tokensPerChild = 150
	tokensFixed    = 800 // rules and tool descriptions
	tokensAnswer   = 400
)

// estimate estimates the tokens of describing a directory.
func (s *DirStatus) estimate() int64 {
	most := int64(readBytes)
	if s.Dir.rank == RankShallow {
		most = shallowBytes
	}
	n := int64(tokensFixed + tokensAnswer)
	for _, f := range s.Dir.Files {
		n += min(f.Size, most) / bytesPerToken
	}
	return n + int64(s.CountedChildren)*tokensPerChild
}
