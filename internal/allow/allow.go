// Package allow has the words for what a repository's configuration may contact.
//
// A configuration comes with a repository, and the repository may be a stranger's. An address that
// only the configuration names gets no password, key, text or money before the user has allowed it,
// once, for this repository. An address that the user
// names, by the environment or a flag, needs no permission.
//
// Where the user's answer is kept, and what is asked for, is left to others.
package allow

import (
	"fmt"
	"strings"

	"ken/internal/fault"
)

// Store is what a [Request] is for that is about the team's store. Requests of a survey are
// for the provider, by its name.
const Store = "store"

// A Request is something that a repository's configuration wants, and that the user has to
// allow. Two requests are the same when all fields are: whatever the configuration changes, it
// has to ask again.
type Request struct {
	Repository string `json:"repository"` // the git directory that its work trees share
	For        string `json:"for"`        // Store, or a provider of models
	Address    string `json:"address"`    // without a password
	// Key names the variable with the key that the address gets; "" for a store.
	Key string `json:"key,omitempty"`
	// Model and Prices are those that the configuration names; "" where the user names the model,
	// and where ken knows the prices.
	Model  string `json:"model,omitempty"`
	Prices string `json:"prices,omitempty"`
}

// Sends says what the address gets.
func (r Request) Sends() string {
	if r.For == Store {
		return "summaries, paths, and your password or certificate for PostgreSQL"
	}
	text := "file contents and " + r.Key
	if r.Model != "" {
		text += ", for the model " + r.Model
	}
	if r.Prices != "" {
		text += ", at the prices of the configuration"
	}
	return text
}

// Refuse says that the user has not allowed it, and how to. Names are what of it only the
// configuration names, such as "the address".
func (r Request) Refuse(names ...string) error {
	return &fault.Error{Hint: "if you trust it: " + r.command(), Err: &Error{Request: r, Names: names}}
}

func (r Request) command() string { return "ken allow " + fault.Quote(r.Address) }

// An Error says that the user has not allowed what a repository's configuration wants.
type Error struct {
	Request Request
	Names   []string // what only the configuration names
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s is not contacted until you allow it: .ken/config.yaml names %s; it would get %s",
		e.Request.Address, strings.Join(e.Names, " and "), e.Request.Sends())
}

// Note is the same in one line, with the command that allows it.
func (e *Error) Note() string {
	return fmt.Sprintf("not contacted: %s, which only .ken/config.yaml names; to allow it: %s", e.Request.Address, e.Request.command())
}

// A Standing is a request and the user's answer to it.
type Standing struct {
	Request

	Allowed bool
	Named   bool // the configuration still asks for it
}

// Word is the standing in a word.
func (s Standing) Word() string {
	switch {
	case !s.Allowed:
		return "waiting"
	case !s.Named:
		return "unused"
	}
	return "allowed"
}
