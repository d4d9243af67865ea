package registry

import (
	"ken/internal/repo"
	"ken/internal/store"
)

// A State is what a session finds when it enters a repository. It decides what
// has to happen before anything the registry says can be believed.
type State string

// The entry states.
const (
	StateNew       State = "new"       // nothing is tracked: nothing to know
	StateBootstrap State = "bootstrap" // files, but no rows: every file is new
	StateTrust     State = "trust"     // proof that nothing moved: no file is opened
	StateVerify    State = "verify"    // something may have moved: see Reasons
)

// A Reason says why the registry cannot simply be trusted.
type Reason string

// The reasons for verifying.
const (
	ReasonHeadMoved     Reason = "head_moved"     // HEAD is not the commit last verified
	ReasonDirty         Reason = "dirty"          // index or work tree differ from HEAD
	ReasonBehind        Reason = "behind"         // the upstream, as last fetched, has more
	ReasonBaselineDirty Reason = "baseline_dirty" // verified while dirty: the same HEAD proves nothing
	ReasonBaselineLost  Reason = "baseline_lost"  // the commit last verified is gone from history
	ReasonNoBaseline    Reason = "no_baseline"    // single paths are known, the whole was never verified
	ReasonFlags         Reason = "flags"          // entries that git was told not to look at, and that are there
	ReasonPolicyChanged Reason = "policy_changed" // other files count, or count differently
	ReasonConflicted    Reason = "conflicted"     // unmerged paths
)

// An EntryFacts is everything the entry state depends on.
type EntryFacts struct {
	Tracked    int  // paths in the index
	Rows       bool // whether there are rows for this worktree
	Verified   bool // whether Baseline was ever set
	Baseline   store.Verification
	Lost       bool // Baseline.Head is missing, or no ref leads to it any more
	Head       repo.ID
	Tree       repo.ID // of Head; zero when Head is unborn
	Dirty      bool
	Conflicted bool
	Flagged    bool
	Behind     int
	Policy     string
}

// Enter decides the entry state. An amend that kept the tree is trusted: the
// content proven is the content there.
func Enter(s EntryFacts) (State, []Reason) {
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
	add(moved && !sameTree && s.Lost, ReasonBaselineLost)
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
