package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/repo"
)

func (p *program) stateLint(f *stateFlags) *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "lint PATH…",
		Short: "Find documents that mention state files the contract does not allow",
		Long: `Reads the given files, and the text files in the given directories. Every file of the
state directory that they mention must be allowed by the contract. The command
prints file:line: name and moves nothing.`,
		Example: `  ken state lint docs README.md
  ken state lint --check docs   # exit 3 if there is such a mention`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				unread := 0
				found, err := lint(c, s, args, func(path string, why error) {
					unread++
					p.remark(fmt.Sprintf("%s: %v", repo.Path(path), why))
				})
				if err != nil {
					return err
				}
				if p.io.JSON {
					if err := p.io.Encode(struct {
						References []contract.Reference `json:"references"`
					}{found}); err != nil {
						return err
					}
				} else {
					p.printReferences(found)
				}
				switch {
				case check && len(found) > 0:
					return errWanting
				case check && unread > 0:
					return &fault.Error{Kind: fault.Stale, Err: errors.New("some files could not be read, so their mentions are unknown")}
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if there is such a mention, or a file could not be read")
	return c
}

func lint(c *cobra.Command, s StateSpace, args []string, left func(path string, why error)) ([]contract.Reference, error) {
	found := []contract.Reference{}
	err := s.Documents(c.Context(), args, left, func(path string, content []byte) error {
		found = append(found, s.Keeper().Contract().Lint(path, content, s.Mentions())...)
		return nil
	})
	return found, err
}

func (p *program) printReferences(found []contract.Reference) {
	for _, r := range found {
		if r.Nearest != "" {
			p.io.Printf("%s:%d: %s  did you mean %s?\n", plain(r.File), r.Line, plain(r.Name), r.Nearest)
		} else {
			p.io.Printf("%s:%d: %s\n", plain(r.File), r.Line, plain(r.Name))
		}
	}
	if len(found) > 0 {
		p.io.Remarkf("hint: correct the name, or add it to .ken/contract.yaml; list the allowed names with: ken state contract")
	}
}
