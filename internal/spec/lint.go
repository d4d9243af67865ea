package spec

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// LintResult has the findings about a tree of specs. Errors must be fixed; warnings should be reviewed.
type LintResult struct {
	Errors   []Finding `json:"errors"`
	Warnings []Finding `json:"warnings"`
}

// A Finding is one defect and how to fix it.
type Finding struct {
	Rule    string
	Node    string // "" if it concerns no single node
	Path    string // of the spec file, "" without one
	Line    int    // from 1; 0 without one
	Message string
	Fix     string
}

// MarshalJSON writes every field, null for an empty one.
func (f Finding) MarshalJSON() ([]byte, error) {
	doc := struct {
		Rule    string  `json:"rule"`
		Node    *string `json:"node"`
		Path    *string `json:"path"`
		Line    *int    `json:"line"`
		Message string  `json:"message"`
		Fix     string  `json:"fix"`
	}{Rule: f.Rule, Message: f.Message, Fix: f.Fix}
	if f.Node != "" {
		doc.Node = &f.Node
	}
	if f.Path != "" {
		doc.Path = &f.Path
	}
	if f.Line > 0 {
		doc.Line = &f.Line
	}
	return json.Marshal(doc)
}

// The rules of lint, in addition to those of [Problem].
const (
	RuleIntegrity = "integrity" // every entry matches a tracked file
	RuleLiving    = "living"    // the body describes the present state, not its history
	RuleMention   = "mention"   // every mentioned node exists
	RuleID        = "id-format" // the directory name is the id
	RuleCoverage  = "coverage"  // every source file has a spec
	RuleOwners    = "owners"    // no file has too many specs
	RuleNothing   = "nothing"   // some spec governs code
	RuleLimit     = "limit"     // the limit on globs is not reached
)

// LintOptions are the files that lint checks the specs against.
type LintOptions struct {
	Tracked []repo.Path // every path in the index, sorted
	// Unmerged are the tracked paths with an unresolved merge.
	Unmerged []repo.Path
	// Outlines has the outlines of the files in which an entry names a symbol. Symbols are not checked in a file
	// without an outline.
	Outlines map[repo.Path]*outline.Outline
	// Sources are the files that some spec should govern or refer to. nil turns off the coverage check.
	Sources   []repo.Path
	MaxOwners int // the most specs that may govern a file; 0 means 3

	parts *locator // an index of Tracked; nil makes one
}

// shownPaths is the number of paths that a message lists.
const shownPaths = 5

// Lint checks the nodes of one tree. If there are too many globs to check everything, a finding says so. Lint
// returns an error only if the context is done.
func Lint(ctx context.Context, nodes []*parse.Node, opts LintOptions) (LintResult, error) {
	if opts.MaxOwners == 0 {
		opts.MaxOwners = 3
	}
	if opts.parts == nil {
		opts.parts = newLocator(opts.Tracked)
	}
	l := LintResult{Errors: []Finding{}, Warnings: []Finding{}}
	ids := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		ids[n.ID] = true
	}
	left := 0 // the number of entries that could not be checked
	for _, n := range nodes {
		if err := ctx.Err(); err != nil {
			return LintResult{}, err
		}
		for _, p := range n.Problems {
			l.Errors = append(l.Errors, newFinding(n, p.Rule, p.Line, p.Message, p.Fix))
		}
		if slices.Contains(opts.Unmerged, n.Path) && !parse.HasConflict(n.Problems) {
			p := parse.UnmergedProblem(n.Path)
			l.Errors = append(l.Errors, newFinding(n, p.Rule, p.Line, p.Message, p.Fix))
		}
		dangling, unknown := checkEntries(n, opts.parts)
		l.Errors = append(l.Errors, dangling...)
		left += unknown
		l.Errors = append(l.Errors, checkSymbols(n, opts)...)
		l.Errors = append(l.Errors, checkHeadings(n)...)
		l.Errors = append(l.Errors, checkMentions(n, ids)...)
		l.Warnings = append(l.Warnings, checkID(n)...)
	}
	uncovered, enough := coverage(ctx, nodes, opts)
	l.Warnings = append(l.Warnings, uncovered...)
	overOwned, also := owners(ctx, nodes, opts)
	l.Warnings = append(l.Warnings, overOwned...)
	if err := ctx.Err(); err != nil {
		return LintResult{}, err
	}
	if left > 0 || !enough || !also {
		l.Errors = append(l.Errors, tooManyGlobs(left, enough, also, &opts.parts.limit))
	}
	governs := func(n *parse.Node) bool { return len(n.Code) > 0 }
	if len(nodes) > 0 && !slices.ContainsFunc(nodes, governs) {
		l.Warnings = append(l.Warnings, Finding{
			Rule: RuleNothing, Message: "no spec governs any code, so none can drift",
			Fix: "add a code: list of files to a spec",
		})
	}
	return l, nil
}

