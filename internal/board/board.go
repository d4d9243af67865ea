// Package board says how things stand in a repository: files, directories, documents, specs, the state directory,
// and the changes that worktrees propose.
//
// [Make] is the only place that asks for all of this. `ken status` and `ken up` print a [Board], and the dashboard
// shows one. A board selects and sorts the entries, and derives nothing: a [Source] reads each part. If a part cannot
// be read, it has the reason, and the others are shown. A source leaves out what its face does not show.
package board

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/share"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/workflow"
)

// A Board is the state of a repository in some of its worktrees.
type Board struct {
	Repository string     `json:"repository"` // the name of its main checkout
	Worktrees  []Worktree `json:"worktrees"`
	// Proposals are the changes of all worktrees to main and their collisions, also of
	// worktrees that are not in Worktrees.
	Proposals Part[Proposals] `json:"proposals"`
	// Runs are the surveys that workers run; nil without a team's store.
	Runs *Part[Runs] `json:"runs,omitempty"`
}

// A Worktree is one checkout with everything that ken knows in it.
type Worktree struct {
	Name   string  `json:"name"`
	Here   bool    `json:"here"`   // the worktree of the caller
	Branch *string `json:"branch"` // null if detached or unknown
	Head   repo.ID `json:"head"`
	// Unknown says why the worktree cannot be opened. Branch and Head are unknown then.
	Unknown *Unread `json:"unknown"`

	Files  Part[Files]  `json:"files"`
	Survey Part[Survey] `json:"survey"`
	State  Part[State]  `json:"state"`
	Spec   Part[Spec]   `json:"spec"`
	// Documents are those of the newest check of documents. In the dashboard it may be of older files.
	// They are not part of the JSON.
	Documents Part[Documents] `json:"-"`
	// Ignored are the shared records that this clone does not use. They are not part of
	// the JSON: ken share status --json prints them.
	Ignored Part[[]share.Ignored] `json:"-"`
	// Changes has the newest change of the files that are stale or drifted, where it is
	// known. It is filled last.
	Changes map[repo.Path]Change `json:"-"`
}

// A Change is the newest commit that changed a file, or the time of an edit that is not
// committed.
type Change struct {
	Commit  repo.ID   `json:"commit,omitzero"`
	Subject string    `json:"subject,omitempty"`
	At      time.Time `json:"at,omitzero"`
}

// A Part is one kind of knowledge, or the reason why it is unknown. The zero value is a
// part that was not read yet.
type Part[T any] struct {
	Known   *T      `json:"known"`
	Unknown *Unread `json:"unknown"` // null if Known is set
}

// OrZero returns what is known, the zero value if the part is unknown or was not read.
func (p Part[T]) OrZero() (known T) {
	if p.Known != nil {
		known = *p.Known
	}
	return known
}

// An Unread is the reason why something is unknown, with a hint.
type Unread struct {
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
}

// Files is the state of the file registry.
type Files struct {
	State        registry.State    `json:"state"`
	Reasons      []registry.Reason `json:"reasons"`
	LastVerified repo.ID           `json:"last_verified_sha"`
	Upstream     registry.Upstream `json:"upstream"`
	Counts       registry.Counts   `json:"counts"`
	// Bytes is the size of all tracked files.
	Bytes int64 `json:"bytes"`
	// MapFiles are all tracked files, sorted by path. They are not part of the JSON,
	// because there may be very many.
	MapFiles []MapFile `json:"-"`
	// Stale are the files whose summary is stale, and Unknown those about which ken could not tell. They
	// are not part of the JSON: ken status --json prints them.
	Stale   []registry.Verdict `json:"-"`
	Unknown []registry.Verdict `json:"-"`
	// RenamedFrom has the earlier paths of the first stale files, of those that were renamed.
	RenamedFrom Part[map[repo.Path]repo.Path] `json:"-"`
}

// A MapFile is a tracked file on the map.
type MapFile struct {
	Path    repo.Path
	Size    int64
	Found   registry.Finding
	Summary fresh.State
	Grade   fresh.Grade
	Reason  string
}

// Survey is the state of the directory summaries.
type Survey struct {
	Counts map[string]int `json:"counts"` // directories by verdict; an outline is fresh
	Tally  Tally          `json:"tally"`
	// Summaries counts the summaries that people, agents or models wrote, and the directories without one.
	// All texts for people use these numbers.
	Summaries   survey.DirCounts `json:"summaries"`
	Directories []Directory      `json:"directories"`
}

// A Tally counts the texts about directories, outlines among them.
type Tally struct {
	Total     int `json:"total"`     // directories that are not excluded
	Described int `json:"described"` // of Total, those with a text
	Hold      int `json:"hold"`      // of Described, those whose text is fresh
	Outlines  int `json:"outlines"`  // of Hold, those whose text is an outline
	Unknown   int `json:"unknown"`   // of Described, those whose verdict is unknown
}

