package spec

import (
	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
)

// These names come from packages parse and derive. With them, callers of a Reader import only this package.
type (
	// Node is a spec file as it was parsed.
	Node = parse.Node
	// Problem is a mistake in a spec file.
	Problem = parse.Problem
	// Ack is a recorded statement that a spec still holds.
	Ack = derive.Ack
	// Status says whether a spec is pending, active or has drift.
	Status = derive.Status
	// Unknown is a fact that ken could not get, with the reason.
)

// The location of specs.
const (
	Root     = parse.Root
	FileName = parse.FileName
)

// The states of a node.
const (
	StatusUnknown = derive.StatusUnknown
	StatusPending = derive.StatusPending
	StatusActive  = derive.StatusActive
	StatusDrift   = derive.StatusDrift
	StatusMerged  = derive.StatusMerged
)

// Facts that may be unknown.
const (
	FactHistory = derive.FactHistory
	FactDrift   = derive.FactDrift
)

// HistoryFilter returns the trailers and moves that the history index must keep for specs.
func HistoryFilter() repo.HistoryFilter { return derive.HistoryFilter() }
