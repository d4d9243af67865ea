package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/term"
)

// WorkOptions says how this process works on surveys that are handed out.
type WorkOptions struct {
	Repositories []string // directories of clones; the one here when empty
	Provider     string   // "command" lets a run start the configured program
	Jobs         int
	Lease, Drain time.Duration
	UntilIdle    bool
	Ready        func(repositories []string) // hears whose directories are described
	OnEvent         func(WorkEvent)
}

// A WorkEvent is something that happened to a worker: a directory was described or
// unchanged, is tried again, was refused, is dead or was returned; it is unable to describe
// one, its server is away, or it is draining.
type WorkEvent struct {
	What  string
	Run   int64
	Path  repo.Path
	Err   error
	Delay time.Duration // until it is tried again
}

func (p *program) worker() *cobra.Command {
	var opts WorkOptions
	c := &cobra.Command{
		Use:   "worker [REPO…]",
		Short: "Describe directories of surveys that were handed out, with others",
		Long: `Takes directories that are ready from the team's store, has them described, and
keeps what was written there; until it is interrupted. Any number of workers on any
number of machines share the work. A worker needs the objects of a repository, not a
work tree: a bare clone is enough. It asks with its own keys.

Asked to end, it begins no more, finishes what it has in hand, and hands the rest back.
Surveys are handed out with: ken survey run --workers`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if opts.Jobs < 1 || opts.Lease < time.Second || opts.Drain < 0 {
				return usage(c, errors.New("there is at least one job, and a lease lasts at least a second"))
			}
			if opts.Provider != "" && opts.Provider != "command" {
				return usage(c, errors.New("a run says who is asked; --provider command lets it be a program"))
			}
			opts.Repositories = args
			return p.work(c.Context(), opts)
		},
	}
	c.Flags().IntVar(&opts.Jobs, "jobs", 4, "directories that are described at once")
	c.Flags().DurationVar(&opts.Lease, "lease", 30*time.Second, "how long a directory waits for a worker that vanished")
	c.Flags().DurationVar(&opts.Drain, "drain", time.Minute, "how long what is in hand may take when the worker is to end")
	c.Flags().BoolVar(&opts.UntilIdle, "until-idle", false, "end once no run is under way; exit 3 if one ended incomplete")
	c.Flags().StringVar(&opts.Provider, "provider", "", "command: runs may start the program that the repository configures")
	c.AddCommand(p.workerRuns(), p.workerCancel(), p.workerResume(), p.workerDead(), p.workerRetry(), p.workerCeiling())
	return c
}

// Worked is what a worker did.
type Worked struct {
	Described int `json:"described"`
	Unchanged int `json:"unchanged"` // nobody had to be asked
	Refused   int `json:"refused"`
	Dead      int `json:"dead"`
	Again     int `json:"again"` // attempts that failed, and are made again
	Returned  int `json:"returned"`
}

func (w *Worked) count(what string) {
	for name, n := range map[string]*int{
		"described": &w.Described, "unchanged": &w.Unchanged, "refused": &w.Refused, "dead": &w.Dead, "again": &w.Again, "returned": &w.Returned,
	} {
		if name == what {
			*n++
		}
	}
}

func (p *program) work(ctx context.Context, opts WorkOptions) error {
	var mu sync.Mutex
	var did Worked
	var trouble string // that was told last
	opts.Ready = func(list []string) {
		p.io.Remarkf("ken: working on %s; stop it with Ctrl-C", term.Count(len(list), "repository"))
	}
	opts.OnEvent = func(e WorkEvent) {
		mu.Lock()
		defer mu.Unlock()
		did.count(e.What)
		switch e.What {
		case "away", "unable":
			// The same is told once, and not with every attempt.
			if text := e.Err.Error(); text != trouble {
				trouble = text
				p.io.Remarkf("ken: %s: %s", map[string]string{"away": "waiting for the server", "unable": "leaving it to others"}[e.What], plain(text))
				if hint := fault.HintOf(e.Err); hint != "" {
					p.io.Remarkf("hint: %s", plain(hint))
				}
			}
			return
		case "draining":
			p.io.Remarkf("ken: finishing what is in hand; again to end at once")
			return
		}
		trouble = ""
		if p.io.JSON {
			return
		}
		tone, why := term.Good, ""
		if e.Err != nil {
			tone, why = term.Bad, strings.ReplaceAll(e.Err.Error(), "\n", "; ")
			if e.Delay > 0 {
				why += fmt.Sprintf("; again in %s", e.Delay)
			}
		}
		p.io.Line(tone, e.What, display(repo.DirLabel(e.Path).JSON()), fmt.Sprintf("run %d%s", e.Run, after(": ", why)))
	}
	err := p.Work(ctx, p.dir, opts)
	if p.io.JSON {
		return errors.Join(err, p.io.Encode(did))
	}
	return err
}

// after puts something before a text, unless that is empty.
func after(sep, text string) string {
	if text == "" {
		return ""
	}
	return sep + text
}
