package spec

import (
	"cmp"
	"maps"
	"slices"

	"ken/internal/repo"
)

// A Checkout is a work tree that may propose something, as overlays see it.
type Checkout struct {
	Worktree string // its name
	Branch   string // "" when detached
	Session  string // who works there
	// Forked says whether its history and main's have a commit in common. One
	// that has none proposes nothing: it is another project.
	Forked bool

	Fork Set // spec files where it left main
	Head Set // at its commit
	Now  Set // in its directory, untracked ones included
	// Moved says of spec files that its commits moved where they were at the fork.
	Moved map[repo.Path]repo.Path
	// Changed lists every other path that it changed since the fork, committed
	// or not, sorted.
	Changed []repo.Path
}

// A Set is the content of spec files by path.
type Set map[repo.Path]repo.ID

// An Op is what a checkout would do to one node of main.
type Op struct {
	Node string // its id
	Path repo.Path
	Op   OpKind
	// Committed and Dirty say where the work is: in commits, in files that
	// are not committed, or both.
	Committed, Dirty bool
	From, To         repo.Path // of a move
	Main             repo.Path // where main has the node, "" when it has not
}

// paths returns the path of an op and, for a move, the path before.
func (o Op) paths() []repo.Path {
	if o.From == "" || o.From == o.Path {
		return []repo.Path{o.Path}
	}
	return []repo.Path{o.Path, o.From}
}

// An OpKind is what happens to a node.
type OpKind string

// The kinds.
const (
	OpAdded   OpKind = "added"
	OpEdited  OpKind = "edited"
	OpDeleted OpKind = "deleted"
	OpMoved   OpKind = "moved"
)

// Main is what checkouts are compared with.
type Main struct {
	Specs Set
	// Had reports whether main ever had this content at a path since the fork
	// of a checkout: then the work has landed, even if main moved on. No content
	// asks whether main deleted what was there.
	Had func(c *Checkout, path repo.Path, content repo.ID) bool
	// Now returns where main has what lay at a path when a checkout forked.
	Now func(c *Checkout, path repo.Path) repo.Path
	// ID names the node of a path.
	ID func(path repo.Path) string
}

// Overlay says what a checkout proposes, sorted by path: what is its own work
// since the fork, differs from main now, and has not landed before.
func Overlay(m Main, c *Checkout) []Op {
	ops := []Op{}
	if !c.Forked {
		return ops
	}
	var added, deleted []repo.Path
	for _, path := range paths(c.Fork, c.Head, c.Now) {
		base, is := c.Fork[path], c.Now[path]
		if is == base {
			is = c.Head[path] // taken back in the files alone: merging it would bring it
		}
		switch {
		case is == base || m.landed(c, path, is):
		case is.IsZero():
			deleted = append(deleted, path)
		case base.IsZero():
			added = append(added, path)
		default:
			ops = append(ops, m.op(c, path, OpEdited))
		}
	}
	ops = append(ops, m.movesAmong(c, added, deleted)...)
	slices.SortFunc(ops, func(a, b Op) int { return cmp.Compare(a.Path, b.Path) })
	return ops
}

// landed reports whether main has, or once had, what a checkout made of a path.
func (m Main) landed(c *Checkout, path repo.Path, now repo.ID) bool {
	there := m.Now(c, path)
	return now == m.Specs[there] || m.Had(c, there, now) || !now.IsZero() && there != path && m.Had(c, path, now)
}

// movesAmong makes one move of a deletion and an addition that belong together, and
// ops of what is left.
func (m Main) movesAmong(c *Checkout, added, deleted []repo.Path) []Op {
	var ops []Op
	for _, to := range added {
		i := slices.Index(deleted, c.Moved[to])
		if i < 0 {
			i = slices.IndexFunc(deleted, func(from repo.Path) bool { return c.Fork[from] == c.Now[to] })
		}
		if i < 0 {
			ops = append(ops, m.op(c, to, OpAdded))
			continue
		}
		from := deleted[i]
		deleted = slices.Delete(slices.Clone(deleted), i, i+1)
		op := m.op(c, to, OpMoved)
		gone := m.op(c, from, OpDeleted)
		op.Node, op.Main, op.From, op.To = gone.Node, gone.Main, from, to
		op.Committed, op.Dirty = op.Committed || gone.Committed, op.Dirty || gone.Dirty
		ops = append(ops, op)
	}
	for _, path := range deleted {
		ops = append(ops, m.op(c, path, OpDeleted))
	}
	return ops
}

func (m Main) op(c *Checkout, path repo.Path, kind OpKind) Op {
	op := Op{
		Path: path, Op: kind,
		Committed: c.Head[path] != c.Fork[path],
		Dirty:     c.Now[path] != c.Head[path],
	}
	there := m.Now(c, path)
	if _, ok := m.Specs[there]; ok {
		op.Main = there
	}
	op.Node = m.ID(there)
	return op
}

// paths returns every path of the sets, sorted, each once.
func paths(sets ...Set) []repo.Path {
	all := make(map[repo.Path]bool)
	for _, s := range sets {
		for p := range s {
			all[p] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
