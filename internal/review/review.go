// Package review judges a change: which documents and uses it breaks, which specs drift too far, which tests to
// run, and which summaries it makes stale.
//
// It judges only statements that were true before the change. A [Reviewer] collects the facts: both sides of the
// change, and the search index of the tree after it. [Judge] makes a [Review] from them. Missing facts are listed as
// unknown.
//
// One [Review] serves the command line, JSON, Markdown, SARIF, MCP and the hooks.
package review

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/spec"
)

// A Kind is the subject of a line.
type Kind string

// The kinds, the most important first.
const (
	Docs   Kind = "docs"    // a document mentions a removed thing
	Drift  Kind = "drift"   // a spec fails the gate
	Broken Kind = "broken"  // a use of a removed thing remains
	MayUse Kind = "may use" // a place that may use a removed thing
	Tests  Kind = "tests"   // the tests of the changed files
	Stale  Kind = "stale"   // a summary of older content
	Also   Kind = "also"    // counts
	Unsure Kind = "unsure"  // words that may mean a removed thing
)

// Kinds lists all kinds, the most important first.
var Kinds = []Kind{Docs, Drift, Broken, MayUse, Tests, Stale, Also, Unsure}

// MaxLines limits the lines of a review, unless All is set.
const MaxLines = 8

// A Review lists what a change breaks or makes stale, and the tests to run.
type Review struct {
	From  string `json:"from"` // the commit that the change starts from; "" if it is unknown
	To    string `json:"to"`   // the commit that it ends with, or "worktree"
	Base  string `json:"base"` // the branch or revision of From
	Files int    `json:"files"`
	Lines []Line `json:"lines"` // the most important first
	More  int    `json:"more"`  // lines above the limit
	Older int    `json:"older"` // problems that the change did not cause
	// Unknown are the checks that were not possible. What is the kind of the lines that may be missing, "" for all.
	Unknown []fault.Unknown `json:"unknown"`

	// Signatures counts the changed signatures that a compiler checks, if no line says that something may be broken.
	Signatures int `json:"signatures,omitempty"`
	// OlderLines are the lines about older problems, if All is set.
	OlderLines []Line `json:"debts,omitempty"`
}

// A Line has a place, the reason and the next command.
type Line struct {
	Kind          Kind   `json:"kind"`
	Subject       string `json:"subject"` // a path, the id of a spec, or a count
	repo.PathJSON        // the file that the line is about; "" for several files
	Line          int    `json:"line,omitempty"`
	Text          string `json:"text"`
	Command       string `json:"command,omitempty"` // the command to run next
	// Tests are the test files of a line of the kind tests.
	Tests []repo.PathJSON `json:"tests,omitempty"`
	// Places are the files and lines with one cause, if the line is about several.
	Places []Place `json:"places,omitempty"`
	// UpTo is the number of files that may have such a place, if ken did not read all of them.
	UpTo int `json:"up_to,omitempty"`

	words   []textPart // of Text
	listAll bool       // String lists Tests and Places below the line
}

// A Place is a file with lines that a change breaks.
type Place struct {
	repo.PathJSON
	Lines []int    `json:"lines"`
	More  int      `json:"more,omitempty"`  // further lines
	Names []string `json:"names,omitempty"` // the removed names that the lines may mean, in a line of the kind unsure
}

// Files are the tests or the places of a line about several files.
func (l *Line) Files() []Place {
	list := l.Places
	for _, t := range l.Tests {
		list = append(list, Place{PathJSON: t})
	}
	return list
}

// FirstLine returns the first line of a place; 0 if it is the whole file.
func (p *Place) FirstLine() int {
	if len(p.Lines) == 0 {
		return 0
	}
	return p.Lines[0]
}

// String returns the path, all lines and the names.
func (p *Place) String() string {
	if len(p.Names) == 0 {
		return p.label(len(p.Lines))
	}
	return p.label(len(p.Lines)) + " " + strings.Join(p.Names, ", ")
}

// A textPart is a part of a text: words of ken, or data of the repository, which Markdown must not interpret.
type textPart struct {
	text string
	data bool
}

func prose(text string) textPart { return textPart{text, false} }

func data(text string) textPart { return textPart{text, true} }

// setText sets the text of a line from its parts.
func (l *Line) setText(words ...textPart) {
	l.words = words
	l.Text = joined(words)
}

// joined returns a text from its parts.
func joined(words []textPart) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.text)
	}
	return b.String()
}

// place sets the file of a line.
func (l *Line) place(p repo.Path, line int) {
	l.PathJSON, l.Line = p.JSON(), line
	l.Subject = p.String()
	if line > 0 {
		l.Subject = fmt.Sprintf("%s:%d", p, line)
	}
}

