package spec

import (
	"fmt"
	"strings"
)

// A Status is where a node stands. Its zero value is StatusUnknown.
type Status int

// The states of a node.
const (
	StatusUnknown Status = iota // the history could not tell
	StatusPending               // nothing has been committed
	StatusActive                // some worktree proposes a change to it
	StatusDrift                 // its code moved ahead of it
	StatusMerged                // it holds
)

var statusNames = [...]string{"unknown", "pending", "active", "drift", "merged"}

func (s Status) String() string {
	if s >= 0 && int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("Status(%d)", int(s))
}

// MarshalText writes the state's name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the state's name.
func (s *Status) UnmarshalText(b []byte) error {
	for i, name := range statusNames {
		if name == string(b) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("unknown status %q", b)
}

// declared returns the state that a node claims, StatusUnknown when it claims none
// that there is.
func declared(n *Node) Status {
	for i, name := range statusNames {
		if strings.EqualFold(n.Declared, name) {
			return Status(i)
		}
	}
	return StatusUnknown
}

// StatusUnder returns the node's status when some worktree proposes a change to it,
// or none does. The first rule that holds decides. A rule that turns on a fact that
// is not known makes the status unknown; where nothing at all could be read of git,
// it is what the node declares. Of a spec in conflict nothing is known to hold.
func (f *Facts) StatusUnder(overlay bool) Status {
	says := declared(f.Node)
	switch {
	case torn(f.Node.Problems):
		return StatusUnknown
	case says == StatusPending && len(f.Node.Code) == 0 && f.Node.Blind == "": // and so without drift
		return StatusPending
	case overlay:
		return StatusActive
	case f.Drift != nil && *f.Drift > 0:
		return StatusDrift
	case f.unread:
		return says
	case f.Drift == nil || f.Version == nil:
		return StatusUnknown
	case *f.Version > 0:
		return StatusMerged
	default:
		return StatusPending
	}
}
