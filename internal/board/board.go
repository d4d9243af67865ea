// Package board sums up what is known of a repository at one moment: how far the
// summaries of files can be trusted, what is said of directories, what lies in the
// state directory, how the specs stand, and what each worktree proposes.
//
// It decides what is told and in which order, and derives nothing itself: each part
// is asked of whoever answers for it, through the interfaces in ports.go. A part that
// cannot be read says why, and the rest is told all the same. The one [Board] is what
// `ken board --json` prints, what the dashboard serves and what its pages are made of.
package board

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/workflow"
)

// A Board is what is known of a repository in some of its worktrees.
type Board struct {
	Repository string     `json:"repository"` // the name of its main checkout
	Worktrees  []Worktree `json:"worktrees"`
	// Proposals is what every worktree of the repository proposes to main, and where
	// they meet, whether or not it is among Worktrees.
	Proposals Part[Proposals] `json:"proposals"`
	// Runs are the surveys that were handed out to workers; nil without a team's store.
	Runs *Part[Runs] `json:"runs,omitempty"`
}

// A Worktree is one checkout, with all that is known in it.
type Worktree struct {
	Name   string  `json:"name"`
	Here   bool    `json:"here"`   // it is the one that was asked from
	Branch *string `json:"branch"` // null when detached, or not known
	Head   repo.ID `json:"head"`
	// Unknown says why it cannot be looked into at all, and then nothing is known of it,
	// its branch and head included.
	Unknown *Unread `json:"unknown"`

	Files  Part[Files]  `json:"files"`
	Survey Part[Survey] `json:"survey"`
	State  Part[State]  `json:"state"`
	Spec   Part[Spec]   `json:"spec"`
}

// A Part is one kind of knowledge, or why it could not be read. The zero value is a
// part that nobody has looked at.
type Part[T any] struct {
	Known   *T      `json:"known"`
	Unknown *Unread `json:"unknown"` // null when it is known
}

// An Unread says why something is not known, and what to do about it.
type Unread struct {
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
}

// Files is what the registry found on entry.
type Files struct {
	State        registry.State    `json:"state"`
	Reasons      []registry.Reason `json:"reasons"`
	LastVerified repo.ID           `json:"last_verified_sha"`
	Upstream     registry.Upstream `json:"upstream"`
	Counts       registry.Counts   `json:"counts"`
	// Bytes is how much is tracked.
	Bytes int64 `json:"bytes"`
	// Leaves has every tracked file, in byte order of the paths. There are as many as
	// there are files: documents do without.
	Leaves []Leaf `json:"-"`
}

// A Leaf is a tracked file as the map shows it.
type Leaf struct {
	Path    repo.Path
	Size    int64
	Found   registry.Finding
	Summary fresh.State
	Grade   fresh.Grade
	Reason  string
}

// Survey is what is known of directories.
type Survey struct {
	Counts      map[string]int `json:"counts"` // directories by verdict
	Tally       Tally          `json:"tally"`
	Directories []Directory    `json:"directories"`
}

// A Tally is how far the texts of directories go. Whoever says "some of so many" says
// it of the same ones.
type Tally struct {
	Total     int `json:"total"`     // directories that count: all but those that are excluded
	Described int `json:"described"` // of those, the ones that have a text
	Hold      int `json:"hold"`      // of those, the ones whose text is true of what is there now
	Outlines  int `json:"outlines"`  // of those that hold, the ones that nobody wrote
	Unknown   int `json:"unknown"`   // of those that have a text, the ones of which it is not known whether it holds
}

// A Directory is one of them, as the map shows it. Parents stand before what is below
// them.
type Directory struct {
	repo.PathJSON
	Verdict survey.Verdict `json:"verdict"`
	Reasons []string       `json:"reasons"`
	K       int            `json:"k"` // of N children that count, those that are not as the text knew them
	N       int            `json:"n"`
	Files   int            `json:"files"` // below it, at any depth
	Bytes   int64          `json:"bytes"` // of those
	Outline bool           `json:"outline"`
	// Line is the beginning of what is said, "" when nothing is.
	Line string `json:"line"`

	Raw    repo.Path `json:"-"` // "" for the root
	Text   string    `json:"-"`
	Author string    `json:"-"`
}

