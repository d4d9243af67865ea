package cli

import (
	"fmt"
	"strings"

	"ken/internal/contract"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/term"
)

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
				add("broken", "broken", term.Bad, n.ID, n.Problems[0].Message, "spec", "show", n.ID)
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
