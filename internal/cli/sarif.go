package cli

import (
	"cmp"
	"maps"
	"net/url"
	"slices"

	"ken/internal/repo"
	"ken/internal/spec"
)

// The part of SARIF 2.1.0 that code scanning reads.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string     `json:"id"`
	Short *sarifText `json:"shortDescription,omitempty"`
	Help  *sarifText `json:"help,omitempty"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

// sarifURI is a path as a URI reference.
func sarifURI(path string) string {
	if raw, ok := repo.Unquote(path); ok {
		path = string(raw)
	}
	return (&url.URL{Path: path}).EscapedPath()
}

// sarifOf puts what lint found into SARIF.
func sarifOf(version string, found spec.LintResult) sarifLog {
	var run sarifRun
	run.Tool.Driver = sarifDriver{Name: "ken", Version: version, Rules: []sarifRule{}}
	run.Results = []sarifResult{}
	rules := make(map[string]bool)
	add := func(level string, findings []spec.Finding) {
		for _, f := range findings {
			rules[f.Rule] = true
			r := sarifResult{RuleID: f.Rule, Level: level, Message: sarifText{f.Message + "; " + f.Fix}}
			// Code scanning takes no result without a place.
			var l sarifLocation
			l.Physical.Artifact.URI = sarifURI(cmp.Or(f.Path, spec.Root))
			l.Physical.Region = &sarifRegion{max(f.Line, 1)}
			r.Locations = []sarifLocation{l}
			run.Results = append(run.Results, r)
		}
	}
	add("error", found.Errors)
	add("warning", found.Warnings)
	for _, id := range slices.Sorted(maps.Keys(rules)) {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: id})
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}
