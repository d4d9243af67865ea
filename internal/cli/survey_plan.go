package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/term"
)

func (p *program) surveyPlan() *cobra.Command {
	var f surveyFlags
	var opts survey.PlanOptions
	var estimate bool
	c := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "List the directories to be described, in the order of work",
		Long: `Lists what is to be described: every child before its parent. --estimate says how
many tokens that would take, before anything is paid.`,
		Example: `  ken survey plan                  # what is to be described
  ken survey plan --all            # with what is current`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.within(c.Context(), func(w Workspace) error {
				s, writer, err := f.setup(c, w, w.Planner)
				if err != nil {
					return err
				}
				if opts.Within, err = oneDir(w, args); err != nil {
					return err
				}
				plan, err := s.Plan(c.Context(), writer, opts)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(plan)
				}
				p.printPlan(plan, estimate)
				if _, thinks := writer.(survey.Mind); thinks {
					return nil
				}
				// For the outline all may be well, and for others not.
				if plan.Minds > 0 {
					p.io.Remarkf("ken: that is the plan for outlines; for agents or a model it is %s: ken survey next, or see ken survey plan --provider NAME",
						term.Count(plan.Minds, "directory"))
				}
				return nil
			})
		},
	}
	f.bind(c)
	c.Flags().BoolVar(&opts.All, "all", false, "list fresh and excluded directories too")
	c.Flags().BoolVar(&estimate, "estimate", false, "say how many tokens each would take")
	return c
}

func (p *program) printPlan(plan *survey.Plan, estimate bool) {
	told := make(map[repo.PathJSON]bool)
	p.io.Together(func() {
		for _, d := range plan.Directories {
			told[d.PathJSON] = true
			why := d.Reasons
			if d.Rank != survey.RankNormal {
				why = append([]string{d.Rank.String()}, why...)
			}
			if estimate {
				why = append([]string{fmt.Sprintf("about %d tokens", d.Estimate)}, why...)
			}
			p.io.Line(toneOf(d.Verdict.State()), d.Verdict.String(), display(d.PathJSON), strings.Join(why, ", "))
		}
		for _, d := range plan.Unknown {
			if !told[d.PathJSON] {
				p.io.Line(toneOf(fresh.Unknown), survey.Unknown.String(), display(d.PathJSON), strings.Join(d.Reasons, ", "))
			}
		}
	})
	if len(plan.Directories) == 0 {
		if len(plan.Unknown) > 0 {
			p.io.Printf("nothing can be described: what is unknown could not be read, and all else is fresh\n")
			return
		}
		p.io.Printf("nothing is to be described\n")
		return
	}
	if !estimate {
		return
	}
	money := "at a price that is not known"
	if plan.Cost != nil {
		money = fmt.Sprintf("about $%.2f", *plan.Cost)
	}
	p.io.Printf("about %d tokens in all, at 4 bytes each, %s; looking further comes on top\n", plan.Estimate, money)
}
