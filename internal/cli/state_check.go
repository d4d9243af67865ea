package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/term"
	"ken/internal/workflow"
)

func (p *program) stateCheck(f *stateFlags) *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Check the workflow document and the contents of the files",
		Long: `Reads every file whose content the contract describes: the status heading of
Markdown files, the fields of JSON files, the keys of the workflow document. Each
problem is printed with the file and the expected value. The command writes nothing.`,
		Example: `  ken state check
  ken state check --check   # exit 3 if there is a problem`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s *workflow.Manager) error {
				found, err := s.Check(c.Context())
				if err != nil {
					return err
				}
				return failCheck(p.printProblems(found), check && len(found.Problems) > 0)
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if there is a problem")
	return c
}

func (p *program) printProblems(found *workflow.CheckResult) error {
	if p.io.JSON {
		return p.io.Encode(found)
	}
	for _, problem := range found.Problems {
		p.io.Line(term.Bad, "problem", problem.File, problem.Problem+"; expected "+problem.Expected)
	}
	if len(found.Problems) == 0 {
		p.io.Printf("no problems\n")
	}
	return nil
}
