package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ken/internal/term"
	"ken/internal/workflow"
)

func (p *program) stateDefer(f *stateFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "defer",
		Short: "Keep the list of work put off; it survives every sweep",
		Long: `Keeps a list of work put off, in Markdown that people can edit too. Each piece has
an id that is never given again. The list survives every sweep, and nothing is
moved by keeping it.`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	c.AddCommand(
		p.stateDeferAdd(f), p.stateDeferList(f),
		p.stateDeferMark(f, "close ID", "Mark a piece of work as done", (*workflow.Keeper).Done),
		p.stateDeferMark(f, "reopen ID", "Take back that a piece of work is done", (*workflow.Keeper).Reopen),
	)
	return c
}

func (p *program) stateDeferAdd(f *stateFlags) *cobra.Command {
	var body string
	c := &cobra.Command{
		Use:   "add TITLE [-m BODY]",
		Short: "Put a piece of work off, under an id that nothing else has had",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				d, err := s.Keeper().Defer(c.Context(), args[0], body)
				if err != nil {
					return err
				}
				return p.printDeferral(d)
			})
		},
	}
	c.Flags().StringVarP(&body, "message", "m", "", "more about it")
	return c
}

func (p *program) stateDeferList(f *stateFlags) *cobra.Command {
	var status string
	c := &cobra.Command{
		Use:   "list",
		Short: "List work put off; write nothing",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if status != "" && status != workflow.Open && status != workflow.Closed {
				return usage(c, fmt.Errorf("--status is %s or %s, not %q", workflow.Open, workflow.Closed, status))
			}
			return p.inState(c, f, func(s StateSpace) error {
				all, err := s.Keeper().Deferred(c.Context())
				if err != nil {
					return err
				}
				chosen := []workflow.Deferral{}
				for _, d := range all {
					if status == "" || d.Status == status {
						chosen = append(chosen, d)
					}
				}
				if p.io.JSON {
					return p.io.Encode(chosen)
				}
				for _, d := range chosen {
					p.deferralLine(d)
				}
				if len(chosen) == 0 {
					p.io.Printf("nothing put off\n")
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&status, "status", "", "only those that are open or closed")
	return c
}

func (p *program) stateDeferMark(f *stateFlags, use, short string, mark func(*workflow.Keeper, context.Context, string) (*workflow.Deferral, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] == "" {
				return usage(c, errors.New("an empty id names nothing"))
			}
			return p.inState(c, f, func(s StateSpace) error {
				d, err := mark(s.Keeper(), c.Context(), args[0])
				if err != nil {
					return err
				}
				return p.printDeferral(d)
			})
		},
	}
}

func (p *program) printDeferral(d *workflow.Deferral) error {
	if p.io.JSON {
		return p.io.Encode(d)
	}
	p.deferralLine(*d)
	return nil
}

func (p *program) deferralLine(d workflow.Deferral) {
	tone := term.Warn
	if d.Status == workflow.Closed {
		tone = term.Dim
	}
	p.io.Line(tone, plain(d.Status), d.ID, plain(d.Title))
}
