package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/surveyrun"
	"ken/internal/term"
	"ken/internal/worker"
)

// startRun starts a run, and follows it unless detach is set.
func (p *program) startRun(c *cobra.Command, opts worker.StartOptions, args []string, detach bool) error {
	ctx := c.Context()
	return p.withRuns(ctx, func(s *worker.Runs) error {
		var err error
		if opts.Within, err = optionalPath(s, args); err != nil {
			return err
		}
		started, err := s.StartRun(ctx, opts)
		if err != nil {
			return err
		}
		if started.Remark != "" {
			p.io.Remarkf("ken: %s", started.Remark)
		}
		switch {
		case started.ID == 0 && p.io.JSON, detach && p.io.JSON:
			return p.io.Encode(started)
		case started.ID == 0:
			p.io.Printf("all directories have a current summary at %.12s\n", started.Commit)
			return nil
		case detach:
			p.io.Printf("run %d started: %s, about %d tokens\n", started.ID, english.Count(started.Work, "directory"), started.Estimate)
			p.io.Remarkf("hint: show its progress with: ken worker runs %d", started.ID)
			return nil
		}
		p.io.Remarkf("ken: run %d started: %s; press Ctrl-C to leave it to the workers", started.ID, english.Count(started.Work, "directory"))
		return p.follow(c, s, started.ID)
	})
}

const (
	followPause    = 500 * time.Millisecond // between two requests
	followPatience = 10 * time.Second       // of one request
	noWorkerAfter  = 10 * time.Second       // before ken says that no worker came
)

// follow shows the progress of a run until it is over. While the server does not answer, it waits, as
// workers do.
func (p *program) follow(c *cobra.Command, s *worker.Runs, id int64) error {
	show := p.io.Progress("describing directories")
	defer show.Done()
	show.Lines(10, 10*time.Second)
	ctx := c.Context()
	tick := time.NewTicker(followPause)
	defer tick.Stop()
	wait := func() {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	begun, alone, away := time.Now(), false, false
	for {
		r, err := readRun(ctx, s, id)
		switch {
		case ctx.Err() != nil:
			p.io.Remarkf("ken: run %d continues; stop it with: ken worker cancel %d", id, id)
			return &fault.Error{Kind: fault.Interrupted, Err: errors.New("interrupted")}
		case errors.Is(err, surveyrun.ErrUnavailable):
			if !away {
				away = true
				p.io.Remarkf("ken: waiting for the server: %s", term.CleanText(err.Error()))
			}
			wait()
			continue
		case err != nil:
			return fmt.Errorf("run %d continues, but ken cannot follow it: %w", id, err)
		case r.State.Stopped():
			show.Done()
			return errors.Join(s.Sync(ctx), p.reportEnd(r))
		}
		away = false
		n := r.Directories
		more := r.Spent.String()
		if n.Taken > 0 {
			more += fmt.Sprintf(", %d under way", n.Taken)
		}
		show.UpdateWith(n.Finished(), n.Total, more)
		if !alone && n.Finished()+n.Taken == 0 && time.Since(begun) > noWorkerAfter {
			alone = true
			start := "ken worker"
			if r.Provider == "command" {
				start += " --provider command"
			}
			p.io.Remarkf("ken: no worker has taken a directory yet; start one in a clone that has the commit: %s", start)
		}
		wait()
	}
}

// readRun reads a run. A stalled server counts as away.
func readRun(ctx context.Context, s *worker.Runs, id int64) (*surveyrun.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, followPatience)
	defer cancel()
	return s.Run(ctx, s.Repository(), id)
}

// reportEnd prints how a run ended. Reaching a ceiling is not a failure.
func (p *program) reportEnd(r *surveyrun.Run) error {
	err := p.answer(r, func() {
		p.printRun(r, false)
		p.printDead(r)
	})
	if err != nil {
		return err
	}
	switch r.State {
	case surveyrun.Paused:
		p.io.Remarkf("hint: resume it with a higher --max-tokens or --max-cost: ken worker resume %d", r.ID)
	case surveyrun.Incomplete:
		return &fault.Error{Hint: fmt.Sprintf("see the errors with: ken worker dead %d", r.ID), Err: fmt.Errorf("%s failed too often", english.Count(r.Directories.Dead, "directory"))}
	case surveyrun.Cancelled:
		return &fault.Error{Err: fmt.Errorf("run %d was %s", r.ID, r.Why)}
	default:
	}
	return nil
}
