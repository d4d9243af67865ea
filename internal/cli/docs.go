package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/docs"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/term"
)

type docsFlags struct {
	all, check, sarif, fix, dry, memory bool
	ignore                              string
	b64                                 []string
}

func (p *program) docs() *cobra.Command {
	var f docsFlags
	c := &cobra.Command{
		Use:   "docs [PATH…]",
		Short: "List mentions in documents that have gone stale",
		Long: `Reads README, docs, decisions, specs and instructions for agents, and checks every path,
symbol, command and heading that they mention. A mention is stale if history proves it:
the thing existed when the document mentioned it, and does not exist now.`,
		Example: `  ken docs                  # list stale mentions in all documents
  ken docs docs/guide.md    # check one document
  ken docs --fix            # rewrite mentions of files that moved
  ken docs --ignore docs/guide.md:12   # the mention on this line is right`,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("ignore") {
				if f.all || f.check || f.sarif || f.fix || len(args)+len(f.b64) > 0 {
					return usageError(c, errors.New("--ignore takes one PATH:LINE, and only --dry-run and --json with it"))
				}
				return p.ignoreDocs(c, f.ignore, f.dry)
			}
			if f.dry && !f.fix {
				return usageError(c, errors.New("--dry-run needs --fix or --ignore"))
			}
			if f.sarif && (f.fix || p.io.JSON) {
				return usageError(c, errors.New("--sarif cannot be combined with --json or --fix"))
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				only, err := paths(w, args, f.b64)
				if err != nil {
					return err
				}
				opts := docs.Options{Paths: only, Holding: f.all && p.io.JSON}
				if f.memory {
					opts.Memories = w.Memories("")
				}
				rep, err := w.Documents().Check(c.Context(), opts)
				if err != nil {
					return err
				}
				incomplete := p.remarkDocs(rep, f.all)
				if f.fix {
					left, err := p.fixDocs(c, w, rep, f.dry)
					return failCheck(err, f.check && (incomplete || left))
				}
				err = p.showDocs(rep, f)
				return failCheck(err, f.check && (incomplete || len(rep.Stale()) > 0))
			})
		},
	}
	c.Flags().BoolVar(&f.all, "all", false, "also list mentions that do not hold but are not stale, with the reason")
	c.Flags().BoolVar(&f.check, "check", false, "exit 3 if a mention is stale, a document cannot be read, or history is incomplete")
	c.Flags().BoolVar(&f.memory, "memory", false, "also check what clients of agents remember about this repository outside of it")
	c.Flags().BoolVar(&f.sarif, "sarif", false, "print SARIF, for code scanning")
	c.Flags().BoolVar(&f.fix, "fix", false, "rewrite mentions of files that moved")
	c.Flags().StringVar(&f.ignore, "ignore", "", "do not list the mentions at `PATH:LINE` again")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "with --fix or --ignore: show what would be written")
	pathB64(c, &f.b64)
	return c
}

// remarkDocs prints which documents and mentions ken could not check, and reports whether --check fails for them.
func (p *program) remarkDocs(rep *docs.Report, all bool) (incomplete bool) {
	for _, path := range rep.WithoutDocuments {
		p.io.Remarkf("ken: no tracked document at %s", path)
		incomplete = true
	}
	for _, u := range rep.Unknown(all) {
		p.io.Remarkf("ken: unknown: %s", term.CleanText(u.Why))
		if u.Command != "" {
			p.io.Remarkf("hint: %s", u.Command)
		}
	}
	return incomplete || len(rep.Unknown(false)) > 0
}

func (p *program) showDocs(rep *docs.Report, f docsFlags) error {
	switch {
	case f.sarif:
		return p.io.Encode(p.docsSARIF(rep.Stale()))
	case p.io.JSON:
		return p.encodeDocs(rep, f.all)
	}
	p.io.Buffered(func() { p.printDocs(rep, f.all) })
	return nil
}

// printDocs prints a line per mention, and a summary.
func (p *program) printDocs(rep *docs.Report, all bool) {
	stale, others := 0, make(map[string]int)
	for i := range rep.Mentions {
		j := &rep.Mentions[i]
		switch {
		case j.Verdict == docs.Holds:
			continue
		case j.Hidden == "":
			stale++
		default:
			others[j.Hidden]++
			if !all {
				continue
			}
		}
		reader := ""
		if docs.IsForAgents(j.File) {
			reader = "; agents read this"
		}
		p.io.Printf("%s:%d: %s — %s%s\n", j.File, j.Line, term.Clean(j.Text), term.Clean(j.Describe(docsSubject)), reader)
	}
	skipped := ""
	if rep.UnreadFormats > 0 {
		skipped = fmt.Sprintf("; %s in other formats not read", english.Count(rep.UnreadFormats, "file"))
	}
	if len(rep.Documents) == 0 {
		p.io.Printf("no documents%s\n", skipped)
		return
	}
	checked := 0
	for _, n := range rep.Counts() {
		checked += n
	}
	p.io.Printf("%s in %s (%d checked)", english.Count(stale, "stale mention"), english.Count(len(rep.Documents), "document"), checked)
	if len(others) > 0 && !all {
		var parts []string
		for _, why := range slices.Sorted(maps.Keys(others)) {
			parts = append(parts, fmt.Sprintf("%s %d", why, others[why]))
		}
		p.io.Printf("; not listed: %s; see them with: ken docs --all", strings.Join(parts, ", "))
	}
	p.io.Printf("%s\n", skipped)
}

// docsSubject is how many bytes of a commit's subject a line has.
const docsSubject = 72

func (p *program) encodeDocs(rep *docs.Report, all bool) error {
	list := rep.Stale()
	if all {
		list = rep.Mentions
	}
	return p.io.EncodeList(rep.JSON(), term.List{Name: "mentions", Len: len(list), At: func(i int) any { return list[i].JSON() }})
}

// fixDocs rewrites mentions that moved, prints them, and reports whether any stay stale.
func (p *program) fixDocs(c *cobra.Command, w *ken.Repository, rep *docs.Report, dry bool) (left bool, err error) {
	fixed, err := w.Documents().Fix(c.Context(), rep, dry)
	word := "fixed"
	if dry {
		word = "would fix"
	}
	if p.io.JSON {
		if failed := p.io.Encode(fixed.JSON(dry)); failed != nil {
			return true, failed
		}
	} else {
		p.io.Buffered(func() {
			for _, e := range fixed.Edits {
				p.io.Printf("%s:%d: %s: %s → %s\n", e.File, e.Line, word, term.Clean(e.From), term.Clean(e.To))
			}
			for i := range fixed.Unfixed {
				j := &fixed.Unfixed[i]
				p.io.Printf("%s:%d: left: %s — %s\n", j.File, j.Line, term.Clean(j.Text), term.Clean(j.Describe(docsSubject)))
			}
			p.io.Printf("%s %s; %d left\n", word, english.Count(len(fixed.Edits), "mention"), len(fixed.Unfixed))
		})
	}
	if err != nil && fault.HintOf(err) == "" {
		err = &fault.Error{Hint: "the documents above are done; see the rest with: ken docs", Err: err}
	}
	return len(fixed.Unfixed) > 0 || dry && len(fixed.Edits) > 0, err
}
