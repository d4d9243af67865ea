package derive

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"ken/internal/enum"
	"ken/internal/repo"
	"ken/internal/spec/parse"
)

// An Ack is a commit that states that a spec still holds.
type Ack struct {
	Commit  repo.ID
	Date    string // RFC 3339
	Subject string
	Session *string
	ID      string // the id in the trailer
	Based   bool   // it has a basis
	State   AckState
	Why     string // why it is not valid
}

// An AckState says whether an ack counts. Its zero value is AckUnknown.
type AckState int

// The states of an ack.
const (
	AckUnknown AckState = iota // the contents could not be read
	AckValid                   // it ends the drift of the commits that it reaches
	AckVoid                    // its basis is not the content in its commit
)

var ackNames = enum.Names[AckState]{"unknown", "valid", "void"}

func (s AckState) String() string { return ackNames.String(s) }

// MarshalText writes the state's name.
func (s AckState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// An ack is one Spec-OK trailer of a commit that head reaches.
type ack struct {
	commit     repo.CommitNumber
	nth        int // index among the acks of the commit
	id         string
	basis      *Basis // nil without one
	void       string // why the trailer is invalid, "" if it is valid
	candidates []repo.Path
	owner      repo.Path // the candidate that had the id; "" if not looked up, and for none
}

// A claim is an ack that may name a node.
type claim struct {
	ack   *ack
	path  repo.Path // the path of the spec in the ack's commit
	state AckState
	why   string
}

// findAcks reads the acks that head reaches.
func (d *derivation) findAcks() {
	var names *IDIndex
	d.acksByPath = make(map[repo.Path][]*ack)
	own := d.candidateIDs()
	for _, c := range d.h.Marked() {
		if !d.g.Has(c) {
			continue
		}
		for _, a := range readAcks(d.h.Commit(c).Trailers) {
			if !slices.ContainsFunc(numbered(norm.NFC.String(a.id)), func(candidate string) bool { return own[candidate] }) {
				continue // none of the nodes can have had this id
			}
			if names == nil {
				names = NewIDIndex(d.h.Below(parse.Root))
			}
			a.commit = c
			a.candidates = names.CandidatePaths(a.id)
			for _, p := range a.candidates {
				d.acksByPath[p] = append(d.acksByPath[p], a)
			}
		}
	}
}

// candidateIDs returns every id that the nodes may have had, at any of their paths.
func (d *derivation) candidateIDs() map[string]bool {
	all := make(map[string]bool)
	for _, s := range d.states {
		for _, p := range d.moveTracker.names(s.node.Path) {
			for _, candidate := range parse.CandidateIDs(p) {
				all[candidate] = true
			}
		}
	}
	return all
}

// readAcks returns the acks in the trailers of a commit. If there are as many bases as
// acks, they belong together in order; otherwise a basis belongs to the ack right
// before it. If a basis has no ack, no ack of the commit counts as one without a basis.
// Acks that the message does not carry come last; they are void.
func readAcks(trailers []repo.Trailer) []*ack {
	var acks []*ack
	var bases []string
	var behind []int // by basis: the index of the ack right before it, -1 without one
	var lost []*ack
	last := -1
	for _, t := range trailers {
		switch {
		case strings.EqualFold(t.Key, TrailerLost):
			lost = append(lost, &ack{id: t.Value, void: "its line is no trailer of the message, and no trailer with a basis in a squash message of git"})
		case strings.EqualFold(t.Key, TrailerAck):
			last = len(acks)
			acks = append(acks, &ack{nth: last, id: strings.TrimSpace(t.Value)})
		case strings.EqualFold(t.Key, TrailerBasis):
			bases = append(bases, t.Value)
			behind = append(behind, last)
			last = -1
		}
	}
	stray := false
	for i, text := range bases {
		of := behind[i]
		if len(bases) == len(acks) {
			of = i
		}
		if of < 0 {
			stray = true
			continue
		}
		basis, err := ParseBasis(text)
		if err != nil {
			acks[of].void = err.Error()
		}
		acks[of].basis = &basis
	}
	for _, a := range acks {
		if stray && a.basis == nil {
			a.void = "the commit has a basis without an ack before it"
		}
	}
	for _, a := range lost {
		a.nth = len(acks)
		acks = append(acks, a)
	}
	return slices.DeleteFunc(acks, func(a *ack) bool { return a.id == "" })
}

// AckedIDs returns the ids in the acks of a commit.
func AckedIDs(trailers []repo.Trailer) []string {
	var ids []string
	for _, a := range readAcks(trailers) {
		ids = append(ids, a.id)
	}
	return ids
}

// requestAcks requests the contents that decide the current acks of a node: the specs that may have had the id, the
// spec itself and, for a basis, the governed files.
func (d *derivation) requestAcks(s *nodeState) {
	for _, c := range s.currentAcks {
		for _, p := range c.ack.candidates {
			d.blobs.Request(c.ack.commit, p)
		}
		if c.ack.basis == nil || c.ack.void != "" {
			continue
		}
		for _, f := range s.files {
			d.blobs.Request(c.ack.commit, f.path)
		}
	}
}

// judgeAcks decides the current acks of a node, and removes those that name another node.
func (d *derivation) judgeAcks(s *nodeState) {
	s.currentAcks = slices.DeleteFunc(s.currentAcks, func(c *claim) bool { return d.ownerOf(c.ack) != c.path })
	for _, c := range s.currentAcks {
		c.state, c.why = AckVoid, c.ack.void
		if c.why != "" {
			continue
		}
		if b := c.ack.basis; b != nil {
			switch {
			case b.Spec != d.blobs.At(c.ack.commit, c.path):
				c.why = "the spec in that commit differs from its basis"
			case b.Governed != d.governedAt(s, c.ack.commit):
				c.why = "the governed code in that commit differs from its basis"
			}
		}
		if c.why == "" {
			c.state = AckValid
		}
	}
}

// ownerOf returns the path of the spec that had the ack's id in the ack's commit, "" without one.
func (d *derivation) ownerOf(a *ack) repo.Path {
	if a.owner == "" {
		there := slices.Clone(a.candidates)
		there = slices.DeleteFunc(there, func(p repo.Path) bool { return d.blobs.At(a.commit, p).IsZero() })
		a.owner = specWithID(a.id, there)
	}
	return a.owner
}

// acksOf returns the current acks of a node.
func (d *derivation) acksOf(s *nodeState) []Ack {
	var list []Ack
	for _, c := range s.currentAcks {
		commit := d.h.Commit(c.ack.commit)
		list = append(list, Ack{
			Commit: commit.ID, Date: commit.Date, Subject: commit.Subject, Session: Session(commit.Trailers),
			ID: c.ack.id, Based: c.ack.basis != nil, State: c.state, Why: c.why,
		})
	}
	return list
}
