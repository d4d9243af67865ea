package spec

import (
	"context"
	"fmt"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A JudgedAt is from where a history is judged, and with which eyes.
type JudgedAt struct {
	Head repo.ID // the commit; zero while there is none
	// Outlines tell how far code has moved. Without them a file has moved as a whole
	// or not at all.
	Outlines Outlines
}

// Facts are what git's history says about a node. What is nil is not known, and
// Unknown says why.
type Facts struct {
	Node *Node

	Version *int // how many versions there are; 0 when none was committed yet
	// Drift is how many commits changed governed code since, 0 when all of it is
	// again what it was; Touched is how many changed the files that it is in.
	Drift, Touched *int
	DriftFiles     []Behind // by path; only while there is drift
	// Grade is how far the code has moved, by the file that moved farthest; "" while
	// there is no drift.
	Grade fresh.Grade

	// Session is the one of the latest version, else the one that the frontmatter
	// names; nil, with nothing about it in Unknown, when there is none.
	Session    *string
	LastEdited *string      // when the latest version was made, RFC 3339
	Versions   []VersionRow // newest first; those that are known
	Acks       []Ack        // newest first; those that no version is above

	Status   Status // as long as no worktree proposes a change: see StatusUnder
	Unknown  []Unknown
	Problems []Problem // of what the history shows; the file's own are the node's

	unread  bool                              // nothing could be learnt at all
	follows bool                              // some of its code is no longer there, and was looked for
	ahead   map[repo.CommitNumber][]repo.Path // the commits that drift counts, and what each changed
	at      repo.ID                           // whose history that is, for those that are read one by one
}

// A Behind is a governed file that moved ahead of its spec.
type Behind struct {
	Path   repo.Path
	Behind int // how many commits changed it
}

// An Unknown is a fact that could not be established.
type Unknown struct {
	Fact   string `json:"fact"`
	Reason string `json:"reason"`
}

// The facts that may be unknown: of a node, and of all of them.
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
	FactStaged  = "staged" // of a gate: what is to be committed
	FactSpecs   = "specs"  // of a gate: what governs it
)

func (f *Facts) unknown(fact, reason string) {
	f.Unknown = append(f.Unknown, Unknown{fact, reason})
}

// Unread returns the facts about nodes when git could not be read, for the given
// reason: none.
func Unread(nodes []*Node, reason string) []Facts {
	list := make([]Facts, len(nodes))
	for i, n := range nodes {
		f := &list[i]
		f.Node, f.unread = n, true
		for _, fact := range []string{FactVersion, FactDrift, FactSession} {
			f.unknown(fact, reason)
		}
		f.Status = f.StatusUnder(false)
	}
	return list
}

// Derive computes what git's history says about the nodes of one tree, judged at
// head. The facts are in the order of the nodes.
//
// What the history or the contents cannot tell is unknown and no error; the only
// error is that of a context that is done. The contents are asked once for all
// nodes whose code was touched, and again only for those whose code may be what it
// was or has moved; the outlines are asked once for all that drift.
func Derive(ctx context.Context, nodes []*Node, at JudgedAt, h History, c Contents) ([]Facts, error) {
	d, err := deriveSome(ctx, nodes, nodes, at, h, c)
	return d.facts, err
}

// derived is what was found about some nodes.
type derived struct {
	facts []Facts
	// watched are the paths where governed code may have gone. Whether they are
	// there at head decides about the nodes that follow such code.
	watched map[repo.Path]bool
	// doubt is why nobody could look how far code has moved. What is said holds all
	// the same; another time it may be less.
	doubt error
}

// deriveSome is Derive for some of the nodes of a tree. The others are there, too:
// a path that is a node's own is no old name of another.
func deriveSome(ctx context.Context, some, all []*Node, at JudgedAt, h History, c Contents) (derived, error) {
	head := repo.CommitNumber(-1)
	if !at.Head.IsZero() {
		n, ok := h.Find(at.Head)
		if !ok {
			return derived{facts: Unread(some, fmt.Sprintf("commit %s is not in the history", at.Head))}, nil
		}
		head = n
	}
	d := newDerivation(some, h, head, c)
	for _, n := range all {
		d.taken[n.Path] = true
	}
	d.trail = newTrail(d)
	d.findAcks()
	if err := d.findVersions(ctx); err != nil {
		return derived{}, err
	}
	if err := d.measureVersions(ctx); err != nil {
		return derived{}, err
	}
	if err := d.weigh(ctx); err != nil {
		return derived{}, err
	}
	if at.Outlines != nil {
		if err := d.gradeAll(ctx, at.Outlines); err != nil {
			return derived{}, err
		}
	}
	if err := d.order(ctx); err != nil {
		return derived{}, err
	}
	found := derived{facts: make([]Facts, len(d.studies)), watched: d.watched, doubt: d.doubt}
	for i, s := range d.studies {
		if err := ctx.Err(); err != nil {
			return derived{}, err
		}
		found.facts[i] = d.facts(s)
	}
	return found, nil
}

