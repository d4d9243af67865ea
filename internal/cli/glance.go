package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/brief"
	"ken/internal/prove"
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
	History    *historyGlance     `json:"history"`
	Collisions []spec.CollideJSON `json:"collisions"`
	// Undescribed counts the directories without a current summary by a model or an agent.
	Undescribed *int           `json:"undescribed"`
	Unknown     []spec.Unknown `json:"unknown"`

	parts []string // the lines about the root after the first
}

type historyGlance struct {
	Commits     int    `json:"commits"`
	Valid       int    `json:"valid"`
	MedianStale int64  `json:"median_stale"`
	Refresh     int64  `json:"median_refresh_tokens"`
	EvenOutline *int64 `json:"outline_even_percent"`
	EvenModel   *int64 `json:"model_even_percent"`
	Unknown     int    `json:"unknown"`
}

// glanceCommits is how many commits a glance replays.
const glanceCommits = 200

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
		{"history", func() error {
			show := p.io.Progress("replaying the history")
			defer show.Done()
			r, err := w.Prove(ctx, ProveOptions{Commits: glanceCommits, Progress: show.Update})
			if err == nil {
				g.History, err = glanceHistory(r)
			}
			return err
		}},
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

// glanceHistory returns what the last commits made stale, or why none of them can tell.
func glanceHistory(r *prove.Report) (*historyGlance, error) {
	switch c := r.Commits; {
	case c.Replayed == 0 && c.Unknown > 0:
		return nil, fmt.Errorf("this clone lacks contents of %s; fetch them: git fetch --refetch --no-filter", term.Count(c.Unknown, "commit"))
	case c.Replayed == 0 && c.Cut:
		// A shorter fetch is enough here, but not for documents: one command serves both.
		return nil, errors.New("this shallow clone has no commit with its parent; fetch the rest: git fetch --unshallow")
	}
	return &historyGlance{
		Commits: r.Commits.Replayed, Valid: r.Commits.Valid, Unknown: r.Commits.Unknown,
		MedianStale: r.Spreads.Stale.Median, Refresh: r.Spreads.Refresh.Median,
		EvenOutline: r.Net.Outline.Even, EvenModel: r.Net.Model.Even,
	}, nil
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
	if h := g.History; h != nil && h.Commits > 1 {
		lacking := ""
		if h.Unknown > 0 {
			lacking = fmt.Sprintf(" (this clone lacks contents of %d more)", h.Unknown)
		}
		p.io.Printf("\n%d of the last %s made nothing stale%s; a typical one made %s stale. Details: ken prove\n",
			h.Valid, term.Count(h.Commits, "commit"), lacking, summaries(int(h.MedianStale)))
	}
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

// summaries counts summaries.
func summaries(n int) string {
	if n == 1 {
		return "1 summary"
	}
	return fmt.Sprintf("%d summaries", n)
}
