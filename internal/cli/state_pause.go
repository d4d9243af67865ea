package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/workflow"
)

func (p *program) statePause(f *stateFlags) *cobra.Command {
	var opts workflow.PauseOptions
	c := &cobra.Command{
		Use:   "pause --task TEXT [--next ACTION]",
		Short: "Hand the workflow over to a later session",
		Long: `Writes the handoff, as JSON for programs and as Markdown for people, from what
the workflow document and git say, and marks the workflow as not active. A handoff
that nobody has resumed goes to the archive. Nothing else moves.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				done, err := s.Keeper().Pause(c.Context(), opts)
				if err != nil {
					return err
				}
				return p.printHandoff(done)
			})
		},
	}
	c.Flags().StringVar(&opts.Task, "task", "", "what is being worked on (default: the document's task)")
	c.Flags().StringVar(&opts.Phase, "phase", "", "the phase it is in (default: the document's phase)")
	c.Flags().StringVar(&opts.Next, "next", "", "the `ACTION` to begin with on resuming")
	c.Flags().StringArrayVar(&opts.Remaining, "remaining", nil, "a `TASK` that remains; may be repeated")
	return c
}

func (p *program) stateResume(f *stateFlags) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "resume",
		Short: "Take a paused workflow up again",
		Long: `Prints the handoff, makes the workflow active again, and moves both handoff files
into the archive. Nothing else moves.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				done, err := s.Keeper().Resume(c.Context(), force)
				if err != nil {
					return err
				}
				return p.printHandoff(done)
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "even if the handoff is of another workflow")
	return c
}

func (p *program) printHandoff(done *workflow.Pause) error {
	if err := p.afterMoves(done.Pruned, done.Remarks, 0); err != nil {
		return err
	}
	if p.io.JSON {
		return p.io.Encode(done)
	}
	p.io.Printf("%s", done.Handoff)
	return nil
}
