package share

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/repo"
)

// A union has the records that this clone has merged from a remote, and those that the remote has now.
type union struct {
	*view
	remote     string
	state      scanState
	before     repo.ID // the commit that mergedRef points to
	theirs     repo.ID // the commit of the remote, as last fetched
	pushed     repo.ID // the commit of the remote after a push
	taken      int
	removed    int
	mismatches []AuthorMismatch
	replace    bool // the commit does not contain that of the remote
}

// mergeRemote merges the records of a remote with those that this clone has merged before. With fetch
// it contacts the remote, with absorb it adds trusted records to the store.
func (s *Share) mergeRemote(ctx context.Context, remote string, fetch, absorb bool) (*union, error) {
	if err := s.git.CheckRemote(ctx, remote); err != nil {
		return nil, err
	}
	u := &union{remote: remote, state: s.loadState()}
	var err error
	if u.before, _, err = s.git.ResolveRef(ctx, mergedRef(remote)); err != nil {
		return nil, err
	}
	if fetch {
		if u.theirs, err = s.git.FetchRef(ctx, remote, knowledgeRef, fetchedRef(remote)); err != nil {
			return nil, err
		}
		if err := s.saveContact(u); err != nil {
			return nil, err
		}
	} else if u.theirs, _, err = s.git.ResolveRef(ctx, fetchedRef(remote)); err != nil {
		return nil, err
	}
	u.view, u.taken, err = s.viewOf(ctx, u.state.Remotes[remote], u.before, absorb)
	if err != nil {
		err = fmt.Errorf("read %s of this clone: %w", mergedRef(remote), err)
		if fault.HintOf(err) != "" {
			return nil, err // the store could not be read, and the ref has no fault
		}
		return nil, &fault.Error{Hint: "to merge it again: git update-ref -d " + fault.Quote(mergedRef(remote)), Err: err}
	}
	u.pushed = u.theirs
	if err := s.add(ctx, u, u.theirs, absorb); err != nil {
		return nil, s.unusable(u, fetch, err)
	}
	// Another clone can have pushed to this one.
	own, _, err := s.git.ResolveRef(ctx, knowledgeRef)
	if err == nil {
		err = s.add(ctx, u, own, absorb)
	}
	if err != nil {
		return nil, &fault.Error{
			Hint: "if you do not need it: git update-ref -d " + knowledgeRef,
			Err:  fmt.Errorf("read %s of this clone: %w", knowledgeRef, err),
		}
	}
	return u, nil
}

// add adds a commit to a union. The union is one of the two commits if that contains the other and all its
// records, and otherwise a merge. A merge adds no file of its own, so the committers of all files stay the same.
// If the policy trusts everyone, a prune starts a new history without the old one.
func (s *Share) add(ctx context.Context, u *union, tip repo.ID, absorb bool) error {
	if tip.IsZero() || tip == u.Tip {
		return nil
	}
	known := u.Tip
	contained := true
	if !known.IsZero() {
		var err error
		if contained, err = s.git.Contains(ctx, tip, known); err != nil {
			return err
		}
		if !contained {
			old, err := s.git.Contains(ctx, known, tip)
			if err != nil || old {
				return err
			}
		}
	}
	found, err := s.scan(ctx, u.view, tip, absorb)
	if err != nil {
		return err
	}
	u.view = found.view
	u.taken += len(found.taken)
	u.removed += found.removed
	u.mismatches = append(u.mismatches, found.mismatches...)
	if len(found.restore) == 0 && (contained || found.pruned && s.opts.Policy.trustsAnyone()) {
		return nil
	}
	c := git.NewCommit{Parents: []repo.ID{tip, known}, Put: found.restore}
	u.Tip, err = s.commit(ctx, c, "ken: merge")
	return err
}

// commit writes a commit that the policy trusts. A merge needs no signature, since it adds no file
// of its own.
func (s *Share) commit(ctx context.Context, c git.NewCommit, subject string, trailers ...string) (repo.ID, error) {
	who, signs, err := s.git.Identity(ctx)
	if err != nil {
		return repo.ID{}, err
	}
	if s.opts.Policy.Trust == SignedOff {
		trailers = append(trailers, "Signed-off-by: "+who)
	}
	merge := len(c.Parents) > 1
	if s.opts.Policy.Trust == Signed && !signs && !merge {
		return repo.ID{}, &fault.Error{
			Hint: "git config commit.gpgSign true",
			Err:  errors.New("the policy trusts only signed commits, and git does not sign commits here"),
		}
	}
	c.Message = subject + "\n"
	if len(trailers) > 0 {
		c.Message += "\n" + strings.Join(trailers, "\n") + "\n"
	}
	c.Sign, c.At = signs, s.opts.Now()
	return s.git.WriteCommit(ctx, c)
}

// now returns the time of a contact.
func (s *Share) now() time.Time { return s.opts.Now().UTC().Truncate(time.Second) }

// saveContact saves the time of contact with the remote.
func (s *Share) saveContact(u *union) error {
	v := u.state.Remotes[u.remote]
	v.Fetched = s.now()
	u.state.Remotes[u.remote] = v
	return s.stateFile.Save(u.state)
}

// save saves a union: the refs and its view. If another process has moved the ref, the next command rebuilds the
// view.
func (s *Share) save(ctx context.Context, u *union) error {
	moved, err := s.git.MoveRefs(
		ctx,
		git.RefMove{Ref: mergedRef(u.remote), From: u.before, To: u.Tip},
		git.RefMove{Ref: fetchedRef(u.remote), From: u.theirs, To: u.pushed},
	)
	if err != nil || !moved {
		return err
	}
	u.fillLists()
	if _, u.Store, err = s.store.Since(ctx, "", 1); err != nil {
		return err
	}
	u.state.Remotes[u.remote] = u.View
	return s.stateFile.Save(u.state)
}

// unusable returns the error for a remote whose ref ken cannot read.
func (s *Share) unusable(u *union, fetched bool, err error) error {
	what := "cannot read " + knowledgeRef
	hint := fault.HintOf(err)
	if hint == "" {
		hint = fmt.Sprintf("look at it: git show %s; or delete it, and push again: git push %s --delete %s", fault.Quote(fetchedRef(u.remote)), fault.Quote(u.remote), knowledgeRef)
	}
	if !fetched {
		what += " as last fetched"
		if at := u.state.Remotes[u.remote].Fetched; !at.IsZero() {
			what += " at " + at.Format(time.RFC3339)
		}
		hint += "; to fetch it again: ken share status " + fault.Quote(u.remote) + " --fetch"
	}
	return &fault.Error{Hint: hint, Err: fmt.Errorf("%s: %w", what, err)}
}
