package share

import (
	"cmp"
	"time"

	"ken/internal/repo"
)

// A Memory is what a clone remembers of its ledger, so that only what is new need be
// looked at. Losing it costs a full comparison, and what was refused: see [Memory.Refused].
type Memory struct {
	Version int     `json:"version"`
	Policy  string  `json:"policy"` // that everything was judged by
	Tip     repo.ID `json:"tip"`    // of this clone's ledger: all below is about it
	Mark    Mark    `json:"mark"`   // what the store had kept up to here is in it, or was dropped

	// Store is a mark near the beginning of the store: a store that does not know it
	// has not taken over what this clone's ledger has.
	Store Mark `json:"store"`

	Epoch   []Name `json:"epoch,omitempty"` // lists of what was dropped, those that are trusted
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`

	Quarantined []Quarantined `json:"quarantined,omitempty"`
	Held        []Held        `json:"held,omitempty"`
	Doubted     []Held        `json:"doubted,omitempty"` // lists of what was dropped, of nobody who is trusted
	Refused     []Held        `json:"refused,omitempty"` // once held back, not there now, and brought by nobody trusted since
	Unfit       []Unfit       `json:"unfit,omitempty"`   // kept here, and not shared

	Fetched map[string]time.Time `json:"fetched,omitempty"` // when a remote was last heard of
}

// memoryVersion is that of a Memory. Another ken may judge otherwise what it could not
// read; so the version of records is part of it.
const memoryVersion = 200 + Format

// A Quarantined is a file of a ledger that is not taken over.
type Quarantined struct {
	repo.PathJSON
	Reason string `json:"reason"`
}

// An Unfit is a record that is kept here, and not shared.
type Unfit struct {
	repo.PathJSON
	Who    string `json:"who,omitempty"` // brought it, if it was held back
	Reason string `json:"reason"`
}

// A Held is a record that is not taken over because nobody who is trusted has shared it.
type Held struct {
	Name   Name      `json:"name"`
	Who    string    `json:"who"` // brought it first, of those who are not trusted
	Commit repo.ID   `json:"commit"`
	At     time.Time `json:"at,omitzero"`
	Reason string    `json:"reason"`
	Here   bool      `json:"here,omitempty"` // the store has it all the same
}

// before orders those who brought the same, so that everybody names the same one.
func (h Held) before(o Held) bool {
	return cmp.Or(h.At.Compare(o.At), cmp.Compare(h.Commit.String(), o.Commit.String())) < 0
}

// who returns who brought it, as far as is known.
func (h Held) who() string { return cmp.Or(h.Who, "somebody") }

// asList says why a list of what was dropped does not count.
func (h Held) asList() string { return "a list of what was dropped, by " + h.who() + ": " + h.Reason }

// Memories is where a Memory is kept.
type Memories interface {
	// Load returns what was saved, the zero Memory when there is nothing or it cannot
	// be read.
	Load() Memory
	Save(m Memory) error
}
