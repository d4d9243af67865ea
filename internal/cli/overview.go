package cli

import (
	"context"
	"strings"

	"ken/internal/attention"
	"ken/internal/board"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/statedir"
	"ken/internal/survey"
	"ken/internal/workflow"
)

// An Overview says in JSON how specs, documents and the workflow stand, and what needs
// attention. ken status and ken up print the same one. A part is null if the repository does
// not have it, or if Unknown says why ken could not read it.
type Overview struct {
	Specs      *SpecsOverview    `json:"specs"`
	Documents  *DocsOverview     `json:"documents"`
	Workflow   *WorkflowOverview `json:"workflow"`
	Collisions []board.Collision `json:"collisions"`
	Unknown    []fault.Unknown   `json:"unknown"`
	// Attention lists what the user should look at, the most important first.
	Attention []Attention `json:"attention"`

	worktree  *board.Worktree // for the printed lines
	mentioned bool            // stale mentions were printed before
}

// SpecsOverview counts specs.
type SpecsOverview struct {
	board.SpecCounts
	Gate     int `json:"gate"`      // the drift from which the gate blocks a commit
	OverGate int `json:"over_gate"` // specs with that much drift or more
}

// DocsOverview counts mentions in documents. Checked is false if the check would take
// long.
type DocsOverview struct {
	Checked   bool               `json:"checked"`
	Documents int                `json:"documents"`
	Mentions  int                `json:"mentions"`
	Hold      int                `json:"hold"`
	Wrong     []docs.MentionJSON `json:"wrong"`
	Unknown   []fault.Unknown    `json:"unknown"`
}

// WorkflowOverview counts the files of the state directory.
type WorkflowOverview struct {
	Dir    string          `json:"dir"`
	ID     string          `json:"workflow_id"`   // "" if no workflow has begun
	Type   string          `json:"workflow_type"` // "" if no workflow has begun
	Counts workflow.Counts `json:"counts"`
}

// Attention is an item that needs attention, with the command that shows or settles it.
type Attention struct {
	Kind    attention.Kind `json:"kind"`
	Subject string         `json:"subject"`
	Why     string         `json:"why"`
	Command string         `json:"command"`
	// Since is the change that it comes from; nil if that is unknown.
	Since *board.Change `json:"since,omitempty"`

	word string // the first word of its line
}

// A docsCheck reports on documents; nil if that would take long.
type docsCheck func(context.Context) (*docs.Report, error)

// overview makes a board of this worktree from what is known of its files and directories.
func (p *program) overview(
	ctx context.Context, w *ken.Repository, known *statusReport, check docsCheck,
) (*Overview, error) {
	if known.Counts.Files == 0 {
		return &Overview{Collisions: []board.Collision{}, Unknown: []fault.Unknown{}, Attention: []Attention{}}, nil
	}
	b := board.Make(ctx, "", p.statusSource(w, known, check), nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	here, err := w.Path(".")
	if err != nil {
		return nil, err
	}
	return newOverview(b, commandFrom(p.dir, here)), nil
}

// statusSource returns how the board of ken status reads this worktree.
func (p *program) statusSource(w *ken.Repository, known *statusReport, check docsCheck) board.Source {
	s := w.BoardSource()
	s.Files = func(context.Context) (*registry.Report, map[repo.Path]int64, error) { return known.Report, nil, nil }
	s.Directories = func(context.Context) (*survey.DirListing, error) {
		if known.Directories == nil {
			return &survey.DirListing{}, nil
		}
		return &survey.DirListing{Summaries: *known.Directories}, nil
	}
	s.Documents = func(ctx context.Context) (rep *docs.Report, err error) {
		err = p.showing("checking documents", func() error {
			rep, err = check(ctx)
			return err
		})
		return rep, err
	}
	s.Overlays = w.Spec().Overlays
	s.Runs = func(ctx context.Context) *board.Part[board.Runs] { return p.Runs(ctx, w) }
	s.State = func(ctx context.Context) (board.StateDir, error) {
		return statedir.Open(ctx, statedir.Options{From: p.dir, Wait: 1})
	}
	return s
}

// newOverview returns the overview of a board. command writes the command of an item.
func newOverview(b *board.Board, command func(string) string) *Overview {
	worktree := b.Worktree()
	o := &Overview{
		Specs:      specsOverview(worktree.Spec.OrZero()),
		Documents:  docsOverview(worktree.Documents),
		Workflow:   workflowOverview(worktree.State.OrZero()),
		Collisions: append([]board.Collision{}, b.Proposals.OrZero().Meetings...),
		Unknown:    attention.Unread(b),
		Attention:  []Attention{},
		worktree:   worktree,
	}
	for _, it := range attention.List(b) {
		a := Attention{Kind: it.Kind, Subject: it.Subject, Why: it.Why, Command: command(it.Command), word: it.Word}
		if it.Since != (board.Change{}) {
			a.Since = &it.Since
		}
		o.Attention = append(o.Attention, a)
	}
	return o
}

// commandFrom returns a function that makes a command run at the root of the repository. It adds -C unless the user is at
// the root. here is the user's directory, from the root.
func commandFrom(dir string, here repo.Path) func(command string) string {
	if here != "" {
		up := strings.Repeat("../", strings.Count(string(here), "/")+1)
		if dir != "" {
			dir += "/"
		}
		dir += strings.TrimSuffix(up, "/")
	}
	return func(command string) string {
		if dir == "" {
			return command
		}
		program, args, _ := strings.Cut(command, " ")
		return program + " -C " + fault.Quote(dir) + " " + args
	}
}

// specsOverview returns nil for a repository without specs.
func specsOverview(known board.Spec) *SpecsOverview {
	if len(known.Nodes)+len(known.Unknown) == 0 {
		return nil
	}
	s := &SpecsOverview{SpecCounts: known.Counts, Gate: known.Gate}
	for i := range known.Nodes {
		if known.OverGate(&known.Nodes[i]) {
			s.OverGate++
		}
	}
	return s
}

// docsOverview returns nil if documents could not be checked.
func docsOverview(part board.Part[board.Documents]) *DocsOverview {
	if part.Unknown != nil {
		return nil
	}
	d := &DocsOverview{Wrong: []docs.MentionJSON{}, Unknown: []fault.Unknown{}}
	known := part.Known
	if known == nil {
		return d
	}
	d.Checked = true
	d.Documents, d.Mentions, d.Hold = known.Documents, known.Mentions, known.Hold
	stale := known.Report.Stale()
	for i := range stale {
		d.Wrong = append(d.Wrong, stale[i].JSON())
	}
	d.Unknown = known.Report.Unknown(true)
	return d
}

// workflowOverview returns nil if the state directory is empty.
func workflowOverview(known board.State) *WorkflowOverview {
	if known.Counts.Total == 0 {
		return nil
	}
	o := &WorkflowOverview{Dir: known.Dir, Counts: known.Counts}
	if doc := known.Workflow.Known; doc != nil {
		o.ID = doc.Text("workflow_id")
		o.Type = doc.Text("workflow_type")
	}
	return o
}
