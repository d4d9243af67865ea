package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/term"
	"ken/internal/workflow"
)

func (p *program) stateDefer(f *stateFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "defer",
		Short: "Manage the list of deferred work",
		Long: `The list is a Markdown file that you can also edit by hand. Every entry has an id
that is never used again. No command of ken state moves the list.`,
		Example: `  ken state defer add "Split the parser"
  ken state defer list --status open`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	c.AddCommand(
		p.stateDeferAdd(f), p.stateDeferList(f),
		p.stateDeferMark(f, "close ID", "Mark deferred work as done", (*workflow.Manager).Done),
		p.stateDeferMark(f, "reopen ID", "Mark deferred work as open again", (*workflow.Manager).Reopen),
	)
	return c
}

func (p *program) stateDeferAdd(f *stateFlags) *cobra.Command {
	var body string
	c := &cobra.Command{
		Use:     "add TITLE [-m BODY]",
		Short:   "Add deferred work to the list, under a new id",
		Example: `  ken state defer add "Split the parser" -m "It has grown too long."`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.inState(c, f, func(s *workflow.Manager) error {
				d, err := s.Defer(c.Context(), args[0], body)
				if err != nil {
					return err
				}
				return p.printDeferral(d)
			})
		},
	}
	c.Flags().StringVarP(&body, "message", "m", "", "a longer `TEXT` about it")
	return c
}

func (p *program) stateDeferList(f *stateFlags) *cobra.Command {
	var status string
	c := &cobra.Command{
		Use:     "list",
		Short:   "List deferred work",
		Example: `  ken state defer list --status open`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if status != "" && status != workflow.Open && status != workflow.Closed {
				err := fmt.Errorf("--status %q is neither %s nor %s", status, workflow.Open, workflow.Closed)
				return usageError(c, err)
			}
			return p.inState(c, f, func(s *workflow.Manager) error {
				all, err := s.Deferred(c.Context())
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
					p.io.Printf("no deferred work\n")
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&status, "status", "", "list only entries with this `STATUS`: open or closed")
	return c
}

func (p *program) stateDeferMark(f *stateFlags, use, short string, mark func(*workflow.Manager, context.Context, string) (*workflow.Deferral, error)) *cobra.Command {
	return &cobra.Command{
		Use:     use,
		Short:   short,
		Example: "  ken state defer add \"Split the parser\"\n  ken state defer " + strings.Replace(use, "ID", "DEF-001", 1),
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] == "" {
				return usageError(c, errors.New("the id is empty"))
			}
			return p.inState(c, f, func(s *workflow.Manager) error {
				d, err := mark(s, c.Context(), args[0])
				if err != nil {
					return err
				}
				return p.printDeferral(d)
			})
		},
	}
}

func (p *program) printDeferral(d *workflow.Deferral) error {
	return p.answer(d, func() { p.deferralLine(*d) })
}

func (p *program) deferralLine(d workflow.Deferral) {
	tone := term.Warn
	if d.Status == workflow.Closed {
		tone = term.Dim
	}
	p.io.Line(tone, term.CleanText(d.Status), d.ID, term.CleanText(d.Title))
}
