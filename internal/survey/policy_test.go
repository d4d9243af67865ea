package survey_test

import (
	"maps"
	"strings"
	"testing"

	"ken/internal/config"
	"ken/internal/model"
	"ken/internal/repo"
	"ken/internal/survey"
)

// Prices are in dollars. An empty price means that the model is free.
func TestPrices(t *testing.T) {
	var p survey.Policy
	err := config.Parse([]byte("prices: {m1: {input: 1.5, output: 6, cached: 0.1, written: 2}, local: {}}"), &p)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]model.Price{"m1": {Input: 1.5, Output: 6, Cached: 0.1, Written: 2}, "local": {Free: true}}
	if !maps.Equal(p.Prices, want) {
		t.Errorf("prices are %+v, want %+v", p.Prices, want)
	}
	for _, bad := range []string{"{m: {input: -1}}", "{m: {output: .nan}}", "{m: {input: .inf}}", "{m: {price: 1}}", "{m: cheap}", "[m]"} {
		if config.Parse([]byte("prices: "+bad), new(survey.Policy)) == nil {
			t.Errorf("Parse accepted the prices %s; want an error", bad)
		}
	}
}

// The paths of ranks are cleaned, and every value is checked.
func TestPolicy(t *testing.T) {
	var p survey.Policy
	text := "{provider: command, command: [x, -v], protocol: json, ranks: {a/: priority, .: skip, b/../c: shallow}, max_cost: 0}"
	if err := config.Parse([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	want := map[repo.Path]survey.Rank{"a": survey.RankPriority, "": survey.RankSkip, "c": survey.RankShallow}
	if !maps.Equal(p.Ranks, want) {
		t.Errorf("ranks are %v, want %v", p.Ranks, want)
	}
	for text, want := range map[string]string{
		"provider: openal":     `unknown provider "openal" (valid: outline, anthropic, openai, command)`,
		"provider: command":    "the provider command needs survey.command",
		"protocol: xml":        `unknown protocol "xml" (valid: text, json)`,
		"jobs: -1":             "jobs, max_tokens and max_cost cannot be negative",
		"max_tokens: -1":       "jobs, max_tokens and max_cost cannot be negative",
		"max_cost: .nan":       "jobs, max_tokens and max_cost cannot be negative",
		"exclude: ['[a']":      `glob "[a" is malformed`,
		"ranks: {a: foremost}": "foremost",
	} {
		err := config.Parse([]byte(text), new(survey.Policy))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", text, err, want)
		}
	}
}
