package fresh

// A Verdict is a state and, for some subjects, the reason for it. Its zero value is Unknown.
type Verdict struct {
	State  State
	Reason Reason
}

// A Reason says why a verdict has its state. It is also the word for that verdict.
type Reason string

// The reasons.
const (
	Conflicted    Reason = "conflicted" // unknown: the file is unmerged
	NotCheckedOut Reason = "sparse"     // fresh: a setting of git leaves the file out of the work tree
)

var reasonStates = map[Reason]State{Conflicted: Unknown, NotCheckedOut: Fresh}

// Verdict returns the verdict with this reason.
func (r Reason) Verdict() Verdict { return Verdict{State: reasonStates[r], Reason: r} }
