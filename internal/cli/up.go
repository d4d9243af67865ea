package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"ken/internal/brief"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/term"
)

// UpResult is the result of ken up.
type UpResult struct {
	State registry.State    `json:"state"`
	Files registry.Counts   `json:"files"`
	Ran   *survey.RunResult `json:"survey"`
	Brief *brief.Brief      `json:"brief"`
	// Summary and Overview are null while git tracks no file.
	Summary  *UpSummary `json:"glance"`
	Overview *Overview  `json:"overview"`
}

func (p *program) up() *cobra.Command {
	var f surveyFlags
	var served bool
	c := &cobra.Command{
		Use:   "up",
		Short: "Read this repository, and say what it is and what needs attention",
		Long: `Checks which files changed since the last run, reads what is new, and prints what the
repository is, how its summaries, specs and documents stand, and what needs attention.
Run it again at any time: it reads only what changed. Without a provider in the
configuration, ken up works offline and costs nothing.`,
		Example: `  ken up                      # read what is new, and report
  ken up --provider outline   # ask no model, whatever is configured`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var failed error // some directories failed; the dashboard shows the others
			err := p.withRepository(c.Context(), func(w *ken.Repository) (err error) {
				failed, err = p.bringUp(c, w, &f)
				return err
			})
			if err != nil || !served || p.io.JSON || c.Context().Err() != nil {
				return errors.Join(err, failed)
			}
			if failed != nil {
				p.io.Remarkf("ken: %s", term.CleanText(failed.Error()))
			}
			return errors.Join(p.serveDashboard(c.Context(), ServeOptions{}), failed)
		},
	}
	c.Flags().BoolVar(&served, "serve", false, "then serve the dashboard, as ken serve does")
	f.bind(c)
	return c
}

// bringUp does everything except serving. failed says that some directories could not
// be described although everything else worked.
func (p *program) bringUp(c *cobra.Command, w *ken.Repository, f *surveyFlags) (failed, err error) {
	ctx := c.Context()
	rep, err := w.Registry.Verify(ctx, registry.VerifyOptions{OmitNew: true})
	if err != nil {
		return nil, err
	}
	s, writer, err := f.setup(c, w, p.anyWriter(w))
	if err != nil {
		return nil, err
	}
	ran, err := p.runSurvey(c, w, s, writer, survey.RunOptions{})
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	var b *brief.Brief
	err = p.showing("updating the search index", func() error {
		b, err = w.Briefer().Brief(ctx, brief.Options{})
		return err
	})
	if err != nil {
		return nil, err
	}
	did := UpResult{State: rep.State, Files: rep.Counts, Ran: ran, Brief: b}
	failed = failure(c, ran, f.again("ken survey plan"))
	if rep.Counts.Files == 0 {
		if p.io.JSON {
			return failed, p.io.Encode(did)
		}
		p.io.Printf("%-12s %s\n", "files", filesLine(rep, true))
		p.io.Remarkf("hint: %s", hintNoFiles(rep))
		return failed, nil
	}
	_, free := writer.(describe.Outliner)
	described := len(ran.Done) > 0 && !free
	if !p.io.JSON && (described || len(ran.Failed) > 0 || ran.Left > 0) {
		p.printRan(ran, writer, f.again("ken survey run"))
		p.io.Printf("\n")
	}
	// The same questions as ken status, so that the two cannot disagree.
	known := &statusReport{}
	if known.Report, known.Directories, err = w.Status(ctx); err != nil {
		return nil, err
	}
	check := func(ctx context.Context) (*docs.Report, error) { return w.Documents().Check(ctx, docs.Options{}) }
	if did.Overview, err = p.overview(ctx, w, known, check); err != nil {
		return nil, err
	}
	if did.Summary, err = p.upSummary(ctx, w, b, did.Overview); err != nil {
		return nil, err
	}
	if p.io.JSON {
		return failed, p.io.Encode(did)
	}
	p.printUp(known, did.Summary, did.Overview)
	return failed, nil
}

// showing runs work and shows its elapsed time.
func (p *program) showing(what string, work func() error) error {
	show := p.io.Progress(what)
	defer show.Done()
	show.Wait()
	return work()
}

// anyWriter returns a function that returns the writer for a provider. Without a name, that is the configured one. If it
// cannot be used, for example without a key, it is the outliner.
func (p *program) anyWriter(w *ken.Repository) func(provider, model string) (describe.Writer, error) {
	return func(provider, model string) (describe.Writer, error) {
		writer, err := w.Writer(provider, model)
		if err == nil || provider != "" {
			return writer, err
		}
		p.io.Remarkf("ken: %s; ken uses outlines instead", term.CleanText(err.Error()))
		if hint := fault.HintOf(err); hint != "" {
			p.io.Remarkf("hint: %s", term.CleanText(hint))
		}
		return describe.Outliner{}, nil
	}
}
