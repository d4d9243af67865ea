// Package spec knows what a tree of specs says: which nodes it has, what each is
// called, which code it governs and which it refers to, and what stands in its
// body.
//
// A node is a directory below .spec that holds a spec.md. The package reads the
// files that it is handed and touches no disk; where they come from, a work tree
// or a commit, is the caller's affair. A file that cannot be understood is a node
// with problems, never a missing node.
package spec

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ken/internal/repo"
)

// Where specs lie.
const (
	Root     = ".spec"   // the directory of every node
	FileName = "spec.md" // what makes a directory a node
)

// A Node is one spec.
type Node struct {
	ID     string    // one URL-safe token, unique among the nodes loaded together
	Parent string    // the id of the nearest ancestor, "" for none
	Path   repo.Path // of its spec.md

	// Title is the one declared, else the body's first level-one heading, else
	// the name of the directory.
	Title    string
	Desc     string
	Declared string // the status it claims
	Session  string
	Hue      string
	Code     []Entry // what it governs
	Related  []Entry // what it refers to
	Extra    []Field // the fields that ken does not know, in order

	Body     string // all below the frontmatter, lines ending in \n
	BodyLine int    // the line of the file on which it begins
	Parts    *Parts // nil when the body has neither
	Problems []Problem
	// Blind says why it is not known what the node governs, "" when it is.
	Blind string
}

// Load makes nodes of the spec files of one tree, sorted by path. Paths are from
// the repository root; a file that is not a spec.md in .spec or below is passed
// over, and of two with one path the first counts. It never fails: what cannot be
// read is a node with problems. The contents are not kept.
func Load(files []repo.LoadedFile) []*Node {
	nodes, _ := loadNodes(context.Background(), files) // nothing else can fail
	return nodes
}

// loadNodes is Load; its only error is that of a context that is done.
func loadNodes(ctx context.Context, files []repo.LoadedFile) ([]*Node, error) {
	type place struct {
		path  repo.Path
		index int
	}
	order := make([]place, 0, len(files))
	for i, f := range files {
		if IsSpec(f.Path) {
			order = append(order, place{f.Path, i})
		}
	}
	slices.SortFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.index, b.index))
	})
	order = slices.CompactFunc(order, func(a, b place) bool { return a.path == b.path })
	nodes := make([]*Node, len(order))
	for i, o := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		nodes[i] = readNode(files[o.index])
	}
	return assemble(nodes), nil
}

// assemble makes a tree of nodes that were read one by one: sorted, with their ids and
// parents.
func assemble(nodes []*Node) []*Node {
	slices.SortFunc(nodes, func(a, b *Node) int { return cmp.Compare(a.Path, b.Path) })
	identify(nodes, make(map[string]bool, len(nodes)))
	adopt(nodes)
	return nodes
}

// Dir returns the directory that is the node.
func (n *Node) Dir() repo.Path { return n.Path.Dir() }

// IsSpec reports whether p is the path of a node's file.
func IsSpec(p repo.Path) bool { return p.Base() == FileName && p.Dir().Under(Root) }

// adopt gives every node its parent.
func adopt(nodes []*Node) {
	at := make(map[repo.Path]string, len(nodes))
	for _, n := range nodes {
		at[n.Dir()] = n.ID
	}
	for _, n := range nodes {
		for dir := n.Dir().Dir(); dir != "" && n.Parent == ""; dir = dir.Dir() {
			n.Parent = at[dir]
		}
	}
}

// readNode makes a node of one file. It has neither id nor parent yet.
func readNode(f repo.LoadedFile) *Node {
	n := &Node{Path: f.Path}
	if f.Problem != "" {
		n.problem(Problem{Rule: RuleFile, Line: 1, Message: f.Problem, Fix: "make it a regular file"})
		n.Blind = f.Problem
	}
	text := n.decode(f.Content)
	n.readConflicts(text)
	front, body, first := n.split(text)
	n.readFront(front)
	n.readBody(body, first)
	if n.Title == "" {
		n.Title = strings.ToValidUTF8(n.Dir().Base(), "\uFFFD")
	}
	return n
}