// State is what lies in the state directory.
type State struct {
	Dir        string          `json:"dir"`
	Counts     workflow.Counts `json:"counts"`
	TotalBytes int64           `json:"total_bytes"`
	Buckets    []Bucket        `json:"buckets"` // what should not be there first
	// Cleanup is what a cleanup would move now.
	Cleanup   Part[[]workflow.Moved]  `json:"cleanup"`
	Keep      int                     `json:"keep"` // how many snapshots the archive keeps
	Snapshots Part[[]Snapshot]        `json:"snapshots"`
	Workflow  Part[workflow.Document] `json:"workflow"` // an empty one when there is none
}

// A Snapshot is one of the archive's.
type Snapshot = workflow.ArchivedItem

// A Bucket is a bucket of the contract and what is in it.
type Bucket struct {
	Name    contract.Bucket       `json:"name"`
	Entries []workflow.AuditEntry `json:"entries"`
}

// Spec is how the nodes stand.
type Spec struct {
	Main   spec.Mainline `json:"main"`
	Counts SpecCounts    `json:"counts"`
	// Nodes stand as in a tree: each is followed by those below it, and of siblings
	// the one comes first that has moved farthest.
	Nodes   []Node         `json:"nodes"`
	Unknown []spec.Unknown `json:"unknown"` // what could not be learnt about any of them
}

// SpecCounts counts nodes, first by status.
type SpecCounts struct {
	Nodes    int `json:"nodes"`
	Merged   int `json:"merged"`
	Drift    int `json:"drift"`
	Active   int `json:"active"`
	Pending  int `json:"pending"`
	Unknown  int `json:"unknown"`
	Problems int `json:"problems"` // nodes with problems
	Ghosts   int `json:"ghosts"`   // nodes that only other worktrees have

	// Drifting are the nodes whose code has moved ahead of them, whatever their status
	// is: one that some worktree edits is active, and its code may have moved all the
	// same. DriftUnknown are those of which it cannot be told.
	Drifting     int `json:"drifting"`
	DriftUnknown int `json:"drift_unknown"`
	Missing      int `json:"missing"` // nodes that name code that is not there
}

// A Node is a spec with its place in the tree.
type Node struct {
	spec.Listed
	Depth int `json:"depth"`
	Below int `json:"below"` // how many nodes stand below it
	// Collisions are where the work of several worktrees meets on it.
	Collisions []Meeting `json:"collisions"`
}

// A Meeting is work of several worktrees on one node, before any of it has merged.
type Meeting struct {
	Node      string             `json:"node"`
	Kind      spec.CollisionKind `json:"kind"`
	Worktrees []string           `json:"worktrees"` // sorted
	Paths     []string           `json:"paths"`     // sorted
}

// Proposals is what worktrees would do to main.
type Proposals struct {
	Worktrees []spec.Overlaid `json:"worktrees"`
	Meetings  []Meeting       `json:"meetings"`
}

