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

// ProveOptions say what is replayed.
type ProveOptions struct {
	Commits  int                   // at most
	Plot     string                // the file to draw into; none when ""
	Progress func(done, total int) // is told how far the reading is
}

// defaultCommits is how many commits are replayed unless another number is given.
const defaultCommits = 200

func (p *program) prove() *cobra.Command {
	opts := ProveOptions{}
	c := &cobra.Command{
		Use:   "prove",
		Short: "Replay the history: what knowledge would have gone stale, cost and saved",
		Long: `Replays the last commits of HEAD from git's objects, without a checkout, a network or
a model: which texts each commit would have made stale and how far the change went,
what it would have cost to write them anew, and what is read with a brief and
without. Losses count as gains do, and the method is part of the answer.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if opts.Commits < 1 {
				return usage(c, errors.New("--commits: want a number from 1 on"))
			}
			if c.Flags().Changed("plot") && opts.Plot == "" {
				return usage(c, errors.New("--plot: want the name of a file"))
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
	c.Flags().IntVar(&opts.Commits, "commits", defaultCommits, "replay the last `N` commits of HEAD, first parents only")
	c.Flags().StringVar(&opts.Plot, "plot", "", "draw the history into `FILE`, as SVG")
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

// printReplayed says what the figures are of, and what is missing from them.
func (p *program) printReplayed(r *prove.Report) {
	c := r.Commits
	switch {
	case len(r.History) == 0 && c.Cut:
		p.io.Printf("nothing to replay: this shallow clone has no commit with its parent; fetch more: git fetch --deepen=%d\n", c.Asked)
		return
	case len(r.History) == 0:
		p.io.Printf("nothing to replay: there is no commit yet\n")
		return
	}
	more := ""
	if c.Whole && len(r.History) < c.Asked {
		more = ", which is all there are"
	}
	p.io.Printf("%s of %s asked for%s: %s to %s along first parents\n",
		counted(len(r.History), "commit"), thousands(int64(c.Asked)), more, c.First.Short(), c.Last.Short())
	if c.Cut {
		p.io.Printf("cut short: this is a shallow clone, and what came before is not here; fetch it: git fetch --unshallow\n")
	}
	if c.Unknown > 0 {
		p.io.Printf("unknown: %d of them, in no figure below, as contents are not here; fetch those: git fetch --refetch --no-filter\n", c.Unknown)
	}
}

func (p *program) printSpreads(r *prove.Report) {
	c, s := r.Commits, r.Spreads
	p.io.Printf("all that was known stayed true in %d of %s\n", c.Valid, counted(c.Replayed, "commit"))
	p.io.Printf("the median commit made %s stale; at the end there were %s: %s and %s\n",
		counted(int(s.Stale.Median), "text"), thousands(int64(r.Files+r.Directories)),
		counted(r.Files, "file"), counted(r.Directories, "directory"))
	p.io.Printf("files changed by grade: %s format, %s body, %s interface, %s content\n",
		thousands(int64(r.Changes.Format)), thousands(int64(r.Changes.Body)), thousands(int64(r.Changes.Interface)), thousands(int64(r.Changes.Content)))
	p.io.Printf("\n%-46s%12s%12s%12s%14s\n", "a commit", "median", "p90", "max", "total")
	for _, row := range []struct {
		name string
		prove.Spread
	}{
		{"stale files", s.StaleFiles},
		{"  had every byte and path counted", s.ByByte},
		{"stale directories, by their own files", s.StaleSelf},
		{"  and above them, at most", s.StaleBelow},
		{"tokens to refresh, reading what changed", s.Refresh},
		{"  reading all files of stale directories", s.Reread},
		{"tokens read with briefs", s.With},
		{"  without, all neighbours read", s.Without},
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
	p.io.Printf("\n%-46s%17s%17s%17s\n", "net tokens, savings less costs", "outlines (free)", "a model", "model rereads")
	row("had all neighbours been read without briefs", func(b prove.Balance) string { return signed(b.All) })
	row("had none been read", func(b prove.Balance) string { return signed(b.None) })
	row("it pays from this share of neighbours on", func(b prove.Balance) string {
		switch {
		case b.Even == nil:
			return "no neighbours"
		case *b.Even > 100:
			return fmt.Sprintf("never (%s%%)", thousands(*b.Even))
		}
		return fmt.Sprintf("%d%%", *b.Even)
	})
	p.io.Printf("of a model's refreshes %s went into directories above, most of which texts that keep their words would spare\n", thousands(n.Above))
	p.io.Printf("beside all this: about %s tokens for a model to describe everything once, as it is now\n", thousands(n.Describe))
	p.io.Printf("briefs were longer than all neighbours together in %d of %s\n", r.Commits.Lost, counted(r.Commits.Replayed, "commit"))
}

// printWorst lists the commits that speak most against it.
func (p *program) printWorst(r *prove.Report) {
	p.io.Printf("\nworst commits: net tokens with a model, had all neighbours been read; texts to write; subject\n")
	for i := range r.Worst {
		o := &r.Worst[i]
		p.io.Printf("%12s  %s  %5d  %s\n", signed(o.Net()), o.Commit.Short(), o.Stale()+o.Added+o.NewDirs, term.Shorten(term.Clean(o.Subject), 70))
	}
}

// thousands writes a number with its thousands apart.
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

// signed is thousands with a sign in any case.
func signed(n int64) string {
	if n > 0 {
		return "+" + thousands(n)
	}
	return thousands(n)
}

// counted is term.Count with thousands apart.
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
