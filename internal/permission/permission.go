// Package permission decides whether ken may contact an address: the store of a team, or a provider of models. It
// lists, adds and removes permissions, and stores them in the user's own directory, where no repository can write.
//
// A configuration comes with the repository, and anybody may have written it. An address that only the configuration
// names gets no password, key, file contents or money until the user allows it, once, in this repository. An address
// that the user names, in the environment or by a flag, needs no permission.
package permission

import (
	"fmt"

	"ken/internal/english"
	"ken/internal/fault"
)

// Store is the purpose of a [Request] for the team's store. Requests for a model have the
// name of the provider as their purpose.
const Store = "store"

// A Request is what the configuration of a repository asks the user to allow. Two requests
// are the same if all their fields are: after any change, ken asks again.
type Request struct {
	Repository string `json:"repository"` // the path of the git directory that all work trees share
	For        string `json:"for"`        // Store, or a provider of models
	Address    string `json:"address"`    // without a password
	// Key names the variable whose value ken sends to the address; "" for a store.
	Key string `json:"key,omitempty"`
	// Model and Prices are those in the configuration; "" if the user names the model, and
	// if ken knows the prices.
	Model  string `json:"model,omitempty"`
	Prices string `json:"prices,omitempty"`
}

// Sends says what ken sends to the address.
func (r Request) Sends() string {
	if r.For == Store {
		return "summaries, paths, and your password or certificate for PostgreSQL"
	}
	text := "file contents and " + r.Key
	if r.Model != "" {
		text += ", for the model " + r.Model
	} else {
		text += ", for a model that you name"
	}
	if r.Prices != "" {
		text += ", at the prices in the configuration"
	}
	return text
}

// Refuse returns the error for a request that the user has not allowed. Names lists what
// only the configuration names, such as "the address".
func (r Request) Refuse(names ...string) error {
	return &fault.Error{Hint: "if you trust it: " + r.command(), Err: &Error{Request: r, Names: names}}
}

func (r Request) command() string { return "ken allow " + fault.Quote(r.Address) }

// An Error is a request that the user has not allowed.
type Error struct {
	Request Request
	Names   []string // what only the configuration names
}

func (e *Error) Error() string {
	return fmt.Sprintf("ken does not contact %s until you allow it: only .ken/config.yaml names %s; ken would send %s",
		e.Request.Address, english.And(e.Names), e.Request.Sends())
}

// Note is the error in one line, with the command that allows the request.
func (e *Error) Note() string {
	return fmt.Sprintf("not contacted: %s, which only .ken/config.yaml names; to allow it: %s", e.Request.Address, e.Request.command())
}

// A State is the user's answer to a request.
type State string

// The states.
const (
	Waiting   State = "waiting"   // the configuration names the address, and ken does not contact it
	Allowed   State = "allowed"   // ken contacts it
	Unused    State = "unused"    // the user allowed it, and the configuration no longer asks for it
	Withdrawn State = "withdrawn" // the user has just taken the permission back
)

// A Permission is a request and the user's answer to it.
type Permission struct {
	Request

	State State
}
