package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/ken"
	"ken/internal/prove"
	"ken/internal/term"
)

// defaultCommits is the default of --commits.
const defaultCommits = 200

func (p *program) prove() *cobra.Command {
	var opts prove.ProverOptions
	var plot string
	c := &cobra.Command{
		Use:   "prove",
		Short: "Test ken on your own history: does it find the place, and how long do summaries last",
		Long: `Replays the last commits of HEAD from git's objects, without a checkout, a network or
a model, and answers three questions. Would ken find have named the files that a
commit changed, given its subject? How many commits do summaries last? How large is a
brief beside the files that it stands for? A table and the method follow.`,
		Example: `  ken prove                       # replay the last 200 commits
  ken prove --commits 50          # replay the last 50
  ken prove --plot history.svg    # draw what each commit made stale`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if opts.Commits < 1 {
				return usage(c, errors.New("--commits must be at least 1"))
			}
			if c.Flags().Changed("plot") && plot == "" {
				return usage(c, errors.New("--plot needs a file name"))
			}
			if plot != "" && !filepath.IsAbs(plot) {
				plot = filepath.Join(p.dir, plot)
			}
			if plot != "" {
				if err := checkPlot(plot); err != nil {
					return err
				}
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				steps := p.steps()
				opts.Progress = steps.update
				r, err := w.Prover().Prove(c.Context(), opts)
				steps.done()
				if err == nil && plot != "" {
					err = writePlot(plot, r)
				}
				if err != nil {
					return err
				}
				return p.answer(r, func() { p.printProof(r) })
			})
		},
	}
	c.Flags().IntVar(&opts.Commits, "commits", defaultCommits, "replay the last `N` commits of HEAD (first parents only)")
	c.Flags().StringVar(&plot, "plot", "", "draw what each commit made stale as SVG to `FILE`")
	return c
}

func (p *program) printProof(r *prove.Report) {
	p.io.Buffered(func() {
		if r.Commits.Replayed == 0 {
			p.printReplayed(r)
			return
		}
		for _, sentence := range r.Verdict {
			p.io.Printf("%s\n", wrap(sentence, proveWidth))
		}
		p.io.Printf("\n")
		p.printReplayed(r)
		p.printFound(r)
		p.printLasting(r)
		p.printStale(r)
		p.printBriefs(r)
		for _, u := range r.Unknown {
			p.io.Line(term.Bad, "unknown", term.Clean(u.Fact), term.Clean(u.Reason))
		}
		p.io.Printf("\n%s\n", wrap("Method. "+r.Method, proveWidth))
	})
}

// proveWidth is the length of a line of prose.
const proveWidth = 100

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

// proveRow prints a row of a table: a name and three columns.
func (p *program) proveRow(name string, columns ...string) {
	line := fmt.Sprintf("%-46s", name)
	for _, c := range columns {
		line += fmt.Sprintf("%18s", c)
	}
	p.io.Printf("%s\n", line)
}

func (p *program) printFound(r *prove.Report) {
	f := r.Find
	if f == nil || f.Commits == 0 {
		return
	}
	p.io.Printf("\n")
	p.proveRow(fmt.Sprintf("find (%s, %s)", counted(f.Commits, "commit"), counted(f.Files, "changed file")), "ken find", "text search")
	p.proveRow("  changed files among the first ten", percentOf(f.Ken.Files, f.Files), percentOf(f.Text.Files, f.Files))
	p.proveRow("  commits whose first file is right", percentOf(f.Ken.First, f.Commits), percentOf(f.Text.First, f.Commits))
}

func (p *program) printLasting(r *prove.Report) {
	n := len(r.History)
	p.io.Printf("\n")
	p.proveRow("lasting", "followed", "half stale after", fmt.Sprintf("hold after %d", n))
	for _, row := range []struct {
		name string
		of   prove.Lifetime
	}{
		{"  file summaries", r.Lifetimes.Files},
		{"  directory summaries", r.Lifetimes.Directories},
		{"  paths that documents mention", r.Lifetimes.Mentions},
	} {
		if row.of.Texts == 0 {
			p.proveRow(row.name, "none", "", "")
			continue
		}
		half := fmt.Sprintf("more than %d", n)
		if row.of.HalfStaleAfter != nil {
			half = counted(*row.of.HalfStaleAfter, "commit")
		}
		p.proveRow(row.name, prove.FormatThousands(int64(row.of.Texts)), half, fmt.Sprintf("%d%%", *row.of.FreshPercent))
	}
}

func (p *program) printStale(r *prove.Report) {
	s := r.PerCommit
	p.io.Printf("\n")
	p.proveRow("made stale by a commit", "median", "most", "in all")
	for _, row := range []struct {
		name string
		prove.Distribution
	}{
		{"  file summaries", s.StaleFiles},
		{"  in a registry by path and checksum", s.ByByte},
		{"  directory summaries: their own files changed", s.StaleSelf},
		{"  directories above them, at most", s.StaleBelow},
	} {
		p.proveRow(row.name, prove.FormatThousands(row.Median), prove.FormatThousands(row.Max), prove.FormatThousands(row.Total))
	}
	p.proveRow("  commits that made nothing stale", "", "", fmt.Sprintf("%d of %d", r.Commits.Valid, r.Commits.Replayed))
}

func (p *program) printBriefs(r *prove.Report) {
	if r.Briefs == nil {
		return
	}
	p.io.Printf("\n")
	p.proveRow("size in tokens (median)", "briefs", "the brief", "its files")
	for _, row := range []struct {
		name string
		of   prove.BriefSize
	}{
		{"  of a file", r.Briefs.Files},
		{"  of a directory", r.Briefs.Directories},
		{"  of the repository", r.Briefs.Repository},
	} {
		if row.of.Sampled > 0 {
			p.proveRow(row.name, fmt.Sprint(row.of.Sampled), prove.FormatThousands(row.of.Brief), prove.FormatThousands(row.of.Contents))
		}
	}
}

// percentOf formats a part as a percentage.
func percentOf(part, of int) string { return fmt.Sprintf("%d%%", (100*part+of/2)/of) }

// steps shows the progress of work in several steps, one after the other.
type steps struct {
	io   *term.IO
	name string
	show *term.Progress
}

func (p *program) steps() *steps { return &steps{io: p.io} }

func (s *steps) update(name string, done, total int) {
	if s.show == nil || s.name != name {
		s.done()
		s.name, s.show = name, s.io.Progress(name)
	}
	s.show.Update(done, total)
}

func (s *steps) done() {
	if s.show != nil {
		s.show.Done()
	}
	s.show = nil
}

// counted is english.Count with commas between thousands.
func counted(n int, noun string) string {
	return prove.FormatThousands(int64(n)) + " " + english.Noun(n, noun)
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
