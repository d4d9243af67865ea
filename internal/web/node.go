package web

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"ken/internal/board"
	"ken/internal/repo"
	"ken/internal/spec"
)

// A nodeBody is what the page of a node shows.
type nodeBody struct {
	Node     *board.Node
	Parent   *board.Node
	Children []board.Node
	// Raw and Expanded are the two parts of the body; Whole is all of it when it has
	// no parts.
	Raw, Expanded, Whole template.HTML
	Conflicted           string // the words of a spec in conflict, which are no Markdown
	Missing              string // why there are no words
	Governed             []governed
	History              []historyRow
	Ahead                []spec.Advance // of its code, ahead of it
	HistoryUnknown       *board.Unread
}

// A historyRow is a version of the node or, between those, somebody's word that it held.
type historyRow struct {
	spec.HistoryRow
	Ack *spec.Ack
}

// governed is what a node governs, and how far that is ahead of it.
type governed struct {
	Text    string
	Behind  int
	Gone    bool      // git tracks nothing by that name
	File    bool      // it is a file that moved, under an entry that names more
	Path    repo.Path // of the file or directory that it names
	HasPage bool      // there is a page of that: Page, which takes the path by Name
	Dir     bool
}

// Page is the page of what it names.
func (g governed) Page() string {
	if g.Dir {
		return "/map"
	}
	return "/file"
}

// Name is what that page calls a path.
func (g governed) Name() string {
	if g.Dir {
		return "dir"
	}
	return "path"
}

// Standing is where the node stands.
func (b *nodeBody) Status() string { return displayStatus(b.Node) }

// Elsewhere are the worktrees that have the node, of one that is not here.
func (b *nodeBody) Elsewhere() []spec.Proposed {
	if !b.Node.Ghost {
		return nil
	}
	return b.Node.Overlays
}

// nodePage is one spec: its words, what it governs, and how it came about.
func (s *Server) nodePage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "node", r.PathValue("id"))
	if err != nil || f.Tree == nil {
		return f, err
	}
	if f.Tree.Spec.Known == nil {
		return f, nil // the page says why
	}
	id := r.PathValue("id")
	nodes := f.Tree.Spec.Known.Nodes
	body := nodeAmong(nodes, id)
	if body == nil {
		return f, s.withWorkspace(r.Context(), f.Worktree, func(ctx context.Context, w Workspace) error {
			if _, err := w.Spec().Node(ctx, id); err != nil {
				return err // with those that may have been meant
			}
			return statusErr(http.StatusNotFound, "the spec "+id+" was just added", "reload the page")
		})
	}
	f.Title = body.Node.Title
	body.addGoverned(f.Tree)
	f.Body = body
	return f, s.withWorkspace(r.Context(), f.Worktree, func(ctx context.Context, w Workspace) error {
		body.read(ctx, w, id, f.links(nodes))
		var story *spec.Story
		story, body.HistoryUnknown = s.stories.get(ctx, storyKey{f.Worktree, id, f.Tag}, w.Spec())
		body.addHistory(story)
		return nil
	})
}

// nodeAmong finds a node, its parent and its children; nil if there is no such node.
// A node is followed by all that is below it.
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

// links returns where the words of a spec lead when they name a node: nowhere, if there
// is none of that name.
func (f *pageData) links(nodes []board.Node) func(id string) string {
	known := make(map[string]bool, len(nodes))
	for i := range nodes {
		known[nodes[i].ID] = true
	}
	return func(id string) string {
		if !known[id] {
			return ""
		}
		return string(f.Node(id))
	}
}

// tell puts versions and acks into one list.
func (b *nodeBody) addHistory(story *spec.Story) {
	if story == nil {
		return
	}
	b.Ahead = story.Advances
	for i := range story.Acks { // all of them since the latest version
		a := &story.Acks[i]
		b.History = append(b.History, historyRow{HistoryRow: spec.HistoryRow{Commit: a.Commit, Date: a.Date, Subject: a.Subject, Session: a.Session}, Ack: a})
	}
	for _, v := range story.Versions {
		b.History = append(b.History, historyRow{HistoryRow: v})
	}
}

// read renders the words of the node.
func (b *nodeBody) read(ctx context.Context, w Workspace, id string, link func(id string) string) {
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

// govern lists the entries, followed by the files under them that moved, and where there are
// pages of them.
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

// lead finds the page of what an entry names: a file, or a directory. A pattern has none.
func (g *governed) findPage(w *board.Worktree) {
	name, _, _ := strings.Cut(g.Text, "#")
	g.Path = repo.Path(strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/"))
	if files := w.Files.Known; files != nil && files.Leaf(g.Path) != nil {
		g.HasPage = true
	} else if dirs := w.Survey.Known; dirs != nil && g.Path != "" && dirs.Directory(g.Path) != nil {
		g.HasPage, g.Dir = true, true
	}
}
