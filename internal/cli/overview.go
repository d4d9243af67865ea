package cli

import (
	"context"
	"errors"

	"ken/internal/attention"
	"ken/internal/board"
	"ken/internal/docs"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/spec"
	"ken/internal/statedir"
	"ken/internal/workflow"
)

// An Overview says how specs, documents and the workflow stand, and what needs
// attention. ken status and ken up print the same one. A part is null if the
// repository does not have it, or if Unknown says why ken could not read it.
type Overview struct {
	Specs      *SpecsOverview    `json:"specs"`
	Documents  *DocsOverview     `json:"documents"`
	Workflow   *WorkflowOverview `json:"workflow"`
	Collisions []board.Collision `json:"collisions"`
	Unknown    []spec.Unknown    `json:"unknown"`
	// Attention lists what the user should look at, the most important first.
	Attention []Attention `json:"attention"`

	documents *docs.Report
	ignored   []share.Ignored
	renamed   map[repo.Path]repo.Path
	runs      *board.Runs
}

// SpecsOverview counts specs.
type SpecsOverview struct {
	board.SpecCounts
	Gate     int `json:"gate"`      // the drift from which the gate blocks a commit
	OverGate int `json:"over_gate"` // specs with that much drift or more

	nodes   []spec.ListedSpec
	unknown []spec.Unknown
}

// DocsOverview counts mentions in documents. Checked is false if the check would take
// long.
type DocsOverview struct {
	Checked   bool               `json:"checked"`
	Documents int                `json:"documents"`
	Mentions  int                `json:"mentions"`
	Hold      int                `json:"hold"`
	Wrong     []docs.MentionJSON `json:"wrong"`
	Unread    []unreadDoc        `json:"unread"`
	Gap       string             `json:"gap,omitempty"` // why more may be wrong

	stale     []docs.CheckedMention
	unread    []docs.Unread // documents that are text
	undecided bool          // some mention is unknown because of Gap
}

// WorkflowOverview counts the files of the state directory.
type WorkflowOverview struct {
	Dir    string          `json:"dir"`
	ID     string          `json:"workflow_id"`   // "" if no workflow has begun
	Type   string          `json:"workflow_type"` // "" if no workflow has begun
	Counts workflow.Counts `json:"counts"`

	audit *workflow.Audit
}

// Attention is an item that needs attention, with the command that shows or settles it.
type Attention struct {
	Kind    attention.Kind `json:"kind"`
	Subject string         `json:"subject"`
	Why     string         `json:"why"`
	Command string         `json:"command"`
	// Since is the change that it comes from; nil if that is unknown.
	Since *board.Change `json:"since,omitempty"`

	item attention.Item
}

// overview reads every part. If one part fails, the others are still reported. With full, it checks documents even if
// that takes long.
func (p *program) overview(ctx context.Context, w *ken.Repository, known *statusReport, full bool) (*Overview, error) {
	o := &Overview{Collisions: []board.Collision{}, Unknown: []spec.Unknown{}, Attention: []Attention{}}
	if known.Counts.Files == 0 {
		return o, nil
	}
	parts := []struct {
		name string
		ask  func() error
	}{
		{"documents", func() error { return p.askDocs(ctx, w, o, full) }},
		{"specs", func() error { return askSpecs(ctx, w, o) }},
		{"worktrees", func() error { return askWorktrees(ctx, w, o) }},
		{"workflow", func() error { return p.askWorkflow(ctx, o) }},
		{"files", func() (err error) {
			o.renamed, err = w.Registry.RenamedFrom(ctx, attention.StaleFiles(known.Verdicts, overviewItems))
			return err
		}},
		{"runs", func() error { return p.askRuns(ctx, w, o) }},
		{"shared records", func() error { return askIgnored(ctx, w, o) }},
	}
	for _, part := range parts {
		err := part.ask()
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, err
		}
		o.Unknown = append(o.Unknown, spec.Unknown{Fact: part.name, Reason: err.Error()})
	}
	here, err := w.Path(".")
	if err != nil {
		return nil, err
	}
	o.collectAttention(known, commandFrom(p.dir, here))
	return o, nil
}