// Make asks every source, and puts together what they say. It never fails: what could
// not be learnt is in the board. When ctx ends, that is all of it. Whenever a part has
// come, tell gets the board so far, unless it is nil.
func Make(ctx context.Context, repository string, sources []Source, overlays func(context.Context) ([]spec.Overlaid, error), tell func(*Board)) *Board {
	b := &Board{Repository: repository, Worktrees: make([]Worktree, len(sources))}
	var all sync.WaitGroup
	var mu sync.Mutex
	come := func(put func()) {
		mu.Lock()
		defer mu.Unlock()
		put()
		if tell != nil {
			so := *b
			so.Worktrees = slices.Clone(b.Worktrees)
			tell(&so)
		}
	}
	for i := range sources {
		s := &sources[i]
		w := &b.Worktrees[i]
		w.Name, w.Here, w.Head = s.Name, s.Here, s.Head
		if s.Branch != "" {
			w.Branch = &s.Branch
		}
		if s.Err != nil {
			w.Branch, w.Head = nil, repo.ID{}
			w.Unknown = failed[Files](s.Err).Unknown
			w.Files, w.Survey, w.State, w.Spec = failed[Files](s.Err), failed[Survey](s.Err), failed[State](s.Err), failed[Spec](s.Err)
			continue
		}
		all.Go(func() {
			files := part(func() (*Files, error) { return s.files(ctx) })
			come(func() { w.Files = files })
			survey := part(func() (*Survey, error) { return s.survey(ctx, files.Known) })
			come(func() { w.Survey = survey })
		})
		all.Go(func() {
			state := part(func() (*State, error) { return s.state(ctx) })
			come(func() { w.State = state })
		})
		all.Go(func() {
			spec := part(func() (*Spec, error) { return s.spec(ctx) })
			come(func() { w.Spec = spec })
		})
	}
	all.Go(func() {
		p := part(func() (*Proposals, error) { return proposals(ctx, overlays) })
		come(func() { b.Proposals = p })
	})
	all.Wait()
	for i := range b.Worktrees {
		w := &b.Worktrees[i]
		if w.Spec.Known == nil {
			continue
		}
		if p := b.Proposals.Known; p != nil {
			w.Spec.Known.meet(p.Meetings)
		}
	}
	return b
}

// part is what f says. A mistake of ken's own makes one part unknown, not all of them.
func part[T any](f func() (*T, error)) (p Part[T]) {
	defer func() {
		if r := recover(); r != nil {
			p = failed[T](fmt.Errorf("internal error: %v", r))
		}
	}()
	known, err := f()
	if err != nil {
		return failed[T](err)
	}
	return Part[T]{Known: known}
}

func failed[T any](err error) Part[T] {
	return Part[T]{Unknown: &Unread{Reason: err.Error(), Hint: fault.HintOf(err)}}
}

// Worktree returns the worktree of a name, nil if it is not on the board.
func (b *Board) Worktree(name string) *Worktree {
	for i := range b.Worktrees {
		if b.Worktrees[i].Name == name {
			return &b.Worktrees[i]
		}
	}
	return nil
}

// Wanting reports whether anything does not hold, or is not known.
func (b *Board) Wanting() bool {
	for i := range b.Worktrees {
		if b.Worktrees[i].wanting() {
			return true
		}
	}
	if b.Runs != nil && (b.Runs.Known == nil || len(b.Runs.Known.Running()) > 0) {
		return true
	}
	p := b.Proposals.Known
	return p == nil || len(p.Meetings) > 0 || p.Unknown() > 0
}

// Unknown counts the worktrees of which something is not known.
func (p *Proposals) Unknown() (n int) {
	for i := range p.Worktrees {
		if len(p.Worktrees[i].Unknown) > 0 {
			n++
		}
	}
	return n
}

// Unread returns why some of what is in the directory is not known, by what it is.
func (s *State) Unread() map[string]*Unread {
	unread := make(map[string]*Unread)
	for name, u := range map[string]*Unread{"the workflow": s.Workflow.Unknown, "the cleanup plan": s.Cleanup.Unknown, "the archive": s.Snapshots.Unknown} {
		if u != nil {
			unread[name] = u
		}
	}
	return unread
}

func (w *Worktree) wanting() bool {
	f, s, d, n := w.Files.Known, w.Survey.Known, w.State.Known, w.Spec.Known
	if f == nil || s == nil || d == nil || n == nil {
		return true
	}
	for i := range s.Directories {
		if state := s.Directories[i].Verdict.State(); state == fresh.Stale || state == fresh.Unknown {
			return true
		}
	}
	return f.Counts.Wanting() || d.Counts.Wanting() || len(d.Unread()) > 0 ||
		n.Counts.Drifting+n.Counts.DriftUnknown+n.Counts.Unknown+n.Counts.Problems+n.Counts.Missing+len(n.Unknown) > 0
}
