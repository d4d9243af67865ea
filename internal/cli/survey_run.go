package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/model"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/surveyrun"
	"ken/internal/term"
	"ken/internal/worker"
)

func (p *program) surveyRun() *cobra.Command {
	var f surveyFlags
	var opts survey.RunOptions
	var limits struct {
		tokens int64
		cost   float64
	}
	var shared struct {
		workers, detach bool
		at              string
	}
	c := &cobra.Command{
		Use:   "run [DIR]",
		Short: "Describe the directories whose summary is missing or stale",
		Long: `Describes the directories whose summary is missing or stale, subdirectories first.
Each summary is stored as soon as it is written, so you can interrupt a run and
continue it later. ken makes a call only if the most that it can cost is within
--max-tokens and --max-cost.

With --workers the directories go to the machines that run ken worker on the team's
store. The command waits until all are done.`,
		Example: `  ken survey run
  ken survey run internal --provider outline
  ken survey run --provider anthropic --max-cost 2`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if opts.Jobs < 0 || limits.tokens < 0 || !(limits.cost >= 0) {
				return usageError(c, errors.New("--jobs, --max-tokens and --max-cost cannot be negative"))
			}
			if c.Flags().Changed("max-tokens") {
				opts.MaxTokens = &limits.tokens
			}
			if c.Flags().Changed("max-cost") {
				opts.MaxCost = &limits.cost
			}
			if shared.workers {
				return p.runShared(c, f, opts, shared.at, args, shared.detach)
			}
			if shared.at != "" || shared.detach {
				return usageError(c, errors.New("--at and --detach need --workers"))
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				s, writer, err := f.setup(c, w, w.Writer)
				if err != nil {
					return err
				}
				if opts.Within, err = optionalPath(w, args); err != nil {
					return err
				}
				ran, err := p.runSurvey(c, w, s, writer, opts)
				if err != nil && ran.Calls == 0 {
					return err
				}
				// Report what was paid for, also after an error.
				if p.io.JSON {
					err = errors.Join(err, p.io.Encode(ran))
				} else {
					p.printRan(ran, writer, f.again("ken survey run", append(limitsOf(c), args...)...))
				}
				if err != nil {
					return err
				}
				return failure(c, ran, f.again("ken survey plan", args...))
			})
		},
	}
	f.bind(c)
	c.Flags().IntVar(&opts.Jobs, "jobs", 0, "`N` directories at once (default: from the configuration, else 4; outlines use all cores)")
	c.Flags().Int64Var(&limits.tokens, "max-tokens", 0, "spend at most `N` tokens; 0 allows none (default: from the configuration, else no limit)")
	c.Flags().Float64Var(&limits.cost, "max-cost", 0, "spend at most `N` dollars; 0 allows none (default: from the configuration, else no limit)")
	c.Flags().BoolVar(&shared.workers, "workers", false, "give the directories to the workers of the team's store")
	c.Flags().StringVar(&shared.at, "at", "", "with --workers: survey this `REVISION` (default HEAD)")
	c.Flags().BoolVar(&shared.detach, "detach", false, "with --workers: print the number of the run and do not wait")
	return c
}

// runShared gives a survey to workers.
func (p *program) runShared(c *cobra.Command, f surveyFlags, opts survey.RunOptions, at string, args []string, detach bool) error {
	if opts.Jobs > 0 || len(f.ranks) > 0 {
		return usageError(c, errors.New("--jobs and --rank do not work with --workers: each worker has its own --jobs, and ranks come from the commit's configuration"))
	}
	ceiling := surveyrun.Ceiling{Tokens: opts.MaxTokens}
	if opts.MaxCost != nil {
		cost := surveyrun.Dollars(*opts.MaxCost)
		ceiling.Cost = &cost
	}
	return p.startRun(c, worker.StartOptions{At: at, Provider: f.provider, Model: f.model, Ceiling: ceiling}, args, detach)
}

// limitsOf returns the limits of the command line, for pasting.
func limitsOf(c *cobra.Command) (words []string) {
	for _, name := range []string{"jobs", "max-tokens", "max-cost"} {
		if f := c.Flags().Lookup(name); f.Changed {
			words = append(words, "--"+name, f.Value.String())
		}
	}
	return words
}

