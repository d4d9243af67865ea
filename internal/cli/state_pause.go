package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/workflow"
)

func (p *program) statePause(f *stateFlags) *cobra.Command {
	var opts workflow.PauseOptions
	c := &cobra.Command{
		Use:   "pause --task TEXT [--next ACTION]",
		Short: "Pause the workflow and write a handoff for a later session",
		Long: `Writes a handoff from the workflow document and git, as JSON for programs and as
Markdown for people, and marks the workflow as not active. An older handoff moves to
the archive.`,
		Example: `  ken state pause --task "add a parser" --phase implement --next "run the tests"`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s *workflow.Manager) error {
				done, err := s.Pause(c.Context(), opts)
				if err != nil {
					return err
				}
				return p.printHandoff(done)
			})
		},
	}
	c.Flags().StringVar(&opts.Task, "task", "", "the `TASK` (default: the task in the document)")
	c.Flags().StringVar(&opts.Phase, "phase", "", "the `PHASE` (default: the phase in the document)")
	c.Flags().StringVar(&opts.Next, "next", "", "the first `ACTION` after resuming")
	c.Flags().StringArrayVar(&opts.Remaining, "remaining", nil, "a remaining `TASK`; may be repeated")
	return c
}

func (p *program) stateResume(f *stateFlags) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "resume",
		Short: "Resume a paused workflow",
		Long: `Prints the handoff, marks the workflow as active, and moves both handoff files to
the archive.`,
		Example: `  ken state pause --task "add a parser" --phase implement
  ken state resume`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s *workflow.Manager) error {
				done, err := s.Resume(c.Context(), force)
				if err != nil {
					return err
				}
				return p.printHandoff(done)
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "resume a handoff of another workflow")
	return c
}

func (p *program) printHandoff(done *workflow.Pause) error {
	if err := p.afterMoves(done.Pruned, done.Remarks, 0); err != nil {
		return err
	}
	return p.answer(done, func() { p.io.Printf("%s", done.Handoff) })
}
