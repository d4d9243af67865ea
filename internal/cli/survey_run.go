package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/survey"
	"ken/internal/term"
)

func (p *program) surveyRun() *cobra.Command {
	var f surveyFlags
	var opts survey.RunOptions
	var shared struct {
		workers, detach bool
		at              string
	}
	c := &cobra.Command{
		Use:   "run [DIR]",
		Short: "Describe what is to be described",
		Long: `Describes the directories that have no text or whose text does not hold, every child
before its parent, and nothing else. What was written is kept at once: a run that is
stopped, or reaches a limit, goes on where it was.

With --workers the survey of a commit is handed out to whoever runs ken worker on the
team's store, and followed until all is done; limits are then never exceeded.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if opts.Jobs < 0 || opts.MaxTokens < 0 || opts.MaxCost < 0 {
				return usage(c, errors.New("a limit is no less than 0"))
			}
			if shared.workers {
				return p.runShared(c, f, opts, shared.at, args, shared.detach)
			}
			if shared.at != "" || shared.detach {
				return usage(c, errors.New("--at and --detach go with --workers"))
			}
			return p.within(c.Context(), func(w Workspace) error {
				s, writer, err := f.setup(c, w, w.Writer)
				if err != nil {
					return err
				}
				if opts.Within, err = oneDir(w, args); err != nil {
					return err
				}
				ran, err := p.runSurvey(c, w, s, writer, opts)
				if err != nil && ran.Calls == 0 {
					return err
				}
				// What was paid for is told of, whatever went wrong then.
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
	c.Flags().IntVar(&opts.Jobs, "jobs", 0, "directories that are described at once (default: as configured, else 4; outlines use all cores)")
	c.Flags().Int64Var(&opts.MaxTokens, "max-tokens", 0, "begin no more once so many were spent")
	c.Flags().Float64Var(&opts.MaxCost, "max-cost", 0, "begin no more once so many dollars were spent")
	c.Flags().BoolVar(&shared.workers, "workers", false, "hand it out to the workers of the team's store")
	c.Flags().StringVar(&shared.at, "at", "", "with --workers: the `REVISION` that is surveyed (default HEAD)")
	c.Flags().BoolVar(&shared.detach, "detach", false, "with --workers: print the run's number, and do not wait for it")
	return c
}

// runShared hands a survey out to workers.
func (p *program) runShared(c *cobra.Command, f surveyFlags, opts survey.RunOptions, at string, args []string, detach bool) error {
	if opts.Jobs > 0 || len(f.ranks) > 0 {
		return usage(c, errors.New("--jobs is for each worker to say, and ranks are those of the commit's configuration"))
	}
	limits := ceilingFlags{opts.MaxTokens, opts.MaxCost}
	ceiling, err := limits.ceiling(c)
	if err != nil {
		return err
	}
	return p.startRun(c, StartRunOptions{At: at, Provider: f.provider, Model: f.model, Ceiling: ceiling}, args, detach)
}

// limitsOf are the limits that were given, as they were given.
func limitsOf(c *cobra.Command) (words []string) {
	for _, name := range []string{"jobs", "max-tokens", "max-cost"} {
		if f := c.Flags().Lookup(name); f.Changed {
			words = append(words, "--"+name, f.Value.String())
		}
	}
	return words
}

// runSurvey runs, and shows how far it has come. A mind plans before, and writes an
// overview afterwards.
func (p *program) runSurvey(c *cobra.Command, w Workspace, s *survey.Survey, writer survey.Writer, opts survey.RunOptions) (*survey.Ran, error) {
	show := p.io.Progress("describing directories")
	defer show.Done()
	opts = w.SurveyLimits(opts)
	every := 0 // outlines come by the hundred
	if _, thinks := writer.(survey.Mind); thinks {
		every = 10
	}
	show.Lines(every, 10*time.Second)
	opts.Progress = func(done survey.Progress) {
		more := spent(done.Spent)
		if done.UnderWay > 0 {
			more = strings.TrimPrefix(more+fmt.Sprintf(", %d under way", done.UnderWay), ", ")
		}
		show.Tell(done.Done, done.Total, more)
	}
	return s.Run(c.Context(), writer, opts)
}

// printRan tells what a run did, and how to go on: with again.
func (p *program) printRan(ran *survey.Ran, w survey.Writer, again string) {
	for _, f := range ran.Failed {
		p.io.Line(term.Bad, "failed", display(f.PathJSON), f.Reason)
	}
	cost := ""
	if ran.Calls > 0 {
		cost = fmt.Sprintf(", %s, %d tokens in, %d out", term.Count(ran.Calls, "call"), ran.Tokens.In, ran.Tokens.Out)
		if ran.Cost != nil {
			cost += fmt.Sprintf(", $%.4f", *ran.Cost)
		}
	}
	p.io.Printf("described %s as %s%s\n", term.Count(len(ran.Done), "directory"), w.Author(), cost)
	for _, r := range ran.Remarks {
		p.io.Remarkf("ken: %s", r)
	}
	if ran.Stopped != "" {
		left := fmt.Sprintf("%d left", ran.Left)
		if ran.Left == 0 {
			left = "the overview is left"
		}
		p.io.Remarkf("ken: stopped: %s; %s; go on with: %s", ran.Stopped, left, again)
	} else if len(ran.Held) > 0 {
		until := slices.MaxFunc(ran.Held, func(a, b survey.HeldPath) int { return a.Until.Compare(b.Until) }).Until
		p.io.Remarkf("ken: %d left: %s in other hands until %s; go on then with: %s",
			ran.Left, term.Count(len(ran.Held), "directory"), until.Local().Format(time.TimeOnly), again)
	}
}

// spent says what was spent so far, "" for nothing.
func spent(s survey.Spent) string {
	switch tokens := s.In + s.Out; {
	case tokens == 0:
		return ""
	case s.Unknown:
		return fmt.Sprintf("%d tokens", tokens)
	default:
		return fmt.Sprintf("%d tokens, $%.4f", tokens, s.Cost)
	}
}

// failure is what a run's exit status tells: whether somebody stopped it, nobody could
// be asked, or directories failed or changed under it: what is left is listed by plan. A limit
// that was reached is no failure, nor is what others have in hand.
func failure(c *cobra.Command, ran *survey.Ran, plan string) error {
	switch {
	case c.Context().Err() != nil:
		return &fault.Error{Kind: fault.Interrupted, Err: errors.New("interrupted")}
	case ran.Err != nil:
		return ran.Err
	case len(ran.Failed) > 0:
		return &fault.Error{Hint: "see what is left with: " + plan, Err: fmt.Errorf("%s could not be described", term.Count(len(ran.Failed), "directory"))}
	case ran.Left > 0 && ran.Stopped == "" && len(ran.Held) == 0:
		return &fault.Error{
			Hint: "see what is left with: " + plan,
			Err:  fmt.Errorf("%s to be described again: files or texts changed while the survey ran", term.Count(ran.Left, "directory")),
		}
	default:
		return nil
	}
}
