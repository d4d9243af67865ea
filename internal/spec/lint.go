package spec

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ken/internal/outline"
	"ken/internal/repo"
)

// LintResult is what is wrong with a tree of specs. Errors are broken; warnings are
// worth a look.
type LintResult struct {
	Errors   []Finding `json:"errors"`
	Warnings []Finding `json:"warnings"`
}

// A Finding is one thing that is wrong, and what closes it.
type Finding struct {
	Rule    string
	Node    string // "" when it is about none
	Path    string // of the file, if it is about one
	Line    int    // from 1, if it is about one
	Message string
	Fix     string
}

// MarshalJSON writes every field, null for what the finding is not about.
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

// The rules of lint, beside those of [Problem].
const (
	RuleIntegrity = "integrity" // what is governed or referred to exists
	RuleLiving    = "living"    // a body says how things are, not how they came about
	RuleMention   = "mention"   // a node that is mentioned exists
	RuleID        = "id-format" // a name is an id as it stands
	RuleCoverage  = "coverage"  // every source file is somebody's
	RuleOwners    = "owners"    // and not everybody's
	RuleNothing   = "nothing"   // a tree that governs nothing cannot fail
	RuleLimit     = "limit"     // everything can be checked
)

// LintOptions says what to hold the tree against.
type LintOptions struct {
	Tracked []repo.Path // every path that git's index has, sorted
	// Unmerged are those of them that a merge has not been decided for.
	Unmerged []repo.Path
	// Outlines are those of files of which entries name a part, by path; of the others,
	// and of what no grammar can read, nothing is said.
	Outlines map[repo.Path]*outline.Outline
	// Sources are those that should be governed or referred to; coverage is not
	// asked for when nil.
	Sources   []repo.Path
	MaxOwners int // of one file; 3 when 0

	parts *locator // of Tracked; one is made when nil
}

// shownPaths is how many paths a summary names.
const shownPaths = 5

// Lint checks the nodes of one tree. What there are too many globs for is an error of
// its own among those found; the only error that is returned is that of a context that is
// done.
func Lint(ctx context.Context, nodes []*Node, opts LintOptions) (LintResult, error) {
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
	left := 0 // entries that nobody could check
	for _, n := range nodes {
		if err := ctx.Err(); err != nil {
			return LintResult{}, err
		}
		for _, p := range n.Problems {
			l.Errors = append(l.Errors, n.finding(p.Rule, p.Line, p.Message, p.Fix))
		}
		if slices.Contains(opts.Unmerged, n.Path) && !torn(n.Problems) {
			p := unmerged(n.Path)
			l.Errors = append(l.Errors, n.finding(p.Rule, p.Line, p.Message, p.Fix))
		}
		dangling, unknown := n.integrity(opts.parts)
		l.Errors = append(l.Errors, dangling...)
		left += unknown
		l.Errors = append(l.Errors, n.symbols(opts)...)
		l.Errors = append(l.Errors, n.living()...)
		l.Errors = append(l.Errors, n.mentions(ids)...)
		l.Warnings = append(l.Warnings, n.idFormat()...)
	}
	loose, enough := coverage(ctx, nodes, opts)
	l.Warnings = append(l.Warnings, loose...)
	crowded, also := owners(ctx, nodes, opts)
	l.Warnings = append(l.Warnings, crowded...)
	if err := ctx.Err(); err != nil {
		return LintResult{}, err
	}
	if left > 0 || !enough || !also {
		l.Errors = append(l.Errors, tooManyGlobs(left, enough, also, &opts.parts.limit))
	}
	governs := func(n *Node) bool { return len(n.Code) > 0 }
	if len(nodes) > 0 && !slices.ContainsFunc(nodes, governs) {
		l.Warnings = append(l.Warnings, Finding{
			Rule: RuleNothing, Message: "no spec governs any code, so none can drift",
			Fix: "add a code: list of files to a spec",
		})
	}
	return l, nil
}

