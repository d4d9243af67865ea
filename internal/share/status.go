package share

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"ken/internal/repo"
	"ken/internal/store"
)

// A Status compares this clone with a remote.
type Status struct {
	Remote  string    `json:"remote"`
	Known   bool      `json:"known"`   // this clone has contacted the remote before
	Fetched time.Time `json:"fetched"` // the last contact
	Tip     repo.ID   `json:"tip"`     // of this clone
	Theirs  repo.ID   `json:"theirs"`  // of the remote at the last contact

	Base *store.TeamStatus `json:"base,omitempty"` // of the team's database, if there is one

	Unpushed       int           `json:"unpushed"` // records that the remote does not have
	Unpulled       int           `json:"unpulled"` // records of the remote that the store does not have
	Quarantined    []Quarantined `json:"quarantined"`
	Junk           int           `json:"junk"` // files that a prune removes because no version of ken can use them
	Untrusted      []Untrusted   `json:"untrusted"`
	Trust          string        `json:"trust"`
	Committer      string        `json:"committer,omitempty"`       // the committer of this clone
	DistrustReason string        `json:"distrust_reason,omitempty"` // why other clones ignore the records of this one
	Size           Size          `json:"size"`
}

// Current reports whether there is nothing to push, to pull or to prune.
func (s *Status) Current() bool {
	return s.Known && s.Unpushed == 0 && s.Unpulled == 0 && len(s.Quarantined) == 0 && !s.Size.Exceeded()
}

// Status compares this clone with a remote as last fetched, or with fetch as it is now. It adds
// nothing to the store.
func (s *Share) Status(ctx context.Context, remote string, fetch bool) (*Status, error) {
	remote = s.opts.Policy.remote(remote)
	out, err := s.status(ctx, remote, fetch)
	if err != nil {
		return nil, fmt.Errorf("share with %s: %w", remote, err)
	}
	return out, nil
}

func (s *Share) status(ctx context.Context, remote string, fetch bool) (*Status, error) {
	u, err := s.mergeRemote(ctx, remote, fetch, false)
	if err != nil {
		return nil, err
	}
	fetched := u.state.Remotes[remote].Fetched
	out := &Status{
		Remote: remote, Known: !fetched.IsZero() || !u.theirs.IsZero(), Fetched: fetched, Tip: u.before, Theirs: u.theirs,
		Unpulled: u.taken, Trust: s.opts.Policy.Trust.String(), Size: s.size(u.view), // without unpushed records
	}
	var pushed PushResult
	if err := s.addNew(ctx, u, &pushed, PushOptions{DryRun: true}); err != nil {
		return nil, err
	}
	u.fillLists()
	out.Unpushed = pushed.Records
	out.Quarantined, out.Untrusted, out.Junk = u.Quarantined, u.Untrusted, len(u.junk())
	if who, _, err := s.git.Identity(ctx); err == nil {
		out.Committer, out.DistrustReason = who, s.opts.Policy.ownDistrustReason(who)
	}
	return out, nil
}

// An Ignored lists the records of a remote that this clone does not use, because the
// policy does not trust their committers.
type Ignored struct {
	Remote  string
	Records []Untrusted
}

// LastIgnored returns the untrusted records of the last command that read a remote, by remote, without those of
// committers that the policy refuses. It contacts no remote and reads no commit.
func (s *Share) LastIgnored() []Ignored {
	state := s.loadState()
	var list []Ignored
	for _, remote := range slices.Sorted(maps.Keys(state.Remotes)) {
		records := slices.Clone(state.Remotes[remote].Untrusted)
		records = slices.DeleteFunc(records, func(u Untrusted) bool { return s.opts.Policy.refuses(u.Committer) })
		if len(records) > 0 {
			list = append(list, Ignored{remote, records})
		}
	}
	return list
}
