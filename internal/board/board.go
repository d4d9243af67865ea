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

// A Board is the state of a repository in one of its worktrees.
type Board struct {
	Repository string     `json:"repository"` // the name of its main checkout
	Worktrees  []Worktree `json:"worktrees"`  // the one that the board is about
	// Proposals are the changes of all worktrees to main and their collisions.
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
	Unknown *fault.Unknown `json:"unknown"`

	Files  Part[Files]  `json:"files"`
	Survey Part[Survey] `json:"survey"`
	State  Part[State]  `json:"state"`
	Spec   Part[Spec]   `json:"spec"`
	// Documents has the newest check of documents. In the dashboard, files may have changed since.
	// It is not part of the JSON.
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
	Known   *T             `json:"known"`
	Unknown *fault.Unknown `json:"unknown"` // null if Known is set
}

// Ready reports whether the part was read, or could not be read.
func (p Part[T]) Ready() bool { return p.Known != nil || p.Unknown != nil }

// OrZero returns what is known, the zero value if the part is unknown or was not read.
func (p Part[T]) OrZero() (known T) {
	if p.Known != nil {
		known = *p.Known
	}
	return known
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
	Stale   []registry.FileState `json:"-"`
	Unknown []registry.FileState `json:"-"`
	// RenamedFrom has the earlier paths of the first stale files, of those that were renamed.
	RenamedFrom Part[map[repo.Path]repo.Path] `json:"-"`
}

// A MapFile is a tracked file on the map.
type MapFile struct {
	Path    repo.Path
	Size    int64
	Content registry.Comparison
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
	Verdict         fresh.Verdict `json:"verdict"`
	Reasons         []string      `json:"reasons"`
	ChangedChildren int           `json:"k"` // of Children, those that changed
	Children        int           `json:"n"`
	Files           int           `json:"files"` // all files below it
	Bytes           int64         `json:"bytes"` // of those files
	Outline         bool          `json:"outline"`
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
	Nodes   []Node          `json:"nodes"`
	Unknown []fault.Unknown `json:"unknown"` // facts that are unknown for all specs
	Gate    int             `json:"-"`       // the drift from which the gate blocks a commit
}

// OverGate reports whether the gate blocks a commit for the drift of a spec.
func (s *Spec) OverGate(n *Node) bool { return n.Reaches(s.Gate) }

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

// Make reads a source and builds a board. It never fails: a part that cannot be read
// is unknown. Without onPart it reads one part after the other. Otherwise it reads them at the
// same time, and onPart gets a copy of the board whenever a part is ready.
func Make(ctx context.Context, repository string, s Source, onPart func(*Board)) *Board {
	b := &Board{Repository: repository, Worktrees: make([]Worktree, 1)}
	m := &maker{board: b, onPart: onPart}
	m.readWorktree(ctx, &s, b.Worktree())
	read(m, &b.Proposals, "worktrees", func() (*Proposals, error) { return proposals(ctx, s.Overlays) })
	if s.Runs != nil {
		m.do(func() {
			runs := s.Runs(ctx)
			m.set(func() { b.Runs = runs })
		})
	}
	m.parts.Wait()
	m.set(b.addCollisions)
	b.Worktree().Changes = s.changes(ctx, b.Worktree())
	return b
}

// Worktree returns the worktree that the board is about.
func (b *Board) Worktree() *Worktree { return &b.Worktrees[0] }

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
func read[T any](m *maker, to *Part[T], what string, f func() (*T, error)) {
	m.do(func() {
		p := part(what, f)
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
		files := part("files", func() (*Files, error) { return s.files(ctx) })
		m.set(func() { w.Files = files })
		survey := part("directories", func() (*Survey, error) { return s.survey(ctx, files.Known) })
		m.set(func() { w.Survey = survey })
	})
	if s.Documents != nil {
		read(m, &w.Documents, "documents", func() (*Documents, error) { return s.documents(ctx) })
	}
	read(m, &w.State, "workflow", func() (*State, error) { return s.state(ctx) })
	if s.Ignored != nil {
		read(m, &w.Ignored, "shared records", func() (*[]share.Ignored, error) {
			list, err := s.Ignored(ctx)
			return &list, err
		})
	}
	read(m, &w.Spec, "specs", func() (*Spec, error) { return s.spec(ctx) })
}

// fail makes all parts unknown, since the worktree cannot be opened.
func (w *Worktree) fail(err error) {
	w.Unknown = new(fault.NewUnknown("worktree", err))
	w.Files.Unknown = new(fault.NewUnknown("files", err))
	w.Survey.Unknown = new(fault.NewUnknown("directories", err))
	w.State.Unknown = new(fault.NewUnknown("workflow", err))
	w.Spec.Unknown = new(fault.NewUnknown("specs", err))
	w.Documents.Unknown = new(fault.NewUnknown("documents", err))
}

// addCollisions adds the collisions to the specs that they are about.
func (b *Board) addCollisions() {
	specs := &b.Worktree().Spec
	if specs.Known != nil {
		specs.Known = specs.Known.withCollisions(b.Proposals.OrZero().Meetings)
	}
}

// part returns the result of f, which reads what. It turns an error or a panic into an unknown part.
func part[T any](what string, f func() (*T, error)) (p Part[T]) {
	defer func() {
		if r := recover(); r != nil {
			p = Part[T]{Unknown: new(fault.NewUnknown(what, fmt.Errorf("internal error: %v", r)))}
		}
	}()
	known, err := f()
	if err != nil {
		return Part[T]{Unknown: new(fault.NewUnknown(what, err))}
	}
	return Part[T]{Known: known}
}
