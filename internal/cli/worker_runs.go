package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/surveyrun"
	"ken/internal/term"
	"ken/internal/worker"
)

func (p *program) workerRuns() *cobra.Command {
	var of scope
	c := &cobra.Command{
		Use: "runs [RUN]", Short: "List runs, or show one", Args: cobra.MaximumNArgs(1),
		Example: `  ken worker runs      # the runs of this repository, and the spending of today
  ken worker runs 7    # run 7 with its dead directories`,
		RunE: func(c *cobra.Command, args []string) error {
			return p.withRuns(c.Context(), func(s *worker.Runs) error {
				if len(args) > 0 {
					id, err := runID(c, args[0])
					if err != nil {
						return err
					}
					return p.showRun(c.Context(), s, of, id)
				}
				return p.listRuns(c.Context(), s, of)
			})
		},
	}
	of.bind(c)
	return c
}

// listedRuns is the most runs that are listed.
const listedRuns = 20

func (p *program) listRuns(ctx context.Context, s *worker.Runs, of scope) error {
	runs, err := s.Runs(ctx, of.of(s), listedRuns)
	if err != nil {
		return err
	}
	day, err := s.Today(ctx)
	if err != nil {
		return err
	}
	if p.io.JSON {
		return p.io.Encode(struct {
			Runs []surveyrun.Run `json:"runs"`
			Day  surveyrun.Day   `json:"day"`
		}{runs, day})
	}
	for i := range runs {
		p.printRun(&runs[i], of.all)
	}
	if len(runs) == 0 {
		p.io.Remarkf("ken: no runs; start one with: ken survey run --workers")
	}
	p.io.Printf("%s\n", dayLine(day))
	return nil
}

func (p *program) printRun(r *surveyrun.Run, all bool) {
	why := fmt.Sprintf("%s at %.12s, %s, %s", r.Summary(), r.Commit, r.Provider+"/"+r.Model, costOf(r))
	if all {
		why = r.Repository + ": " + why
	}
	if r.Why != "" {
		why += ": " + r.Why
	}
	p.io.Line(runTone(r.State), string(r.State), fmt.Sprintf("run %d", r.ID), why)
}

// showRun prints one run.
func (p *program) showRun(ctx context.Context, s *worker.Runs, of scope, id int64) error {
	r, err := s.Run(ctx, of.of(s), id)
	if err != nil {
		return err
	}
	return p.answer(r, func() {
		p.printRun(r, of.all)
		p.printDead(r)
	})
}

func (p *program) printDead(r *surveyrun.Run) {
	for _, d := range r.Dead {
		p.io.Line(term.Bad, "dead", d.Display(), fmt.Sprintf("%s: %s", english.Count(d.Attempts, "attempt"), d.Error))
	}
	for _, b := range r.Blocked {
		p.io.Line(term.Plain, "waiting", b.Display(), "waits for a dead directory below")
	}
	if len(r.Dead) > 0 {
		p.io.Remarkf("hint: try again with: ken worker retry %d", r.ID)
	}
}

// runTone returns the colour of a state.
func runTone(s surveyrun.RunState) term.Tone {
	switch s {
	case surveyrun.Done:
		return term.Good
	case surveyrun.Incomplete, surveyrun.Cancelled:
		return term.Bad
	default:
		return term.Plain
	}
}

// costOf returns the cost of a run and its ceiling.
func costOf(r *surveyrun.Run) string {
	parts := []string{english.Count(int(r.Calls), "call"), r.Spent.String()}
	if !r.Assumed.IsZero() {
		parts = append(parts, fmt.Sprintf("up to %s more by lost workers", r.Assumed))
	}
	if r.Ceiling != (surveyrun.Ceiling{}) {
		parts = append(parts, "ceiling "+r.Ceiling.String())
	}
	return strings.Join(parts, ", ")
}
