package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/term"
	"ken/internal/workflow"
)

func (p *program) stateInit(f *stateFlags) *cobra.Command {
	var opts workflow.BeginOptions
	c := &cobra.Command{
		Use:   "init --type TYPE [KEY=VALUE…]",
		Short: "Start a workflow with a new id and without old files",
		Long: `Starts a workflow: a new id and a new workflow document. The previous document moves
to the archive, together with

  - gate markers, reviews, summaries and verifications of earlier workflows
  - ephemeral files
  - ad_hoc and other pattern_allowed files older than the start of the previous
    workflow (older than one day if that is unknown)

Plans, specs, decisions, the scratchpad and all other canonical files stay.

With --continue the session goes on: its files stay, the document keeps the id and
start of the first workflow, and the new id is added to the history.`,
		Example: `  ken state init --type dev task="add a parser"
  ken state init --type code_review --continue`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if opts.Pairs, err = pairs(c, args); err != nil {
				return err
			}
			return p.inState(c, f, func(s *workflow.Manager) error {
				b, err := s.Begin(c.Context(), opts)
				if err != nil {
					return err
				}
				err = p.answer(b, func() {
					p.io.Line(term.Good, "begun", b.Workflow.Text("workflow_id"), opts.Type)
					p.printMoves(f, b.Moves, b.Archive)
					for _, name := range b.Foreign {
						p.io.Line(term.Warn, "foreign", shown(name), "not in the contract; not moved")
					}
				})
				if err != nil {
					return err
				}
				return p.afterMoves(b.Pruned, b.Remarks, b.Failures())
			})
		},
	}
	c.Flags().StringVar(&opts.Type, "type", "", "the `TYPE` of workflow, e.g. dev, code_review, debug (required)")
	c.Flags().BoolVar(&opts.Continue, "continue", false, "continue the current session")
	c.Flags().BoolVar(&opts.Force, "force", false, "write values that the contract does not allow")
	return c
}
