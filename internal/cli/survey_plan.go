package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/survey/describe"
)

func (p *program) surveyPlan() *cobra.Command {
	var f surveyFlags
	var opts survey.PlanOptions
	var estimate bool
	c := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "List the directories that need a summary, in order",
		Long: `Lists the directories whose summary is missing or stale, subdirectories first.
--estimate adds the number of tokens, before anything is paid.`,
		Example: `  ken survey plan                  # missing or stale
  ken survey plan --all            # fresh ones too`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				s, writer, err := f.setup(c, w, w.Planner)
				if err != nil {
					return err
				}
				if opts.Within, err = optionalPath(w, args); err != nil {
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
				if _, isModel := writer.(*describe.ModelWriter); isModel {
					return nil
				}
				// Directories with an outline may still need a summary by an agent or a model.
				if plan.NeedSummary > 0 {
					p.io.Remarkf("ken: this is the plan for outlines; %s need a summary by an agent (ken survey next) or a model (ken survey plan --provider NAME)",
						english.Count(plan.NeedSummary, "directory"))
				}
				return nil
			})
		},
	}
	f.bind(c)
	c.Flags().BoolVar(&opts.All, "all", false, "list fresh and excluded directories too")
	c.Flags().BoolVar(&estimate, "estimate", false, "estimate the tokens for each directory")
	return c
}

func (p *program) printPlan(plan *survey.Plan, estimate bool) {
	listed := make(map[repo.PathJSON]bool)
	p.io.Buffered(func() {
		for _, d := range plan.Directories {
			listed[d.PathJSON] = true
			why := d.Reasons
			if d.Rank != survey.RankNormal {
				why = append([]string{d.Rank.String()}, why...)
			}
			if estimate {
				why = append([]string{fmt.Sprintf("about %d tokens", d.Estimate)}, why...)
			}
			p.io.Line(toneOf(d.Verdict.State()), d.Verdict.Word(), d.Display(), strings.Join(why, ", "))
		}
		for _, d := range plan.Unknown {
			if !listed[d.PathJSON] {
				p.io.Line(toneOf(fresh.Unknown), survey.Unknown.String(), d.Display(), strings.Join(d.Reasons, ", "))
			}
		}
	})
	if len(plan.Directories) == 0 {
		if len(plan.Unknown) > 0 {
			p.io.Printf("no directory can be described: the unknown ones could not be read, all others are fresh\n")
			return
		}
		p.io.Printf("no directory needs a summary\n")
		return
	}
	if !estimate {
		return
	}
	money := "price not known"
	if plan.Cost != nil {
		money = fmt.Sprintf("about $%.2f", *plan.Cost)
	}
	p.io.Printf("about %d tokens in total (4 bytes each), %s; files that the model opens itself come on top\n", plan.Estimate, money)
}
