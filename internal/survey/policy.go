package survey

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"

	"ken/internal/model"
	"ken/internal/repo"
)

// A Policy is the section survey of the configuration.
type Policy struct {
	Provider string             `yaml:"provider"` // provider of the model; "" makes outlines only
	Model    string             `yaml:"model"`    // name of the model
	BaseURL  string             `yaml:"base_url"` // address of the provider
	Command  []string           `yaml:"command"`  // for the provider "command": the program and its arguments
	Protocol string             `yaml:"protocol"` // protocol of the program: "text" (the default) or "json"
	Exclude  []string           `yaml:"exclude"`  // globs of files and directories that are left out
	Ranks    map[repo.Path]Rank `yaml:"ranks"`
	Jobs     int                `yaml:"jobs"`
	// MaxTokens and MaxCost limit one run; nil is no limit.
	MaxTokens *int64   `yaml:"max_tokens"`
	MaxCost   *float64 `yaml:"max_cost"`
	// Prices are the prices of models, by name. They replace the built-in prices. An empty price means that the model is
	// free.
	Prices map[string]model.Price `yaml:"prices"`
}

// Validate returns an error for the first wrong value. It cleans the paths of directories, and marks free models.
func (p *Policy) Validate() error {
	ranks := make(map[repo.Path]Rank, len(p.Ranks))
	for dir, rank := range p.Ranks {
		clean := path.Clean(string(dir))
		if clean == "." {
			clean = ""
		}
		ranks[repo.Path(clean)] = rank
	}
	p.Ranks = ranks
	for name, price := range p.Prices {
		for _, n := range []float64{price.Input, price.Cached, price.Written, price.Output} {
			if n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
				return fmt.Errorf("prices: %s: expected dollars per million tokens, 0 or more", name)
			}
		}
		price.Free = price == model.Price{}
		p.Prices[name] = price
	}
	if err := repo.CheckGlobs(p.Exclude); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]string{"", "outline", "anthropic", "openai", "command"}, p.Provider):
		return fmt.Errorf("unknown provider %q (valid: outline, anthropic, openai, command)", p.Provider)
	case p.Provider == "command" && len(p.Command) == 0:
		return errors.New("the provider command needs survey.command: a list of the program and its arguments")
	case !slices.Contains([]string{"", "text", "json"}, p.Protocol):
		return fmt.Errorf("unknown protocol %q (valid: text, json)", p.Protocol)
	case p.Jobs < 0 || p.MaxTokens != nil && *p.MaxTokens < 0 || p.MaxCost != nil && !(*p.MaxCost >= 0):
		return errors.New("jobs, max_tokens and max_cost cannot be negative")
	}
	return nil
}
