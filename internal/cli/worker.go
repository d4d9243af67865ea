package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/crew"
	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/survey"
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
	Told         func(WorkEvent)
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

// A CrewSpace is a repository's runs, and those of its server.
type CrewSpace interface {
	// HandOut hands out the survey of a commit.
	HandOut(ctx context.Context, opts HandOutOptions) (*HandedOut, error)
	// Sync takes over what was written.
	Sync(ctx context.Context) error
	Repository() string
	Run(ctx context.Context, id int64) (*crew.Run, error)
	Runs(ctx context.Context, repository string, most int) ([]crew.Run, error)
	CancelRun(ctx context.Context, id int64) error
	Resume(ctx context.Context, id int64, c crew.Ceiling) error
	Dead(ctx context.Context, run int64) ([]crew.Dead, error)
	Retry(ctx context.Context, run int64) (int, error)
	Today(ctx context.Context) (crew.Day, error)
	SetCeiling(ctx context.Context, c crew.Ceiling) error
	Path(arg string) (repo.Path, error)
	Remarks() []string
	Close() error
}

// HandOutOptions say what is handed out.
type HandOutOptions struct {
	At              string // a revision; HEAD when ""
	Within          repo.Path
	Provider, Model string
	Ceiling         crew.Ceiling
}

// HandedOut is what was.
type HandedOut struct {
	ID       int64   `json:"run"` // 0 when there is nothing to do
	Commit   repo.ID `json:"commit"`
	Work     int     `json:"directories"`
	Estimate int64   `json:"estimate_tokens"`
	Remark   string  `json:"remark,omitempty"`
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
	c.Flags().BoolVar(&opts.UntilIdle, "until-idle", false, "end once no run is under way")
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
	opts.Told = func(e WorkEvent) {
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
			tone, why = term.Bad, e.Err.Error()
			if e.Delay > 0 {
				why += fmt.Sprintf("; again in %s", e.Delay)
			}
		}
		p.io.Line(tone, e.What, display(survey.Label(e.Path).JSON()), fmt.Sprintf("run %d%s", e.Run, after(" ", why)))
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

// withCrew opens the runs, calls f, and closes them again.
func (p *program) withCrew(ctx context.Context, f func(CrewSpace) error) (err error) {
	s, err := p.OpenCrew(ctx, p.dir)
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

// runID reads the number of a run.
func runID(c *cobra.Command, arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, usage(c, fmt.Errorf("%q is no run: they have numbers, see them with: ken worker runs", arg))
	}
	return id, nil
}

// ceilingFlags are what may be spent.
type ceilingFlags struct {
	tokens int64
	cost   float64
}

func (f *ceilingFlags) bind(c *cobra.Command) {
	c.Flags().Int64Var(&f.tokens, "max-tokens", 0, "never spend more than so many tokens")
	c.Flags().Float64Var(&f.cost, "max-cost", 0, "never spend more than so many dollars")
}

// ceiling is what was given of them, none for 0.
func (f *ceilingFlags) ceiling(c *cobra.Command) (crew.Ceiling, error) {
	if f.tokens < 0 || !(f.cost >= 0) {
		return crew.Ceiling{}, usage(c, errors.New("a limit is no less than 0"))
	}
	var out crew.Ceiling
	if f.tokens > 0 {
		out.Tokens = &f.tokens
	}
	if f.cost > 0 {
		m := crew.Dollars(f.cost)
		out.Cost = &m
	}
	return out, nil
}

func (p *program) workerCancel() *cobra.Command {
	return &cobra.Command{
		Use: "cancel RUN", Short: "Have no more of a run begun; what was written is kept", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := runID(c, args[0])
			if err != nil {
				return err
			}
			return p.withCrew(c.Context(), func(s CrewSpace) error {
				if err := s.CancelRun(c.Context(), id); err != nil {
					return err
				}
				return p.showRun(c.Context(), s, id)
			})
		},
	}
}

func (p *program) workerResume() *cobra.Command {
	var f ceilingFlags
	c := &cobra.Command{
		Use: "resume RUN", Short: "Have a run go on that reached its ceiling", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := runID(c, args[0])
			if err != nil {
				return err
			}
			ceiling, err := f.ceiling(c)
			if err != nil {
				return err
			}
			return p.withCrew(c.Context(), func(s CrewSpace) error {
				if err := s.Resume(c.Context(), id, ceiling); err != nil {
					return err
				}
				return p.showRun(c.Context(), s, id)
			})
		},
	}
	f.bind(c)
	return c
}

