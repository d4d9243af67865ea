package derive

import (
	"strings"

	"ken/internal/enum"
	"ken/internal/spec/parse"
)

// A Status is the state of a spec. Its zero value is StatusUnknown.
type Status int

// The states of a node.
const (
	StatusUnknown Status = iota // a fact that it depends on is unknown
	StatusPending               // the spec is not committed
	StatusActive                // a worktree proposes a change to it
	StatusDrift                 // its code changed since the last version or ack
	StatusMerged                // it is committed and has no drift
)

var statusNames = enum.Names[Status]{"unknown", "pending", "active", "drift", "merged"}

func (s Status) String() string { return statusNames.String(s) }

// MarshalText writes the state's name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the state's name.
func (s *Status) UnmarshalText(b []byte) error { return statusNames.Parse(b, s) }

// declared returns the status in the frontmatter, StatusUnknown if it names none.
func declared(n *parse.Node) Status {
	for i, name := range statusNames {
		if strings.EqualFold(n.Declared, name) {
			return Status(i)
		}
	}
	return StatusUnknown
}

// StatusWithProposal returns the status of the node. overlay says whether a worktree proposes a change to it. The first
// rule that applies decides. If a rule depends on an unknown fact, the status is unknown. If the history could not
// be read at all, it is the declared status. A spec with a merge conflict has the status unknown.
func (f *Facts) StatusWithProposal(overlay bool) Status {
	says := declared(f.Node)
	switch {
	case parse.HasConflict(f.Node.Problems):
		return StatusUnknown
	case says == StatusPending && len(f.Node.Code) == 0 && f.Node.CodeUnknown == "": // it governs nothing, so it has no drift
		return StatusPending
	case overlay:
		return StatusActive
	case f.Drift != nil && *f.Drift > 0:
		return StatusDrift
	case f.noHistory:
		return says
	case f.Drift == nil || f.Version == nil:
		return StatusUnknown
	case *f.Version > 0:
		return StatusMerged
	default:
		return StatusPending
	}
}