// A derivation is one reading of a history.
type derivation struct {
	h       History
	g       *graph
	gap     string
	studies []*study
	sheet   *blobBatch
	merges  *mergeJudge
	trail   *trail
	taken   map[repo.Path]bool // the paths of the nodes at head
	watched map[repo.Path]bool // where code may have gone

	rivals   map[repo.Path][]*ack // by a path that may be what they speak of
	files    map[repo.Path]*file
	expanded map[Entry][]*file
	governed map[string]*group // by entries
	paths    []repo.Path       // all of the history, once they were asked for
	limit    matchLimit
	looked   int                                          // at files that were touched
	measured int32                                        // how often a node was measured
	counted  []int32                                      // by commit: when it was last counted
	added    map[repo.CommitNumber]*addition              // what some commits added
	arrived  map[repo.CommitNumber]map[addedBlob]*arrival // and by content
	doubt    error                                        // of the outlines
}

// A study is what has been found about one node.
type study struct {
	node     *Node
	versions []version           // ascending
	before   bool                // there may be versions that the history does not reach back to
	doubtful []repo.CommitNumber // merges that may be versions
	doubt    string              // why nobody knows
	above    bool                // one of them is not reached by any version
	top      []repo.CommitNumber // the versions that no other reaches, descending
	rows     []repo.CommitNumber // the versions, newest first
	claims   []*claim            // the acks that may be for the node
	standing []*claim            // those of them that no version is above, newest first

	group   *group  // of the nodes with the same entries
	beyond  string  // why not all that it governs was looked at, "" when it was
	files   []*file // what it governs, and where that has moved to
	entries int     // how many of files the entries name
	moved   map[repo.Path]departure
	behind  []behind // the files that were touched since
	touched int      // by how many commits
	same    bool     // all of it is again what it was
	follows bool     // some of it is lost
	hidden  bool     // no version that is known reaches the history's end
	unseen  bool     // nor does any ack
	unsure  error    // of the contents, on which drift depends
	unacked bool     // and so does what was touched
	// unsureMerge says why nobody knows whether a merge counts that is among what was
	// touched, "" when all are known.
	unsureMerge string
	attested    []repo.CommitNumber // where it was attested: top and the valid acks
	extent      *extent             // how far it has moved; nil when nobody looked
}

func newDerivation(nodes []*Node, h History, head repo.CommitNumber, c Contents) *derivation {
	d := &derivation{
		h: h, g: newGraph(h, head), gap: h.Gap(), sheet: newSheet(h, c),
		taken: make(map[repo.Path]bool), watched: make(map[repo.Path]bool),
		expanded: make(map[Entry][]*file), governed: make(map[string]*group),
		added: make(map[repo.CommitNumber]*addition), arrived: make(map[repo.CommitNumber]map[addedBlob]*arrival),
	}
	d.merges = newMergeJudge(h, d.g, c)
	d.files = make(map[repo.Path]*file)
	d.sheet.files = d.files
	for _, n := range nodes {
		d.studies = append(d.studies, &study{node: n})
	}
	return d
}

// facts puts together what was found.
func (d *derivation) facts(s *study) Facts {
	f := Facts{Node: s.node, Versions: d.rowsOf(s), Acks: d.acksOf(s), follows: s.follows}
	switch {
	case s.before:
		f.unknown(FactVersion, d.gap)
	case len(s.doubtful) > 0:
		f.unknown(FactVersion, s.doubt)
	default:
		f.Version = new(len(s.versions))
	}
	unsureMerge := s.unsureMerge
	if s.above {
		unsureMerge = s.doubt
	}
	if s.touched == 0 {
		unsureMerge = ""
	}
	if !s.unseen && !s.unacked && unsureMerge == "" && s.beyond == "" {
		f.Touched = new(s.touched)
	}
	switch {
	case s.node.Blind != "":
		f.Touched = nil
		f.unknown(FactDrift, s.node.Blind)
	case s.beyond != "":
		f.unknown(FactDrift, s.beyond)
	case s.unseen:
		f.unknown(FactDrift, d.gap)
	case s.unsure != nil:
		f.unknown(FactDrift, s.unsure.Error())
	case s.same:
		f.Drift = new(0)
	case unsureMerge != "" && s.drift() > 0:
		f.unknown(FactDrift, unsureMerge)
	default:
		f.Drift = new(s.drift())
	}
	switch {
	case s.hidden:
		f.unknown(FactSession, d.gap)
	case s.above:
		f.unknown(FactSession, s.doubt)
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
		f.DriftFiles, f.ahead = s.driftFiles(), s.ahead()
		f.Problems = append(s.symbolProblems(), d.voidProblems(s)...)
	}
	f.Problems = append(f.Problems, d.movedProblems(s)...)
	f.Status = f.StatusUnder(false)
	return f
}