// A Directory is a directory on the map. Parents come before their children.
type Directory struct {
	repo.PathJSON
	Verdict         survey.Verdict `json:"verdict"`
	Reasons         []string       `json:"reasons"`
	ChangedChildren int            `json:"k"` // of Children, those that changed
	Children        int            `json:"n"`
	Files           int            `json:"files"` // all files below it
	Bytes           int64          `json:"bytes"` // of those files
	Outline         bool           `json:"outline"`
	// Line is the first line of the text, "" without one.
	Line string `json:"line"`

	Raw    repo.Path `json:"-"` // "" for the root
	Text   string    `json:"-"`
	Author string    `json:"-"`
}

// State is the content of the state directory.
type State struct {
	Dir        string          `json:"dir"`
	Counts     workflow.Counts `json:"counts"`
	TotalBytes int64           `json:"total_bytes"`
	Buckets    []Bucket        `json:"buckets"` // those that should be empty first
	// Cleanup lists the files that ken state cleanup would move.
	Cleanup   Part[[]workflow.Moved]  `json:"cleanup"`
	Keep      int                     `json:"keep"` // number of snapshots that the archive keeps
	Snapshots Part[[]Snapshot]        `json:"snapshots"`
	Workflow  Part[workflow.Document] `json:"workflow"` // empty if there is none
}

// A Snapshot is a snapshot in the archive.
type Snapshot = workflow.ArchivedItem

// A Bucket is a bucket of the contract with its entries.
type Bucket struct {
	Name    contract.Bucket       `json:"name"`
	Entries []workflow.AuditEntry `json:"entries"`
}

// Spec is the state of the specs.
type Spec struct {
	Main   spec.Mainline `json:"main"`
	Counts SpecCounts    `json:"counts"`
	// Nodes are in tree order: descendants follow their ancestor, and the sibling with
	// the most drift comes first.
	Nodes   []Node         `json:"nodes"`
	Unknown []spec.Unknown `json:"unknown"` // facts that are unknown for all specs
	Gate    int            `json:"-"`       // the drift from which the gate blocks a commit
}

// OverGate reports whether the gate blocks a commit for the drift of a spec.
func (s *Spec) OverGate(n *Node) bool { return n.Drift != nil && *n.Drift >= s.Gate }

// SpecCounts counts specs, first by status.
type SpecCounts struct {
	Nodes    int `json:"nodes"`
	Merged   int `json:"merged"`
	Drift    int `json:"drift"`
	Active   int `json:"active"`
	Pending  int `json:"pending"`
	Unknown  int `json:"unknown"`
	Problems int `json:"problems"` // specs with problems
	Ghosts   int `json:"ghosts"`   // specs that only other worktrees have

	// Drifting are the specs with drift, whatever their status: an active spec may have
	// drift too. DriftUnknown are those whose drift is unknown.
	Drifting     int `json:"drifting"`
	DriftUnknown int `json:"drift_unknown"`
	Missing      int `json:"missing"` // specs with missing code
}

// A Node is a spec with its place in the tree.
type Node struct {
	spec.ListedSpec
	Depth int `json:"depth"`
	Below int `json:"below"` // number of descendants
	// Collisions are changes of several worktrees to this spec or its code.
	Collisions []Collision `json:"collisions"`
}

// A Collision is a conflict between worktrees: unmerged changes of several worktrees to one spec or its code.
type Collision struct {
	Node      string             `json:"node"`
	Kind      spec.CollisionKind `json:"kind"`
	Worktrees []string           `json:"worktrees"` // sorted
	Paths     []string           `json:"paths"`     // sorted
}

// Proposals are the changes of worktrees to main.
type Proposals struct {
	Worktrees []spec.WorktreeChanges `json:"worktrees"`
	Meetings  []Collision            `json:"meetings"`
}

// Make reads all sources and builds a board. It never fails: a part that cannot be read
// is unknown. Without onPart it reads one part after the other. Otherwise it reads them at the
// same time, and onPart gets a copy of the board whenever a part is ready.
func Make(ctx context.Context, repository string, sources []Source, overlays func(context.Context) ([]spec.WorktreeChanges, error), onPart func(*Board)) *Board {
	m := &maker{
		board:  &Board{Repository: repository, Worktrees: make([]Worktree, len(sources))},
		onPart: onPart,
	}
	for i := range sources {
		m.readWorktree(ctx, &sources[i], &m.board.Worktrees[i])
	}
	read(m, &m.board.Proposals, func() (*Proposals, error) { return proposals(ctx, overlays) })
	m.parts.Wait()
	m.set(m.board.addCollisions)
	m.board.addChanges(ctx, sources)
	return m.board
}

// A maker builds a board.
type maker struct {
	onPart func(*Board)
	parts  sync.WaitGroup

	mu    sync.Mutex
	board *Board
}

// set changes the board and passes a copy of it to onPart.
func (m *maker) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	if m.onPart == nil {
		return
	}
	unfinished := *m.board
	unfinished.Worktrees = slices.Clone(m.board.Worktrees)
	m.onPart(&unfinished)
}

// do reads a part, in a goroutine if onPart waits for it.
func (m *maker) do(readPart func()) {
	if m.onPart == nil {
		readPart()
		return
	}
	m.parts.Go(readPart)
}

