package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/term"
)

func (p *program) specHistory() *cobra.Command {
	return &cobra.Command{
		Use:   "history ID",
		Short: "List the versions of a node, newest first",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.within(c.Context(), func(w Workspace) error {
				rows, err := w.Spec().History(c.Context(), args[0])
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(rows)
				}
				for _, r := range rows {
					why := r.Subject
					if r.Additions != nil {
						why = fmt.Sprintf("+%d -%d  %s", *r.Additions, *r.Deletions, why)
					}
					if r.Session != nil {
						why += "  " + *r.Session
					}
					p.io.Line(term.Plain, r.Commit.Short(), r.Date, why)
				}
				if len(rows) == 0 {
					p.io.Printf("no version was committed yet\n")
				}
				return nil
			})
		},
	}
}

func (p *program) specDiff() *cobra.Command {
	return &cobra.Command{
		Use:   "diff ID COMMIT",
		Short: "Show what a version changed in the spec",
		Args:  cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return p.within(c.Context(), func(w Workspace) error {
				commit, err := oneVersion(c, w, args[0], args[1])
				if err != nil {
					return err
				}
				patch, err := w.Spec().Diff(c.Context(), args[0], commit)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(map[string]any{"commit": commit, "patch": patch})
				}
				p.io.Printf("%s", plain(patch))
				return nil
			})
		},
	}
}

// oneVersion finds the version of a node that a commit's id, or the beginning of
// one, means.
func oneVersion(c *cobra.Command, w Workspace, id, commit string) (repo.ID, error) {
	rows, err := w.Spec().History(c.Context(), id)
	if err != nil {
		return repo.ID{}, err
	}
	var found []repo.ID
	for _, r := range rows {
		if len(commit) >= 4 && strings.HasPrefix(r.Commit.String(), strings.ToLower(commit)) {
			found = append(found, r.Commit)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	what := "is no version of " + id
	if len(found) > 1 {
		what = "means several versions of " + id
	}
	return repo.ID{}, &fault.Error{
		Kind: fault.Usage, Hint: "see its versions with: ken spec history " + fault.Quote(id),
		Err: fmt.Errorf("%q %s", commit, what),
	}
}
