package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/board"
	"ken/internal/contract"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/term"
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
	// Attention lists what somebody should look at, the most important first.
	Attention []Attention `json:"attention"`
}

// SpecsOverview counts specs.
type SpecsOverview struct {
	board.SpecCounts
	Gate     int `json:"gate"`      // the drift from which the gate blocks a commit
	OverGate int `json:"over_gate"` // specs with that much drift or more

	nodes   []spec.Listed
	unknown []spec.Unknown
}

// DocsOverview counts mentions in documents. Checked is false if the check would take
// long.
type DocsOverview struct {
	Checked   bool          `json:"checked"`
	Documents int           `json:"documents"`
	Mentions  int           `json:"mentions"`
	Hold      int           `json:"hold"`
	Wrong     []docsMention `json:"wrong"`
	Unread    []unreadDoc   `json:"unread"`
	Gap       string        `json:"gap,omitempty"` // why more may be wrong

	stale     []docs.CheckedMention
	unread    []docs.Unread // documents that are text
	undecided bool          // Gap matters to some mention
}

// WorkflowOverview counts the files of the state directory.
type WorkflowOverview struct {
	Dir    string          `json:"dir"`
	ID     string          `json:"workflow_id"`   // "" if no workflow has begun
	Type   string          `json:"workflow_type"` // "" if no workflow has begun
	Counts workflow.Counts `json:"counts"`

	audit *workflow.Audit
}

// Attention is one thing to look at, with the command that shows or mends it.
type Attention struct {
	Kind    string `json:"kind"` // stale, mention, drift, broken, collision, foreign or unknown
	Subject string `json:"subject"`
	Why     string `json:"why"`
	Command string `json:"command"`

	word string
	tone term.Tone
}