func (p *program) askDocs(ctx context.Context, w *ken.Repository, o *Overview, full bool) error {
	show := p.io.Progress("checking documents")
	defer show.Done()
	show.Wait()
	if full {
		rep, err := w.Documents().Check(ctx, docs.Options{})
		if err == nil {
			o.documents, o.Documents = rep, docsOverview(rep)
		}
		return err
	}
	rep, err := w.Documents().CheckIfFast(ctx)
	if err != nil {
		return err
	}
	if rep == nil {
		o.Documents = &DocsOverview{Wrong: []docs.MentionJSON{}, Unread: []unreadDoc{}}
		return nil
	}
	o.documents, o.Documents = rep, docsOverview(rep)
	return nil
}

func docsOverview(rep *docs.Report) *DocsOverview {
	counts := rep.Counts()
	d := &DocsOverview{
		Checked: true, Documents: len(rep.Documents), Hold: counts[docs.Holds],
		Wrong: []docs.MentionJSON{}, Unread: unreadDocs(rep.Unread), Gap: rep.Gap,
		stale: rep.Stale(), undecided: rep.Gap != "" && rep.Undecided(),
	}
	for _, n := range counts {
		d.Mentions += n
	}
	for i := range d.stale {
		d.Wrong = append(d.Wrong, d.stale[i].JSON())
	}
	for _, u := range rep.Unread {
		if !u.NotText {
			d.unread = append(d.unread, u)
		}
	}
	return d
}

func askSpecs(ctx context.Context, w *ken.Repository, o *Overview) error {
	l, err := w.Spec().List(ctx)
	if err != nil || len(l.Nodes) == 0 && len(l.Unknown) == 0 {
		return err
	}
	s := &SpecsOverview{SpecCounts: board.CountSpecs(l.Nodes), Gate: w.Config.Spec.Gate.Threshold, nodes: l.Nodes, unknown: l.Unknown}
	if s.Gate == 0 {
		s.Gate = spec.DefaultThreshold
	}
	for i := range l.Nodes {
		if attention.OverGate(&l.Nodes[i], s.Gate) {
			s.OverGate++
		}
	}
	o.Specs = s
	return nil
}

func askWorktrees(ctx context.Context, w *ken.Repository, o *Overview) error {
	list, err := w.Spec().Overlays(ctx)
	o.Collisions = board.Collisions(list)
	for i := range list {
		for _, u := range list[i].Unknown {
			o.Unknown = append(o.Unknown, spec.Unknown{Fact: "worktree " + list[i].Worktree, Reason: u.Fact + ": " + u.Reason})
		}
	}
	return err
}

func (p *program) askWorkflow(ctx context.Context, o *Overview) error {
	s, err := statedir.Open(ctx, statedir.Options{From: p.dir, Wait: 1})
	if err != nil {
		return err
	}
	defer s.Close()
	audit, err := s.Audit(ctx)
	if err != nil || audit.Counts.Total == 0 {
		return err
	}
	o.Workflow = &WorkflowOverview{Dir: audit.Dir, Counts: audit.Counts, audit: audit}
	doc, err := s.Get(ctx)
	if err != nil {
		return err
	}
	o.Workflow.ID = doc.Text("workflow_id")
	o.Workflow.Type = doc.Text("workflow_type")
	return nil
}

// askRuns asks for the surveys that workers run, if the team has a store.
func (p *program) askRuns(ctx context.Context, w *ken.Repository, o *Overview) error {
	part := p.Runs(ctx, w)
	if part == nil {
		return nil
	}
	if part.Known == nil {
		return errors.New(part.Unknown.Reason)
	}
	o.runs = part.Known
	return nil
}

// askIgnored asks which shared records this clone does not use. It contacts no server.
func askIgnored(ctx context.Context, w *ken.Repository, o *Overview) error {
	s, err := w.Share(ctx)
	if err != nil {
		return err
	}
	o.ignored = s.LastIgnored()
	return nil
}
