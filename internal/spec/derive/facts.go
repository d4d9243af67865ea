// Package derive computes versions, drift, acks and status of nodes from a history of commits.
//
// It reads nothing itself: the caller passes the history, the contents and the outlines. A fact that they do not tell is
// unknown, with a reason, and not an error.
package derive

import (
	"context"
	"fmt"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// Options set the commit at which facts are derived, and the reader of outlines.
type Options struct {
	Head repo.ID // zero if there is no commit yet
	// Outlines reads the outlines that grade changes. With nil, every change of a file has the highest grade.
	Outlines OutlineReader
	// Commits asks for Facts.Format, which needs the outlines of every drift commit.
	Commits bool
}

// Facts are the facts about a node from the history. A fact that is nil is unknown, and Unknown has the reason.
type Facts struct {
	Node *parse.Node

	Version *int // the number of versions; 0 if the spec is not committed
	// Drift is the number of commits that changed governed code since the last version or ack. It is 0 if the code
	// has the same content again. Touched is the number of commits that changed the files with this code.
	Drift, Touched *int
	DriftFiles     []DriftFile // by path; empty without drift
	// Grade is the highest grade of a change; "" without drift.
	Grade fresh.Grade

	// Session is the session of the latest version, else the one in the frontmatter. It is nil, without an entry
	// in Unknown, if there is none.
	Session    *string
	LastEdited *string      // date of the latest version, RFC 3339
	Versions   []VersionRow // newest first; incomplete if Version is nil
	Acks       []Ack        // newest first; the acks since the latest versions

	Status   Status // the status if no worktree proposes a change: see StatusWithProposal
	Unknown  []fault.Unknown
	Problems []parse.Problem // problems that the history shows; Node has those of the file

	noHistory        bool                              // the history could not be read
	DependsOnWatched bool                              // some of its code was deleted, so its facts depend on Result.Watched
	DriftCommits     map[repo.CommitNumber][]repo.Path // the commits that drift counts, with the files that each changed
	// Format has the drift commits that changed only comments or layout; see Options.Commits.
	Format map[repo.CommitNumber]bool
	// Moved are the moves of governed code to paths that no entry matches, sorted by the new path. They are governed
	// until the spec is edited.
	Moved []MovedFile
}

// A MovedFile is a governed file that was moved to a path that no entry of its spec matches.
type MovedFile struct{ From, To repo.Path }

// FormatCommits returns the number of drift commits that changed only comments or layout.
func (f *Facts) FormatCommits() int {
	count := 0
	for _, only := range f.Format {
		if only {
			count++
		}
	}
	return count
}

// A DriftFile is a governed file that changed since the last version or ack of its spec.
type DriftFile struct {
	Path    repo.Path
	Commits int // the number of commits that changed it
}

// The facts that may be unknown, of one node or of all nodes.
const (
	FactHead    = "head"
	FactMain    = "main"
	FactHistory = "history"
	FactOverlay = "overlays"
	FactDirty   = "dirty"
	FactIndex   = "index"
	FactVersion = "version"
	FactDrift   = "drift"
	FactSession = "session"
	FactStaged  = "staged" // the files of the next commit, for a gate
	FactSpecs   = "specs"  // the specs that govern them, for a gate
)

func (f *Facts) addUnknown(fact, reason string) {
	f.Unknown = append(f.Unknown, fault.Unknown{What: fact, Why: reason})
}

// AllUnknown returns facts that are all unknown for a reason: the history could not be read.
func AllUnknown(nodes []*parse.Node, reason string) []Facts {
	list := make([]Facts, len(nodes))
	for i, n := range nodes {
		f := &list[i]
		f.Node, f.noHistory = n, true
		for _, fact := range []string{FactVersion, FactDrift, FactSession} {
			f.addUnknown(fact, reason)
		}
		f.Status = f.StatusWithProposal(false)
	}
	return list
}

// Derive computes the facts about the nodes of one tree, judged at a commit. The facts are in the order of the
// nodes.
//
// A fact that the history or the contents do not tell is unknown, which is not an error. Derive returns an error
// only if the context is done. It reads contents once for all nodes with touched code, and again only for nodes
// whose code may be unchanged or moved. It reads outlines once for all nodes with drift.
func Derive(ctx context.Context, nodes []*parse.Node, at Options, h History, c Contents) ([]Facts, error) {
	d, err := SomeFacts(ctx, nodes, nodes, at, h, c)
	return d.Facts, err
}

// A Result has the facts about some nodes.
type Result struct {
	Facts []Facts
	// Watched are the paths that governed code may have been moved to. The facts of nodes with DependsOnWatched
	// depend on whether these paths exist at head.
	Watched map[repo.Path]bool
	// OutlineErr is the error of reading outlines. Grades, and the drift of nodes that govern symbols, may be too high then.
	OutlineErr error
}

// SomeFacts is Derive for some of the nodes of a tree. all has every node, because the path of one node cannot be an
// old path of another.
func SomeFacts(ctx context.Context, some, all []*parse.Node, at Options, h History, c Contents) (Result, error) {
	head := repo.CommitNumber(-1)
	if !at.Head.IsZero() {
		n, ok := h.Find(at.Head)
		if !ok {
			return Result{Facts: AllUnknown(some, fmt.Sprintf("commit %s is not in the history", at.Head))}, nil
		}
		head = n
	}
	d := newDerivation(some, h, head, c)
	for _, n := range all {
		d.taken[n.Path] = true
	}
	d.findAcks()
	if err := d.findVersions(ctx); err != nil {
		return Result{}, err
	}
	if err := d.measureVersions(ctx); err != nil {
		return Result{}, err
	}
	if err := d.compareContents(ctx); err != nil {
		return Result{}, err
	}
	if at.Outlines != nil {
		if err := d.gradeAll(ctx, at.Outlines); err != nil {
			return Result{}, err
		}
	}
	if at.Outlines != nil && at.Commits {
		if err := d.findFormat(ctx, at.Outlines); err != nil {
			return Result{}, err
		}
	}
	if err := d.order(ctx); err != nil {
		return Result{}, err
	}
	found := Result{Facts: make([]Facts, len(d.states)), Watched: d.watched, OutlineErr: d.outlineErr}
	for i, s := range d.states {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		found.Facts[i] = d.facts(s)
	}
	return found, nil
}

// A derivation computes the facts of some nodes from one history.
type derivation struct {
	h           History
	g           *Graph
	gap         string
	states      []*nodeState
	blobs       *BlobBatch
	merges      *mergeJudge
	moveTracker *moveTracker
	taken       map[repo.Path]bool // the paths of the nodes at head
	watched     map[repo.Path]bool // see Result.Watched

	acksByPath   map[repo.Path][]*ack // acks by the paths of the specs that they may name
	files        map[repo.Path]*file
	expanded     map[parse.Entry][]*file
	governed     map[string]*group // by the entries of a node
	paths        []repo.Path       // all paths of the history; nil until needed
	limit        parse.MatchLimit
	touchedCount int                                          // the number of touched files so far; see MaxTouched
	measured     int32                                        // the number of calls of touchedSince
	counted      []int32                                      // by commit: the call that counted it last
	added        map[repo.CommitNumber]*addition              // files added by commits that deleted governed files
	arrived      map[repo.CommitNumber]map[addedBlob]*arrival // the same files by content
	outlineErr   error                                        // the error of reading outlines
}

// A nodeState has the facts about one node that were found so far.
type nodeState struct {
	node           *parse.Node
	versions       []version           // ascending
	olderUnknown   bool                // the history is incomplete, so there may be older versions
	unsureVersions []repo.CommitNumber // merges that may be versions
	unsureReason   string              // why that is unknown
	unsureNewest   bool                // one of unsureVersions is not reached by any version
	top            []repo.CommitNumber // the versions that no other reaches, descending
	rows           []repo.CommitNumber // the versions, newest first
	claims         []*claim            // acks that may name the node
	currentAcks    []*claim            // the claims that no version reaches, newest first

	group            *group  // shared with the nodes that have the same entries
	limitReason      string  // why governed files were left out, "" if none was
	files            []*file // the governed files, followed by the paths that some were moved to
	entries          int     // the number of files that match entries; the rest are moved files
	moved            map[repo.Path]codeMove
	touchedFiles     []touchedFile // files touched since the last attestation
	touched          int           // the number of commits that touched them
	same             bool          // the code has the attested content again
	codeDeleted      bool          // some of the code was deleted
	gapAfterVersions bool          // no known version reaches the end of an incomplete history
	gapAfterAcks     bool          // neither does any ack
	blobErr          error         // why contents could not be read; drift is unknown then
	unacked          bool          // touched is unknown, too, because acks could not be read
	// unsureMerge says why it is unknown whether a touching merge was edited by hand, "" if it is known.
	unsureMerge string
	attested    []repo.CommitNumber        // the attesting commits: top and the valid acks
	driftGrade  *driftGrade                // how much the code changed; nil if it was not compared
	textOfMerge bool                       // no attestation has the text at head: git's merge of several made it
	narrowed    []touchedFile              // the touches that changed a governed symbol; nil if all count
	format      map[repo.CommitNumber]bool // the drift commits that changed only comments or layout
}

func newDerivation(nodes []*parse.Node, h History, head repo.CommitNumber, c Contents) *derivation {
	d := &derivation{
		h: h, g: NewGraph(h, head), gap: h.Gap(), blobs: NewBlobBatch(h, c),
		taken: make(map[repo.Path]bool), watched: make(map[repo.Path]bool),
		expanded: make(map[parse.Entry][]*file), governed: make(map[string]*group), files: make(map[repo.Path]*file),
		added: make(map[repo.CommitNumber]*addition), arrived: make(map[repo.CommitNumber]map[addedBlob]*arrival),
	}
	d.moveTracker = newMoveTracker(d)
	d.merges = newMergeJudge(h, d.g, c, d.moveTracker)
	d.blobs.files = d.files
	for _, n := range nodes {
		d.states = append(d.states, &nodeState{node: n})
	}
	return d
}

// facts returns the facts about a node.
func (d *derivation) facts(s *nodeState) Facts {
	f := Facts{Node: s.node, Versions: d.rowsOf(s), Acks: d.acksOf(s), DependsOnWatched: s.codeDeleted}
	switch {
	case s.olderUnknown:
		f.addUnknown(FactVersion, d.gap)
	case len(s.unsureVersions) > 0:
		f.addUnknown(FactVersion, s.unsureReason)
	default:
		f.Version = new(len(s.versions))
	}
	unsureMerge := s.unsureMerge
	if s.unsureNewest {
		unsureMerge = s.unsureReason
	}
	if s.touched == 0 {
		unsureMerge = ""
	}
	if !s.gapAfterAcks && !s.unacked && unsureMerge == "" && s.limitReason == "" {
		f.Touched = new(s.touched)
	}
	switch {
	case s.node.CodeUnknown != "":
		f.Touched = nil
		f.addUnknown(FactDrift, s.node.CodeUnknown)
	case s.limitReason != "":
		f.addUnknown(FactDrift, s.limitReason)
	case s.gapAfterAcks:
		f.addUnknown(FactDrift, d.gap)
	case s.blobErr != nil:
		f.addUnknown(FactDrift, s.blobErr.Error())
	case s.same:
		f.Drift = new(0)
	case unsureMerge != "" && s.drift() > 0:
		f.addUnknown(FactDrift, unsureMerge)
	default:
		f.Drift = new(s.drift())
	}
	switch {
	case s.gapAfterVersions:
		f.addUnknown(FactSession, d.gap)
	case s.unsureNewest:
		f.addUnknown(FactSession, s.unsureReason)
	default:
		if len(f.Versions) > 0 {
			f.LastEdited, f.Session = new(f.Versions[0].Date), f.Versions[0].Session
		}
		if f.Session == nil && s.node.Session != "" {
			f.Session = new(s.node.Session)
		}
	}
	if f.Drift != nil && *f.Drift > 0 {
		f.Grade = s.grade()
		f.DriftFiles, f.DriftCommits, f.Format = s.driftFiles(), s.driftCommits(), s.format
		f.Problems = append(s.symbolProblems(), d.voidProblems(s)...)
	}
	f.Problems = append(f.Problems, d.movedProblems(s)...)
	f.Moved = d.movedCode(s)
	f.Status = f.StatusWithProposal(false)
	return f
}
