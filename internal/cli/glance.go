package cli

import (
	"context"
	"strings"

	"ken/internal/brief"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/term"
)

// A Glance is the part of ken up that ken status does not have: what the repository is, and
// how many directories an agent could describe. A part that could not be read is null, and
// Unknown says why. Docs and Collisions repeat the overview.
type Glance struct {
	What       string             `json:"what"` // the first line about the root
	Docs       *DocsOverview      `json:"docs"`
	Collisions []spec.CollideJSON `json:"collisions"`
	// Undescribed counts the directories without a current summary by a model or an agent.
	Undescribed *int           `json:"undescribed"`
	Unknown     []spec.Unknown `json:"unknown"`

	parts []string // the lines about the root after the first
}

// glance asks what the overview does not have. If one part fails, the others are still
// reported.
func (p *program) glance(ctx context.Context, w Workspace, b *brief.Brief, o *Overview) (*Glance, error) {
	g := &Glance{Docs: o.Documents, Collisions: []spec.CollideJSON{}, Unknown: append([]spec.Unknown{}, o.Unknown...)}
	for _, m := range o.Collisions {
		g.Collisions = append(g.Collisions, spec.CollideJSON{Node: m.Node, Kind: m.Kind, With: m.Worktrees, Paths: m.Paths})
	}
	for _, s := range b.Sections {
		if s.Subject == repo.DirLabel("").String() {
			g.What = survey.Gist(strings.TrimSpace(s.Text))
		}
		if s.Subject == brief.MainParts {
			g.parts = strings.Split(s.Text, "\n")
		}
	}
	n, err := w.Dispatcher().Remaining(ctx)
	switch {
	case err == nil:
		g.Undescribed = &n
	case ctx.Err() != nil:
		return nil, err
	default:
		g.Unknown = append(g.Unknown, spec.Unknown{Fact: "undescribed", Reason: err.Error()})
	}
	return g, nil
}

// How much ken up prints, so that all of it fits on one screen.
const (
	glanceParts = 6 // lines about the main parts of the repository
	glanceItems = 2 // things that need attention, of each kind
)

// printWhat prints what the repository is, and its main parts.
func (p *program) printWhat(g *Glance) {
	if g.What == "" {
		return
	}
	p.io.Printf("%s\n", term.Shorten(term.Clean(g.What), overviewWidth))
	for i, line := range g.parts {
		if i == glanceParts {
			p.io.Printf("  … all of it: ken brief\n")
			break
		}
		p.io.Printf("  %s\n", term.Shorten(term.Clean(line), overviewWidth))
	}
	p.io.Printf("\n")
}

// printNext prints what to ask next, and what to tell an agent.
func (p *program) printNext(g *Glance, o *Overview) {
	for _, u := range g.Unknown[len(o.Unknown):] {
		p.io.Line(term.Bad, "unknown", term.Clean(u.Fact), term.Clean(u.Reason))
	}
	p.io.Printf("\nTry next:\n")
	p.io.Printf("  ken find WORDS    where to look for a task, a question or a name\n")
	p.io.Printf("  ken brief PATH    what to know before you change a file or a directory\n")
	p.io.Printf("  ken prove         how well ken would have done on your last 200 commits\n")
	if g.Undescribed == nil || *g.Undescribed == 0 {
		return
	}
	have := "have"
	if *g.Undescribed == 1 {
		have = "has"
	}
	p.io.Printf("\n%s %s no current summary. To have your agent write summaries, tell it:\n", term.Count(*g.Undescribed, "directory"), have)
	p.io.Printf("  Run `ken survey next` and do what it says. Repeat this until nothing is left.\n")
}