// tooManyGlobs says what nobody checked.
func tooManyGlobs(entries int, covered, owned bool, limit *matchLimit) Finding {
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
		Rule: RuleLimit, Message: "not checked: " + strings.Join(left, ", ") + ": " + limit.reason(),
		Fix: "use files and directories instead of globs",
	}
}

func (n *Node) finding(rule string, line int, message, fix string) Finding {
	return Finding{Rule: rule, Node: n.ID, Path: n.Path.String(), Line: line, Message: message, Fix: fix}
}

// integrity finds entries that name nothing, and counts those of which nobody can tell.
func (n *Node) integrity(tracked *locator) (out []Finding, unknown int) {
	for list, e := range n.entries() {
		is, known := tracked.names(e)
		if !known {
			unknown++
		}
		if is || !known {
			continue
		}
		fix := "name the new path, or remove the entry from " + n.Path.String()
		if file, ok := e.placeless(); ok && file.names(tracked.tracked) {
			fix = fmt.Sprintf("line numbers are not allowed: write %s, or %s#NAME for a part of it", file, file)
		}
		out = append(out, n.finding(RuleIntegrity, 0, fmt.Sprintf("%s: %s", list, e.nowhere()), fix))
	}
	return out, unknown
}

// entries are those of the node, each behind the name of its list.
func (n *Node) entries() iter.Seq2[string, Entry] {
	return func(yield func(string, Entry) bool) {
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

// nowhere says of an entry that it names nothing.
func (e Entry) nowhere() string { return "git tracks no file " + show(e.Text) }

// placeless returns an entry such as a.go:3 without the place in the file.
func (e Entry) placeless() (Entry, bool) {
	file, place, ok := strings.Cut(e.Path, ":")
	return Entry{Path: file}, ok && e.Kind == FileEntry && place != "" && strings.Trim(place, "0123456789:-") == ""
}

// symbols finds entries that name a part that no file of theirs has.
func (n *Node) symbols(opts LintOptions) []Finding {
	var out []Finding
	for list, e := range n.entries() {
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
		out = append(out, n.finding(RuleSymbol, 0, fmt.Sprintf("%s: no symbol %s in %s", list, show(e.Symbol), where),
			fmt.Sprintf("name another symbol, or the whole file: %s", Entry{Path: e.Path, Kind: e.Kind})))
	}
	return out
}

// names reports whether an entry names any of the paths, which are sorted.
func (e Entry) names(paths []repo.Path) bool {
	i, exact := slices.BinarySearch(paths, repo.Path(e.Path))
	if exact && e.Kind != DirEntry || e.Path == "" && len(paths) > 0 {
		return true
	}
	if _, literal := slices.BinarySearch(paths, e.literal()); literal && e.Symbol != "" {
		return true
	}
	below := repo.Path(e.Path + "/")
	if j, _ := slices.BinarySearch(paths[i:], below); i+j < len(paths) && strings.HasPrefix(string(paths[i+j]), string(below)) {
		return true
	}
	return e.Kind == GlobEntry && slices.ContainsFunc(e.among(paths), e.Matches)
}

// among returns those of the paths, which are sorted, that an entry may match: the one at
// which it begins, for lib/** matches lib too, and those below.
func (e Entry) among(paths []repo.Path) []repo.Path {
	base := e.Path
	if e.Kind == GlobEntry {
		base, _ = doublestar.SplitPattern(e.Path)
	}
	if base == "" || e.Kind == GlobEntry && base == "." {
		return paths
	}
	first, _ := slices.BinarySearch(paths, repo.Path(base+"/"))
	end, _ := slices.BinarySearch(paths, repo.Path(base+"0")) // which follows the slash
	if i, there := slices.BinarySearch(paths, repo.Path(base)); there {
		return slices.Concat(paths[i:i+1], paths[first:end])
	}
	return paths[first:end]
}

// living finds headings that keep a history in the body, which git keeps.
func (n *Node) living() []Finding {
	var out []Finding
	for _, h := range headings(n.Body) {
		if versionHeading(h.text) {
			out = append(out, n.finding(RuleLiving, n.BodyLine+h.line,
				"the heading "+show(h.text)+" keeps a history in the text",
				"describe the present state; git keeps the history: ken spec history "+n.ID))
		}
	}
	return out
}

// versionHeading reports a heading such as v2, V 1.3 or v3 - later.
func versionHeading(text string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(text), "v")
	if !ok {
		return false
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "ersion"), " ")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
	return digits > 0 && rest[0] != '.' && (len(rest) == digits || strings.IndexByte(" :-(", rest[digits]) >= 0)
}

