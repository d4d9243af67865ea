package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/term"
)

// A driftJSON is the document of ken spec drift.
type driftJSON struct {
	ID      string        `json:"id"`
	Commits []driftCommit `json:"commits"` // newest first
}

type driftCommit struct {
	Commit  repo.ID         `json:"commit"`
	Date    string          `json:"date"`
	Subject string          `json:"subject"`
	Session *string         `json:"session"`
	Paths   []repo.PathJSON `json:"paths"`
	Format  bool            `json:"format,omitempty"` // it changed only comments or layout
	Patch   string          `json:"patch,omitempty"`  // with --patch
}

func (p *program) specDrift() *cobra.Command {
	var patch bool
	c := &cobra.Command{
		Use:   "drift ID [--patch]",
		Short: "List the commits that changed the code of a spec since it was edited or acknowledged",
		Example: `  ken spec drift parser
  ken spec drift parser --patch   # with what they changed`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				n, err := w.Spec().Node(c.Context(), args[0])
				if err != nil {
					return err
				}
				d, err := readDrift(c.Context(), w.Spec(), n.ID, patch)
				if err != nil {
					return err
				}
				return p.answer(d, func() { p.printDrift(n, d) })
			})
		},
	}
	c.Flags().BoolVar(&patch, "patch", false, "print what each commit changed")
	return c
}

func readDrift(ctx context.Context, r *spec.Reader, id string, patch bool) (*driftJSON, error) {
	commits, err := r.Drift(ctx, id)
	if err != nil {
		return nil, err
	}
	d := &driftJSON{ID: id, Commits: []driftCommit{}}
	for _, m := range commits {
		row := driftCommit{Commit: m.Commit, Date: m.Date, Subject: m.Subject, Session: m.Session, Format: m.Format}
		for _, path := range m.Paths {
			row.Paths = append(row.Paths, path.JSON())
		}
		if patch {
			if row.Patch, err = r.DriftPatch(ctx, m); err != nil {
				return nil, err
			}
		}
		d.Commits = append(d.Commits, row)
	}
	return d, nil
}

func (p *program) printDrift(n *spec.Node, d *driftJSON) {
	if len(d.Commits) == 0 {
		p.io.Printf("no drift: the code of %s is as it was when the spec was edited or acknowledged\n", term.Clean(n.ID))
		return
	}
	for _, m := range d.Commits {
		var names []string
		for _, path := range m.Paths {
			names = append(names, path.Path)
		}
		why := m.Subject + "  " + strings.Join(names, ", ")
		if m.Format {
			why += "  format"
		}
		if m.Session != nil {
			why += "  session " + *m.Session
		}
		p.io.Line(term.Plain, m.Commit.Short(), m.Date, why)
		if m.Patch != "" {
			p.io.Printf("%s\n", term.CleanText(m.Patch))
		}
	}
	p.io.Remarkf("hint: if the code changed the meaning of %s, edit %s; if the spec still holds: ken spec ack %s --reason TEXT",
		term.Clean(n.ID), n.Path, fault.Quote(n.ID))
}
