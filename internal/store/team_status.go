package store

import (
	"time"

	"ken/internal/repo"
)

// A TeamStatus compares a clone with the database of its team.
type TeamStatus struct {
	Address    string `json:"address"` // without a password
	Repository string `json:"repository,omitempty"`
	// NoRemote says that the policy names no git remote to share with as well.
	NoRemote bool `json:"-"`
	// Problem says why ken could not use the database, "" if it could. Trouble is the
	// kind of problem.
	Problem string      `json:"problem,omitempty"`
	Trouble TeamTrouble `json:"trouble,omitempty"`
	Pulled  int         `json:"pulled"` // records that this command took over
	Pushed  int         `json:"pushed"`
	Unsent  int         `json:"unsent"` // records of the clone that the database may not have
	// Unpulled counts records of the database that the clone may not have. It is 0 when
	// there is a problem.
	Unpulled int `json:"unpulled"`
	Records  int `json:"records,omitempty"` // of the database
	// Bad counts the records of the database that the clone ignores because their
	// content is bad, and Quarantined lists the first of them.
	Bad         int         `json:"aside,omitempty"`
	Quarantined []BadRecord `json:"quarantined,omitempty"`
}

// A BadRecord is a record of the database that ken ignores.
type BadRecord struct {
	repo.PathJSON
	Reason string `json:"reason"`
	// Due is when the clone reads a record that is dated in the future again.
	Due time.Time `json:"due,omitzero"`
}

// A TeamTrouble is a kind of problem with the database of a team.
type TeamTrouble string

// The kinds of trouble.
const (
	TroubleUnreachable TeamTrouble = "away"     // the server does not answer
	TroubleRefused     TeamTrouble = "refused"  // the server refuses the login or the statement
	TroubleUnusable    TeamTrouble = "unusable" // the database is not one of this version of ken, or not of this clone
	TroubleNotAllowed  TeamTrouble = "unused"   // the repository names the server, and the user has not allowed it
)

// Current reports whether the clone and the database are known to have the same records.
func (s *TeamStatus) Current() bool {
	return s.Problem == "" && s.Unsent == 0 && s.Unpulled == 0 && s.Bad == 0
}