// runSurvey runs a survey and shows its progress.
func (p *program) runSurvey(c *cobra.Command, w *ken.Repository, s *survey.Survey, writer describe.Writer, opts survey.RunOptions) (*survey.RunResult, error) {
	show := p.io.Progress("describing directories")
	defer show.Done()
	opts = w.SurveyLimits(opts)
	every := 0 // outlines take no time
	if _, isModel := writer.(*describe.ModelWriter); isModel {
		every = 10
	}
	show.Lines(every, 10*time.Second)
	opts.Progress = func(done survey.Progress) {
		more := spent(done.Spent)
		if done.UnderWay > 0 {
			more = strings.TrimPrefix(more+fmt.Sprintf(", %d under way", done.UnderWay), ", ")
		}
		show.UpdateWith(done.Done, done.Total, more)
	}
	opts.OnWait = announceWaits(time.Now, func(text string) { show.Remarkf("ken: %s", text) })
	return s.Run(c.Context(), writer, opts)
}

// announceWaits returns a function that prints the waits of a model. While one wait is under way,
// it prints only waits that end later, since several directories wait at the same time.
func announceWaits(now func() time.Time, print func(text string)) func(model.Retry) {
	var mu sync.Mutex
	var announced time.Time // when the longest wait ends
	return func(r model.Retry) {
		mu.Lock()
		defer mu.Unlock()
		end := now().Add(r.Wait)
		if end.Before(announced.Add(2 * time.Second)) {
			return
		}
		announced = end
		wait := max(r.Wait.Round(time.Second), time.Second)
		print(fmt.Sprintf("the provider is %s (%s); waiting %s before attempt %d", r.Reason, term.CleanText(r.Err.Error()), wait, r.Attempt+1))
	}
}

// printRan prints the result of a run. The command again continues it.
func (p *program) printRan(ran *survey.RunResult, w describe.Writer, again string) {
	for _, f := range ran.Failed {
		p.io.Line(term.Bad, "failed", f.Display(), f.Reason)
	}
	cost := ""
	if ran.Calls > 0 {
		cost = fmt.Sprintf(", %s, %d tokens in, %d out", english.Count(ran.Calls, "call"), ran.Tokens.In, ran.Tokens.Out)
		if ran.Cost != nil {
			cost += fmt.Sprintf(", $%.4f", *ran.Cost)
		}
	}
	if _, free := w.(describe.Outliner); free {
		p.io.Printf("made %s\n", english.Count(len(ran.Done), "outline"))
	} else {
		p.io.Printf("described %s with %s%s\n", english.Count(len(ran.Done), "directory"), w.Author(), cost)
	}
	for _, r := range ran.Remarks {
		p.io.Remarkf("ken: %s", r)
	}
	if ran.Stopped != "" {
		p.io.Remarkf("ken: stopped: %s; %d left; continue with: %s", ran.Stopped, ran.Left, again)
	} else if len(ran.Leased) > 0 {
		until := slices.MaxFunc(ran.Leased, func(a, b survey.LeasedPath) int { return a.Until.Compare(b.Until) }).Until
		p.io.Remarkf("ken: %d directories left to describe; others have %s of them until %s; continue then with: %s",
			ran.Left, english.Count(len(ran.Leased), "directory"), until.Local().Format(time.TimeOnly), again)
	}
}

// spent formats tokens and cost so far, "" for none.
func spent(s describe.Spent) string {
	switch tokens := s.Usage.Tokens(); {
	case tokens == 0:
		return ""
	case !s.Cost.Known():
		return fmt.Sprintf("%d tokens", tokens)
	default:
		return fmt.Sprintf("%d tokens, $%.4f", tokens, s.Cost.USD)
	}
}

// failure returns the error of a run: it was interrupted, the provider failed,
// directories failed, or directories changed during the run. The command plan lists what
// is left. Reaching a limit is no failure, nor are directories leased to others.
func failure(c *cobra.Command, ran *survey.RunResult, plan string) error {
	switch {
	case c.Context().Err() != nil:
		return &fault.Error{Kind: fault.Interrupted, Err: errors.New("interrupted")}
	case ran.Err != nil:
		return ran.Err
	case len(ran.Failed) > 0:
		return &fault.Error{Hint: "list what is left: " + plan, Err: fmt.Errorf("%s could not be described", english.Count(len(ran.Failed), "directory"))}
	case ran.Left > 0 && ran.Stopped == "" && len(ran.Leased) == 0:
		return &fault.Error{
			Hint: "list what is left: " + plan,
			Err:  fmt.Errorf("%s must be described again: files or summaries changed during the run", english.Count(ran.Left, "directory")),
		}
	default:
		return nil
	}
}