// Facts are the input of Judge.
type Facts struct {
	Change *change.Change
	// Index and Tree are of the tree after the change. Untracked files may be among the changes.
	Index *searchindex.Index
	Tree  find.Tree
	// After lists the files of that tree, including untracked ones.
	After func() []repo.File
	// Policy lists the accepted documents and mentions.
	Policy docs.Policy
	// Gate is the verdict on the specs; nil if there are none.
	Gate *spec.GateResult
	// Summaries are the summaries of the old contents of changed files.
	Summaries []Summary
	// DirsAbove counts the directories above the changed files whose summaries the change makes stale.
	DirsAbove int
	// EditedElsewhere has, by spec, the other worktrees that edit a spec which governs a changed file.
	EditedElsewhere map[string][]string
	// LackingDocs are the documents of the tree after the change whose content git lacks.
	LackingDocs []repo.Path
	// Unknown are the facts that are missing.
	Unknown []fault.Unknown
	// All requests every line.
	All bool
}

// A Summary is a text about the old content of a changed file that was neither confirmed nor rewritten for the new
// content.
type Summary struct {
	Path    repo.Path
	Author  string
	Written bool // by a person or an agent, not by a survey
	Grade   fresh.Grade
}

// Judge returns the review of a change. The caller sets From, To and Base.
func Judge(ctx context.Context, f Facts) (*Review, error) {
	r := &Review{Files: len(f.Change.Files), Lines: []Line{}, Unknown: slices.Clone(f.Unknown)}
	if r.Unknown == nil {
		r.Unknown = []fault.Unknown{}
	}
	j := &judge{ctx: ctx, Facts: f, review: r, paths: make(map[repo.Path]bool), listed: make(map[listedUse]bool)}
	for i := range f.Change.Files {
		j.paths[f.Change.Files[i].Path] = true
	}
	for _, step := range []func() error{j.unread, j.docs, j.drift, j.broken, j.added, j.signatures, j.tests, j.stale, j.also, j.unsure, j.unfindableUsers, j.compiled} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(r.Lines, func(a, b Line) int { return slices.Index(Kinds, a.Kind) - slices.Index(Kinds, b.Kind) })
	return r, nil
}

// A judge makes one review.
type judge struct {
	ctx context.Context
	Facts
	review *Review
	paths  map[repo.Path]bool // that the change touched, in the new tree
	listed map[listedUse]bool // in the lines of the kinds broken and may use

	compilerChecked []*change.Signature // that a compiler checks
}

// A listedUse is a use of a removed symbol; of a whole file if symbol is "".
type listedUse struct {
	from, to repo.Path
	symbol   string
}

func (j *judge) add(l Line) { j.review.Lines = append(j.review.Lines, l) }

func (j *judge) unknown(kind Kind, why, command string) {
	j.review.Unknown = append(j.review.Unknown, fault.Unknown{What: string(kind), Why: why, Command: command})
}

// Limit drops lines above a number. It keeps the first line of each kind, then those of the most important kinds.
func (r *Review) Limit(most int) {
	if len(r.Lines) <= most {
		return
	}
	keep := make([]bool, len(r.Lines))
	left := most
	for _, kind := range Kinds {
		i := slices.IndexFunc(r.Lines, func(l Line) bool { return l.Kind == kind })
		if i >= 0 && left > 0 {
			keep[i] = true
			left--
		}
	}
	for i := range r.Lines {
		if !keep[i] && left > 0 {
			keep[i] = true
			left--
		}
	}
	kept := make([]Line, 0, most)
	for i, l := range r.Lines {
		if keep[i] {
			kept = append(kept, l)
		}
	}
	r.More += len(r.Lines) - len(kept)
	r.Lines = kept
}

// olderLine returns a line about an older problem, which the change did not cause.
func olderLine(kind Kind, p repo.Path, text, command string) Line {
	l := Line{Kind: kind, Command: command}
	l.place(p, 0)
	l.setText(data(text))
	return l
}

// A Policy is the section review of the configuration.
type Policy struct {
	FailOn []Kind `yaml:"fail_on"` // the kinds that fail a check; documents and drift if nil
}

// Kinds returns the kinds that fail a check.
func (p Policy) Kinds() []Kind {
	if p.FailOn == nil {
		return []Kind{Docs, Drift}
	}
	return p.FailOn
}

// Validate returns an error for the first unknown kind.
func (p Policy) Validate() error {
	for _, kind := range p.FailOn {
		if !slices.Contains(Kinds, kind) || kind == Unsure { // no proof that anything is wrong
			return fmt.Errorf("fail_on: unknown kind %q (valid: docs, drift, broken, may use, tests, stale, also)", kind)
		}
	}
	return nil
}

// Fails reports whether the review has a line of one of the kinds, or may have one.
func (r *Review) Fails(kinds []Kind) bool {
	return slices.ContainsFunc(r.Lines, func(l Line) bool { return slices.Contains(kinds, l.Kind) }) ||
		slices.ContainsFunc(r.Unknown, func(u fault.Unknown) bool {
			return u.What == "" || slices.Contains(kinds, Kind(u.What))
		})
}