func (p *program) workerDead() *cobra.Command {
	return &cobra.Command{
		Use: "dead [RUN]", Short: "List directories that were given up, and why", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var id int64
			if len(args) > 0 {
				var err error
				if id, err = runID(c, args[0]); err != nil {
					return err
				}
			}
			return p.withCrew(c.Context(), func(s CrewSpace) error {
				list, err := s.Dead(c.Context(), id)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(struct {
						Dead []crew.Dead `json:"dead"`
					}{append([]crew.Dead{}, list...)})
				}
				for _, d := range list {
					p.io.Line(term.Bad, "dead", display(d.PathJSON), fmt.Sprintf("run %d, %s, %s: %s", d.Run, term.Count(d.Attempts, "attempt"), d.Worker, d.Error))
				}
				if len(list) == 0 {
					p.io.Remarkf("ken: no directory was given up")
				} else {
					p.io.Remarkf("hint: try them again with: ken worker retry %d", list[0].Run)
				}
				return nil
			})
		},
	}
}

func (p *program) workerRetry() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "retry RUN | --all", Short: "Have directories tried again that were given up", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return usage(c, errors.New("name a run, or --all"))
			}
			return p.withCrew(c.Context(), func(s CrewSpace) error {
				var ids []int64
				if all {
					list, err := s.Dead(c.Context(), 0)
					if err != nil {
						return err
					}
					for _, d := range list {
						if !slices.Contains(ids, d.Run) {
							ids = append(ids, d.Run)
						}
					}
				} else {
					id, err := runID(c, args[0])
					if err != nil {
						return err
					}
					ids = []int64{id}
				}
				total := 0
				for _, id := range ids {
					n, err := s.Retry(c.Context(), id)
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
				p.io.Printf("%s to be tried again\n", term.Count(total, "directory"))
				return nil
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "those of every run")
	return c
}

func (p *program) workerCeiling() *cobra.Command {
	var f ceilingFlags
	c := &cobra.Command{
		Use: "ceiling", Short: "Show or set what all runs of the server together may spend on a day (UTC)", Args: cobra.NoArgs,
		Long: `Shows what all runs of the server have spent today, and may. With a limit, that is set;
0 takes one away. It is never exceeded: a call is not made unless the most that it can
cost fits under it.`,
		RunE: func(c *cobra.Command, _ []string) error {
			given, err := f.ceiling(c)
			if err != nil {
				return err
			}
			return p.withCrew(c.Context(), func(s CrewSpace) error {
				day, err := s.Today(c.Context())
				if err != nil {
					return err
				}
				if c.Flags().Changed("max-tokens") || c.Flags().Changed("max-cost") {
					next := day.Ceiling
					if c.Flags().Changed("max-tokens") {
						next.Tokens = given.Tokens
					}
					if c.Flags().Changed("max-cost") {
						next.Cost = given.Cost
					}
					if err := s.SetCeiling(c.Context(), next); err != nil {
						return err
					}
					day.Ceiling = next
				}
				if p.io.JSON {
					return p.io.Encode(day)
				}
				p.io.Printf("%s\n", dayLine(day))
				return nil
			})
		},
	}
	f.bind(c)
	return c
}

func dayLine(d crew.Day) string {
	return fmt.Sprintf("%s: %s spent on the whole server, ceiling %s", d.Day, d.Spent, d.Ceiling)
}

// runTone is how a run's state is shown.
func runTone(s crew.RunState) term.Tone {
	switch s {
	case crew.Done:
		return term.Good
	case crew.Incomplete, crew.Cancelled:
		return term.Bad
	default:
		return term.Plain
	}
}

// costOf says what a run has cost, and may.
func costOf(r *crew.Run) string {
	parts := []string{term.Count(int(r.Calls), "call"), r.Spent.String()}
	if !r.Assumed.IsZero() {
		parts = append(parts, fmt.Sprintf("up to %s more by workers that vanished", r.Assumed))
	}
	if r.Ceiling != (crew.Ceiling{}) {
		parts = append(parts, "ceiling "+r.Ceiling.String())
	}
	return strings.Join(parts, ", ")
}