// overview asks every part. If one part fails, the others are still reported. full has
// documents checked even if that takes long.
func (p *program) overview(ctx context.Context, w Workspace, known *knowledge, full bool) (*Overview, error) {
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

func (p *program) askDocs(ctx context.Context, w Workspace, o *Overview, full bool) error {
	show := p.io.Progress("reading documents")
	defer show.Done()
	show.Update(0, 0)
	if full {
		rep, err := w.Docs(ctx, docs.Options{})
		if err == nil {
			o.Documents = docsOverview(rep)
		}
		return err
	}
	rep, err := w.QuickDocs(ctx)
	if err != nil {
		return err
	}
	if rep == nil {
		o.Documents = &DocsOverview{Wrong: []docsMention{}, Unread: []unreadDoc{}}
		return nil
	}
	o.Documents = docsOverview(rep)
	return nil
}

func docsOverview(rep *docs.Report) *DocsOverview {
	counts := rep.Counts()
	d := &DocsOverview{
		Checked: true, Documents: len(rep.Documents), Hold: counts[docs.Holds],
		Wrong: []docsMention{}, Unread: unreadDocs(rep.Unread), Gap: rep.Gap,
		stale: rep.Shown(), undecided: rep.Gap != "" && rep.Undecided(),
	}
	for _, n := range counts {
		d.Mentions += n
	}
	for i := range d.stale {
		d.Wrong = append(d.Wrong, docsMentionOf(&d.stale[i]))
	}
	for _, u := range rep.Unread {
		if !u.NoText {
			d.unread = append(d.unread, u)
		}
	}
	return d
}

func askSpecs(ctx context.Context, w Workspace, o *Overview) error {
	l, err := w.Spec().List(ctx)
	if err != nil || len(l.Nodes) == 0 && len(l.Unknown) == 0 {
		return err
	}
	s := &SpecsOverview{SpecCounts: board.CountSpecs(l.Nodes), Gate: w.GatePolicy().Threshold, nodes: l.Nodes, unknown: l.Unknown}
	if s.Gate == 0 {
		s.Gate = spec.DefaultThreshold
	}
	for i := range l.Nodes {
		if s.overGate(&l.Nodes[i]) {
			s.OverGate++
		}
	}
	o.Specs = s
	return nil
}

func (s *SpecsOverview) overGate(n *spec.Listed) bool { return n.Drift != nil && *n.Drift >= s.Gate }

func askWorktrees(ctx context.Context, w Workspace, o *Overview) error {
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
	s, err := p.OpenState(ctx, StateOptions{From: p.dir, Wait: 1})
	if err != nil {
		return err
	}
	defer s.Close()
	audit, err := s.Keeper().Audit(ctx)
	if err != nil || audit.Counts.Total == 0 {
		return err
	}
	o.Workflow = &WorkflowOverview{Dir: audit.Dir, Counts: audit.Counts, audit: audit}
	doc, err := s.Keeper().Get(ctx)
	if err != nil {
		return err
	}
	o.Workflow.ID = doc.Text("workflow_id")
	o.Workflow.Type = doc.Text("workflow_type")
	return nil
}

// commandFrom returns how a command is written that runs at the root of the repository:
// with -C, unless the user is there. here is the user's directory, from the root.
func commandFrom(dir string, here repo.Path) func(args ...string) string {
	if here != "" {
		up := strings.Repeat("../", strings.Count(string(here), "/")+1)
		if dir != "" {
			dir += "/"
		}
		dir += strings.TrimSuffix(up, "/")
	}
	prefix := "ken"
	if dir != "" {
		prefix += " -C " + fault.Quote(dir)
	}
	return func(args ...string) string {
		line := prefix
		for _, a := range args {
			line += " " + fault.Quote(a)
		}
		return line
	}
}

// collectAttention lists what needs attention, the most important kind first.
func (o *Overview) collectAttention(known *knowledge, command func(args ...string) string) {
	add := func(kind, word string, tone term.Tone, subject, why string, args ...string) {
		o.Attention = append(o.Attention, Attention{Kind: kind, Subject: subject, Why: why, Command: command(args...), word: word, tone: tone})
	}
	unknown := func(subject, why string, args ...string) {
		add("unknown", "unknown", term.Bad, subject, why, args...)
	}

	for i := range known.Verdicts {
		v := &known.Verdicts[i]
		if v.Summary == fresh.Stale && v.Verdict != registry.FoundUnknown && v.Verdict != registry.FoundConflicted {
			word, tone, why := describe(*v)
			add("stale", word, tone, v.RawPath().String(), why, "summary", "show", string(v.RawPath()))
		}
	}
	if d := known.Directories; d != nil {
		for _, dir := range d.Wanting {
			if dir.Verdict.State() == fresh.Stale {
				add("stale", "stale", term.Warn, display(dir.PathJSON), directoryWhy(dir), "survey", "show", dir.Path)
			}
		}
	}

	if d := o.Documents; d != nil {
		for i := range d.stale {
			j := &d.stale[i]
			subject := fmt.Sprintf("%s:%d", j.File, j.Line)
			why := "mentions " + term.Shorten(j.Text, overviewSubject) + ", " + docsVerdict(j, overviewSubject)
			if j.Verdict == docs.Moved {
				add("mention", "moved", term.Warn, subject, why, "docs", "--fix", string(j.File))
			} else {
				add("mention", string(j.Verdict), term.Warn, subject, why, "docs", string(j.File))
			}
		}
	}

	if s := o.Specs; s != nil {
		for i := range s.nodes {
			n := &s.nodes[i]
			if s.overGate(n) {
				add("drift", "drift", term.Warn, n.ID, fmt.Sprintf("%s to its files since it was edited or acknowledged; the gate blocks at %d",
					term.Count(*n.Drift, "commit"), s.Gate), "spec", "show", n.ID)
			}
		}
		for i := range s.nodes {
			n := &s.nodes[i]
			switch {
			case len(n.Problems) > 0:
				add("broken", "broken", term.Bad, n.ID, "the spec has errors", "spec", "lint")
			case len(n.Missing) > 0:
				add("broken", "broken", term.Bad, n.ID, "it governs files that do not exist: "+strings.Join(n.Missing, ", "), "spec", "lint")
			}
		}
	}

	for _, m := range o.Collisions {
		why := fmt.Sprintf("worktrees %s change its %s: %s", list(m.Worktrees, "and"), m.Kind.Words(), strings.Join(m.Paths, ", "))
		add("collision", "collides", term.Warn, m.Node, term.Shorten(why, overviewWidth), "spec", "overlay")
	}

	if f := o.Workflow; f != nil {
		for _, e := range f.audit.Buckets[contract.AdHoc] {
			add("foreign", "foreign", term.Warn, repo.Path(e.Name).String(), "the contract does not allow this name in the state directory", "state", "audit")
		}
		for _, e := range f.audit.Buckets[contract.Ephemeral] {
			add("foreign", "leftover", term.Warn, repo.Path(e.Name).String(), "a temporary file in the state directory", "state", "cleanup")
		}
	}

	for i := range known.Verdicts {
		v := &known.Verdicts[i]
		if v.Summary == fresh.Unknown || v.Verdict == registry.FoundUnknown || v.Verdict == registry.FoundConflicted {
			word, tone, why := describe(*v)
			add("unknown", word, tone, v.RawPath().String(), why, "status", string(v.RawPath()))
		}
	}
	if d := known.Directories; d != nil {
		for _, dir := range d.Wanting {
			if dir.Verdict.State() != fresh.Stale {
				unknown(display(dir.PathJSON), directoryWhy(dir), "survey", "show", dir.Path)
			}
		}
	}
	if d := o.Documents; d != nil {
		for _, u := range d.unread {
			unknown(u.File.String(), withoutPath(u.File, u.Why), "docs", string(u.File))
		}
		if d.undecided {
			why, _, _ := strings.Cut(d.Gap, ";")
			_, fetch, _ := strings.Cut(docsHint(d.Gap), ": ")
			unknown("documents", "more mentions may be stale: "+why)
			o.Attention[len(o.Attention)-1].Command = fetch
		}
	}
	if s := o.Specs; s != nil {
		for _, u := range s.unknown {
			unknown("specs", u.Fact+": "+u.Reason, "spec", "ls")
		}
		for i := range s.nodes {
			n := &s.nodes[i]
			for _, u := range n.Unknown {
				unknown("spec "+n.ID, u.Fact+": "+u.Reason, "spec", "show", n.ID)
			}
		}
	}
	if f := o.Workflow; f != nil {
		for _, e := range f.audit.Buckets[contract.Unknown] {
			unknown(repo.Path(e.Name).String(), "the entry of the state directory cannot be inspected", "state", "audit")
		}
	}
	for _, u := range o.Unknown {
		ask, ok := unknownCommands[u.Fact]
		if !ok { // one worktree of several
			ask = unknownCommands["worktrees"]
		}
		unknown(u.Fact, u.Reason, ask...)
	}
}

// unknownCommands repeat the question that ken could not answer.
var unknownCommands = map[string][]string{
	"documents": {"docs"}, "specs": {"spec", "ls"}, "worktrees": {"spec", "overlay"}, "workflow": {"state", "get"},
}

// directoryWhy says in plain words why the summary of a directory is stale or unknown.
func directoryWhy(d survey.StaleDirectory) string {
	reasons := colon(term.Shorten(plain(strings.Join(d.Reasons, ", ")), overviewWidth))
	switch d.Verdict {
	case survey.StaleSelf:
		return "its own files changed since the summary was written" + reasons
	case survey.StaleBelow:
		return "subdirectories changed since the summary was written" + reasons
	default:
		return "the summary is " + d.Verdict.String() + reasons
	}
}

// How much an overview prints: so many things of a kind, so many characters of a text
// that others wrote, and so many of a commit's subject.
const (
	overviewItems   = 5
	overviewWidth   = 120
	overviewSubject = 40
)

// printOverview prints a line for each part, then what needs attention.
func (p *program) printOverview(known *knowledge, o *Overview) {
	p.io.Together(func() {
		say := func(part, text string) { p.io.Printf("%-12s %s\n", part, term.Clean(text)) }
		say("files", filesLine(known.Report, false))
		if known.Counts.Files == 0 {
			return
		}
		say("directories", directoriesLine(known.Directories))
		lacks := func(fact string) bool {
			for _, u := range o.Unknown {
				if u.Fact == fact {
					return true
				}
			}
			return false
		}
		part := func(name, text string) {
			if lacks(name) && text == "none" {
				text = "unknown"
			}
			say(name, text)
		}
		part("specs", specsLine(o.Specs))
		part("documents", documentsLine(o.Documents))
		part("workflow", workflowLine(o.Workflow))
		p.printAttention(o.Attention)
	})
}

func (p *program) printAttention(list []Attention) {
	if len(list) == 0 {
		p.io.Printf("\nNothing needs attention.\n")
		return
	}
	p.io.Printf("\nNeeds attention:\n")
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Kind == list[0].Kind {
			n++
		}
		for _, a := range list[:min(n, overviewItems)] {
			p.io.Line(a.tone, a.word, a.Subject, a.Why+"  → "+a.Command)
		}
		if n > overviewItems {
			p.io.Printf("            and %d more → %s\n", n-overviewItems, moreCommands[list[0].Kind])
		}
		list = list[n:]
	}
}

