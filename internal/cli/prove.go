package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/prove"
	"ken/internal/term"
)

// ProveOptions say what to replay.
type ProveOptions struct {
	Commits  int                   // at most
	Plot     string                // the file to draw into; none when ""
	Progress func(done, total int) // is called while contents are read
}

// defaultCommits is how many commits are replayed unless another number is given.
const defaultCommits = 200

func (p *program) prove() *cobra.Command {
	opts := ProveOptions{}
	c := &cobra.Command{
		Use:   "prove",
		Short: "Replay your history: what would have gone stale, cost and saved",
		Long: `Replays the last commits of HEAD from git's objects, without a checkout, a network or
a model. For each commit it counts the summaries that would have gone stale, the tokens
to write them again, and the tokens to read with a brief and without. It prints losses
as well as gains, and its method.`,
		Example: `  ken prove                       # replay the last 200 commits
  ken prove --commits 50          # replay the last 50
  ken prove --plot history.svg    # draw them, too`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if opts.Commits < 1 {
				return usage(c, errors.New("--commits must be at least 1"))
			}
			if c.Flags().Changed("plot") && opts.Plot == "" {
				return usage(c, errors.New("--plot needs a file name"))
			}
			if opts.Plot != "" && !filepath.IsAbs(opts.Plot) {
				opts.Plot = filepath.Join(p.dir, opts.Plot)
			}
			return p.within(c.Context(), func(w Workspace) error {
				show := p.io.Progress("reading contents")
				opts.Progress = show.Update
				r, err := w.Prove(c.Context(), opts)
				show.Done()
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(r)
				}
				p.printProof(r)
				return nil
			})
		},
	}
	c.Flags().IntVar(&opts.Commits, "commits", defaultCommits, "replay the last `N` commits of HEAD (first parents only)")
	c.Flags().StringVar(&opts.Plot, "plot", "", "draw the history as SVG to `FILE`")
	return c
}

func (p *program) printProof(r *prove.Report) {
	p.io.Together(func() {
		p.printReplayed(r)
		if r.Commits.Replayed == 0 {
			return
		}
		p.printSpreads(r)
		p.printNet(r)
		p.printWorst(r)
		p.io.Printf("\n%s\n", wrap("Method. "+r.Method, 112))
	})
}

// printReplayed says which commits the figures cover, and which are missing.
func (p *program) printReplayed(r *prove.Report) {
	c := r.Commits
	switch {
	case len(r.History) == 0 && c.Cut:
		p.io.Printf("nothing to replay: this shallow clone has no commit with its parent; fetch more with: git fetch --deepen=%d\n", c.Asked)
		return
	case len(r.History) == 0:
		p.io.Printf("nothing to replay: no commit yet\n")
		return
	}
	whole := ""
	if c.Whole && len(r.History) < c.Asked {
		whole = " (the whole history)"
	}
	p.io.Printf("replayed %s%s: %s to %s, first parents only\n",
		counted(len(r.History), "commit"), whole, c.First.Short(), c.Last.Short())
	if c.Cut {
		p.io.Printf("incomplete: this shallow clone has no older commits; fetch them with: git fetch --unshallow\n")
	}
	if c.Unknown > 0 {
		p.io.Printf("unknown: %d of them, not counted below, since git lacks contents; fetch those with: git fetch --refetch --no-filter\n", c.Unknown)
	}
}

func (p *program) printSpreads(r *prove.Report) {
	c, s := r.Commits, r.Spreads
	p.io.Printf("%s of the last %s made nothing stale\n", thousands(int64(c.Valid)), counted(c.Replayed, "commit"))
	p.io.Printf("the median commit made %s stale; after the last one there are %s: %s and %s\n",
		counted(int(s.Stale.Median), "summary"), thousands(int64(r.Files+r.Directories)),
		counted(r.Files, "file"), counted(r.Directories, "directory"))
	p.io.Printf("changed files by grade: %s format, %s body, %s interface, %s content\n",
		thousands(int64(r.Changes.Format)), thousands(int64(r.Changes.Body)), thousands(int64(r.Changes.Interface)), thousands(int64(r.Changes.Content)))
	p.io.Printf("\n%-46s%12s%12s%12s%14s\n", "per commit", "median", "p90", "max", "total")
	for _, row := range []struct {
		name string
		prove.Spread
	}{
		{"stale files", s.StaleFiles},
		{"  if every byte and path counted", s.ByByte},
		{"stale directories: their own files changed", s.StaleSelf},
		{"  directories above them, at most", s.StaleBelow},
		{"tokens to refresh, reading what changed", s.Refresh},
		{"  reading all files of stale directories", s.Reread},
		{"tokens read with briefs", s.With},
		{"  without briefs, reading all neighbours", s.Without},
	} {
		p.io.Printf("%-46s%12s%12s%12s%14s\n", row.name, thousands(row.Median), thousands(row.P90), thousands(row.Max), thousands(row.Total))
	}
}

func (p *program) printNet(r *prove.Report) {
	n := r.Net
	list := []prove.Balance{n.Outline, n.Model, n.Reread}
	row := func(name string, of func(prove.Balance) string) {
		p.io.Printf("%-46s", name)
		for _, b := range list {
			p.io.Printf("%17s", of(b))
		}
		p.io.Printf("\n")
	}
	p.io.Printf("\n%-46s%17s%17s%17s\n", "net tokens (saved minus spent)", "outlines (free)", "a model", "model rereads")
	row("if all neighbours were read without briefs", func(b prove.Balance) string { return signed(b.All) })
	row("if none were read", func(b prove.Balance) string { return signed(b.None) })
	row("pays off from this share of neighbours", func(b prove.Balance) string {
		switch {
		case b.Even == nil:
			return "no neighbours"
		case *b.Even > 100:
			return fmt.Sprintf("never (%s%%)", thousands(*b.Even))
		}
		return fmt.Sprintf("%d%%", *b.Even)
	})
	p.io.Printf("%s of the model's refresh tokens are for directories above a change; unchanged summaries would save most of them\n", thousands(n.Above))
	p.io.Printf("not counted: about %s tokens for a model to summarize everything once\n", thousands(n.Describe))
	p.io.Printf("briefs were longer than all neighbours in %d of %s\n", r.Commits.Lost, counted(r.Commits.Replayed, "commit"))
}

// printWorst lists the commits with the greatest losses.
func (p *program) printWorst(r *prove.Report) {
	p.io.Printf("\nworst commits: net tokens with a model if all neighbours were read; commit; summaries to write; subject\n")
	for i := range r.Worst {
		o := &r.Worst[i]
		p.io.Printf("%12s  %s  %5d  %s\n", signed(o.Net()), o.Commit.Short(), o.Stale()+o.Added+o.NewDirs, term.Shorten(term.Clean(o.Subject), 70))
	}
}

// thousands writes a number with commas between thousands.
func thousands(n int64) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// signed is thousands with a plus sign for positive numbers.
func signed(n int64) string {
	if n > 0 {
		return "+" + thousands(n)
	}
	return thousands(n)
}

// counted is term.Count with commas between thousands.
func counted(n int, unit string) string {
	_, unit, _ = strings.Cut(term.Count(n, unit), " ")
	return thousands(int64(n)) + " " + unit
}

// wrap breaks a text into lines of at most so many bytes, between words.
func wrap(text string, most int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > most:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
