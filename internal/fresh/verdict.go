package fresh

import "fmt"

// A Verdict is a state and, for some subjects, the reason for it. Its zero value is Unknown.
type Verdict struct {
	State  State
	Reason Reason
}

// A Reason says why a verdict has its state. It is also the word for that verdict.
type Reason string

// The reasons.
const (
	Conflicted    Reason = "conflicted"  // unknown: the file is unmerged
	NotCheckedOut Reason = "sparse"      // fresh: a setting of git leaves the file out of the work tree
	StaleSelf     Reason = "stale-self"  // stale: the directory's own files changed
	StaleBelow    Reason = "stale-below" // stale: only the summaries of subdirectories changed
	Incomplete    Reason = "incomplete"  // stale: the text was written while subdirectories had no summary
	Partial       Reason = "partial"     // stale: the author of the text could not finish it
	Failed        Reason = "failed"      // stale: a model or agent failed to write the text
	Holds         Reason = "holds"       // fresh: what a document names exists
	Moved         Reason = "moved"       // stale: what a document names exists elsewhere now
	Never         Reason = "never"       // gone: what a document names never existed, as far as the history goes back
	Ambiguous     Reason = "ambiguous"   // unknown: it may be one of several things, or nothing of this repository
)

var reasonStates = map[Reason]State{
	Conflicted: Unknown, NotCheckedOut: Fresh,
	StaleSelf: Stale, StaleBelow: Stale, Incomplete: Stale, Partial: Stale, Failed: Stale,
	Holds: Fresh, Moved: Stale, Never: Gone, Ambiguous: Unknown,
}

// Verdict returns the verdict with this reason.
func (r Reason) Verdict() Verdict { return Verdict{State: reasonStates[r], Reason: r} }

// String returns the word for the verdict: the reason if there is one, or the state.
func (v Verdict) String() string {
	if v.Reason != "" {
		return string(v.Reason)
	}
	return v.State.String()
}

// Word returns the verdict in one word for people. It does not say whether a directory is stale for its own files.
func (v Verdict) Word() string {
	if v.Reason == StaleSelf || v.Reason == StaleBelow {
		return Stale.String()
	}
	return v.String()
}

// MarshalText writes the word for the verdict.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the word for a verdict.
func (v *Verdict) UnmarshalText(b []byte) error {
	if _, ok := reasonStates[Reason(b)]; ok {
		*v = Reason(b).Verdict()
		return nil
	}
	*v = Verdict{}
	if err := v.State.UnmarshalText(b); err != nil {
		return fmt.Errorf("unknown verdict %q", b)
	}
	return nil
}