// moreCommands list everything of a kind.
var moreCommands = map[string]string{
	"stale": "ken status --all", "mention": "ken docs", "drift": "ken spec ls", "broken": "ken spec lint",
	"collision": "ken spec overlay", "foreign": "ken state audit", "unknown": "ken status --all",
}

// filesLine says how many files changed, and how many have a summary. verified says that
// the report is one of a verification.
func filesLine(rep *registry.Report, verified bool) string {
	c := rep.Counts
	if c.Files == 0 {
		return "none tracked"
	}
	line := fmt.Sprint(c.Files)
	if !rep.Head.IsZero() {
		line += " at " + rep.Head.Short()
	}
	changed := c.Mismatch + c.New + c.Missing
	switch {
	case rep.State == registry.StateBootstrap && verified:
		line += ", checked for the first time"
	case rep.State == registry.StateBootstrap || slices.Contains(rep.Reasons, registry.ReasonNoBaseline) && !verified:
		line += ", never checked"
	case changed == 0:
		line += ", nothing changed since the last check"
	default:
		line += fmt.Sprintf(", %d changed since the last check", changed)
	}
	line += "; " + summaryCounts(c.Fresh, c.Stale, c.Unknown)
	var rest []string
	if c.None > 0 && c.Fresh+c.Stale+c.Unknown > 0 {
		rest = append(rest, fmt.Sprintf("%d without", c.None))
	}
	if c.Excluded > 0 {
		rest = append(rest, fmt.Sprintf("%d excluded", c.Excluded))
	}
	if c.Sparse > 0 {
		rest = append(rest, fmt.Sprintf("%d not checked out", c.Sparse))
	}
	if len(rest) > 0 {
		line += " (" + strings.Join(rest, ", ") + ")"
	}
	if n := rep.Upstream.Behind; n > 0 {
		line += fmt.Sprintf("; the upstream branch is %s ahead", term.Count(n, "commit"))
	}
	return line
}

