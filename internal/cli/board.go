package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/board"
	"ken/internal/english"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/term"
)

func (p *program) board() *cobra.Command {
	var all, check bool
	c := &cobra.Command{
		Use:   "board",
		Short: "Print one line about each kind of knowledge, for scripts and the dashboard",
		Long: `Prints one line each about files, directories, the state directory, specs and
worktrees. If ken cannot read a part, its line says why. ken serve shows the same
live in a browser. Unlike ken status, ken board can report every worktree.`,
		Example: `  ken board
  ken board --all --json   # every worktree`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := p.Board(c.Context(), p.dir, all)
			if err != nil {
				return err
			}
			err = p.answer(b, func() { p.printBoard(b) })
			return failCheck(err, check && b.NeedsAttention())
		},
	}
	c.Flags().BoolVar(&all, "all", false, "report every worktree, not only this one")
	c.Flags().BoolVar(&check, "check", false, "exit 3 if anything is stale, drifted, foreign or unknown")
	return c
}

func (p *program) printBoard(b *board.Board) {
	p.io.Buffered(func() {
		for i := range b.Worktrees {
			w := &b.Worktrees[i]
			name := func(part string) string {
				if len(b.Worktrees) > 1 {
					return w.Name + ": " + part
				}
				return part
			}
			printPart(p, name("files"), w.Files, func(f *board.Files) (term.Tone, string, string) { return boardFiles(f, w.Head) })
			printPart(p, name("directories"), w.Survey, boardDirectories)
			printPart(p, name("state"), w.State, boardState)
			printPart(p, name("specs"), w.Spec, boardSpecs)
		}
		printPart(p, "worktrees", b.Proposals, boardWorktrees)
		if b.Runs != nil {
			printPart(p, "runs", *b.Runs, boardRuns)
		}
	})
	if known := b.Proposals.Known; known != nil {
		for _, m := range known.Meetings {
			p.io.Line(term.Warn, "collides", m.Node, fmt.Sprintf("worktrees %s change its %s", strings.Join(m.Worktrees, ", "), m.Kind.Words()))
		}
	}
}

// printPart prints the line of a part, or why there is none.
func printPart[T any](p *program, name string, part board.Part[T], line func(*T) (term.Tone, string, string)) {
	if part.Known != nil {
		tone, word, why := line(part.Known)
		p.io.Line(tone, word, name, why)
		return
	}
	why := "not read yet"
	if part.Unknown != nil {
		why = part.Unknown.Reason
		if part.Unknown.Hint != "" {
			why += "; " + part.Unknown.Hint
		}
	}
	p.io.Line(term.Bad, "unknown", name, term.CleanText(why))
}

func boardFiles(f *board.Files, head repo.ID) (term.Tone, string, string) {
	line := filesLine(&registry.Report{State: f.State, Head: head, Counts: f.Counts, Upstream: f.Upstream}, false)
	switch {
	case f.Counts.Unknown+f.Counts.Conflicted > 0:
		return term.Bad, "unknown", line
	case f.Counts.Stale > 0:
		return term.Warn, "stale", line
	case f.Counts.Fresh > 0:
		return term.Good, "fresh", line
	}
	return term.Dim, "none", line
}

func boardDirectories(s *board.Survey) (term.Tone, string, string) {
	if len(s.Directories) == 0 {
		return term.Dim, "none", "git tracks no files"
	}
	state := s.Summaries.State()
	if s.Counts[survey.Unknown.String()] > 0 {
		state = fresh.Unknown
	}
	return toneOf(state), state.String(), s.Summaries.String()
}

func boardState(s *board.State) (term.Tone, string, string) {
	n := s.Counts
	line := english.Count(n.Total, "entry")
	if n.Total > 0 {
		line += fmt.Sprintf(": %d canonical, %d pattern_allowed, %d ephemeral, %d ad_hoc, %d unknown",
			n.Canonical, n.PatternAllowed, n.Ephemeral, n.AdHoc, n.Unknown)
	}
	unread := s.Unread()
	for _, what := range slices.Sorted(maps.Keys(unread)) {
		line += "; cannot read " + what + ": " + term.CleanText(unread[what].Reason)
	}
	switch {
	case n.Unknown+len(unread) > 0:
		return term.Bad, "unknown", line
	case n.NeedsAttention():
		return term.Warn, "foreign", line
	}
	return term.Good, "clean", line
}

func boardSpecs(s *board.Spec) (term.Tone, string, string) {
	c := s.Counts
	if c.Nodes == 0 && len(s.Unknown) == 0 {
		return term.Dim, "none", "no specs"
	}
	line := fmt.Sprintf("%d; %d in drift, %d being edited, %d without code, %d with errors, %d governing missing files, %d unknown",
		c.Nodes, c.Drifting, c.Active, c.Pending, c.Problems, c.Missing, max(c.Unknown, c.DriftUnknown))
	for _, u := range s.Unknown {
		line += "; cannot tell " + u.Fact + ": " + term.Clean(u.Reason)
	}
	switch {
	case c.Unknown+c.DriftUnknown > 0 || len(s.Unknown) > 0:
		return term.Bad, "unknown", line
	case c.Drifting > 0:
		return term.Warn, "drift", line
	case c.Problems+c.Missing > 0:
		return term.Bad, "broken", line
	}
	return term.Good, "fresh", line
}

func boardRuns(r *board.Runs) (term.Tone, string, string) {
	if len(r.Runs) == 0 {
		return term.Dim, "none", "no survey runs for workers"
	}
	last := &r.Runs[0]
	if open := r.Running(); len(open) > 0 {
		last = &open[0]
	}
	line := fmt.Sprintf("run %d: %s, %s", last.ID, last.Summary(), last.Spent)
	if last.Why != "" {
		line += ": " + last.Why
	}
	return runTone(last.State), string(last.State), line
}

func boardWorktrees(p *board.Proposals) (term.Tone, string, string) {
	ops := 0
	for _, w := range p.Worktrees {
		ops += len(w.Ops)
	}
	line := fmt.Sprintf("%d; %s to specs proposed, %s", len(p.Worktrees), english.Count(ops, "change"), english.Count(len(p.Meetings), "collision"))
	unknown := p.Unknown()
	if unknown > 0 {
		line += fmt.Sprintf("; %d could not be read", unknown)
	}
	switch {
	case len(p.Meetings) > 0:
		return term.Warn, "collides", line
	case unknown > 0:
		return term.Bad, "unknown", line
	}
	return term.Good, "clean", line
}
