package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/contract"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/term"
	"ken/internal/workflow"
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
			return p.inState(c, f, func(s *workflow.Manager) error {
				unread := 0
				found, err := lint(c, s, args, func(path string, why error) {
					unread++
					p.remark(fmt.Sprintf("%s: %v", repo.Path(path), why))
				})
				if err != nil {
					return err
				}
				if err := p.answer(found, func() { p.printReferences(found, s.Mentions()) }); err != nil {
					return err
				}
				switch {
				case check && len(found.References) > 0:
					return errCheckFailed
				case check && found.Mentions == 0:
					return &fault.Error{
						Kind: fault.Stale, Hint: "if the documents name another state directory: ken state lint --dir DIR PATH…",
						Err: errors.New("nothing was checked"),
					}
				case check && unread > 0:
					return &fault.Error{Kind: fault.Stale, Err: errors.New("some files could not be read, so their mentions are unknown")}
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if there is such a mention, if no state file is mentioned, or if a file could not be read")
	return c
}

// A lintResult is the document of ken state lint.
type lintResult struct {
	References []contract.Reference `json:"references"`
	Files      int                  `json:"files"`    // that were read
	Mentions   int                  `json:"mentions"` // of state files, that were checked
}

func lint(c *cobra.Command, s *workflow.Manager, args []string, left func(path string, why error)) (*lintResult, error) {
	found := &lintResult{References: []contract.Reference{}}
	err := s.Documents(c.Context(), args, left, func(path string, content []byte) error {
		wrong, checked := s.Contract().Lint(path, content, s.Mentions())
		found.References = append(found.References, wrong...)
		found.Files++
		found.Mentions += checked
		return nil
	})
	return found, err
}

func (p *program) printReferences(found *lintResult, dirs []string) {
	for _, r := range found.References {
		if r.Nearest != "" {
			p.io.Printf("%s:%d: %s  did you mean %s?\n", term.CleanText(r.File), r.Line, term.CleanText(r.Name), r.Nearest)
		} else {
			p.io.Printf("%s:%d: %s\n", term.CleanText(r.File), r.Line, term.CleanText(r.Name))
		}
	}
	p.io.Remarkf("checked %s of files in %s, in %s", english.Count(found.Mentions, "mention"), term.Clean(strings.Join(dirs, ", ")), english.Count(found.Files, "file"))
	if len(found.References) > 0 {
		p.io.Remarkf("hint: correct the name, or add it to .ken/contract.yaml; list the allowed names with: ken state contract")
	}
}
