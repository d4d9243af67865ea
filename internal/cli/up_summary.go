package cli

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ken/internal/attention"
	"ken/internal/brief"
	"ken/internal/docs"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey/describe"
	"ken/internal/term"
)

// An UpSummary is the part of ken up that ken status does not have: what the repository is, and
// how many directories an agent could describe. A part that could not be read is null, and
// Unknown says why. Docs and Collisions repeat the overview.
type UpSummary struct {
	What       string               `json:"what"` // the first line about the root
	Docs       *DocsOverview        `json:"docs"`
	Collisions []spec.CollisionJSON `json:"collisions"`
	// Undescribed counts the directories without a current summary by a model or an agent.
	Undescribed *int            `json:"undescribed"`
	Unknown     []fault.Unknown `json:"unknown"`

	parts []string // the lines about the root after the first
}

// upSummary reads the parts that the overview does not have. If one part fails, the others are still reported.
func (p *program) upSummary(ctx context.Context, w *ken.Repository, b *brief.Brief, o *Overview) (*UpSummary, error) {
	g := &UpSummary{Docs: o.Documents, Collisions: []spec.CollisionJSON{}, Unknown: append([]fault.Unknown{}, o.Unknown...)}
	for _, m := range o.Collisions {
		g.Collisions = append(g.Collisions, spec.CollisionJSON{Node: m.Node, Kind: m.Kind, With: m.Worktrees, Paths: m.Paths})
	}
	for _, s := range b.Sections {
		if s.Subject == repo.DirLabel("").String() {
			g.What = describe.Headline(strings.TrimSpace(s.Text))
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
		g.Unknown = append(g.Unknown, fault.NewUnknown("undescribed", err))
	}
	return g, nil
}

// The screen that the output of ken up fits on, with a line for the prompt.
const (
	screenLines   = 23
	screenColumns = 80
)

// screenOf returns the output of print, and the number of lines that it takes on the screen.
func (p *program) screenOf(print func()) (text string, lines int) {
	var b bytes.Buffer
	out, color := p.io.Out, p.io.Color
	p.io.Out = &b
	print()
	p.io.Out = out
	for line := range strings.Lines(b.String()) {
		if color {
			line = colorCode.ReplaceAllString(line, "")
		}
		lines += max(1, (len([]rune(strings.TrimSuffix(line, "\n")))+screenColumns-1)/screenColumns)
	}
	return b.String(), lines
}

var colorCode = regexp.MustCompile("\x1b\\[[0-9;]*m")

// printUp prints what the repository is, how things stand and what to do next. The main
// parts of the repository take the lines of the screen that the rest leaves.
func (p *program) printUp(known *statusReport, g *UpSummary, o *Overview) {
	first, firstLines := p.screenOf(func() { p.printStaleFirst(o) })
	others := *o
	others.Attention = slices.DeleteFunc(slices.Clone(o.Attention), isMention)
	others.mentioned = first != ""
	p.io.Printf("%s", first)
	var rest string
	var lines int
	for _, items := range []int{2, 1} { // of each kind of thing that needs attention
		rest, lines = p.screenOf(func() {
			p.printOverview(known, &others, items)
			p.printNext(g, o)
		})
		if lines <= screenLines-firstLines {
			break
		}
	}
	p.printWhat(g, screenLines-firstLines-lines)
	p.io.Printf("%s", rest)
}

// printStaleFirst prints what documents say that is no longer true, those first that agents read. Nothing else that ken
// knows is wrong in so many repositories.
func (p *program) printStaleFirst(o *Overview) {
	const most = 3
	stale := slices.DeleteFunc(slices.Clone(o.Attention), func(a Attention) bool { return !isMention(a) })
	if len(stale) == 0 {
		return
	}
	forAgents := ""
	isForAgents := func(m docs.MentionJSON) bool { return m.Agents }
	if slices.ContainsFunc(o.Documents.Wrong, isForAgents) {
		forAgents = "; agents read the first ones"
	}
	p.io.Printf("%s in documents%s:\n", english.Count(len(stale), "stale mention"), forAgents)
	for _, a := range stale[:min(most, len(stale))] {
		p.io.Printf("  %s %s\n", a.Subject, term.Clean(a.Why))
	}
	more := ""
	if len(stale) > most {
		more = fmt.Sprintf("+%d; ", len(stale)-most)
	}
	p.io.Printf("  %slist them: ken docs; rewrite what moved: ken docs --fix\n\n", more)
}

func isMention(a Attention) bool { return a.Kind == attention.Mention }

// printWhat prints what the repository is, and as many of its main parts as fit.
func (p *program) printWhat(g *UpSummary, lines int) {
	if g.What == "" {
		return
	}
	p.io.Printf("%s\n", repo.Shorten(term.Clean(g.What), screenColumns-1))
	room := max(0, lines-2) // without the line above and the empty one below
	parts := g.parts
	if len(parts) > room {
		parts = parts[:max(0, room-1)]
	}
	for _, line := range parts {
		p.io.Printf("  %s\n", repo.Shorten(term.Clean(line), screenColumns-3))
	}
	if len(parts) < len(g.parts) && room > 0 {
		p.io.Printf("  … all of it: ken brief\n")
	}
	p.io.Printf("\n")
}

// printNext prints commands to try next, and a prompt for an agent.
func (p *program) printNext(g *UpSummary, o *Overview) {
	for _, u := range g.Unknown[len(o.Unknown):] {
		p.io.Line(term.Bad, "unknown", term.Clean(u.What), term.Clean(u.Why))
	}
	p.io.Printf("\nTry next:\n")
	p.io.Printf("  ken find WORDS    where to look for a task, a question or a name\n")
	p.io.Printf("  ken brief PATH    what to know before you change a file or a directory\n")
	p.io.Printf("  ken serve         all of this in your browser, live\n")
	if g.Undescribed == nil || *g.Undescribed == 0 {
		return
	}
	lack := "lack"
	if *g.Undescribed == 1 {
		lack = "lacks"
	}
	p.io.Printf("\n%s %s a current summary. Tell your agent:\n", english.Count(*g.Undescribed, "directory"), lack)
	p.io.Printf("  Run `ken survey next` and do what it says. Repeat this until nothing is left.\n")
}
