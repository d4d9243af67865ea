package web

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"ken/internal/board"
	"ken/internal/fault"
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
	Missing              string // why there are no words
	Governed             []governed
	History              []told
	Moves                []spec.Advance // of its code, ahead of it
	HistoryUnknown       *board.Unread
}

// A told is a version of the node or, between those, somebody's word that it held.
type told struct {
	spec.HistoryRow
	Ack *spec.Ack
}

// governed is what a node governs, and how far that is ahead of it.
type governed struct {
	Text   string
	Behind int
	Gone   bool // git tracks nothing by that name
	File   bool // it is a file that moved, under an entry that names more
}

// nodePage is one spec: its words, what it governs, and how it came about.
func (s *Server) nodePage(r *http.Request) (*frame, error) {
	f, err := s.begin(r, "node", r.PathValue("id"))
	if err != nil || f.Tree == nil {
		return f, err
	}
	if f.Tree.Spec.Known == nil {
		return f, nil // the page says why
	}
	id := r.PathValue("id")
	body := &nodeBody{}
	nodes := f.Tree.Spec.Known.Nodes
	for i := range nodes {
		n := &nodes[i]
		if n.ID == id {
			body.Node = n
			for j := i + 1; j <= i+n.Below && j < len(nodes); j++ {
				if nodes[j].Depth == n.Depth+1 {
					body.Children = append(body.Children, nodes[j])
				}
			}
		}
	}
	if body.Node == nil {
		return f, s.reading(r.Context(), f.Worktree, func(ctx context.Context, w Workspace) error {
			if _, err := w.Spec().Node(ctx, id); err != nil {
				return err // with those that may have been meant
			}
			return refusal(http.StatusNotFound, "the node "+id+" has just appeared", "look again")
		})
	}
	if body.Node.Parent != nil {
		for i := range nodes {
			if nodes[i].ID == *body.Node.Parent {
				body.Parent = &nodes[i]
			}
		}
	}
	f.Title = body.Node.Title
	known := make(map[string]bool, len(nodes))
	for i := range nodes {
		known[nodes[i].ID] = true
	}
	link := func(id string) string {
		if !known[id] {
			return ""
		}
		return string(f.Node(id))
	}
	body.govern()
	f.Body = body
	return f, s.reading(r.Context(), f.Worktree, func(ctx context.Context, w Workspace) error {
		body.read(ctx, w, id, link)
		var story *spec.Story
		story, body.HistoryUnknown = s.nodes.story(ctx, nodeKey{f.Worktree, id, f.Tag}, w.Spec())
		body.tell(story)
		return nil
	})
}

// tell puts versions and acks into one list.
func (b *nodeBody) tell(story *spec.Story) {
	if story == nil {
		return
	}
	b.Moves = story.Advances
	for i := range story.Acks { // all of them since the latest version
		a := &story.Acks[i]
		b.History = append(b.History, told{HistoryRow: spec.HistoryRow{Commit: a.Commit, Date: a.Date, Subject: a.Subject, Session: a.Session}, Ack: a})
	}
	for _, v := range story.Versions {
		b.History = append(b.History, told{HistoryRow: v})
	}
}

// read renders the words of the node.
func (b *nodeBody) read(ctx context.Context, w Workspace, id string, link func(id string) string) {
	n, err := w.Spec().Node(ctx, id)
	switch {
	case err != nil && b.Node.Ghost:
		b.Missing = "only other worktrees have this node; its words are there"
	case err != nil:
		b.Missing = err.Error()
	case n.Parts == nil:
		b.Whole = markdown(n.Body, link)
	default:
		b.Raw, b.Expanded = markdown(n.Parts.RawSource, link), markdown(n.Parts.Expanded, link)
	}
}

// govern lists the entries, each followed by the files under it that moved.
func (b *nodeBody) govern() {
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
}

// isHexID reports whether a commit could be named so. Nothing else reaches git.
func isHexID(s string) bool {
	return len(s) >= 4 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// A patchBody is what one version changed.
type patchBody struct {
	ID     string
	Commit string
	Lines  []patchLine
	Cut    int // lines that are left out
}

type patchLine struct{ Kind, Text string }

// patchPage is what a version changed in the spec; the node's page fetches it when it
// is asked for.
func (s *Server) patchPage(r *http.Request) (*frame, error) {
	if !isHexID(r.PathValue("commit")) {
		return nil, errID
	}
	f := &frame{Page: "patch", Title: "Patch", Release: s.pages.release, Version: s.deps.Version, status: http.StatusOK}
	name, err := s.worktree(r, f)
	if err != nil {
		return f, err
	}
	err = s.reading(r.Context(), name, func(ctx context.Context, w Workspace) error {
		diff := w.Spec().Diff
		if r.URL.Query().Get("of") == "code" {
			diff = w.Spec().AdvanceDiff
		}
		commit, patch, err := diff(ctx, r.PathValue("id"), r.PathValue("commit"))
		body := &patchBody{ID: r.PathValue("id"), Commit: commit.String()}
		body.fill(patch)
		f.Body = body
		return err
	})
	if err != nil {
		return f, err
	}
	if r.Header.Get("X-Ken-Part") != "" {
		f.bare = "patch"
	}
	return f, nil
}

// mostLines is how many lines of a patch are shown.
const mostLines = 1500

func (p *patchBody) fill(patch string) {
	head := true
	for line := range strings.Lines(patch) {
		line = strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "\uFFFD")
		kind := "same"
		switch {
		case strings.HasPrefix(line, "diff "):
			head, kind = true, "head"
		case strings.HasPrefix(line, "@@"):
			head, kind = false, "hunk"
		case head:
			kind = "head"
		case strings.HasPrefix(line, "+"):
			kind = "plus"
		case strings.HasPrefix(line, "-"):
			kind = "minus"
		}
		if len(p.Lines) == mostLines {
			p.Cut++
			continue
		}
		p.Lines = append(p.Lines, patchLine{kind, line})
	}
}

// A nodeCache keeps the stories of nodes for as long as their board is the same.
type nodeCache struct {
	mu sync.Mutex
	at map[nodeKey]*spec.Story
}

type nodeKey struct{ worktree, id, tag string }

// maxStories is how many are kept.
const maxStories = 64

func newNodeCache() *nodeCache { return &nodeCache{at: make(map[nodeKey]*spec.Story)} }

func (c *nodeCache) story(ctx context.Context, key nodeKey, from *spec.Reader) (*spec.Story, *board.Unread) {
	c.mu.Lock()
	kept, ok := c.at[key]
	c.mu.Unlock()
	if ok {
		return kept, nil
	}
	story, err := from.Story(ctx, key.id)
	if _, none := errors.AsType[*spec.NoNodeError](err); none {
		return nil, nil // a node that is not here yet has none
	}
	if err != nil {
		return nil, &board.Unread{Reason: err.Error(), Hint: fault.HintOf(err)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.at) >= maxStories {
		clear(c.at)
	}
	c.at[key] = story
	return story, nil
}
