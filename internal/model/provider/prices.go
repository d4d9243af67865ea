package provider

import "ken/internal/model"

// prices lists the models of the providers, in dollars per million tokens, as published in November 2026. If the
// price depends on the length of the input, the row is for inputs up to that length. The price of a model that is
// not listed is unknown.
var prices = [...]struct {
	provider, model string
	model.Price
}{
	{Anthropic, "claude-fable-5-1", model.Price{Input: 10, Cached: 0.25, Written: 12.50, Output: 50}},
	{Anthropic, "claude-fable-5", model.Price{Input: 10, Cached: 1, Written: 12.50, Output: 50}},
	{Anthropic, "claude-opus-5-5", model.Price{Input: 4, Cached: 0.20, Written: 5, Output: 20}},
	{Anthropic, "claude-opus-5", model.Price{Input: 5, Cached: 0.50, Written: 6.25, Output: 25}},
	{Anthropic, "claude-opus-4-8", model.Price{Input: 5, Cached: 0.50, Written: 6.25, Output: 25}},
	{Anthropic, "claude-opus-4-7", model.Price{Input: 5, Cached: 0.50, Written: 6.25, Output: 25}},
	{Anthropic, "claude-opus-4-6", model.Price{Input: 5, Cached: 0.50, Written: 6.25, Output: 25}},
	{Anthropic, "claude-opus-4-5", model.Price{Input: 5, Cached: 0.50, Written: 6.25, Output: 25}},
	{Anthropic, "claude-sonnet-5-5", model.Price{Input: 2, Cached: 0.10, Written: 2.50, Output: 10}},
	{Anthropic, "claude-sonnet-5", model.Price{Input: 2, Cached: 0.20, Written: 2.50, Output: 10}},
	{Anthropic, "claude-sonnet-4-6", model.Price{Input: 3, Cached: 0.30, Written: 3.75, Output: 15}},
	{Anthropic, "claude-sonnet-4-5", model.Price{Input: 3, Cached: 0.30, Written: 3.75, Output: 15}},
	{Anthropic, "claude-haiku-4-5", model.Price{Input: 1, Cached: 0.10, Written: 1.25, Output: 5}},
	{OpenAI, "gpt-5.5", model.Price{Input: 5, Cached: 0.50, Output: 30, UpTo: 272_000}},
	{OpenAI, "gpt-5.4", model.Price{Input: 2.50, Cached: 0.25, Output: 15, UpTo: 272_000}},
	{OpenAI, "gpt-5.4-mini", model.Price{Input: 0.75, Cached: 0.075, Output: 4.50}},
	{OpenAI, "gpt-5.4-nano", model.Price{Input: 0.20, Cached: 0.02, Output: 1.25}},
	{OpenAI, "gpt-5-mini", model.Price{Input: 0.25, Cached: 0.025, Output: 2}},
}

// priceOf returns the price of the model of cfg: from cfg, else from the table. The table applies only at the
// provider's own address.
func priceOf(cfg Config, own bool) model.Price {
	if p, ok := cfg.Prices[cfg.Model]; ok {
		return p
	}
	if own {
		for _, p := range prices {
			if p.provider == cfg.Provider && (p.model == cfg.Model || p.model == undated(cfg.Model)) {
				return p.Price
			}
		}
	}
	return model.Price{}
}

// undated returns the name of a model without its date, -20250929 or -2025-09-29.
func undated(name string) string {
	for _, form := range []string{"-dddddddd", "-dddd-dd-dd"} {
		i := len(name) - len(form)
		if i <= 0 {
			continue
		}
		match := true
		for j := range len(form) {
			c, digit := name[i+j], form[j] == 'd'
			match = match && (digit && c >= '0' && c <= '9' || !digit && c == form[j])
		}
		if match {
			return name[:i]
		}
	}
	return name
}
