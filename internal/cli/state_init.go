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
		Short: "Begin a workflow with a clean desk and a new identity",
		Long: `Begins a workflow: a new id, new anchors, a new document; the previous one goes
to the archive. Into the same snapshot go the markers of the allowlist, every
workflow-scoped file and slug variant of an earlier workflow, leftovers, and ad_hoc
and other pattern_allowed files older than the previous workflow's start (one day,
if that is not known). Plans, specs, decisions, the scratchpad and all other canonical
files stay.

With --continue the session goes on: the anchors stay, the new id joins the
history, and what the session wrote stays too.`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if opts.Pairs, err = pairs(c, args); err != nil {
				return err
			}
			return p.inState(c, f, func(s StateSpace) error {
				b, err := s.Keeper().Begin(c.Context(), opts)
				if err != nil {
					return err
				}
				if p.io.JSON {
					if err := p.io.Encode(b); err != nil {
						return err
					}
				} else {
					p.io.Line(term.Good, "begun", b.Workflow.Text("workflow_id"), opts.Type)
					p.printMoves(f, b.Moves, b.Archive)
					for _, name := range b.Foreign {
						p.io.Line(term.Warn, "foreign", shown(name), "the contract does not know it; left where it is")
					}
				}
				return p.afterMoves(b.Pruned, b.Remarks, b.Failures())
			})
		},
	}
	c.Flags().StringVar(&opts.Type, "type", "", "the `TYPE` of workflow, e.g. dev, code_review, debug (required)")
	c.Flags().BoolVar(&opts.Continue, "continue", false, "stay in the session at hand")
	c.Flags().BoolVar(&opts.Force, "force", false, "write values that the contract does not allow")
	return c
}
