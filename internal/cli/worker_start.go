package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/surveyrun"
	"ken/internal/term"
)

// StartRunOptions selects the directories and the model of a run.
type StartRunOptions struct {
	At              string // a revision; HEAD when ""
	Within          repo.Path
	Provider, Model string
	Ceiling         surveyrun.Ceiling
}

// StartedRun is the answer to StartRun.
type StartedRun struct {
	ID       int64   `json:"run"` // 0 when there is nothing to do
	Commit   repo.ID `json:"commit"`
	Work     int     `json:"directories"`
	Estimate int64   `json:"estimate_tokens"`
	Remark   string  `json:"remark,omitempty"`
}

// startRun starts a run, and follows it unless detach is set.
func (p *program) startRun(c *cobra.Command, opts StartRunOptions, args []string, detach bool) error {
	ctx := c.Context()
	return p.withRuns(ctx, func(s RunSpace) error {
		var err error
		if opts.Within, err = oneDir(s, args); err != nil {
			return err
		}
		handed, err := s.StartRun(ctx, opts)
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
			p.io.Printf("all directories have a current summary at %.12s\n", handed.Commit)
			return nil
		case detach:
			p.io.Printf("run %d started: %s, about %d tokens\n", handed.ID, term.Count(handed.Work, "directory"), handed.Estimate)
			p.io.Remarkf("hint: show its progress with: ken worker runs %d", handed.ID)
			return nil
		}
		p.io.Remarkf("ken: run %d started: %s; press Ctrl-C to leave it to the workers", handed.ID, term.Count(handed.Work, "directory"))
		return p.follow(c, s, handed.ID)
	})
}

const (
	followPause    = 500 * time.Millisecond // between two requests
	followPatience = 10 * time.Second       // of one request
	lonely         = 10 * time.Second       // before ken says that no worker came
)

// follow shows the progress of a run until it is over. While the server does not answer, it waits, as
// workers do.
func (p *program) follow(c *cobra.Command, s RunSpace, id int64) error {
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
		r, err := look(ctx, s, id)
		switch {
		case ctx.Err() != nil:
			p.io.Remarkf("ken: run %d continues; stop it with: ken worker cancel %d", id, id)
			return &fault.Error{Kind: fault.Interrupted, Err: errors.New("interrupted")}
		case errors.Is(err, surveyrun.ErrUnavailable):
			if !away {
				away = true
				p.io.Remarkf("ken: waiting for the server: %s", plain(err.Error()))
			}
			wait()
			continue
		case err != nil:
			return fmt.Errorf("run %d continues, but ken cannot follow it: %w", id, err)
		case r.State.Stopped():
			show.Done()
			return errors.Join(s.Sync(ctx), p.overRun(r))
		}
		away = false
		n := r.Directories
		more := r.Spent.String()
		if n.Taken > 0 {
			more += fmt.Sprintf(", %d under way", n.Taken)
		}
		show.Tell(n.Finished(), n.Total, more)
		if !alone && n.Finished()+n.Taken == 0 && time.Since(begun) > lonely {
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

// look reads a run. A stalled server counts as away.
func look(ctx context.Context, s RunSpace, id int64) (*surveyrun.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, followPatience)
	defer cancel()
	return s.Run(ctx, s.Repository(), id)
}

// overRun prints how a run ended. Reaching a ceiling is not a failure.
func (p *program) overRun(r *surveyrun.Run) error {
	if p.io.JSON {
		if err := p.io.Encode(r); err != nil {
			return err
		}
	} else {
		p.printRun(r, false)
		p.printDead(r)
	}
	switch r.State {
	case surveyrun.Paused:
		p.io.Remarkf("hint: resume it with a higher --max-tokens or --max-cost: ken worker resume %d", r.ID)
	case surveyrun.Incomplete:
		return &fault.Error{Hint: fmt.Sprintf("see the errors with: ken worker dead %d", r.ID), Err: fmt.Errorf("%s failed too often", term.Count(r.Directories.Dead, "directory"))}
	case surveyrun.Cancelled:
		return &fault.Error{Err: fmt.Errorf("run %d was %s", r.ID, r.Why)}
	default:
	}
	return nil
}
