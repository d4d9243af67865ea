package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/board"
	"ken/internal/registry"
	"ken/internal/survey"
	"ken/internal/term"
)

func (p *program) board() *cobra.Command {
	var all, check bool
	c := &cobra.Command{
		Use:   "board",
		Short: "Sum up files, directories, the state directory and specs; write nothing",
		Long: `Prints one line for each kind of knowledge: how far the summaries of files can be
trusted, what is said of directories, what lies in the state directory, how the
specs stand, and where the work of several worktrees meets. A part that cannot be
read says why, and the others are told all the same. ken serve shows the same,
live, in a browser.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := p.Board(c.Context(), p.dir, all)
			if err != nil {
				return err
			}
			if p.io.JSON {
				err = p.io.Encode(b)
			} else {
				p.printBoard(b)
			}
			if err == nil && check && b.Wanting() {
				err = errWanting
			}
			return err
		},
	}
	c.Flags().BoolVar(&all, "all", false, "tell of every worktree, not only of this one")
	c.Flags().BoolVar(&check, "check", false, "exit 3 if anything does not hold or is not known")
	return c
}

func (p *program) printBoard(b *board.Board) {
	p.io.Together(func() {
		for i := range b.Worktrees {
			w := &b.Worktrees[i]
			name := func(part string) string {
				if len(b.Worktrees) > 1 {
					return w.Name + ": " + part
				}
				return part
			}
			printPart(p, name("files"), w.Files, filesLine)
			printPart(p, name("directories"), w.Survey, surveyLine)
			printPart(p, name("state"), w.State, stateLine)
			printPart(p, name("specs"), w.Spec, specLine)
		}
		printPart(p, "worktrees", b.Proposals, proposalsLine)
		if b.Runs != nil {
			printPart(p, "runs", *b.Runs, runsLine)
		}
	})
	if known := b.Proposals.Known; known != nil {
		for _, m := range known.Meetings {
			p.io.Line(term.Warn, "meets", m.Node, fmt.Sprintf("on its %s: %s", m.Kind.Words(), strings.Join(m.Worktrees, ", ")))
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
	why := "nobody has looked"
	if part.Unknown != nil {
		why = part.Unknown.Reason
		if part.Unknown.Hint != "" {
			why += "; " + part.Unknown.Hint
		}
	}
	p.io.Line(term.Bad, "unknown", name, plain(why))
}

func filesLine(f *board.Files) (term.Tone, string, string) {
	tone := term.Warn
	if f.State == registry.StateTrust && !f.Counts.Wanting() {
		tone = term.Good
	}
	var words []string
	for _, r := range f.Reasons {
		words = append(words, string(r))
	}
	c := f.Counts
	why := fmt.Sprintf("%d: %d fresh, %d stale, %d none, %d excluded, %d unknown", c.Files, c.Fresh, c.Stale, c.None, c.Excluded, c.Unknown)
	return tone, string(f.State), why + colon(strings.Join(words, ", "))
}

func surveyLine(s *board.Survey) (term.Tone, string, string) {
	var words []string
	var worst *survey.Verdict
	for _, v := range board.Verdicts {
		if n := s.Counts[v.String()]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, v))
			if worst == nil {
				worst = &v
			}
		}
	}
	if worst == nil {
		return term.Dim, "none", "nothing is tracked"
	}
	return toneOf(worst.State()), worst.State().String(), fmt.Sprintf("%d: %s", len(s.Directories), strings.Join(words, ", "))
}

func stateLine(s *board.State) (term.Tone, string, string) {
	n := s.Counts
	why := fmt.Sprintf("%s: %d canonical, %d pattern_allowed, %d ephemeral, %d ad_hoc, %d unknown",
		entries(n.Total), n.Canonical, n.PatternAllowed, n.Ephemeral, n.AdHoc, n.Unknown)
	unread := s.Unread()
	for _, what := range slices.Sorted(maps.Keys(unread)) {
		why += "; " + what + " is not known: " + plain(unread[what].Reason)
	}
	switch {
	case n.Unknown+len(unread) > 0:
		return term.Bad, "unknown", why
	case n.Wanting():
		return term.Warn, "foreign", why
	}
	return term.Good, "clean", why
}

func specLine(s *board.Spec) (term.Tone, string, string) {
	c := s.Counts
	why := fmt.Sprintf("%d: %d merged, %d drift, %d active, %d pending, %d unknown", c.Nodes, c.Merged, c.Drift, c.Active, c.Pending, c.Unknown)
	if c.Drifting != c.Drift {
		why += fmt.Sprintf("; %d of all have drift", c.Drifting)
	}
	if c.DriftUnknown > 0 && c.DriftUnknown != c.Unknown {
		why += fmt.Sprintf("; the drift of %d is unknown", c.DriftUnknown)
	}
	if c.Problems > 0 {
		why += fmt.Sprintf("; %d with problems", c.Problems)
	}
	if c.Missing > 0 {
		why += fmt.Sprintf("; the code of %d is not there", c.Missing)
	}
	for _, u := range s.Unknown {
		why += "; " + u.Fact + " is not known: " + term.Clean(u.Reason)
	}
	switch {
	case c.Unknown+c.DriftUnknown > 0 || len(s.Unknown) > 0:
		return term.Bad, "unknown", why
	case c.Drifting > 0:
		return term.Warn, "drift", why
	case c.Problems+c.Missing > 0:
		return term.Bad, "broken", why
	case c.Nodes == 0:
		return term.Dim, "none", "there are no specs yet"
	}
	return term.Good, "merged", why
}

func runsLine(r *board.Runs) (term.Tone, string, string) {
	if len(r.Runs) == 0 {
		return term.Dim, "none", "nothing was handed out to workers"
	}
	last := &r.Runs[0]
	if open := r.Running(); len(open) > 0 {
		last = &open[0]
	}
	why := fmt.Sprintf("run %d: %s, %s", last.ID, last.Summary(), last.Spent)
	if last.Why != "" {
		why += ": " + last.Why
	}
	return runTone(last.State), string(last.State), why
}

func proposalsLine(p *board.Proposals) (term.Tone, string, string) {
	ops := 0
	for _, w := range p.Worktrees {
		ops += len(w.Ops)
	}
	why := fmt.Sprintf("%d, which propose %s to specs", len(p.Worktrees), term.Count(ops, "change"))
	if n := p.Unknown(); n > 0 {
		why += fmt.Sprintf("; of %d not all is known", n)
		if len(p.Meetings) == 0 {
			return term.Bad, "unknown", why
		}
	}
	if n := len(p.Meetings); n > 0 {
		return term.Warn, "meet", why + fmt.Sprintf("; they meet %s", term.Count(n, "time"))
	}
	return term.Good, "apart", why
}
