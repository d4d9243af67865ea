package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ken/internal/docs"
	"ken/internal/prove"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/term"
)

// A Glance is what only ken knows of a repository, in a few lines. A part that could
// not be had is null, and says why in Unknown.
type Glance struct {
	What       string             `json:"what"` // the first line about the root
	Docs       *docsGlance        `json:"docs"`
	History    *historyGlance     `json:"history"`
	Collisions []spec.CollideJSON `json:"collisions"`
	// Undescribed is how many directories no model and no agent has described as
	// they are now.
	Undescribed *int           `json:"undescribed"`
	Unknown     []spec.Unknown `json:"unknown"`
}

type docsGlance struct {
	Documents int           `json:"documents"`
	Mentions  int           `json:"mentions"`
	Hold      int           `json:"hold"`
	Wrong     []docsMention `json:"wrong"`
	Unread    []unreadDoc   `json:"unread"`
	Gap       string        `json:"gap,omitempty"` // why more may be wrong

	shown  []docs.Judged
	unread []docs.Unread // that are text
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

// glance asks all parts; whatever one of them cannot tell, the others can.
func (p *program) glance(ctx context.Context, w Workspace, b *survey.Brief) (*Glance, error) {
	g := &Glance{Collisions: []spec.CollideJSON{}, Unknown: []spec.Unknown{}}
	for _, s := range b.Sections {
		if s.Subject == repo.DirLabel("").String() {
			g.What, _, _ = strings.Cut(s.Text, "\n")
		}
	}
	parts := []struct {
		name string
		ask  func() error
	}{
		{"documents", func() error {
			show := p.io.Progress("reading documents")
			defer show.Done()
			show.Update(0, 0)
			rep, err := w.Docs(ctx, docs.Options{})
			if err == nil {
				g.Docs = glanceDocs(rep)
			}
			return err
		}},
		{"history", func() error {
			show := p.io.Progress("replaying the history")
			defer show.Done()
			r, err := w.Prove(ctx, ProveOptions{Commits: glanceCommits, Progress: show.Update})
			if err == nil {
				g.History, err = glanceHistory(r)
			}
			return err
		}},
		{"worktrees", func() error {
			list, err := w.Spec().Overlays(ctx)
			g.collide(list)
			return err
		}},
		{"undescribed", func() error {
			n, err := w.Desk().Remaining(ctx)
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

// collide takes in the collisions of worktrees, each of which both sides report, once.
func (g *Glance) collide(list []spec.Overlaid) {
	for _, o := range list {
		for _, c := range o.Collisions {
			c.With = slices.Sorted(slices.Values(append([]string{o.Worktree}, c.With...)))
			if !slices.ContainsFunc(g.Collisions, func(d spec.CollideJSON) bool {
				return d.Node == c.Node && d.Kind == c.Kind && slices.Equal(d.With, c.With)
			}) {
				g.Collisions = append(g.Collisions, c)
			}
		}
		g.Unknown = append(g.Unknown, o.Unknown...)
	}
}

func glanceDocs(rep *docs.Report) *docsGlance {
	counts := rep.Counts()
	d := &docsGlance{Documents: len(rep.Documents), Hold: counts[docs.Holds], Wrong: []docsMention{}, Unread: unreadDocs(rep.Unread), Gap: rep.Gap, shown: rep.Shown()}
	for _, n := range counts {
		d.Mentions += n
	}
	for i := range d.shown {
		d.Wrong = append(d.Wrong, docsMentionOf(&d.shown[i]))
	}
	for _, u := range rep.Unread {
		if !u.NoText {
			d.unread = append(d.unread, u)
		}
	}
	return d
}

// glanceHistory returns what the last commits did, or why none of them can tell.
func glanceHistory(r *prove.Report) (*historyGlance, error) {
	switch c := r.Commits; {
	case c.Replayed == 0 && c.Unknown > 0:
		return nil, fmt.Errorf("contents of %s are not here; fetch them: git fetch --refetch --no-filter", term.Count(c.Unknown, "commit"))
	case c.Replayed == 0 && c.Cut:
		// Fewer would do here, and not for the documents: one command for both.
		return nil, errors.New("this shallow clone has no commit with its parent; fetch it all: git fetch --unshallow")
	}
	return &historyGlance{
		Commits: r.Commits.Replayed, Valid: r.Commits.Valid, Unknown: r.Commits.Unknown,
		MedianStale: r.Spreads.Stale.Median, Refresh: r.Spreads.Refresh.Median,
		EvenOutline: r.Net.Outline.Even, EvenModel: r.Net.Model.Even,
	}, nil
}

// How much a glance tells of each part; all together are at most fifteen lines. What
// others wrote is cut to a width, and nothing that may end with a command.
const (
	glanceWrong    = 5
	glanceCollides = 2
	glanceWide     = 150
	glanceSubject  = 40
)

func (p *program) printGlance(g *Glance) {
	say := func(what, format string, args ...any) {
		p.io.Printf("%-10s %s\n", what, term.Clean(fmt.Sprintf(format, args...)))
	}
	p.io.Printf("\n")
	if g.What != "" {
		say("this is", "%s", term.Shorten(g.What, glanceWide))
	}
	if d := g.Docs; d != nil {
		p.printDocsGlance(d, say)
	}
	if h := g.History; h != nil && h.Commits > 1 {
		lacking := ""
		if h.Unknown > 0 {
			lacking = fmt.Sprintf(", beside %d whose contents are not here,", h.Unknown)
		}
		say("history", "of the last %s%s %d left everything that was known true; the median one made %s stale",
			term.Count(h.Commits, "commit"), lacking, h.Valid, term.Count(int(h.MedianStale), "text"))
		if h.EvenOutline != nil && h.EvenModel != nil {
			say("", "share of neighbouring files that a brief must spare to pay: %s; if a model writes the texts, %s: ken prove",
				evenly(*h.EvenOutline), evenly(*h.EvenModel))
		}
	}
	for i, c := range g.Collisions {
		if i == glanceCollides {
			say("", "and %d more: ken spec overlay", len(g.Collisions)-i)
			break
		}
		say("collides", "%s", term.Shorten(fmt.Sprintf("%s on the %s of %s: %s",
			strings.Join(c.With, ", "), c.Kind.Words(), c.Node, strings.Join(c.Paths, " ")), glanceWide))
	}
	for i, u := range g.Unknown {
		if i == glanceCollides {
			break
		}
		say("unknown", "%s: %s", u.Fact, u.Reason)
	}
	if g.Undescribed != nil && *g.Undescribed > 0 {
		p.io.Printf("%-10s %s without words of a model or an agent that hold; to have yours write them, paste to it:\n", "next", term.Count(*g.Undescribed, "directory"))
		p.io.Printf("           Run `ken survey next`, describe what it hands you with the command it names, and repeat until nothing is left.\n")
	}
}

func (p *program) printDocsGlance(d *docsGlance, say func(what, format string, args ...any)) {
	switch {
	case d.Documents == 0 && len(d.unread) > 0:
		// and that is said below
	case d.Documents == 0:
		say("documents", "there are none")
	case len(d.Wrong) > 0:
		say("documents", "%d of %s in %s: it was there when it was written, and is no more",
			len(d.Wrong), term.Count(d.Mentions, "mention"), term.Count(d.Documents, "document"))
	case d.Gap != "":
		say("documents", "%d of %s hold; what the others name may be gone: %s", d.Hold, term.Count(d.Mentions, "mention"), d.Gap)
	case d.Hold < d.Mentions:
		say("documents", "%d of %s in %s hold; nothing to list; %d not listed, and why: ken docs --all",
			d.Hold, term.Count(d.Mentions, "mention"), term.Count(d.Documents, "document"), d.Mentions-d.Hold)
	case d.Mentions == 0:
		say("documents", "nothing that is looked for is named in %s", term.Count(d.Documents, "document"))
	default:
		say("documents", "%s in %s, and all hold", term.Count(d.Mentions, "mention"), term.Count(d.Documents, "document"))
	}
	for i := range d.shown[:min(len(d.shown), glanceWrong)] {
		j := &d.shown[i]
		p.io.Printf("           %s:%d: %s — %s\n", j.File, j.Line, term.Clean(j.Text), term.Clean(docsVerdict(j, glanceSubject)))
	}
	if more := len(d.shown) - glanceWrong; more > 0 {
		say("", "and %d more: ken docs", more)
	}
	if len(d.Wrong) > 0 && d.Gap != "" {
		say("", "more may be gone: %s", d.Gap)
	}
	if n := len(d.unread); n > 0 {
		say("documents", "%d could not be read: %s: %s", n, d.unread[0].File, plain(d.unread[0].Why))
	}
}

// evenly writes from which share on something pays.
func evenly(percent int64) string {
	if percent > 100 {
		return "never pays"
	}
	return fmt.Sprintf("%d%%", percent)
}
