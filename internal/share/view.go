package share

import (
	"context"
	"maps"
	"slices"
	"time"

	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/store"
)

// A scanState is saved between commands in a JSON file, so that each command reads only new commits. A clone without
// the file reads everything again.
type scanState struct {
	Version int             `json:"version"`
	Remotes map[string]View `json:"remotes"`
}

// scanStateVersion is the version of a scanState. It contains the version of records, since a newer
// ken can read records that an older one could not.
const scanStateVersion = 301 + Format

// loadState returns the saved state, or an empty one if there is none of this version.
func (s *Share) loadState() scanState {
	var state scanState
	if !s.stateFile.Load(&state) || state.Version != scanStateVersion {
		state = scanState{Version: scanStateVersion}
	}
	if state.Remotes == nil {
		state.Remotes = make(map[string]View)
	}
	return state
}

// A View is the result of reading all records of a commit.
type View struct {
	Tip    repo.ID    `json:"tip"`    // the commit
	Policy string     `json:"policy"` // the policy that decided about trust
	Mark   store.Mark `json:"mark"`   // the commit has the records of the store up to here, or they were pruned
	Store  store.Mark `json:"store"`  // a mark near the beginning of the store, to recognise the store

	Records     int           `json:"records"` // that this clone uses
	Bytes       int64         `json:"bytes"`   // of the records in use
	Quarantined []Quarantined `json:"quarantined,omitempty"`
	Untrusted   []Untrusted   `json:"untrusted,omitempty"`

	Fetched time.Time `json:"fetched,omitzero"` // the last contact with the remote
}

// A Quarantined is a file that this clone ignores because of its content.
type Quarantined struct {
	repo.PathJSON
	Reason string `json:"reason"`
	Junk   bool   `json:"junk,omitempty"` // no version of ken can use it
	// Due is when this clone reads a record that is dated in the future again.
	Due time.Time `json:"due,omitzero"`
}

// An Untrusted is a record that this clone ignores because the policy does not trust the
// committer.
type Untrusted struct {
	Name      Name      `json:"name"`
	Committer string    `json:"committer"` // the first one
	Commit    repo.ID   `json:"commit"`
	At        time.Time `json:"at,omitzero"`
	Reason    string    `json:"reason"`
}

// A view is a View with maps instead of lists.
type view struct {
	View
	bad       map[repo.Path]Quarantined
	untrusted map[Name]Untrusted
}

func newView(v View) *view {
	out := &view{View: v, bad: make(map[repo.Path]Quarantined), untrusted: make(map[Name]Untrusted)}
	for _, q := range v.Quarantined {
		if p, err := q.Raw(); err == nil {
			out.bad[p] = q
		}
	}
	for _, u := range v.Untrusted {
		out.untrusted[u.Name] = u
	}
	return out
}

// fillLists fills the lists from the maps.
func (v *view) fillLists() {
	v.Quarantined = []Quarantined{}
	for _, p := range slices.Sorted(maps.Keys(v.bad)) {
		v.Quarantined = append(v.Quarantined, v.bad[p])
	}
	v.Untrusted = slices.AppendSeq([]Untrusted{}, maps.Values(v.untrusted))
	slices.SortFunc(v.Untrusted, func(a, b Untrusted) int { return slices.Compare(a.Name[:], b.Name[:]) })
}

// uses reports whether this clone uses a record of the commit.
func (v *view) uses(n Name) bool {
	_, untrusted := v.untrusted[n]
	_, bad := v.bad[n.Path()]
	return !untrusted && !bad
}

// junk returns the files that no version of ken can use.
func (v *view) junk() []Quarantined {
	v.fillLists()
	return slices.DeleteFunc(slices.Clone(v.Quarantined), func(q Quarantined) bool { return !q.Junk })
}

// A Size is the number and size of the records of a remote that this clone uses.
type Size struct {
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
	Budget  int64 `json:"budget"`
}

// Exceeded reports whether the records exceed the budget.
func (s Size) Exceeded() bool { return s.Bytes > s.Budget }

func (s *Share) size(v *view) Size { return Size{v.Records, v.Bytes, s.opts.Policy.budget()} }

// viewOf returns the view of the merged commit of a remote: the saved one, or a new one. It also returns the
// number of records that this adds to the store.
func (s *Share) viewOf(ctx context.Context, known View, tip repo.ID, absorb bool) (*view, int, error) {
	var before *view // the saved view of this commit for another policy
	if known.Tip == tip {
		same, err := s.sameStore(ctx, known.Store, known.Mark)
		if err != nil {
			return nil, 0, err
		}
		if same {
			before = newView(known)
		}
	}
	if before != nil && known.Policy == s.opts.Policy.key() {
		changed, err := s.trustsMore(ctx, before)
		due := func(q Quarantined) bool { return !q.Due.IsZero() && !q.Due.After(s.opts.Now()) }
		if err != nil || !changed && !slices.ContainsFunc(known.Quarantined, due) {
			return before, 0, err
		}
	}
	empty := newView(View{Policy: s.opts.Policy.key(), Fetched: known.Fetched})
	if tip.IsZero() {
		return empty, 0, nil
	}
	found, err := s.scan(ctx, empty, tip, absorb)
	if err != nil {
		return nil, 0, err
	}
	switch {
	case before != nil:
		found.view.Mark, found.view.Store = known.Mark, known.Store
		found.taken = slices.DeleteFunc(found.taken, before.uses)
	case !absorb:
		found.taken = nil // the store may have them
	}
	return found.view, len(found.taken), nil
}

// sameStore reports whether marks belong to the store. A store can be deleted or replaced.
func (s *Share) sameStore(ctx context.Context, marks ...store.Mark) (bool, error) {
	for _, mark := range marks {
		if mark == "" {
			continue
		}
		_, now, err := s.store.Since(ctx, mark, 0)
		if err != nil || now != mark {
			return false, err
		}
	}
	return true, nil
}

// samples limits how many commits of one committer trustsMore verifies: each takes milliseconds.
const samples = 16

// trustsMore reports whether git now trusts a key that signed records of the view. The user can add a key without
// changing the policy.
func (s *Share) trustsMore(ctx context.Context, v *view) (bool, error) {
	if s.opts.Policy.Trust != Signed {
		return false, nil
	}
	seen := make(map[repo.ID]bool)
	count := make(map[string]int)
	var commits []repo.ID
	for _, u := range v.Untrusted {
		if seen[u.Commit] || count[u.Committer] == samples {
			continue
		}
		seen[u.Commit] = true
		count[u.Committer]++
		commits = append(commits, u.Commit)
	}
	if len(commits) == 0 {
		return false, nil
	}
	list, err := s.git.VerifyCommits(ctx, commits)
	return slices.ContainsFunc(list, func(c git.CommitInfo) bool { return s.opts.Policy.DistrustReason(c) == "" }), err
}