// read reads a part of the board.
func read[T any](m *maker, to *Part[T], f func() (*T, error)) {
	m.do(func() {
		p := part(f)
		m.set(func() { *to = p })
	})
}

// readWorktree reads the parts of a worktree.
func (m *maker) readWorktree(ctx context.Context, s *Source, w *Worktree) {
	w.Name = s.Name
	w.Here = s.Here
	if s.Err != nil {
		w.fail(s.Err)
		return
	}
	w.Head = s.Head
	if s.Branch != "" {
		w.Branch = &s.Branch
	}
	// The map of directories needs the sizes of the files.
	m.do(func() {
		files := part(func() (*Files, error) { return s.files(ctx) })
		m.set(func() { w.Files = files })
		survey := part(func() (*Survey, error) { return s.survey(ctx, files.Known) })
		m.set(func() { w.Survey = survey })
	})
	if s.Documents != nil {
		read(m, &w.Documents, func() (*Documents, error) { return s.documents(ctx) })
	}
	read(m, &w.State, func() (*State, error) { return s.state(ctx) })
	if s.Ignored != nil {
		read(m, &w.Ignored, func() (*[]share.Ignored, error) {
			list, err := s.Ignored(ctx)
			return &list, err
		})
	}
	read(m, &w.Spec, func() (*Spec, error) { return s.spec(ctx) })
}

// fail makes all parts unknown, since the worktree cannot be opened.
func (w *Worktree) fail(err error) {
	w.Unknown = unread(err)
	w.Files.Unknown = unread(err)
	w.Survey.Unknown = unread(err)
	w.State.Unknown = unread(err)
	w.Spec.Unknown = unread(err)
	w.Documents.Unknown = unread(err)
}

// addCollisions adds the collisions to the specs that they are about.
func (b *Board) addCollisions() {
	if b.Proposals.Known == nil {
		return
	}
	for i := range b.Worktrees {
		w := &b.Worktrees[i]
		if w.Spec.Known != nil {
			w.Spec.Known = w.Spec.Known.withCollisions(b.Proposals.Known.Meetings)
		}
	}
}

// addChanges adds the newest changes of stale files and directories, and of drifted files.
func (b *Board) addChanges(ctx context.Context, sources []Source) {
	var all sync.WaitGroup
	for i := range sources {
		w := &b.Worktrees[i]
		all.Go(func() { w.Changes = sources[i].changes(ctx, w) })
	}
	all.Wait()
}

// part returns the result of f. It turns an error or a panic into an unknown part.
func part[T any](f func() (*T, error)) (p Part[T]) {
	defer func() {
		if r := recover(); r != nil {
			p = Part[T]{Unknown: unread(fmt.Errorf("internal error: %v", r))}
		}
	}()
	known, err := f()
	if err != nil {
		return Part[T]{Unknown: unread(err)}
	}
	return Part[T]{Known: known}
}

func unread(err error) *Unread { return &Unread{Reason: err.Error(), Hint: fault.HintOf(err)} }

// Worktree returns a worktree by name; nil if it is not on the board.
func (b *Board) Worktree(name string) *Worktree {
	for i := range b.Worktrees {
		if b.Worktrees[i].Name == name {
			return &b.Worktrees[i]
		}
	}
	return nil
}

// NeedsAttention reports whether anything is stale, drifted or unknown.
func (b *Board) NeedsAttention() bool {
	for i := range b.Worktrees {
		if b.Worktrees[i].needsAttention() {
			return true
		}
	}
	if b.Runs != nil && (b.Runs.Known == nil || len(b.Runs.Known.Running()) > 0) {
		return true
	}
	p := b.Proposals.Known
	return p == nil || len(p.Meetings) > 0 || p.Unknown() > 0
}

// Unknown counts the worktrees with unknown facts.
func (p *Proposals) Unknown() (n int) {
	for i := range p.Worktrees {
		if len(p.Worktrees[i].Unknown) > 0 {
			n++
		}
	}
	return n
}

// Unread returns the unknown parts of the state directory, by name.
func (s *State) Unread() map[string]*Unread {
	unread := make(map[string]*Unread)
	for name, u := range map[string]*Unread{"the workflow": s.Workflow.Unknown, "the cleanup plan": s.Cleanup.Unknown, "the archive": s.Snapshots.Unknown} {
		if u != nil {
			unread[name] = u
		}
	}
	return unread
}

func (w *Worktree) needsAttention() bool {
	f, s, d, n := w.Files.Known, w.Survey.Known, w.State.Known, w.Spec.Known
	if f == nil || s == nil || d == nil || n == nil {
		return true
	}
	if len(s.Summaries.NeedAttention) > 0 || s.Counts[survey.Unknown.String()] > 0 {
		return true
	}
	return f.Counts.NeedsAttention() || d.Counts.NeedsAttention() || len(d.Unread()) > 0 ||
		n.Counts.Drifting+n.Counts.DriftUnknown+n.Counts.Unknown+n.Counts.Problems+n.Counts.Missing+len(n.Unknown) > 0
}
