package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/surveyrun"
	"ken/internal/term"
	"ken/internal/worker"
)

func (p *program) workerDead() *cobra.Command {
	var of scope
	c := &cobra.Command{
		Use: "dead [RUN]", Short: "List directories that failed too often", Args: cobra.MaximumNArgs(1),
		Example: `  ken worker dead      # of all runs of this repository
  ken worker dead 7    # of run 7`,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := oneRun(c, args)
			if err != nil {
				return err
			}
			return p.withRuns(c.Context(), func(s *worker.Runs) error {
				list, err := s.Dead(c.Context(), of.of(s), id)
				if err != nil {
					return err
				}
				return p.listDead(list, of)
			})
		},
	}
	of.bind(c)
	return c
}

func (p *program) listDead(list []surveyrun.Dead, of scope) error {
	if p.io.JSON {
		return p.io.Encode(struct {
			Dead []surveyrun.Dead `json:"dead"`
		}{append([]surveyrun.Dead{}, list...)})
	}
	for _, d := range list {
		p.io.Line(term.Bad, "dead", d.Display(), fmt.Sprintf("run %d, %s, %s: %s", d.Run, english.Count(d.Attempts, "attempt"), d.Worker, d.Error))
	}
	switch {
	case len(list) == 0:
		p.io.Remarkf("ken: no dead directories")
	case of.all:
		p.io.Remarkf("hint: try again with: ken worker retry %d --all", list[0].Run)
	default:
		p.io.Remarkf("hint: try again with: ken worker retry %d", list[0].Run)
	}
	return nil
}

func (p *program) workerRetry() *cobra.Command {
	var of scope
	c := &cobra.Command{
		Use: "retry [RUN]", Short: "Retry the dead directories of a run", Args: cobra.MaximumNArgs(1),
		Long:    `Retry the dead directories of a run, or of all runs of this repository if you name none.`,
		Example: `  ken worker retry 7`,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := oneRun(c, args)
			if err != nil {
				return err
			}
			return p.withRuns(c.Context(), func(s *worker.Runs) error { return p.retry(c.Context(), s, of.of(s), id) })
		},
	}
	of.bind(c)
	return c
}

// retry makes the dead directories of a run ready again, or those of all runs when id is 0.
func (p *program) retry(ctx context.Context, s *worker.Runs, repository string, id int64) error {
	ids := []int64{id}
	if id == 0 {
		list, err := s.Dead(ctx, repository, 0)
		if err != nil {
			return err
		}
		ids = nil
		for _, d := range list {
			if !slices.Contains(ids, d.Run) {
				ids = append(ids, d.Run)
			}
		}
	}
	total := 0
	for _, id := range ids {
		n, err := s.Retry(ctx, repository, id)
		if err != nil {
			return err
		}
		total += n
	}
	if p.io.JSON {
		return p.io.Encode(struct {
			Retried int `json:"retried"`
		}{total})
	}
	p.io.Printf("%s will be tried again\n", english.Count(total, "directory"))
	return nil
}
