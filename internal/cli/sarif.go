package cli

import (
	"net/url"
	"slices"

	"ken/internal/repo"
)

// A sarifLog is the part of SARIF 2.1.0 that code scanning reads.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	// Automation separates the results of one command: code scanning replaces older ones with the same id.
	Automation *sarifAutomation `json:"automationDetails,omitempty"`
	Results    []sarifResult    `json:"results"`
}

type sarifAutomation struct {
	ID string `json:"id"`
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
	Related   []sarifLocation `json:"relatedLocations,omitempty"`
	// Fingerprints identify a result when its line moves.
	Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	ID       int        `json:"id,omitempty"`
	Message  *sarifText `json:"message,omitempty"`
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

// newSARIFRun returns a run without results.
func newSARIFRun(version string) *sarifRun {
	run := &sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "ken", Version: version, Rules: []sarifRule{}}
	return run
}

// add adds a result at a line of a file, and its rule if that is new. Code scanning accepts no result without a place,
// so a result without a line is at line 1.
func (r *sarifRun) add(rule sarifRule, level, text, path string, line int) *sarifResult {
	rules := &r.Tool.Driver.Rules
	if !slices.ContainsFunc(*rules, func(known sarifRule) bool { return known.ID == rule.ID }) {
		*rules = append(*rules, rule)
	}
	at := []sarifLocation{sarifPlace(path, line)}
	r.Results = append(r.Results, sarifResult{RuleID: rule.ID, Level: level, Message: sarifText{text}, Locations: at})
	return &r.Results[len(r.Results)-1]
}

func sarifPlace(path string, line int) (l sarifLocation) {
	l.Physical.Artifact.URI = sarifURI(path)
	l.Physical.Region = &sarifRegion{max(line, 1)}
	return l
}

// log returns the document with this run.
func (r *sarifRun) log() sarifLog {
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{*r}}
}
