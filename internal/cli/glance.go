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

// A Glance is the part of ken up that ken status does not have: what the repository is,
// what its last commits made stale, and how many directories an agent could describe. A
// part that could not be read is null, and Unknown says why. Docs and Collisions repeat
// the overview.
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
	parts := []struct {
		name string
		ask  func() error
	}{
		{"undescribed", func() error {
			n, err := w.Dispatcher().Remaining(ctx)
			if err == nil {
				g.Undescribed = &n
			}
			return err
		}},
	}
	for _, part := range parts {
		if err := part.ask(); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			g.Unknown = append(g.Unknown, spec.Unknown{Fact: part.name, Reason: err.Error()})
		}
	}
	return g, nil
}

// glanceParts is how many lines about the main parts of a repository ken up prints.
const glanceParts = 10

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

// printNext prints what the last commits made stale, and what to paste to an agent.
func (p *program) printNext(g *Glance, o *Overview) {
	for _, u := range g.Unknown[len(o.Unknown):] {
		p.io.Line(term.Bad, "unknown", term.Clean(u.Fact), term.Clean(u.Reason))
	}
	if g.Undescribed == nil || *g.Undescribed == 0 {
		return
	}
	n := *g.Undescribed
	have := "have"
	if n == 1 {
		have = "has"
	}
	p.io.Printf("\n%s %s only an outline, or a stale summary. To let your agent write summaries, paste this to it:\n", term.Count(n, "directory"), have)
	p.io.Printf("  Run `ken survey next`, describe what it hands you with the command it names, and repeat until nothing is left.\n")
}
