// Package scale computes what ken costs beyond the machine it is tried on: rows, bytes,
// rates, workers and dollars for so many developers, repositories and files.
//
// There are two ways to the same figures. [Compute] is arithmetic on averages, from what is
// assumed of people ([Assumptions]) and what was measured of the program ([Measured]).
// [Simulate] plays days of commits, event by event, and knows nothing of the arithmetic;
// where the two disagree, docs/scale.md says by how much. Everything here is pure: the same
// input gives the same figures. Measuring belongs to the command around it.
package scale

import (
	"fmt"
	"math"
	"strings"
)

// Assumptions are what is not ken's to decide: who works on what, how much and how fast. A
// day is a working day.
type Assumptions struct {
	Developers   float64
	Repositories float64
	Files        float64 // tracked, in all repositories

	Spread            float64 // of repositories' sizes: the standard deviation of ln(files)
	FilesPerDirectory float64
	Described         float64 // share of the files that deserve a text

	Clones     float64 // work trees of a developer that use the store
	CloneLean  float64 // how clones lean to large repositories: to the power of their files
	Commits    float64 // of a developer in a day, into what everybody has
	CommitLean float64 // how commits lean to large repositories

	Changed float64 // files of a commit with a content that no text is about
	Own     float64 // directories that a commit makes stale by their own files
	Above   float64 // directories above these, at most
	Cutoff  float64 // share of texts written anew that keep their words, and end it there

	OwnTokens      float64 // of a commit, to refresh directories stale by their own files
	AboveTokens    float64 // of a commit, to refresh all above
	DescribeTokens float64 // of a file, in the first survey
	AnswerTokens   float64 // of these, written about a directory
	TextTokens     float64 // of these, written about a file
	Input, Output  float64 // dollars for a million tokens

	Latency float64 // seconds a provider takes for a directory
	Peak    float64 // rate in the busiest moment of a day, by the mean over 24 hours
	Load    float64 // how busy workers may be in it
	Survey  float64 // days that the first survey may take

	Syncs float64 // of a developer in a day
	Jobs  float64 // slots of a worker
}

// A Field is one assumption, with how far it may be off and where it comes from.
type Field struct {
	Key       string
	Value     *float64
	Low, High float64 // what it could as well be; equal when it is given
	What      string
	Source    string
}

// Fields lists the assumptions; what is set through it is set.
func (a *Assumptions) Fields() []Field {
	const (
		given   = "given"
		assumed = "assumed"
		sample  = "67 public repositories"
		prove   = "`ken prove` on six"
	)
	return []Field{
		{"developers", &a.Developers, a.Developers, a.Developers, "developers", given},
		{"repositories", &a.Repositories, a.Repositories, a.Repositories, "repositories", given},
		{"files", &a.Files, a.Files, a.Files, "files, in all", given},
		{"spread", &a.Spread, 1.2, 1.9, "spread of sizes: standard deviation of ln(files)", sample},
		{"perdirectory", &a.FilesPerDirectory, 4, 9, "files in a directory", sample},
		{"described", &a.Described, 0.5, 1, "share of files that deserve a text", prove},
		{"clones", &a.Clones, 3, 30, "work trees of a developer", assumed},
		{"clonelean", &a.CloneLean, 0, 0.9, "clones are as files to the power of", assumed},
		{"commits", &a.Commits, 2, 15, "commits of a developer and day", assumed},
		{"commitlean", &a.CommitLean, 0.5, 1, "commits are as files to the power of", sample},
		{"changed", &a.Changed, 2, 8, "files of a commit that need a new text", prove},
		{"own", &a.Own, 1.5, 5, "directories of a commit, stale by their files", prove},
		{"above", &a.Above, 1, 7, "directories above these, at most", prove},
		{"cutoff", &a.Cutoff, 0, 0.9, "share of new texts that keep their words", assumed + "; outlines: 0.6"},
		{"owntokens", &a.OwnTokens, 13_000, 53_000, "tokens of a commit, directories stale by their files", prove},
		{"abovetokens", &a.AboveTokens, 3_000, 35_000, "tokens of a commit, all above", prove},
		{"describetokens", &a.DescribeTokens, 1_400, 2_700, "tokens of a file in the first survey", prove},
		{"answertokens", &a.AnswerTokens, 400, 400, "of these, written about a directory", "`ken prove` assumes"},
		{"texttokens", &a.TextTokens, 150, 150, "of these, written about a file", "`ken prove` assumes"},
		{"input", &a.Input, 0.2, 4, "dollars for a million tokens read", "claude-haiku-4-5"},
		{"output", &a.Output, 1.25, 20, "dollars for a million tokens written", "claude-haiku-4-5"},
		{"latency", &a.Latency, 5, 60, "seconds a provider takes for a directory", assumed},
		{"peak", &a.Peak, 2, 6, "busiest moment, by the mean of 24 hours", assumed},
		{"load", &a.Load, 0.5, 0.9, "how busy workers may be then", assumed},
		{"survey", &a.Survey, 10, 60, "days for the first survey", assumed},
		{"syncs", &a.Syncs, 100, 4_000, "syncs of a developer and day", assumed},
		{"jobs", &a.Jobs, 4, 16, "slots of a worker", assumed},
	}
}

