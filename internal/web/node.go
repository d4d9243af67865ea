package web

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"ken/internal/board"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/spec"
)

// A nodeBody has the values of the page of a spec.
type nodeBody struct {
	Node     *board.Node
	Parent   *board.Node
	Children []board.Node
	// Raw and Expanded are the two parts of the text. Whole is the text without parts.
	Raw, Expanded, Whole template.HTML
	Conflicted           string // the raw text of a spec with merge conflicts
	Missing              string // why there is no text
	Governed             []governed
	History              []historyRow
	Ahead                []spec.DriftCommit // commits to its code since its last edit or ack
	HistoryUnknown       *fault.Unknown
}

// A historyRow is a version of the spec, or an ack.
type historyRow struct {
	spec.HistoryRow
	Ack *spec.Ack
}

// governed is an entry of a spec's code, or a changed file below one.
type governed struct {
	Text    string
	Behind  int
	Gone    bool      // no tracked file matches
	File    bool      // a changed file below a directory or pattern
	Path    repo.Path // of the file or directory
	HasPage bool      // Page shows it; Name is the query parameter
	Dir     bool
}

// Page is the address of the page for the entry.
func (g governed) Page() string {
	if g.Dir {
		return "/map"
	}
	return "/file"
}

// Name is the query parameter of that page.
func (g governed) Name() string {
	if g.Dir {
		return "dir"
	}
	return "path"
}

// Status is the displayed status.
func (b *nodeBody) Status() string { return displayStatus(b.Node) }

// Elsewhere lists the worktrees that have a spec which this one lacks.
func (b *nodeBody) Elsewhere() []spec.ProposedChange {
	if !b.Node.Ghost {
		return nil
	}
	return b.Node.Overlays
}

// nodePage shows one spec: its text, the files it governs, and its history.
func (s *Server) nodePage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "node", r.PathValue("id"))
	if err != nil || f.Tree == nil {
		return f, err
	}
	if f.Tree.Spec.Known == nil {
		return f, nil // the template shows the reason
	}
	id := r.PathValue("id")
	nodes := f.Tree.Spec.Known.Nodes
	body := nodeAmong(nodes, id)
	if body == nil {
		return f, s.withRepository(r.Context(), f.Worktree, func(ctx context.Context, w *ken.Repository) error {
			if _, err := w.Spec().Node(ctx, id); err != nil {
				return err // the error suggests similar ids
			}
			return statusErr(http.StatusNotFound, "the spec "+id+" was just added", "reload the page")
		})
	}
	f.Title = body.Node.Title
	body.addGoverned(f.Tree)
	f.Body = body
	return f, s.withRepository(r.Context(), f.Worktree, func(ctx context.Context, w *ken.Repository) error {
		body.read(ctx, w, id, f.links(nodes))
		var history *spec.Timeline
		history, body.HistoryUnknown = s.histories.get(ctx, historyKey{f.Worktree, id, f.Tag}, w.Spec())
		body.addHistory(history)
		return nil
	})
}

// nodeAmong finds a spec with its parent and children; nil if it does not exist. In
// nodes, all descendants follow their ancestor.
func nodeAmong(nodes []board.Node, id string) *nodeBody {
	at := slices.IndexFunc(nodes, func(n board.Node) bool { return n.ID == id })
	if at < 0 {
		return nil
	}
	n := &nodes[at]
	body := &nodeBody{Node: n}
	for j := at + 1; j <= at+n.Below && j < len(nodes); j++ {
		if nodes[j].Depth == n.Depth+1 {
			body.Children = append(body.Children, nodes[j])
		}
	}
	for i := range nodes {
		if n.Parent != nil && nodes[i].ID == *n.Parent {
			body.Parent = &nodes[i]
		}
	}
	return body
}

// links returns a function that maps the id of an existing spec to the address of its
// page.
func (pd *pageData) links(nodes []board.Node) func(id string) string {
	known := make(map[string]bool, len(nodes))
	for i := range nodes {
		known[nodes[i].ID] = true
	}
	return func(id string) string {
		if !known[id] {
			return ""
		}
		return string(pd.Node(id))
	}
}

// addHistory merges acks and versions into one list.
func (b *nodeBody) addHistory(history *spec.Timeline) {
	if history == nil {
		return
	}
	b.Ahead = history.Drift
	for i := range history.Acks { // all acks are newer than the latest version
		a := &history.Acks[i]
		b.History = append(b.History, historyRow{HistoryRow: spec.HistoryRow{Commit: a.Commit, Date: a.Date, Subject: a.Subject, Session: a.Session}, Ack: a})
	}
	for _, v := range history.Versions {
		b.History = append(b.History, historyRow{HistoryRow: v})
	}
}

// read renders the text of the spec.
func (b *nodeBody) read(ctx context.Context, w *ken.Repository, id string, link func(id string) string) {
	n, err := w.Spec().Node(ctx, id)
	switch {
	case err != nil && b.Node.Ghost:
		b.Missing = "Only other worktrees have this spec."
	case err != nil:
		b.Missing = err.Error()
	case b.Node.InConflict():
		b.Conflicted = n.Body
	case n.Parts == nil:
		b.Whole = markdown(n.Body, link)
	default:
		b.Raw, b.Expanded = markdown(n.Parts.RawSource, link), markdown(n.Parts.Expanded, link)
	}
}

// addGoverned lists the entries, then the changed files below them.
func (b *nodeBody) addGoverned(w *board.Worktree) {
	behind := make(map[string]int)
	for _, d := range b.Node.DriftFiles {
		behind[d.File] = d.Behind
	}
	for _, text := range b.Node.Code {
		name, _, _ := strings.Cut(text, "#")
		g := governed{Text: text, Gone: slices.Contains(b.Node.Missing, text)}
		if n, ok := behind[name]; ok {
			g.Behind = n
			delete(behind, name)
		}
		b.Governed = append(b.Governed, g)
	}
	for _, d := range b.Node.DriftFiles {
		if n, ok := behind[d.File]; ok {
			b.Governed = append(b.Governed, governed{Text: d.File, Behind: n, File: true})
		}
	}
	for i := range b.Governed {
		b.Governed[i].findPage(w)
	}
}

// findPage finds the page for an entry. A pattern has none.
func (g *governed) findPage(w *board.Worktree) {
	name, _, _ := strings.Cut(g.Text, "#")
	g.Path = repo.Path(strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/"))
	if files := w.Files.Known; files != nil && files.MapFile(g.Path) != nil {
		g.HasPage = true
	} else if dirs := w.Survey.Known; dirs != nil && g.Path != "" && dirs.Directory(g.Path) != nil {
		g.HasPage, g.Dir = true, true
	}
}
