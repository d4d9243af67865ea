package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ken/internal/atomicfile"
	"ken/internal/brief"
	"ken/internal/cli"
	"ken/internal/content"
	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/prove"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
)

// Prove replays the history of HEAD by the repository's policy as it is now.
func (w *workspace) Prove(ctx context.Context, opts cli.ProveOptions) (*prove.Report, error) {
	if opts.Plot != "" {
		if err := checkPlot(opts.Plot); err != nil {
			return nil, err
		}
	}
	h, err := w.prover().Read(ctx, opts.Commits, opts.Progress)
	if err != nil {
		return nil, err
	}
	a := survey.Assumptions()
	r := prove.Replay(h, prove.Options{
		Counts: w.cfg.Registry.Counts,
		Assumed: prove.Assumed{
			BytesPerToken: survey.BytesPerToken, Brief: brief.DefaultBudget,
			ReadBytes: a.ReadBytes, Text: a.Text, Apart: a.Apart, Answer: a.Answer,
		},
	})
	if opts.Plot == "" {
		return r, ctx.Err()
	}
	return r, writePlot(opts.Plot, r)
}

// prover returns the reader of the history that is replayed.
func (w *workspace) prover() *prove.Reader {
	directories := survey.Options{Exclude: w.cfg.Survey.Exclude, Ranks: w.cfg.Survey.Ranks}
	return &prove.Reader{
		Git: w.git,
		Counts: func(p repo.Path, size int64, attributes repo.Attributes, head []byte) bool {
			if directories.LeftOut(p) {
				return false
			}
			kind := registry.Refine(content.KindOf(p, head), repo.Regular, attributes)
			return w.cfg.Registry.Excluded(p, kind, size) == ""
		},
		Outlines: func(ctx context.Context, contents []prove.Content, read prove.ReadContents) ([]*outline.Outline, error) {
			files := make([]*survey.File, len(contents))
			for i, c := range contents {
				files[i] = &survey.File{Path: c.Path, ID: c.ID, Size: c.Size}
			}
			return w.outlines(ctx, files, read)
		},
	}
}

// checkPlot finds out whether a plot can be written before any work is done for it.
func checkPlot(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return &fault.Error{
			Kind: fault.Usage, Hint: "name a file: ken prove --plot " + fault.Quote(filepath.Join(name, "prove.svg")),
			Err: fmt.Errorf("plot: %s is not a file", name),
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".ken-plot-*")
	if err != nil {
		why := err
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			why = e.Err
		}
		return &fault.Error{
			Hint: "name a file where you may write: ken prove --plot " + fault.Quote(filepath.Join(os.TempDir(), "prove.svg")),
			Err:  fmt.Errorf("plot: write into %s: %w", filepath.Dir(name), why),
		}
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func writePlot(name string, r *prove.Report) error {
	var plot bytes.Buffer
	err := prove.Plot(&plot, r)
	if err == nil {
		err = atomicfile.Write(name, plot.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("plot: write %s: %w", name, err)
	}
	return nil
}