// Set reads changes like "commits=10,cutoff=0.8".
func (a *Assumptions) Set(changes string) error {
	for change := range strings.SplitSeq(changes, ",") {
		key, value, _ := strings.Cut(change, "=")
		var v float64
		if _, err := fmt.Sscanf(value, "%g", &v); err != nil || v < 0 || math.IsInf(v, 0) {
			return fmt.Errorf("%q is no assumption like commits=10", change)
		}
		found := false
		for _, f := range a.Fields() {
			if f.Key == key {
				*f.Value, found = v, true
			}
		}
		if !found {
			return fmt.Errorf("nothing is assumed of %q", key)
		}
	}
	return nil
}

// Defaults are the assumptions of docs/scale.md.
func Defaults() Assumptions {
	return Assumptions{
		Developers: 1_000, Repositories: 10_000, Files: 100e6,
		Spread: 1.59, FilesPerDirectory: 5.6, Described: 0.9,
		Clones: 10, CloneLean: 0.5, Commits: 5, CommitLean: 0.92,
		Changed: 4.9, Own: 3, Above: 3.2, Cutoff: 0.5,
		OwnTokens: 26_500, AboveTokens: 16_300, DescribeTokens: 1_890, AnswerTokens: 400, TextTokens: 150,
		Input: 1, Output: 5,
		Latency: 20, Peak: 4, Load: 0.7, Survey: 30,
		Syncs: 500, Jobs: 8,
	}
}

// A Scenario is a way in which ken is used.
type Scenario struct {
	Name string
	Assumptions
}

// Scenarios returns those of docs/scale.md: outlines alone, a small model after each commit
// of people, and agents that commit ten times as often.
func Scenarios(a Assumptions) []Scenario {
	outlines, agents := a, a
	outlines.Input, outlines.Output, outlines.Latency = 0, 0, 0
	agents.Commits, agents.Syncs = 10*a.Commits, 8*a.Syncs
	return []Scenario{{"outlines", outlines}, {"people", a}, {"agents", agents}}
}

// median returns the size of the middle repository, in files: sizes are lognormal.
func (a Assumptions) median() float64 {
	return a.Files / a.Repositories / math.Exp(a.Spread*a.Spread/2)
}

// leaning returns the mean size of what is drawn by files to the power of lean.
func (a Assumptions) leaning(lean float64) float64 {
	return a.Files / a.Repositories * math.Exp(lean*a.Spread*a.Spread)
}

// largest returns the size that one of the repositories is expected to exceed.
func (a Assumptions) largest() float64 {
	return a.median() * math.Exp(a.Spread*math.Sqrt2*math.Erfinv(1-2/a.Repositories))
}

// asked returns how many directories above need a new text: each level only if one below it
// changed its words.
func (a Assumptions) asked() float64 {
	q := 1 - a.Cutoff
	if q == 1 {
		return a.Above
	}
	return q * (1 - math.Pow(q, a.Above)) / (1 - q)
}
