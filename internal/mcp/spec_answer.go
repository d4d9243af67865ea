package mcp

import (
	"cmp"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/spec"
)

// A specAnswer is a part of the documents of ken spec, with the same field names.
type specAnswer struct {
	Head repo.ID        `json:"head,omitzero"` // the commit it was judged at
	Main *spec.Mainline `json:"main,omitempty"`
	// Counts counts all specs by status. A spec that cannot be judged counts as unknown,
	// whatever it declares.
	Counts map[string]int `json:"counts,omitempty"`
	Nodes  []specRow      `json:"nodes,omitzero"`
	Node   *specNode      `json:"node,omitempty"`
	Owners []specOwned    `json:"owners,omitzero"`
	Wrong  []pathError    `json:"errors,omitempty"` // paths without an answer
	// Omitted is the number of specs above the limit.
	Omitted int             `json:"omitted,omitempty"`
	Unknown []fault.Unknown `json:"unknown,omitempty"`
	Note    string          `json:"note,omitempty"`

	listed []spec.ListedSpec // the specs of Nodes
}

// A specRow is a spec in a list. Fields with their usual value are left out; unknown
// values are null.
type specRow struct {
	ID         string                `json:"id"`
	Title      string                `json:"title,omitempty"` // unless it equals the id
	Desc       string                `json:"desc,omitempty"`
	Status     spec.Status           `json:"status"`
	Version    *int                  `json:"version"`
	Drift      *int                  `json:"drift"`
	Grade      *fresh.Grade          `json:"grade,omitempty"`
	DriftFiles []spec.DriftFile      `json:"drift_files,omitempty"`
	Dirty      bool                  `json:"dirty,omitempty"`
	Ghost      bool                  `json:"ghost,omitempty"`
	Overlays   []spec.ProposedChange `json:"overlays,omitempty"`
	Missing    []string              `json:"missing,omitempty"`
	Problems   int                   `json:"problem_count,omitempty"`
	LeftOut    leftOut               `json:"left_out,omitempty"`
}

// A specNode is one spec with its text.
type specNode struct {
	spec.ListedSpec
	Body    *string           `json:"body"` // null if only another worktree has it
	History []spec.HistoryRow `json:"history,omitzero"`
	LeftOut leftOut           `json:"left_out,omitempty"`
}

type specOwned struct {
	spec.Ownership
	LeftOut leftOut `json:"left_out,omitempty"`
}

// leftOut counts the items, or bytes of a text, that were left out of a field.
type leftOut map[string]int

// Limits of an answer. Specs that pass ken spec lint are far below them.
const (
	rowItems  = 5   // of a list within a row
	nodeItems = 50  // of a list of one node
	textRunes = 160 // of a text on one line
	bodyBytes = 24 << 10
)

// capped returns the first items of a list and notes how many are left out.
func capped[T any](out *leftOut, name string, list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	out.note(name, len(list)-most)
	return slices.Clip(list[:most])
}

func (l *leftOut) note(name string, n int) {
	if *l == nil {
		*l = make(leftOut)
	}
	(*l)[name] = n
}

// line shortens a text to one line.
func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= textRunes {
		return text
	}
	if r := []rune(text); len(r) > textRunes {
		return string(r[:textRunes]) + "…"
	}
	return text
}

// listAnswer lists specs, the worst first.
func listAnswer(l *spec.Listing, limit int) *specAnswer {
	out := &specAnswer{Head: l.Head, Main: &l.Main, Counts: make(map[string]int)}
	for _, n := range l.Nodes {
		if isUnjudged(n) {
			out.Counts[spec.StatusUnknown.String()]++
		} else {
			out.Counts[n.Status.String()]++
		}
	}
	if len(l.Nodes) == 0 {
		out.Note = "no specs yet; write .spec/NAME/spec.md, or run: ken spec new NAME --code PATH"
	}
	out.addRows(l, slices.Clone(l.Nodes), limit)
	return out
}

// addRows lists specs, the worst first, and the reasons for unknown facts, each once.
func (a *specAnswer) addRows(l *spec.Listing, nodes []spec.ListedSpec, limit int) {
	slices.SortStableFunc(nodes, worse)
	if len(nodes) > limit {
		nodes, a.Omitted = nodes[:limit], len(nodes)-limit
	}
	a.listed = nodes
	a.Nodes = make([]specRow, 0, len(nodes))
	unknown := slices.Clone(l.Unknown)
	for _, n := range nodes {
		a.Nodes = append(a.Nodes, row(n))
		unknown = append(unknown, n.Unknown...)
	}
	a.addUnknown(unknown)
}

// addUnknown adds each reason once, on one line.
func (a *specAnswer) addUnknown(list []fault.Unknown) {
	for _, u := range list {
		u.Why, u.Command = line(u.Why), forAgents(u.Command)
		if !slices.Contains(a.Unknown, u) {
			a.Unknown = append(a.Unknown, u)
		}
	}
	if more := len(a.Unknown) - nodeItems; more > 0 {
		a.Unknown = a.Unknown[:nodeItems]
		a.Note = "unknown is shortened; ask for one spec by its id"
	}
}

