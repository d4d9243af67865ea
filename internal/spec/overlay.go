package spec

import (
	"cmp"
	"maps"
	"slices"

	"ken/internal/repo"
)

// A Checkout is the state of a worktree that may propose changes.
type Checkout struct {
	Worktree string // its name
	Branch   string // "" when detached
	Session  string // the session that works there
	// Forked reports whether the checkout shares a commit with main. Without one it proposes nothing: it is
	// another project.
	Forked bool

	Fork FileIDs // the spec files at the fork
	Head FileIDs // the spec files of its commit
	Now  FileIDs // the spec files in its directory, including untracked ones
	// Moved maps each spec file that its commits moved to the path at the fork.
	Moved map[repo.Path]repo.Path
	// Changed lists every other path that it changed since the fork, committed
	// or not, sorted.
	Changed []repo.Path
}

// FileIDs maps the paths of spec files to blob ids.
type FileIDs map[repo.Path]repo.ID

// An Op is a change that a checkout proposes to one node.
type Op struct {
	Node string // the id of the node
	Path repo.Path
	Op   OpKind
	// Committed and Dirty report whether the change is in commits, in uncommitted files, or in both.
	Committed, Dirty bool
	From, To         repo.Path // set for a move
	Main             repo.Path // the path of the node in main, "" if main does not have it
}

// paths returns the path of an op and, for a move, the path before.
func (o Op) paths() []repo.Path {
	if o.From == "" || o.From == o.Path {
		return []repo.Path{o.Path}
	}
	return []repo.Path{o.Path, o.From}
}

// An OpKind is the kind of a change.
type OpKind string

// The kinds of changes.
const (
	OpAdded   OpKind = "added"
	OpEdited  OpKind = "edited"
	OpDeleted OpKind = "deleted"
	OpMoved   OpKind = "moved"
)

// MainBranch is the main branch as far as checkouts are compared with it.
type MainBranch struct {
	Specs FileIDs
	// Had reports whether main has had this content at a path since the fork of a checkout. If so, the change is
	// merged, even if main has changed since. A zero content asks whether main deleted the path.
	Had func(c *Checkout, path repo.Path, content repo.ID) bool
	// Now returns the current path in main of the file that was at path when the checkout forked.
	Now func(c *Checkout, path repo.Path) repo.Path
	// ID returns the id of the node at a path.
	ID func(path repo.Path) string
}

// Overlay returns the changes that a checkout proposes, sorted by path. These are the changes since the fork that
// main does not have and never had.
func Overlay(m MainBranch, c *Checkout) []Op {
	ops := []Op{}
	if !c.Forked {
		return ops
	}
	var added, deleted []repo.Path
	for _, path := range paths(c.Fork, c.Head, c.Now) {
		base, is := c.Fork[path], c.Now[path]
		if is == base {
			is = c.Head[path] // the files undo a commit; merging the branch would still bring its change
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

// landed reports whether main has, or has had, the content that a checkout has at a path.
func (m MainBranch) landed(c *Checkout, path repo.Path, now repo.ID) bool {
	there := m.Now(c, path)
	return now == m.Specs[there] || m.Had(c, there, now) || !now.IsZero() && there != path && m.Had(c, path, now)
}

// movesAmong returns ops for added and deleted paths. It joins an addition and a deletion of the same file into a
// move.
func (m MainBranch) movesAmong(c *Checkout, added, deleted []repo.Path) []Op {
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

func (m MainBranch) op(c *Checkout, path repo.Path, kind OpKind) Op {
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
func paths(sets ...FileIDs) []repo.Path {
	all := make(map[repo.Path]bool)
	for _, s := range sets {
		for p := range s {
			all[p] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
