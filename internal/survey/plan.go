package survey

import (
	"context"
	"slices"

	"ken/internal/model"
	"ken/internal/repo"
)

// A Plan is what is to be done, in the order of work.
type Plan struct {
	Directories []Planned `json:"directories"`
	Estimate    int64     `json:"estimate_tokens"` // of all
	Cost        *float64  `json:"estimate_cost"`   // the same in dollars; null when the price is not known
	// Unknown are the directories of which nobody can say whether they are to be
	// described: they, or what lies below, could not be read.
	Unknown []UnknownPath `json:"unknown,omitempty"`
	// Minds is how many directories a model or an agent would be asked about.
	Minds int `json:"-"`
}

// An UnknownPath is a directory that could not be judged.
type UnknownPath struct {
	repo.PathJSON
	Reasons []string `json:"reasons"`
}

// Planned is a directory of a plan.
type Planned struct {
	repo.PathJSON
	Rank     Rank           `json:"rank"`
	Depth    int            `json:"depth"`
	Files    int            `json:"files"` // its own
	Children []PlannedChild `json:"children"`
	Verdict  Verdict        `json:"verdict"`
	Reasons  []string       `json:"reasons"`
	Estimate int64          `json:"estimate_tokens"`
}

// A PlannedChild is what the directory would be told of a child, were it described
// now.
type PlannedChild struct {
	repo.PathJSON
	Status ChildStatus `json:"status"`
	Reason string      `json:"reason"`
}

// PlanOptions says what is listed. The zero value lists all that is to be done.
type PlanOptions struct {
	All    bool      // what is fresh or left out, too
	Within repo.Path // only this directory and those below it
}

// Plan lists what a writer would describe.
func (s *Survey) Plan(ctx context.Context, w Writer, opts PlanOptions) (*Plan, error) {
	j, err := s.look(ctx, s.judgeStored, func(*judgement) []*Directory { return nil })
	if err != nil {
		return nil, err
	}
	if opts.Within != "" {
		if _, err := j.find(opts.Within); err != nil {
			return nil, err
		}
	}
	p := &Plan{Directories: []Planned{}}
	var asked int64
	work := j.work(w, func(s *DirStatus) bool { return wanted(s, w) })
	for d, st := range j.at {
		if d.Path.Under(opts.Within) && wanted(st, agent{}) {
			p.Minds++
		}
	}
	for _, d := range inOrder(j.order) {
		st := j.at[d]
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
			PathJSON: repo.DirLabel(d.Path).JSON(), Rank: d.rank, Depth: d.depth, Files: st.count(), Children: []PlannedChild{},
			Verdict: st.Verdict, Reasons: append([]string{}, st.Reasons...),
		}
		if st.Record != nil && st.Record.Outlined() && st.Verdict.Open() && st.Verdict != Failed {
			n.Verdict, n.Reasons = None, []string{} // an outline is never stale; there is no summary
		}
		for _, c := range st.children {
			told := c.child()
			n.Children = append(n.Children, PlannedChild{told.Path.JSON(), told.Status, told.Reason})
		}
		if work[d] && !outlines(w) {
			n.Estimate = st.estimate()
			p.Estimate += n.Estimate
			asked++
		}
		p.Directories = append(p.Directories, n)
	}
	price := model.Price{Free: true}
	if m, ok := w.(ModelWriter); ok {
		price = m.Price()
		price.UpTo = 0 // that is of one request
	}
	out := tokensAnswer * asked
	if cost := price.Of(model.Usage{Input: p.Estimate - out, Output: out}); cost.Known() {
		p.Cost = &cost.USD
	}
	return p, nil
}

// work returns the directories that a writer would describe, among those that wants accepts. It
// leaves out a directory for which the writer would get the same input as before. It keeps such a
// directory if one below it will be described, because that can change the input.
func (j *judgement) work(w Writer, wants func(*DirStatus) bool) map[*Directory]bool {
	work := make(map[*Directory]bool)
	for _, d := range j.order { // each after all below it
		below := slices.ContainsFunc(d.Children, func(c *Directory) bool { return work[c] })
		work[d] = wants(j.at[d]) && (below || !j.inVain(j.at[d], w))
	}
	return work
}

// BytesPerToken is the usual rule of thumb; what is made with it is labelled an estimate.
const BytesPerToken = 4

// What an estimate assumes.
const (
	readBytes      = 32 << 10 // the most that is read of one file
	shallowBytes   = 2 << 10
	tokensPerChild = 150
	tokensApart    = 800 // rules and tools
	tokensAnswer   = 400
)

// estimate guesses the tokens that describing a directory takes.
func (s *DirStatus) estimate() int64 {
	if s.kept != nil {
		return s.kept.estimate
	}
	most := int64(readBytes)
	if s.Dir.rank == RankShallow {
		most = shallowBytes
	}
	n := int64(tokensApart + tokensAnswer)
	for _, f := range s.Dir.Files {
		n += min(f.Size, most) / BytesPerToken
	}
	return n + int64(s.N)*tokensPerChild
}
