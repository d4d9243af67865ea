package ken

import (
	"cmp"
	"context"
	"fmt"

	"ken/internal/fault"
	"ken/internal/model/provider"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/survey/describe"
	"ken/internal/tree"
	"ken/internal/workspace"
)

// SurveyLimits fills in the configured limits, and the parts of the repository that a run needs.
func (r *Repository) SurveyLimits(opts survey.RunOptions) survey.RunOptions {
	c := r.Config.Survey
	if opts.Jobs == 0 {
		opts.Jobs = cmp.Or(c.Jobs, defaultJobs)
	}
	if opts.MaxTokens == nil {
		opts.MaxTokens = c.MaxTokens
	}
	if opts.MaxCost == nil {
		opts.MaxCost = c.MaxCost
	}
	opts.Dispatcher = r.Dispatcher()
	opts.CurrentTree = func() workspace.Tree { return tree.NewWorkTree(r.TreeSources()) }
	opts.Ticks = Ticks
	opts.StoreFileSummaries = func(ctx context.Context, author string, it *describe.Item, texts map[repo.Path]string) error {
		_, err := survey.WriteFileSummaries(ctx, r.Registry, author, it.Path, it.Basis, texts)
		return err
	}
	return opts
}

// defaultJobs is how many directories are described at once.
const defaultJobs = 4

// Writer returns the writer of summaries. It starts a program from the
// repository's configuration only if the user passes --provider command,
// and asks a configured provider only after the user has allowed it.
func (r *Repository) Writer(providerName, modelName string) (describe.Writer, error) {
	cfg := r.Provider(providerName, modelName)
	if cfg.Provider == OutlineProvider {
		return describe.Outliner{}, nil
	}
	if cfg.Provider == provider.Command && providerName == "" {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "if you trust it: ken survey run --provider command",
			Err: fmt.Errorf("the configuration wants to start %q", cfg.Command),
		}
	}
	if err := r.CheckProvider(&cfg, providerName, modelName); err != nil {
		return nil, err
	}
	m, err := provider.New(cfg, provider.Options{})
	if err != nil {
		return nil, err
	}
	return &describe.ModelWriter{Model: m, Plain: cfg.Provider == provider.Command && !cfg.JSON}, nil
}

// Planner returns the writer for a plan. It has a name and a price, and needs no key, because ken does not ask it.
func (r *Repository) Planner(providerName, modelName string) (describe.Writer, error) {
	cfg := r.Provider(providerName, modelName)
	if cfg.Provider == OutlineProvider {
		return describe.Outliner{}, nil
	}
	m, err := provider.Quote(cfg, provider.Options{})
	if err != nil {
		return nil, err
	}
	return &describe.ModelWriter{Model: m}, nil
}

// Provider returns the configuration of the provider that the user names, else of the configured one.
func (r *Repository) Provider(providerName, modelName string) provider.Config {
	c := r.Config.Survey
	kind := cmp.Or(providerName, c.Provider, OutlineProvider)
	if c.Provider != "" && c.Provider != OutlineProvider && kind != c.Provider {
		c.Model, c.BaseURL = "", "" // the configured model and address belong to another provider
	}
	return provider.Config{
		Provider: kind, Model: cmp.Or(modelName, c.Model), BaseURL: c.BaseURL, Command: c.Command, JSON: c.Protocol == "json",
		Prices: c.Prices,
	}
}

// OutlineProvider is the provider that makes summaries from outlines, without a model.
const OutlineProvider = "outline"
