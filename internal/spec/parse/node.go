// Package parse reads spec files: the ids of the nodes, the code that each governs and refers to, and the text of its
// body.
//
// A node is a directory below .spec that contains a spec.md. The caller reads the files, from a work tree or a commit. A
// file that cannot be parsed is a node with problems, never a missing node.
package parse

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ken/internal/repo"
)

// The location of specs.
const (
	Root     = ".spec"   // the directory of all specs
	FileName = "spec.md" // the spec file in a directory
)

// A Node is one spec.
type Node struct {
	ID     string    // one URL-safe token, unique among the nodes loaded together
	Parent string    // the id of the nearest ancestor, "" for none
	Path   repo.Path // the path of its spec.md

	// Title is the declared title, else the first level-one heading of the body, else the name of the directory.
	Title    string
	Desc     string
	Declared string // the status in the frontmatter
	Session  string
	Hue      string
	Code     []Entry // the code that it governs
	Related  []Entry // other files that it refers to
	Extra    []Field // the fields that ken does not know, in order

	Body     string // the text after the frontmatter, with \n line ends
	BodyLine int    // the line of the file on which the body begins
	Parts    *Parts // nil if the body has neither section
	Problems []Problem
	// CodeUnknown is the reason why the governed files are unknown, "" if they are known.
	CodeUnknown string
}

// Load parses the spec files of one tree and returns the nodes, sorted by path. Paths are relative to the
// repository root. Load ignores files that are not a spec.md in or below .spec, and all but the first of files
// with the same path. It never fails: a file that cannot be parsed is a node with problems. The nodes do not keep
// the contents.
func Load(files []repo.LoadedFile) []*Node {
	nodes, _ := LoadContext(context.Background(), files) // only cancellation can fail
	return nodes
}

// LoadContext is Load with a context. It returns an error only if the context is done.
func LoadContext(ctx context.Context, files []repo.LoadedFile) ([]*Node, error) {
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
		nodes[i] = ReadNode(files[o.index])
	}
	return Assemble(nodes), nil
}

// Assemble sorts nodes that were parsed one by one, and assigns their ids and parents.
func Assemble(nodes []*Node) []*Node {
	slices.SortFunc(nodes, func(a, b *Node) int { return cmp.Compare(a.Path, b.Path) })
	AssignIDs(nodes, make(map[string]bool, len(nodes)))
	assignParents(nodes)
	return nodes
}

// Dir returns the directory of the spec file.
func (n *Node) Dir() repo.Path { return n.Path.Dir() }

// IsSpec reports whether p is the path of a spec file.
func IsSpec(p repo.Path) bool { return p.Base() == FileName && p.Dir().Under(Root) }

// assignParents sets the parent of every node.
func assignParents(nodes []*Node) {
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

// ReadNode parses one file. The node has neither id nor parent.
func ReadNode(f repo.LoadedFile) *Node {
	n := &Node{Path: f.Path}
	if f.Problem != "" {
		n.problem(Problem{Rule: RuleFile, Line: 1, Message: f.Problem, Fix: "make it a regular file"})
		n.CodeUnknown = f.Problem
	}
	text := n.Decode(f.Content)
	n.readConflicts(text)
	front, body, first := n.split(text)
	n.readFront(front)
	n.readBody(body, first)
	if n.Title == "" {
		n.Title = strings.ToValidUTF8(n.Dir().Base(), "\uFFFD")
	}
	return n
}
