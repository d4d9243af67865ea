package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/term"
)

func (p *program) surveyNext() *cobra.Command {
	var seconds int
	c := &cobra.Command{
		Use:   "next [DIR] [--lease SECONDS]",
		Short: "Lease the next directory to describe",
		Long: `Prints a directory to describe, with everything that its summary is written
from. Its subdirectories have summaries already. With DIR, it is DIR or a directory
below it. Submit your summary with: ken survey submit DIR --lease TOKEN -F FILE.
Any number of agents can work at once: a directory is leased to one agent at a
time. Give it back with: ken survey release DIR.`,
		Example: `  ken survey next              # any directory
  ken survey next internal     # one in internal`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			lasting, err := survey.LeaseDuration(seconds)
			if c.Flags().Changed("lease") && seconds == 0 {
				err = errors.New("a lease lasts at least 1 second")
			}
			if err != nil {
				return usageError(c, fmt.Errorf("--lease: %w", err))
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				dir, err := optionalPath(w, args)
				if err != nil {
					return err
				}
				got, err := w.Next(c.Context(), survey.NextOptions{Within: dir, Duration: lasting})
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(got)
				}
				if got.Item == nil {
					p.io.Printf("%s\n", noneReady(got))
					return nil
				}
				p.io.Printf("%s\n%s", term.CleanText(got.Item.Prompt), howToAnswer(got.Item))
				p.io.Remarkf("ken: leased to you until %s", got.Item.Expires.Format(time.RFC3339))
				return nil
			})
		},
	}
	c.Flags().IntVar(&seconds, "lease", 0, "length of the lease in `SECONDS` (default 900)")
	return c
}

// howToAnswer returns the commands that end a work item. They are part of the prompt, since an agent may see nothing
// else.
func howToAnswer(it *survey.WorkItem) string {
	dir := fault.Quote(it.Display())
	submit := fmt.Sprintf("ken survey submit %s --lease %s", dir, it.Lease)
	text := "To answer, run: " + submit + " -F - with your text on standard input.\n"
	if it.HasText {
		text += "If the present text still holds, run: " + submit + " --keep\n"
	}
	return text + "To give the directory back, run: ken survey release " + dir + "\n"
}

// noneReady says why no directory is ready, and when to ask again.
func noneReady(got *survey.NextItem) string {
	if got.Remaining == 0 {
		return "no directory is left to describe"
	}
	text := fmt.Sprintf("no directory is ready; %d left to describe", got.Remaining)
	if len(got.Leased) == 0 {
		return text
	}
	first := slices.MinFunc(got.Leased, func(a, b survey.LeasedPath) int { return a.Until.Compare(b.Until) })
	path := first.Display()
	by := ""
	if first.By != "" {
		by = " to " + first.By
	}
	return text + fmt.Sprintf(": %s leased to others, %s%s until %s; ask again then, or release it: ken survey release %s",
		english.Count(len(got.Leased), "directory"), path, by, first.Until.Format(time.RFC3339), fault.Quote(path))
}

func (p *program) surveyRelease() *cobra.Command {
	return &cobra.Command{
		Use:   "release [DIR]",
		Short: "End the leases of agents, so that others can have the directories",
		Long: `Ends the leases that agents have of a directory and of all below it. Without DIR,
all leases of agents end. An agent can still submit its summary until another one
leases the directory. The leases of ken survey run stay.`,
		Example: `  ken survey release internal/parse   # give a directory back
  ken survey release                  # end all leases of agents`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				dir, err := optionalPath(w, args)
				if err != nil {
					return err
				}
				done, err := w.Dispatcher().Release(c.Context(), dir)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(done)
				}
				if len(done.Released) == 0 {
					text := "no agent has a lease"
					if dir != "" {
						text += " in " + dir.String()
					}
					p.io.Printf("%s\n", text)
					return nil
				}
				for _, h := range done.Released {
					p.io.Line(term.Good, "released", h.Display(), leasedTo(h))
				}
				return nil
			})
		},
	}
}

// leasedTo says who has a directory, and until when.
func leasedTo(h survey.LeasedPath) string {
	by := ""
	if h.By != "" {
		by = " to " + h.By
	}
	return fmt.Sprintf("leased%s until %s", by, h.Until.Local().Format(time.TimeOnly))
}

func (p *program) surveySubmit() *cobra.Command {
	var sub survey.Submission
	var text, file string
	var files []string
	c := &cobra.Command{
		Use:     "submit DIR --lease TOKEN (-m TEXT | -F FILE|- | --keep)",
		Short:   "Submit the summary of a directory that you leased",
		Example: `  ken survey submit internal/parse --lease TOKEN -m 'Splits a text into words.'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			given := 0
			for _, name := range []string{"message", "text-file", "keep"} {
				if c.Flags().Changed(name) {
					given++
				}
			}
			if given != 1 {
				return usageError(c, errors.New("give the summary with one of -m TEXT, -F FILE or --keep"))
			}
			if c.Flags().Changed("text-file") {
				b, err := readInput(p.io.In, file)
				if err != nil {
					return err
				}
				text = string(b)
			}
			sub.Text = text
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				var err error
				if sub.Path, err = optionalPath(w, args); err != nil {
					return err
				}
				if sub.Files, err = fileTexts(c, w, files); err != nil {
					return err
				}
				return p.submit(c, w, sub)
			})
		},
	}
	c.Flags().StringVar(&sub.Lease, "lease", "", "the lease's `TOKEN` (required)")
	c.Flags().StringVarP(&text, "message", "m", "", "`TEXT` of the summary")
	c.Flags().StringVarP(&file, "text-file", "F", "", "read the summary from `FILE`, - for standard input")
	c.Flags().BoolVar(&sub.Keep, "keep", false, "keep the present summary: it is still right")
	c.Flags().StringArrayVar(&files, "file", nil, "`PATH=TEXT`: summary of a file in the directory (repeatable)")
	return c
}

func (p *program) submit(c *cobra.Command, w *ken.Repository, sub survey.Submission) error {
	done, err := w.Submit(c.Context(), sub)
	if err != nil {
		return err
	}
	if p.io.JSON {
		err = p.io.Encode(done)
	} else {
		tone := term.Good
		if done.Result != survey.SubmitStored {
			tone = term.Warn
		}
		p.io.Line(tone, string(done.Result), done.Display(), done.Reason)
	}
	if err == nil && (done.Result == survey.SubmitRejected || done.Result == survey.SubmitLeaseEnded) {
		return errFailed
	}
	return err
}

// fileTexts parses the summaries of files.
func fileTexts(c *cobra.Command, w *ken.Repository, given []string) (map[repo.Path]string, error) {
	texts := make(map[repo.Path]string)
	for _, g := range given {
		name, text, ok := strings.Cut(g, "=")
		if !ok {
			return nil, usageError(c, fmt.Errorf("--file %s: expected PATH=TEXT", g))
		}
		path, err := w.Path(name)
		if err != nil {
			return nil, err
		}
		texts[path] = text
	}
	return texts, nil
}
