package registry

import (
	"ken/internal/repo"
	"ken/internal/store"
)

// A State is the state of a worktree when a session begins. It decides whether a verification is needed.
type State string

// The entry states.
const (
	StateNew       State = "new"       // git tracks nothing
	StateBootstrap State = "bootstrap" // files but no rows: every file is new
	StateTrust     State = "trust"     // nothing changed since the last verification; no file is opened
	StateVerify    State = "verify"    // something may have changed: see Reasons
)

// A Reason says why a verification is needed.
type Reason string

// The reasons for verifying.
const (
	ReasonHeadMoved     Reason = "head_moved"     // HEAD is not the commit of the last verification
	ReasonDirty         Reason = "dirty"          // index or work tree differ from HEAD
	ReasonBehind        Reason = "behind"         // the upstream, as last fetched, has more commits
	ReasonBaselineDirty Reason = "baseline_dirty" // verified while dirty: the same HEAD proves nothing
	ReasonBaselineLost  Reason = "baseline_lost"  // the commit of the last verification is no longer reachable
	ReasonNoBaseline    Reason = "no_baseline"    // only single paths were verified
	ReasonFlags         Reason = "flags"          // git is configured to ignore changes of entries whose files exist
	ReasonPolicyChanged Reason = "policy_changed" // the policy for files or grades changed
	ReasonConflicted    Reason = "conflicted"     // unmerged paths
)

// EntryFacts are the facts that decide the entry state.
type EntryFacts struct {
	Tracked      int  // paths in the index
	Rows         bool // the worktree has rows
	Verified     bool // Baseline is set
	Baseline     store.Verification
	BaselineLost bool // Baseline.Head is missing, or no ref leads to it
	Head         repo.ID
	Tree         repo.ID // of Head; zero without a commit
	Dirty        bool
	Conflicted   bool
	Flagged      bool
	Behind       int
	Policy       string
}

// EntryState decides the entry state. After an amend with the same tree, the last verification still counts: it proved this
// content.
func EntryState(s EntryFacts) (State, []Reason) {
	switch {
	case s.Tracked == 0:
		return StateNew, nil
	case !s.Rows:
		return StateBootstrap, nil
	}
	var why []Reason
	add := func(when bool, r Reason) {
		if when {
			why = append(why, r)
		}
	}
	moved := s.Verified && s.Head != s.Baseline.Head
	sameTree := !s.Tree.IsZero() && s.Tree == s.Baseline.Tree
	add(!s.Verified, ReasonNoBaseline)
	add(moved && !sameTree, ReasonHeadMoved)
	add(moved && !sameTree && s.BaselineLost, ReasonBaselineLost)
	add(s.Dirty, ReasonDirty)
	add(s.Verified && !s.Baseline.Clean && !s.Dirty, ReasonBaselineDirty)
	add(s.Conflicted, ReasonConflicted)
	add(s.Behind > 0, ReasonBehind)
	add(s.Flagged, ReasonFlags)
	add(s.Verified && s.Policy != s.Baseline.Policy, ReasonPolicyChanged)
	if len(why) == 0 {
		return StateTrust, nil
	}
	return StateVerify, why
}
