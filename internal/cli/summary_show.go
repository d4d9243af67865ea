package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/term"
)

func (p *program) summaryShow() *cobra.Command {
	var id string
	var check, all bool
	var b64 []string
	c := &cobra.Command{
		Use:   "show PATH… | --id CONTENT_ID",
		Short: "Show the summaries of files, and whether they still hold",
		Example: `  ken summary show main.go
  ken summary show main.go --all     # also what others wrote from the same content
  ken summary show main.go --check   # for scripts`,
		RunE: func(c *cobra.Command, args []string) error {
			if (id != "") == (len(args)+len(b64) > 0) {
				return usageError(c, errors.New("give either paths or --id CONTENT_ID"))
			}
			content, err := parseContent(id)
			if id != "" && err != nil {
				return usageError(c, fmt.Errorf("--id %s: want 40 or 64 hexadecimal digits, or 32 of an md5", id))
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				known, err := p.lookUp(c, w, content, args, b64)
				if err != nil {
					return err
				}
				if err := w.Registry.AddOthers(c.Context(), known); err != nil {
					return err
				}
				stale := slices.ContainsFunc(known, func(k registry.Summary) bool { return k.Verdict != fresh.Fresh })
				return failCheck(p.printKnowledge(known, all), check && stale)
			})
		},
	}
	c.Flags().StringVar(&id, "id", "", "find the summary that was written from the content `ID`, at any path; an md5 works too")
	c.Flags().BoolVar(&all, "all", false, "list all summaries that were written from the same content")
	c.Flags().BoolVar(&check, "check", false, "exit 3 unless all are fresh")
	pathB64(c, &b64)
	return c
}

func (p *program) lookUp(c *cobra.Command, w *ken.Repository, content repo.Content, args, b64 []string) ([]registry.Summary, error) {
	if len(args)+len(b64) > 0 {
		only, err := paths(w, args, b64)
		if err != nil {
			return nil, err
		}
		return w.Registry.Show(c.Context(), only)
	}
	k, ok, err := w.Registry.ShowContent(c.Context(), content)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &fault.Error{
			Hint: "list what is known with: ken summary ls",
			Err:  fmt.Errorf("no summary was written from content %s", c.Flag("id").Value),
		}
	}
	return []registry.Summary{k}, nil
}

// parseContent reads a content id or md5.
func parseContent(s string) (repo.Content, error) {
	if len(s) == 32 {
		md5, err := repo.ParseMD5(s)
		return repo.Content{MD5: md5}, err
	}
	id, err := repo.ParseID(s)
	return repo.Content{ID: id}, err
}

// printKnowledge prints one document for one file, a list for several. If all is set, the
// other summaries of the same content follow.
func (p *program) printKnowledge(known []registry.Summary, all bool) error {
	if p.io.JSON {
		if len(known) == 1 {
			return p.io.Encode(known[0])
		}
		return p.io.Encode(known)
	}
	var hints []string // after all summaries
	for _, k := range known {
		why := strings.Join(append(reasonWords(k.Reasons), remarksOf(&k)...), ", ")
		p.io.Line(toneOf(k.Verdict), k.Verdict.String(), k.Display(), why)
		if k.Hint != "" {
			hints = append(hints, term.Clean(k.Hint))
		}
		if k.Text == "" {
			continue
		}
		from := k.ID.String()
		if from == "" {
			from = "md5 " + k.MD5.String()
		}
		p.printText(registry.OtherSummary{Text: k.Text, Author: k.Author, UpdatedAt: *k.UpdatedAt, ConfirmedBy: k.ConfirmedBy}, from)
		path := fault.Quote(k.Display())
		switch {
		case all:
			for _, o := range k.Others {
				p.io.Line(term.Dim, "other", k.Display(), "written from the same content")
				p.printText(o, from)
			}
		case len(k.Others) > 0:
			hints = append(hints, fmt.Sprintf("%s of this content: ken summary show --all %s", english.Count(len(k.Others), "other summary"), path))
		}
		if k.Verdict == fresh.Stale && k.Hint == "" {
			hints = append(hints, "see what changed, and settle it: ken summary diff "+path)
		}
	}
	for _, h := range hints {
		p.io.Remarkf("hint: %s", h)
	}
	return nil
}

// printText prints a text with its author. It is indented, so that no line of it can pass for
// output of ken.
func (p *program) printText(t registry.OtherSummary, from string) {
	p.io.Printf("    %s\n", strings.ReplaceAll(t.Text, "\n", "\n    "))
	when := t.UpdatedAt.Format("2006-01-02 15:04")
	if t.ConfirmedBy != "" {
		when = "confirmed by " + t.ConfirmedBy + " on " + when
	}
	p.io.Printf("    -- %s, %s, from %s\n", t.Author, when, from)
}

// reasonWords puts the reasons of a document, such as content_changed, into words.
func reasonWords(reasons []string) []string {
	words := make([]string, len(reasons))
	for i, r := range reasons {
		words[i] = strings.ReplaceAll(r, "_", " ")
		if strings.Contains(r, " ") {
			words[i] = r
		}
	}
	return words
}

// remarksOf says what a reader should know about a summary besides its verdict.
func remarksOf(k *registry.Summary) []string {
	var list []string
	for _, remark := range k.Remarks() {
		switch remark {
		case "assumed":
			remark = "assumed (the author did not say which content it read)"
		case string(k.Grade):
			remark = "grade " + remark
		}
		list = append(list, remark)
	}
	return list
}

func toneOf(s fresh.State) term.Tone {
	switch s {
	case fresh.Fresh:
		return term.Good
	case fresh.Stale, fresh.Gone:
		return term.Warn
	case fresh.Unknown:
		return term.Bad
	default:
		return term.Dim
	}
}