// worse orders specs: highest grade, most drift, then unknown, broken and active ones.
func worse(a, b spec.ListedSpec) int {
	return cmp.Or(
		cmp.Compare(gradeRank(b), gradeRank(a)),
		cmp.Compare(orZero(b.Drift), orZero(a.Drift)),
		cmp.Compare(attention(b), attention(a)),
	)
}

func gradeRank(n spec.ListedSpec) int {
	if n.Grade == nil || orZero(n.Drift) == 0 {
		return -1
	}
	return n.Grade.Rank()
}

func attention(n spec.ListedSpec) int {
	switch {
	case n.Status == spec.StatusUnknown || n.Drift == nil || n.Version == nil:
		return 3
	case len(n.Problems) > 0 || len(n.Missing) > 0:
		return 2
	case n.Status == spec.StatusActive:
		return 1
	default:
		return 0
	}
}

// isUnjudged reports whether a status is only declared, because git cannot be read.
func isUnjudged(n spec.ListedSpec) bool {
	return n.Status == spec.StatusMerged && (n.Drift == nil || n.Version == nil)
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func row(n spec.ListedSpec) specRow {
	r := specRow{
		ID: n.ID, Desc: line(n.Desc), Status: n.Status, Version: n.Version, Drift: n.Drift, Grade: n.Grade,
		Dirty: n.Dirty != nil && *n.Dirty, Ghost: n.Ghost, Problems: len(n.Problems),
	}
	if !strings.EqualFold(n.Title, n.ID) {
		r.Title = line(n.Title)
	}
	behind := slices.Clone(n.DriftFiles)
	slices.SortStableFunc(behind, func(a, b spec.DriftFile) int { return cmp.Compare(b.Behind, a.Behind) })
	r.DriftFiles = capped(&r.LeftOut, "drift_files", behind, rowItems)
	r.Overlays = capped(&r.LeftOut, "overlays", n.Overlays, rowItems)
	r.Missing = capped(&r.LeftOut, "missing", n.Missing, rowItems)
	return r
}

// nodeAnswer returns one spec with its text.
func nodeAnswer(l *spec.Listing, n *spec.ListedSpec, body *string) *specAnswer {
	out := &specAnswer{Head: l.Head, Node: &specNode{ListedSpec: *n, Body: body}}
	s := out.Node
	s.DriftFiles = capped(&s.LeftOut, "drift_files", s.DriftFiles, nodeItems)
	s.Code = capped(&s.LeftOut, "code", s.Code, nodeItems)
	s.Related = capped(&s.LeftOut, "related", s.Related, nodeItems)
	s.Overlays = capped(&s.LeftOut, "overlays", s.Overlays, nodeItems)
	s.Problems = capped(&s.LeftOut, "problems", s.Problems, nodeItems)
	s.Missing = capped(&s.LeftOut, "missing", s.Missing, nodeItems)
	if body != nil && len(*body) > bodyBytes {
		// Cut at the end of a line if there is one.
		to := strings.LastIndexByte((*body)[:bodyBytes], '\n') + 1
		if to == 0 {
			to = bodyBytes
		}
		s.Body = new(strings.ToValidUTF8((*body)[:to], ""))
		s.LeftOut.note("body", len(*body)-to)
		out.Note = "the body is shortened; read the file at path for the rest"
	}
	out.addUnknown(l.Unknown)
	return out
}

func (s *specNode) addHistory(rows []spec.HistoryRow) {
	s.History = capped(&s.LeftOut, "history", rows, nodeItems)
}

// ownersAnswer returns the specs that govern paths.
func ownersAnswer(l *spec.Listing, owners []spec.Ownership, limit int) *specAnswer {
	out := &specAnswer{Head: l.Head, Owners: []specOwned{}}
	governing := make(map[string]bool)
	for _, o := range owners {
		for _, c := range o.Governing {
			governing[c.ID] = true
		}
		s := specOwned{Ownership: o}
		s.Governing = claims(&s.LeftOut, "governing", o.Governing)
		s.Related = claims(&s.LeftOut, "related", o.Related)
		out.Owners = append(out.Owners, s)
	}
	nodes := slices.DeleteFunc(slices.Clone(l.Nodes), func(n spec.ListedSpec) bool { return !governing[n.ID] })
	for i := range nodes {
		nodes[i].Desc = "" // owners have it
	}
	out.addRows(l, nodes, limit)
	return out
}

func claims(out *leftOut, name string, list []spec.Claim) []spec.Claim {
	list = slices.Clone(capped(out, name, list, nodeItems))
	for i := range list {
		list[i].Desc = line(list[i].Desc)
	}
	return list
}
