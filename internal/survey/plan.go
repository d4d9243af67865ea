package survey

import (
	"context"
	"fmt"

	"ken/internal/fresh"
	"ken/internal/model"
	"ken/internal/repo"
	"ken/internal/survey/describe"
)

// A Plan lists the directories that need a summary, in the order of work.
type Plan struct {
	Directories []Planned `json:"directories"`
	Estimate    int64     `json:"estimate_tokens"` // for all directories; 0 unless it was asked for
	Cost        *float64  `json:"estimate_cost"`   // the same in dollars; null when the price is not known
	// Unknown are the directories that could not be judged, because they or directories below could not be read.
	Unknown []UnknownPath `json:"unknown,omitempty"`
	// NeedSummary is the number of directories that an agent would describe. A model would describe fewer if it could
	// not finish some of them.
	NeedSummary int `json:"need_summary"`
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
	Verdict  fresh.Verdict  `json:"verdict"`
	Reasons  []string       `json:"reasons"`
	Outline  bool           `json:"outline"` // it has only an outline
	Estimate int64          `json:"estimate_tokens"`
}

// Word returns the verdict in one word for people, as [ListedDir.Word] does.
func (p *Planned) Word() string { return wordOf(p.Verdict, p.Outline) }

// A PlannedChild is the status of a child that a prompt for the directory would contain now.
type PlannedChild struct {
	repo.PathJSON
	Status describe.ChildStatus `json:"status"`
	Reason string               `json:"reason"`
}

// PlanOptions selects the directories of a plan. The zero value selects all that need a summary.
type PlanOptions struct {
	All      bool      // also fresh and excluded directories
	Within   repo.Path // only this directory and those below it
	Estimate bool      // estimate tokens and cost
}

// Plan lists the directories that need a summary by a model, or by an agent if w makes outlines. Plans are cached,
// except those with estimates: they depend on the sizes of files, which the inputs of the cache do not contain.
func (s *Survey) Plan(ctx context.Context, w describe.Writer, opts PlanOptions) (*Plan, error) {
	judge := func(ctx context.Context) (*treeStatus, error) {
		ts, err := s.judge(ctx)
		if err != nil {
			return nil, err
		}
		return ts, ts.checkWithin(opts.Within)
	}
	if opts.Estimate {
		ts, err := judge(ctx)
		if err != nil {
			return nil, err
		}
		return ts.planFor(w, opts), nil
	}
	question := fmt.Sprintf("plan %q %+v", w.Recipe(), opts)
	return cached(ctx, s, question, judge, func(ts *treeStatus) *Plan { return ts.planFor(w, opts) })
}

// planFor lists the directories that a writer would describe.
func (ts *treeStatus) planFor(w describe.Writer, opts PlanOptions) *Plan {
	p := &Plan{Directories: []Planned{}, NeedSummary: len(ts.needing(LeaseRecipe, opts.Within))}
	recipe := w.Recipe()
	if makesOutlines(recipe) {
		recipe = LeaseRecipe
	}
	work := ts.needing(recipe, opts.Within)
	for _, d := range inOrder(ts.order) {
		st := ts.status[d]
		if !d.Path.Under(opts.Within) {
			continue
		}
		if st.Verdict.State == fresh.Unknown {
			p.Unknown = append(p.Unknown, UnknownPath{repo.DirLabel(d.Path).JSON(), append([]string{}, st.Reasons...)})
		}
		if !opts.All && !work[d] {
			continue
		}
		n := Planned{
			PathJSON: repo.DirLabel(d.Path).JSON(), Rank: d.rank, Depth: d.depth, Files: len(d.Files), Children: []PlannedChild{},
			Verdict: st.Verdict, Reasons: append([]string{}, st.Reasons...), Outline: st.Record != nil && st.Record.IsOutline(),
		}
		for _, c := range st.children {
			child := c.child()
			n.Children = append(n.Children, PlannedChild{child.Path.JSON(), child.Status, child.Reason})
		}
		if work[d] && opts.Estimate {
			n.Estimate = st.estimate()
			p.Estimate += n.Estimate
		}
		p.Directories = append(p.Directories, n)
	}
	if m, ok := w.(*describe.ModelWriter); ok && opts.Estimate {
		price := m.Price()
		price.UpTo = 0 // it limits a single request
		out := int64(tokensAnswer * len(work))
		if cost := price.Cost(model.Usage{Input: p.Estimate - out, Output: out}); cost.Known() {
			p.Cost = &cost.USD
		}
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
