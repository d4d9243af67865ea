package spec

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"ken/internal/repo"
)

// An Ack is a commit that says that a spec still holds.
type Ack struct {
	Commit  repo.ID
	Date    string // RFC 3339
	Subject string
	Session *string
	ID      string // what it calls the node
	Based   bool   // it names the content that it was made for
	State   AckState
	Why     string // it is not valid
}

// An AckState is what an ack is worth. Its zero value is AckUnknown.
type AckState int

// The states of an ack.
const (
	AckUnknown AckState = iota // the contents could not be read
	AckValid                   // it quiets what it can reach
	AckVoid                    // it does not speak of what is there in its own commit
)

var ackNames = [...]string{"unknown", "valid", "void"}

func (s AckState) String() string {
	if s >= 0 && int(s) < len(ackNames) {
		return ackNames[s]
	}
	return fmt.Sprintf("AckState(%d)", int(s))
}

// MarshalText writes the state's name.
func (s AckState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// An ack is one Spec-OK trailer of a commit that head reaches.
type ack struct {
	commit repo.CommitNumber
	nth    int // of the commit's
	id     string
	basis  *Basis // nil when it names none
	void   string // why it counts for nothing, whatever it speaks of
	rivals []repo.Path
	owner  repo.Path // the one of rivals that had the id, "" while nobody looked and for none
}

// A claim is an ack that may be for a node.
type claim struct {
	ack   *ack
	path  repo.Path // of the node's file in the ack's commit
	state AckState
	why   string
}

// findAcks reads the acks that head reaches.
func (d *derivation) findAcks() {
	var names *register
	d.rivals = make(map[repo.Path][]*ack)
	ours := d.bids()
	for _, c := range d.h.Marked() {
		if !d.g.has(c) {
			continue
		}
		for _, a := range readAcks(d.h.Commit(c).Trailers) {
			if !slices.ContainsFunc(numbered(norm.NFC.String(a.id)), func(bid string) bool { return ours[bid] }) {
				continue // no node that is looked at can ever have been called that
			}
			if names == nil {
				names = newRegister(d.h.Below(Root))
			}
			a.commit = c
			a.rivals = names.rivals(a.id)
			for _, p := range a.rivals {
				d.rivals[p] = append(d.rivals[p], a)
			}
		}
	}
}

// bids returns all that the nodes may have been called, under any name of theirs.
func (d *derivation) bids() map[string]bool {
	all := make(map[string]bool)
	for _, s := range d.studies {
		for _, p := range d.trail.names(s.node.Path) {
			for _, bid := range bidsOf(p) {
				all[bid] = true
			}
		}
	}
	return all
}

// readAcks returns the acks in the trailers of a commit. If there are as many bases as
// acks, they belong together in order; otherwise a basis belongs to the ack right
// before it. If a basis has no ack, no ack of the commit counts as one without a basis.
func readAcks(trailers []repo.Trailer) []*ack {
	var acks []*ack
	var bases []string
	var behind []int // by basis: the ack right before it, -1 for none
	last := -1
	for _, t := range trailers {
		switch {
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
	return slices.DeleteFunc(acks, func(a *ack) bool { return a.id == "" })
}

// wantAcks asks for what decides the acks that stand for a node: which of those that
// might have had the id was there, and what the spec and, for a basis, the governed
// files were.
func (d *derivation) wantAcks(s *study) {
	for _, c := range s.standing {
		for _, p := range c.ack.rivals {
			d.sheet.want(c.ack.commit, p)
		}
		if c.ack.basis == nil || c.ack.void != "" {
			continue
		}
		for _, f := range s.files {
			d.sheet.want(c.ack.commit, f.path)
		}
	}
}

// judgeAcks decides the acks that stand for a node. Those that turn out to be for
// another are taken out.
func (d *derivation) judgeAcks(s *study) {
	s.standing = slices.DeleteFunc(s.standing, func(c *claim) bool { return d.ownerOf(c.ack) != c.path })
	for _, c := range s.standing {
		c.state, c.why = AckVoid, c.ack.void
		if c.why != "" {
			continue
		}
		if b := c.ack.basis; b != nil {
			switch {
			case b.Spec != d.sheet.at(c.ack.commit, c.path):
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

// ownerOf returns the path of the node that had the ack's id in the ack's commit, ""
// when none had.
func (d *derivation) ownerOf(a *ack) repo.Path {
	if a.owner == "" {
		there := slices.Clone(a.rivals)
		there = slices.DeleteFunc(there, func(p repo.Path) bool { return d.sheet.at(a.commit, p).IsZero() })
		a.owner = holder(a.id, there)
	}
	return a.owner
}

// acksOf returns the acks that stand for a node.
func (d *derivation) acksOf(s *study) []Ack {
	var list []Ack
	for _, c := range s.standing {
		commit := d.h.Commit(c.ack.commit)
		list = append(list, Ack{
			Commit: commit.ID, Date: commit.Date, Subject: commit.Subject, Session: session(commit.Trailers),
			ID: c.ack.id, Based: c.ack.basis != nil, State: c.state, Why: c.why,
		})
	}
	return list
}