// summaryCounts counts summaries that people, agents and models wrote.
func summaryCounts(current, stale, unknown int) string {
	if current+stale+unknown == 0 {
		return "no summaries"
	}
	line := fmt.Sprintf("summaries: %d fresh, %d stale", current, stale)
	if unknown > 0 {
		line += fmt.Sprintf(", %d unknown", unknown)
	}
	return line
}

func directoriesLine(d *survey.DirCounts) string {
	if d == nil {
		return "not described yet: ken up"
	}
	line := fmt.Sprintf("%d; %s", d.Directories, summaryCounts(d.Fresh, d.Stale, d.Unknown))
	var rest []string
	if d.Outlines > 0 {
		rest = append(rest, fmt.Sprintf("%d with an outline", d.Outlines))
	}
	if d.None > 0 {
		rest = append(rest, fmt.Sprintf("%d without", d.None))
	}
	if len(rest) > 0 {
		line += " (" + strings.Join(rest, ", ") + ")"
	}
	return line
}

func specsLine(s *SpecsOverview) string {
	if s == nil {
		return "none"
	}
	line := fmt.Sprint(s.Nodes)
	if s.Drifting == 0 {
		line += "; none in drift"
	} else {
		line += fmt.Sprintf("; %d in drift, %d over the gate", s.Drifting, s.OverGate)
	}
	for _, part := range []struct {
		n    int
		text string
	}{
		{s.Active, "being edited"},
		{s.Pending, "pending"},
		{s.Problems, "with errors"},
		{s.Missing, "governing missing files"},
		{max(s.Unknown, s.DriftUnknown), "unknown"},
	} {
		if part.n > 0 {
			line += fmt.Sprintf(", %d %s", part.n, part.text)
		}
	}
	return line
}

func documentsLine(d *DocsOverview) string {
	switch {
	case d == nil:
		return "none"
	case !d.Checked:
		return "not checked since the last change: ken docs"
	case d.Documents == 0 && len(d.unread) > 0:
		return fmt.Sprintf("%d could not be read", len(d.unread))
	case d.Documents == 0:
		return "none"
	}
	count := "no stale mentions"
	if n := len(d.stale); n > 0 {
		count = term.Count(n, "stale mention")
	} else if d.undecided {
		count = "no stale mentions found"
	}
	line := fmt.Sprintf("%d; %s (%d checked", d.Documents, count, d.Mentions)
	if n := d.Mentions - d.Hold - len(d.stale); n > 0 {
		line += fmt.Sprintf(", %d left out: ken docs --all", n)
	}
	line += ")"
	if n := len(d.unread); n > 0 {
		line += fmt.Sprintf("; %d could not be read", n)
	}
	return line
}

func workflowLine(f *WorkflowOverview) string {
	if f == nil {
		return "none"
	}
	line := "none begun"
	if f.ID != "" {
		line = strings.TrimSpace(f.Type + " " + f.ID)
	}
	line += "; " + term.Count(f.Counts.Total, "file") + " in the state directory"
	if n := f.Counts.AdHoc; n > 0 {
		line += fmt.Sprintf(", %d foreign", n)
	}
	if n := f.Counts.Ephemeral; n > 0 {
		line += fmt.Sprintf(", %d left over", n)
	}
	if n := f.Counts.Unknown; n > 0 {
		line += fmt.Sprintf(", %d unknown", n)
	}
	return line
}