// mentions finds [[id]]s in the prose of nodes that are not there.
func (n *Node) mentions(ids map[string]bool) []Finding {
	var out []Finding
	for _, m := range mentionsIn(n.Body) {
		if !ids[m.id] {
			out = append(out, n.finding(RuleMention, n.BodyLine+m.line, "unknown spec "+show(m.id),
				"mention another spec, or put an example in backticks"))
		}
	}
	return out
}

// idFormat finds directories whose name is not their id.
func (n *Node) idFormat() []Finding {
	name := n.Dir().Base()
	switch {
	case n.ID == name || n.Dir() == Root:
		return nil
	case token(name) != name:
		return []Finding{n.finding(RuleID, 0, fmt.Sprintf("the directory name %s cannot be an id; ken uses %s", show(name), n.ID),
			"rename it: letters, digits and hyphens")}
	default:
		return []Finding{n.finding(RuleID, 0, fmt.Sprintf("several specs are named %s; this one has the id %s", show(name), n.ID),
			"rename all but one")}
	}
}

// coverage finds sources that no node governs or refers to; enough is false when there
// are too many globs to tell, or the context is done.
func coverage(ctx context.Context, nodes []*Node, opts LintOptions) (found []Finding, enough bool) {
	var loose []string
	known := newEntryIndex(nodes, func(n *Node) []Entry { return slices.Concat(n.Code, n.Related) })
	for _, p := range opts.Sources {
		if ctx.Err() != nil || !opts.parts.limit.allow(known.cost(p)) {
			return nil, false
		}
		if !known.moreThan(0, p) {
			loose = append(loose, p.String())
		}
	}
	if len(loose) == 0 {
		return nil, true
	}
	return []Finding{{
		Rule: RuleCoverage, Message: fmt.Sprintf("no spec governs or refers to %s", few(loose, "file")),
		Fix: "add each to the code: or related: list of a spec",
	}}, true
}

// owners finds files that too many nodes govern; enough is as in coverage.
func owners(ctx context.Context, nodes []*Node, opts LintOptions) (found []Finding, enough bool) {
	var crowded []string
	whole := newEntryIndex(nodes, func(n *Node) []Entry {
		return slices.DeleteFunc(slices.Clone(n.Code), func(e Entry) bool { return e.Symbol != "" })
	})
	for _, p := range opts.Tracked {
		if ctx.Err() != nil || !opts.parts.limit.allow(whole.cost(p)) {
			return nil, false
		}
		if whole.moreThan(opts.MaxOwners, p) {
			crowded = append(crowded, p.String())
		}
	}
	if len(crowded) == 0 {
		return nil, true
	}
	return []Finding{{
		Rule: RuleOwners, Message: fmt.Sprintf("more than %d specs govern %s", opts.MaxOwners, few(crowded, "file")),
		Fix: "split the file, merge the specs, or use related: in all but one",
	}}, true
}

// few names some of many.
func few(names []string, what string) string {
	if len(names) == 1 {
		return names[0]
	}
	text := fmt.Sprintf("%d %ss: %s", len(names), what, strings.Join(names[:min(len(names), shownPaths)], ", "))
	if len(names) > shownPaths {
		text += ", …"
	}
	return text
}
