package app

import (
	"cmp"
	"context"
	"fmt"

	"ken/internal/fault"
	"ken/internal/model/provider"
	"ken/internal/repo"
	"ken/internal/survey"
)

// SurveyLimits fills in what is configured.
func (w *workspace) SurveyLimits(opts survey.RunOptions) survey.RunOptions {
	c := w.cfg.Survey
	if opts.Jobs == 0 {
		opts.Jobs = cmp.Or(c.Jobs, defaultJobs)
	}
	if opts.MaxTokens == nil {
		opts.MaxTokens = c.MaxTokens
	}
	if opts.MaxCost == nil {
		opts.MaxCost = c.MaxCost
	}
	opts.Dispatcher = w.Dispatcher()
	opts.Anew = func() survey.Tree { return &surveyTree{w: w} }
	opts.Ticks = ticks
	opts.Files = func(ctx context.Context, author string, it *survey.Item, texts map[repo.Path]string) error {
		_, err := w.keepFiles(ctx, author, it.Path, it.Basis, texts)
		return err
	}
	return opts
}

// defaultJobs is how many directories are described at once.
const defaultJobs = 4

// Writer returns the writer of summaries. It starts a program from the
// repository's configuration only if the user passes --provider command,
// and asks a configured provider only after the user has allowed it.
func (w *workspace) Writer(named, called string) (survey.Writer, error) {
	cfg := w.provider(named, called)
	if cfg.Provider == outlineProvider {
		return survey.Outliner{}, nil
	}
	if cfg.Provider == provider.Command && named == "" {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "if you trust it: ken survey run --provider command",
			Err: fmt.Errorf("the configuration wants to start %q", cfg.Command),
		}
	}
	if err := w.checkProvider(&cfg, named, called); err != nil {
		return nil, err
	}
	m, err := provider.New(cfg, provider.Options{})
	if err != nil {
		return nil, err
	}
	return &survey.ModelDescriber{Model: m, Plain: cfg.Provider == provider.Command && !cfg.JSON}, nil
}

// Planner returns the same as far as plans go: it has a name and a price, and needs no
// key, for it is not asked.
func (w *workspace) Planner(named, called string) (survey.Writer, error) {
	cfg := w.provider(named, called)
	if cfg.Provider == outlineProvider {
		return survey.Outliner{}, nil
	}
	m, err := provider.Quote(cfg, provider.Options{})
	if err != nil {
		return nil, err
	}
	return &survey.ModelDescriber{Model: m}, nil
}

// provider says who is meant: by the user's word, else by the configuration.
func (w *workspace) provider(named, called string) provider.Config {
	c := w.cfg.Survey
	kind := cmp.Or(named, c.Provider, outlineProvider)
	if c.Provider != "" && c.Provider != outlineProvider && kind != c.Provider {
		c.Model, c.BaseURL = "", "" // those of another provider
	}
	return provider.Config{
		Provider: kind, Model: cmp.Or(called, c.Model), BaseURL: c.BaseURL, Command: c.Command, JSON: c.Protocol == "json",
		Prices: c.Prices,
	}
}

const outlineProvider = "outline"
