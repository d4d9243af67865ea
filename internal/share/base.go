package share

import (
	"time"

	"ken/internal/repo"
)

// A Base is how a clone stands with the base of its team, a store on a server that machines
// meet in.
type Base struct {
	Address    string `json:"address"` // without a password
	Repository string `json:"repository,omitempty"`
	// Only says that the policy names no git remote to share by as well.
	Only bool `json:"-"`
	// Problem is why it could not be used, "" when it could, and Trouble what sort of thing
	// that is.
	Problem string  `json:"problem,omitempty"`
	Trouble Trouble `json:"trouble,omitempty"`
	Pulled  int     `json:"pulled"` // records that were taken over just now
	Pushed  int     `json:"pushed"`
	Unsent  int     `json:"unsent"` // records that are here, and not there as far as is known
	// Unpulled are records that are there, and not here as far as is known. It is 0 when there
	// is a problem.
	Unpulled int `json:"unpulled"`
	Records  int `json:"records,omitempty"`
	// Aside is how many records of the base were not taken over because something is wrong with
	// them, and Quarantined the first of them.
	Aside       int           `json:"aside,omitempty"`
	Quarantined []Quarantined `json:"quarantined,omitempty"`
	// Machines are the work trees that have told how they stand, this one first whether it has or not.
	Machines []Machine `json:"machines,omitempty"`
}

// A Trouble is what is in the way to a base.
type Trouble string

// The troubles, by who can end them.
const (
	Away     Trouble = "away"     // nobody answers there; time may mend it
	Refused  Trouble = "refused"  // the server does not let this one in, or not do what is wanted
	Unusable Trouble = "unusable" // it is not for this ken, or this clone not for it
	Unused   Trouble = "unused"   // the repository names it, and the user has not allowed it
)

// Current reports whether the clone and the base are known to have the same records.
func (b *Base) Current() bool {
	return b.Problem == "" && b.Unsent == 0 && b.Unpulled == 0 && b.Aside == 0
}

// A Machine is how a work tree of some machine stood when ken last looked at it there. The counts
// are of files, by their summaries.
type Machine struct {
	ID       string    `json:"id"`
	Host     string    `json:"host"` // what people call it
	Here     bool      `json:"here,omitempty"`
	Worktree string    `json:"worktree"`
	Head     repo.ID   `json:"head,omitzero"`
	Verified time.Time `json:"verified_at,omitzero"`
	Told     time.Time `json:"told_at,omitzero"`
	Files    int       `json:"files"`
	Fresh    int       `json:"fresh"`
	Stale    int       `json:"stale"`
	None     int       `json:"none"`
}
