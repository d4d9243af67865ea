package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/crew"
	"ken/internal/fault"
	"ken/internal/term"
)

func (p *program) workerRuns() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "runs [RUN]", Short: "Show how far surveys that were handed out have come", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withCrew(c.Context(), func(s CrewSpace) error {
				if len(args) > 0 {
					id, err := runID(c, args[0])
					if err != nil {
						return err
					}
					return p.showRun(c.Context(), s, id)
				}
				return p.listRuns(c.Context(), s, all)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "those of every repository on the server")
	return c
}

// listedRuns is how many runs are listed.
const listedRuns = 20

func (p *program) listRuns(ctx context.Context, s CrewSpace, all bool) error {
	of := s.Repository()
	if all {
		of = ""
	}
	runs, err := s.Runs(ctx, of, listedRuns)
	if err != nil {
		return err
	}
	day, err := s.Today(ctx)
	if err != nil {
		return err
	}
	if p.io.JSON {
		return p.io.Encode(struct {
			Runs []crew.Run `json:"runs"`
			Day  crew.Day   `json:"day"`
		}{runs, day})
	}
	for i := range runs {
		p.printRun(&runs[i], all)
	}
	if len(runs) == 0 {
		p.io.Remarkf("ken: nothing was handed out; do it with: ken survey run --workers")
	}
	p.io.Printf("%s\n", dayLine(day))
	return nil
}

func (p *program) printRun(r *crew.Run, all bool) {
	why := fmt.Sprintf("%s at %.12s, %s, %s", r.Summary(), r.Commit, r.Provider+"/"+r.Model, costOf(r))
	if all {
		why = r.Repository + ": " + why
	}
	if r.Why != "" {
		why += ": " + r.Why
	}
	p.io.Line(runTone(r.State), string(r.State), fmt.Sprintf("run %d", r.ID), why)
}

// showRun tells how one run stands.
func (p *program) showRun(ctx context.Context, s CrewSpace, id int64) error {
	r, err := s.Run(ctx, id)
	if err != nil {
		return err
	}
	if p.io.JSON {
		return p.io.Encode(r)
	}
	p.printRun(r, false)
	p.printDead(r)
	return nil
}

func (p *program) printDead(r *crew.Run) {
	for _, d := range r.Dead {
		p.io.Line(term.Bad, "dead", display(d.PathJSON), fmt.Sprintf("%s: %s", term.Count(d.Attempts, "attempt"), d.Error))
	}
	for _, b := range r.Blocked {
		p.io.Line(term.Plain, "waiting", display(b), "something below was given up")
	}
	if len(r.Dead) > 0 {
		p.io.Remarkf("hint: try them again with: ken worker retry %d", r.ID)
	}
}

// handOut hands a survey out, and follows it unless it is left alone.
func (p *program) handOut(c *cobra.Command, opts HandOutOptions, args []string, detach bool) error {
	ctx := c.Context()
	return p.withCrew(ctx, func(s CrewSpace) error {
		var err error
		if opts.Within, err = oneDir(s, args); err != nil {
			return err
		}
		handed, err := s.HandOut(ctx, opts)
		if err != nil {
			return err
		}
		if handed.Remark != "" {
			p.io.Remarkf("ken: %s", handed.Remark)
		}
		switch {
		case handed.ID == 0 && p.io.JSON, detach && p.io.JSON:
			return p.io.Encode(handed)
		case handed.ID == 0:
			p.io.Printf("nothing is to be described at %.12s\n", handed.Commit)
			return nil
		case detach:
			p.io.Printf("run %d: %s handed out, about %d tokens\n", handed.ID, term.Count(handed.Work, "directory"), handed.Estimate)
			p.io.Remarkf("hint: see how far it is with: ken worker runs %d", handed.ID)
			return nil
		}
		p.io.Remarkf("ken: run %d: %s handed out; interrupt to leave it to the workers", handed.ID, term.Count(handed.Work, "directory"))
		return p.follow(c, s, handed.ID)
	})
}

// followPause is how often a run is looked at, and lonely when it is said that nobody came.
const (
	followPause = 500 * time.Millisecond
	lonely      = 10 * time.Second
)

// follow shows how far a run comes, until it is over.
func (p *program) follow(c *cobra.Command, s CrewSpace, id int64) error {
	show := p.io.Progress("describing directories")
	defer show.Done()
	show.Lines(10, 10*time.Second)
	ctx := c.Context()
	tick := time.NewTicker(followPause)
	defer tick.Stop()
	begun, alone := time.Now(), false
	for {
		r, err := s.Run(ctx, id)
		switch {
		case ctx.Err() != nil:
			p.io.Remarkf("ken: run %d goes on; stop it with: ken worker cancel %d", id, id)
			return &fault.Error{Kind: fault.Interrupted, Err: errors.New("interrupted")}
		case err != nil:
			return fmt.Errorf("run %d goes on, but cannot be followed: %w", id, err)
		case r.State.Over():
			show.Done()
			return errors.Join(s.Sync(ctx), p.overRun(r))
		}
		n := r.Directories
		more := r.Spent.String()
		if n.Taken > 0 {
			more += fmt.Sprintf(", %d under way", n.Taken)
		}
		show.Tell(n.Settled(), n.Total, more)
		if !alone && n.Settled()+n.Taken == 0 && time.Since(begun) > lonely {
			alone = true
			p.io.Remarkf("ken: no worker has taken a directory yet; start one, in a clone that has the commit: ken worker")
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// overRun tells how a run ended. A ceiling that was reached is no failure.
func (p *program) overRun(r *crew.Run) error {
	if p.io.JSON {
		if err := p.io.Encode(r); err != nil {
			return err
		}
	} else {
		p.printRun(r, false)
		p.printDead(r)
	}
	switch r.State {
	case crew.Paused:
		p.io.Remarkf("hint: go on with: ken worker resume %d, with a higher --max-tokens or --max-cost", r.ID)
	case crew.Incomplete:
		return &fault.Error{Hint: fmt.Sprintf("see why with: ken worker dead %d", r.ID), Err: fmt.Errorf("%s could not be described", term.Count(r.Directories.Dead, "directory"))}
	case crew.Cancelled:
		return &fault.Error{Err: fmt.Errorf("run %d was %s", r.ID, r.Why)}
	default:
	}
	return nil
}
