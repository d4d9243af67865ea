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
	c := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "List the directories that need a summary, in order",
		Long: `Lists the directories whose summary is missing or stale, subdirectories first. An
outline is no summary: agents and models write summaries. --estimate adds the number
of tokens, before anything is paid.`,
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
				return p.answer(plan, func() { p.printPlan(plan, writer, opts.Estimate) })
			})
		},
	}
	f.bind(c)
	c.Flags().BoolVar(&opts.All, "all", false, "list fresh and excluded directories too")
	c.Flags().BoolVar(&opts.Estimate, "estimate", false, "estimate the tokens for each directory")
	return c
}

func (p *program) printPlan(plan *survey.Plan, writer describe.Writer, estimate bool) {
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
			p.io.Line(toneOf(d.Verdict.State), d.Word(), d.Display(), strings.Join(why, ", "))
		}
		for _, d := range plan.Unknown {
			if !listed[d.PathJSON] {
				p.io.Line(toneOf(fresh.Unknown), fresh.Unknown.String(), d.Display(), strings.Join(d.Reasons, ", "))
			}
		}
	})
	if len(plan.Directories) == 0 {
		p.printNothingPlanned(plan, writer)
		return
	}
	if estimate {
		p.printEstimate(plan)
	}
	if _, isModel := writer.(*describe.ModelWriter); !isModel && plan.NeedSummary > 0 {
		p.io.Remarkf("hint: an agent describes them with: ken survey next; a model with: ken survey run --provider NAME")
	}
}

// printNothingPlanned says why a plan lists no directory.
func (p *program) printNothingPlanned(plan *survey.Plan, writer describe.Writer) {
	switch n := plan.NeedSummary; {
	case n > 0: // the model could not finish them
		p.io.Printf("nothing left to describe for %s; an agent can describe %s: ken survey next\n", writer.Author(), english.Count(n, "directory"))
	case len(plan.Unknown) > 0:
		p.io.Printf("no directory can be described until ken can read the unknown ones\n")
	default:
		p.io.Printf("no directory needs a summary\n")
	}
}

func (p *program) printEstimate(plan *survey.Plan) {
	money := "price not known"
	if plan.Cost != nil {
		money = fmt.Sprintf("about $%.2f", *plan.Cost)
	}
	p.io.Printf("about %d tokens in total (4 bytes each), %s; files that the model opens itself come on top\n", plan.Estimate, money)
}
