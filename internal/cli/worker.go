package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/term"
	"ken/internal/worker"
)

func (p *program) worker() *cobra.Command {
	var opts worker.Options
	c := &cobra.Command{
		Use:   "worker [REPO…]",
		Short: "Summarise directories together with other workers",
		Long: `Take directories from runs in the team's PostgreSQL database, summarise them with a
model, and store the summaries there, until you press Ctrl-C. Workers on several machines
share a run. A worker needs a clone of the repository; a bare clone is enough. It uses the
API keys of its own environment.

After Ctrl-C, the worker finishes its current directories and takes no more. Press Ctrl-C
again to stop at once. To start a run: ken survey run --workers`,
		Example: `  ken worker                                # work on the runs of this repository
  ken worker --jobs 8 --until-idle          # 8 directories at a time; stop when no run is left
  ken worker /srv/app.git /srv/lib.git      # work on the runs of two repositories`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if opts.Jobs < 1 || opts.Lease < time.Second || opts.Drain < 0 {
				return usageError(c, errors.New("set --jobs to at least 1, --lease to at least 1s, and --drain to at least 0s"))
			}
			if opts.Provider != "" && opts.Provider != "command" {
				return usageError(c, fmt.Errorf("unknown --provider %q (valid: command); each run names its own provider", opts.Provider))
			}
			opts.Repositories = args
			return p.work(c.Context(), opts)
		},
	}
	c.Flags().IntVar(&opts.Jobs, "jobs", 4, "describe `N` directories at a time")
	c.Flags().DurationVar(&opts.Lease, "lease", 30*time.Second, "`TIME` after which another worker takes over a directory")
	c.Flags().DurationVar(&opts.Drain, "drain", time.Minute, "`TIME` to finish current directories after Ctrl-C")
	c.Flags().BoolVar(&opts.UntilIdle, "until-idle", false, "stop when no run is left; exit 3 if a run ended incomplete")
	c.Flags().StringVar(&opts.Provider, "provider", "", "`command`: let runs start the program in .ken/config.yaml")
	c.AddCommand(p.workerRuns(), p.workerCancel(), p.workerResume(), p.workerDead(), p.workerRetry(), p.workerCeiling())
	return c
}

// WorkerCounts counts the results of a worker.
type WorkerCounts struct {
	Described int `json:"described"`
	Unchanged int `json:"unchanged"` // without a model call
	Refused   int `json:"refused"`
	Dead      int `json:"dead"`
	Again     int `json:"again"` // failed attempts that will be repeated
	Returned  int `json:"returned"`
}

func (w *WorkerCounts) count(what string) {
	for name, n := range map[string]*int{
		"described": &w.Described, "unchanged": &w.Unchanged, "refused": &w.Refused, "dead": &w.Dead, "again": &w.Again, "returned": &w.Returned,
	} {
		if name == what {
			*n++
		}
	}
}

func (p *program) work(ctx context.Context, opts worker.Options) error {
	var mu sync.Mutex
	var did WorkerCounts
	told := make(map[string]string) // what went wrong, by the text that was printed
	opts.Ready = func(list []string) {
		p.io.Remarkf("ken: working on %s; stop with Ctrl-C", english.Count(len(list), "repository"))
	}
	opts.OnEvent = func(e worker.Event) {
		mu.Lock()
		defer mu.Unlock()
		did.count(e.What)
		switch e.What {
		case "away", "unable":
			// Print the same problem once, and not with every attempt. Several runs may have one each.
			if text := e.Err.Error(); told[text] == "" {
				told[text] = e.What
				p.io.Remarkf("ken: %s: %s", map[string]string{"away": "waiting for the server", "unable": "leaving a directory to other workers"}[e.What], term.CleanText(text))
				if hint := fault.HintOf(e.Err); hint != "" {
					p.io.Remarkf("hint: %s", term.CleanText(hint))
				}
			}
			return
		case "draining":
			p.io.Remarkf("ken: finishing current directories; press Ctrl-C again to stop at once")
			return
		}
		maps.DeleteFunc(told, func(_, what string) bool { return what == "away" })
		if p.io.JSON {
			return
		}
		tone, why := term.Good, ""
		if e.Err != nil {
			tone, why = term.Bad, strings.ReplaceAll(e.Err.Error(), "\n", "; ")
			if e.Delay > 0 {
				why += fmt.Sprintf("; next attempt in %s", e.Delay)
			}
		}
		p.io.Line(tone, e.What, repo.DirLabel(e.Path).String(), fmt.Sprintf("run %d%s", e.Run, colon(why)))
	}
	err := worker.Work(ctx, p.dir, opts)
	if p.io.JSON {
		return errors.Join(err, p.io.Encode(did))
	}
	return err
}

// withRuns opens the runs, calls f, and closes them again.
func (p *program) withRuns(ctx context.Context, f func(*worker.Runs) error) (err error) {
	s, err := worker.OpenRuns(ctx, p.dir)
	if err != nil {
		return err
	}
	defer func() {
		for _, r := range s.Remarks() {
			p.io.Remarkf("ken: %s", r)
		}
		err = errors.Join(err, s.Close())
	}()
	return f(s)
}

// runID parses the number of a run.
func runID(c *cobra.Command, arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, usageError(c, fmt.Errorf("invalid run %q: give a number; list runs with: ken worker runs", arg))
	}
	return id, nil
}

// oneRun parses the optional number of a run; it is 0 when left out.
func oneRun(c *cobra.Command, args []string) (int64, error) {
	if len(args) == 0 {
		return 0, nil
	}
	return runID(c, args[0])
}

// scope selects the runs of this repository, or with --all those of the server.
type scope struct{ all bool }

func (f *scope) bind(c *cobra.Command) {
	c.Flags().BoolVar(&f.all, "all", false, "include runs of all repositories on the server")
}

func (f *scope) of(s *worker.Runs) string {
	if f.all {
		return ""
	}
	return s.Repository()
}
