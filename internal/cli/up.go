package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/registry"
	"ken/internal/survey"
)

// Up is what ken up did and found.
type Up struct {
	State registry.State  `json:"state"`
	Files registry.Counts `json:"files"`
	Ran   *survey.Ran     `json:"survey"`
	Brief *survey.Brief   `json:"brief"`
	// Glance is null while nothing is tracked.
	Glance *Glance `json:"glance"`
}

func (p *program) up() *cobra.Command {
	var f surveyFlags
	var served, unserved bool
	c := &cobra.Command{
		Use:   "up",
		Short: "Verify, describe what is not described, and say what this repository is",
		Long: `Does everything once: compares what is known with what is there, describes the
directories that have no text or whose text does not hold, prints a brief, and ends
with what only ken knows: which documents name what is gone, what the last commits
would have cost, which worktrees collide, and how to have an agent write summaries.
On a terminal it then serves the dashboard, as ken serve does, unless --no-serve is
given; elsewhere only with --serve, so that no script waits for it forever.
Without a provider in the configuration it works offline and costs nothing.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if served && unserved {
				return usage(c, errors.New("--serve and --no-serve say the opposite"))
			}
			var failed error // some directory; the others are there to be seen
			err := p.within(c.Context(), func(w Workspace) (err error) { failed, err = p.bringUp(c, w, &f); return err })
			if err != nil || unserved || p.io.JSON || c.Context().Err() != nil {
				return errors.Join(err, failed)
			}
			if !p.io.Live && !served {
				p.io.Remarkf("hint: the same in a browser, live: ken serve")
				return failed
			}
			if failed != nil {
				p.io.Remarkf("%s", plain(failed.Error()))
			}
			return errors.Join(p.Serve(c.Context(), p.dir, ServeOptions{Addr: anyPort, Ready: p.announce}), failed)
		},
	}
	c.Flags().BoolVar(&served, "serve", false, "serve the dashboard afterwards, also where nobody watches")
	c.Flags().BoolVar(&unserved, "no-serve", false, "do not serve the dashboard afterwards")
	f.bind(c)
	return c
}

// bringUp does all of it but serving. It returns apart that directories failed, when all
// else went well.
func (p *program) bringUp(c *cobra.Command, w Workspace, f *surveyFlags) (failed, err error) {
	rep, err := w.Registry().Verify(c.Context(), registry.VerifyOptions{OmitNew: true})
	if err != nil {
		return nil, err
	}
	s, writer, err := f.setup(c, w, p.anyWriter(w))
	if err != nil {
		return nil, err
	}
	ran, err := p.runSurvey(c, w, s, writer, survey.RunOptions{})
	if err == nil && c.Context().Err() != nil {
		err = c.Context().Err()
	}
	if err != nil {
		return nil, err
	}
	b, err := w.Brief(c.Context(), BriefOptions{})
	if err != nil {
		return nil, err
	}
	did := Up{State: rep.State, Files: rep.Counts, Ran: ran, Brief: b}
	if !p.io.JSON {
		p.printUp(rep, did, writer, f.again("ken survey run"))
	}
	if rep.Counts.Files > 0 {
		if did.Glance, err = p.glance(c.Context(), w, b); err != nil {
			return nil, err
		}
	}
	switch {
	case p.io.JSON:
		err = p.io.Encode(did)
	case did.Glance != nil:
		p.printGlance(did.Glance)
	}
	return failure(c, ran, f.again("ken survey plan")), err
}

// printUp prints what there is to say before anybody has looked further.
func (p *program) printUp(rep *registry.Report, did Up, writer survey.Writer, again string) {
	p.io.Printf("%s\n", rep.Headline())
	if rep.Counts.Files == 0 {
		p.io.Remarkf("hint: %s", untracked(rep))
		return
	}
	p.printRan(did.Ran, writer, again)
	p.io.Printf("\n%s", plain(did.Brief.String()))
	p.io.Remarkf("hint: about one place: ken brief PATH; all of it: ken survey report")
}

// anyWriter finds who describes: the provider that was named, or the configured one if
// it can be had, else the outline. A newcomer without a key is not sent away.
func (p *program) anyWriter(w Workspace) func(provider, model string) (survey.Writer, error) {
	return func(provider, model string) (survey.Writer, error) {
		writer, err := w.Writer(provider, model)
		if err == nil || provider != "" {
			return writer, err
		}
		p.io.Remarkf("ken: %s; outlines are made instead", plain(err.Error()))
		if hint := fault.HintOf(err); hint != "" {
			p.io.Remarkf("hint: %s", plain(hint))
		}
		return survey.Outliner{}, nil
	}
}