// tooManyGlobs returns the finding that lists the checks that were left out.
func tooManyGlobs(entries int, covered, owned bool, limit *parse.MatchLimit) Finding {
	var left []string
	if entries > 0 {
		left = append(left, fmt.Sprintf("whether %d entries match a file", entries))
	}
	if !covered {
		left = append(left, "which files no spec governs")
	}
	if !owned {
		left = append(left, "which files too many specs govern")
	}
	return Finding{
		Rule: RuleLimit, Message: "not checked: " + strings.Join(left, ", ") + ": " + limit.Reason(),
		Fix: "use files and directories instead of globs",
	}
}

func newFinding(n *parse.Node, rule string, line int, message, fix string) Finding {
	return Finding{Rule: rule, Node: n.ID, Path: n.Path.String(), Line: line, Message: message, Fix: fix}
}

// checkEntries returns a finding for each entry that matches no file, and the number of entries that could not be
// checked.
func checkEntries(n *parse.Node, tracked *locator) (out []Finding, unknown int) {
	for list, e := range entriesOf(n) {
		is, known := tracked.names(e)
		if !known {
			unknown++
		}
		if is || !known {
			continue
		}
		fix := "name the new path, or remove the entry from " + n.Path.String()
		if file, ok := withoutLine(e); ok && file.MatchesAny(tracked.tracked) {
			fix = fmt.Sprintf("line numbers are not allowed: write %s, or %s#NAME for a part of it", file, file)
		}
		out = append(out, newFinding(n, RuleIntegrity, 0, fmt.Sprintf("%s: %s", list, noSuchFile(e)), fix))
	}
	return out, unknown
}

// entriesOf iterates over the entries of a node, each with the name of its list.
func entriesOf(n *parse.Node) iter.Seq2[string, parse.Entry] {
	return func(yield func(string, parse.Entry) bool) {
		for _, e := range n.Code {
			if !yield("code", e) {
				return
			}
		}
		for _, e := range n.Related {
			if !yield("related", e) {
				return
			}
		}
	}
}

// noSuchFile returns the message about an entry that matches no file.
func noSuchFile(e parse.Entry) string { return "git tracks no file " + parse.Quote(e.Text) }

// withoutLine returns an entry such as a.go:3 without the line number.
func withoutLine(e parse.Entry) (parse.Entry, bool) {
	file, place, ok := strings.Cut(e.Path, ":")
	return parse.Entry{Path: file}, ok && e.Kind == parse.FileEntry && place != "" && strings.Trim(place, "0123456789:-") == ""
}

// checkSymbols returns a finding for each entry whose symbol is in none of its files.
func checkSymbols(n *parse.Node, opts LintOptions) []Finding {
	var out []Finding
	for list, e := range entriesOf(n) {
		files := opts.parts.files(e)
		lacks := func(p repo.Path) bool {
			o := opts.Outlines[p]
			return o != nil && o.Partial == "" && len(o.Find(e.Symbol)) == 0
		}
		if len(files) == 0 || slices.ContainsFunc(files, func(p repo.Path) bool { return !lacks(p) }) {
			continue
		}
		where := files[0].String()
		if len(files) > 1 {
			where = fmt.Sprintf("any of %d files", len(files))
		}
		out = append(out, newFinding(n, parse.RuleSymbol, 0, fmt.Sprintf("%s: no symbol %s in %s", list, parse.Quote(e.Symbol), where),
			fmt.Sprintf("name another symbol, or the whole file: %s", parse.Entry{Path: e.Path, Kind: e.Kind})))
	}
	return out
}

// checkHeadings returns a finding for each heading that names a version: the history belongs in git.
func checkHeadings(n *parse.Node) []Finding {
	var out []Finding
	for _, h := range parse.Headings(n.Body) {
		if versionHeading(h.Text) {
			out = append(out, newFinding(n, RuleLiving, n.BodyLine+h.Line,
				"the heading "+parse.Quote(h.Text)+" keeps a history in the text",
				"describe the present state; git keeps the history: ken spec history "+n.ID))
		}
	}
	return out
}

// versionHeading reports whether a heading names a version, such as v2, V 1.3 or v3 - later.
func versionHeading(text string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(text), "v")
	if !ok {
		return false
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "ersion"), " ")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
	return digits > 0 && rest[0] != '.' && (len(rest) == digits || strings.IndexByte(" :-(", rest[digits]) >= 0)
}

// checkMentions returns a finding for each [[id]] in the body that no node has.
func checkMentions(n *parse.Node, ids map[string]bool) []Finding {
	var out []Finding
	for _, m := range parse.MentionsIn(n.Body) {
		if !ids[m.ID] {
			out = append(out, newFinding(n, RuleMention, n.BodyLine+m.Line, "unknown spec "+parse.Quote(m.ID),
				"mention another spec, or put an example in backticks"))
		}
	}
	return out
}

// checkID returns a warning if the directory name of a node is not its id.
func checkID(n *parse.Node) []Finding {
	name := n.Dir().Base()
	switch {
	case n.ID == name || n.Dir() == parse.Root:
		return nil
	case parse.IDToken(name) != name:
		return []Finding{newFinding(n, RuleID, 0, fmt.Sprintf("the directory name %s cannot be an id; ken uses %s", parse.Quote(name), n.ID),
			"rename it: letters, digits and hyphens")}
	default:
		return []Finding{newFinding(n, RuleID, 0, fmt.Sprintf("several specs are named %s; this one has the id %s", parse.Quote(name), n.ID),
			"rename all but one")}
	}
}

// coverage returns a warning about the sources that no node governs or refers to. ok is false if there are too
// many globs to check that, or the context is done.
func coverage(ctx context.Context, nodes []*parse.Node, opts LintOptions) (found []Finding, ok bool) {
	var uncovered []string
	known := parse.NewEntryIndex(nodes, func(n *parse.Node) []parse.Entry { return slices.Concat(n.Code, n.Related) })
	for _, p := range opts.Sources {
		if ctx.Err() != nil || !opts.parts.limit.Allow(known.Cost(p)) {
			return nil, false
		}
		if !known.MoreThan(0, p) {
			uncovered = append(uncovered, p.String())
		}
	}
	if len(uncovered) == 0 {
		return nil, true
	}
	return []Finding{{
		Rule: RuleCoverage, Message: fmt.Sprintf("no spec governs or refers to %s", fewNames(uncovered, "file")),
		Fix: "add each to the code: or related: list of a spec",
	}}, true
}

// owners returns a warning about the files that too many nodes govern. ok is as in coverage.
func owners(ctx context.Context, nodes []*parse.Node, opts LintOptions) (found []Finding, ok bool) {
	var overOwned []string
	whole := parse.NewEntryIndex(nodes, func(n *parse.Node) []parse.Entry {
		return slices.DeleteFunc(slices.Clone(n.Code), func(e parse.Entry) bool { return e.Symbol != "" })
	})
	for _, p := range opts.Tracked {
		if ctx.Err() != nil || !opts.parts.limit.Allow(whole.Cost(p)) {
			return nil, false
		}
		if whole.MoreThan(opts.MaxOwners, p) {
			overOwned = append(overOwned, p.String())
		}
	}
	if len(overOwned) == 0 {
		return nil, true
	}
	return []Finding{{
		Rule: RuleOwners, Message: fmt.Sprintf("more than %d specs govern %s", opts.MaxOwners, fewNames(overOwned, "file")),
		Fix: "split the file, merge the specs, or use related: in all but one",
	}}, true
}

// fewNames lists the first few of many names.
func fewNames(names []string, what string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%d %ss: %s", len(names), what, english.First(names, shownPaths))
}
