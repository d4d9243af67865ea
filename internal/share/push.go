package share

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/store"
)

// PushOptions tune a push.
type PushOptions struct {
	Remote string // the remote of the policy if ""
	Prune  bool   // remove records if they exceed the budget, and files that are not records
	DryRun bool   // change nothing, and do not contact the remote
	// OnlyIfNew does not contact the remote if this clone has nothing new.
	OnlyIfNew bool
}

// command returns the command with these options.
func (o PushOptions) command(remote string) string {
	c := "ken share push " + fault.Quote(remote)
	if o.Prune {
		c += " --prune"
	}
	return c
}

// A PushResult is the result of a push.
type PushResult struct {
	Remote         string            `json:"remote"`
	Tip            repo.ID           `json:"tip"`
	Records        int               `json:"records"` // records sent to the remote
	Taken          int               `json:"taken"`   // records taken from the remote
	DryRun         bool              `json:"dry_run,omitempty"`
	Dropped        []PrunedRecord    `json:"dropped,omitempty"`         // records that the prune removed
	Cleared        []Quarantined     `json:"cleared,omitempty"`         // other files that the prune removed
	Skipped        []Quarantined     `json:"skipped,omitempty"`         // records of the store that no clone would accept
	Ignored        int               `json:"ignored"`                   // untrusted records of the remote
	Committer      string            `json:"committer,omitempty"`       // the committer of this clone
	DistrustReason string            `json:"distrust_reason,omitempty"` // why other clones ignore the records of this one
	Size           Size              `json:"size"`
	Base           *store.TeamStatus `json:"base,omitempty"` // of the team's database, if there is one
}

// maxAttempts limits the attempts of a push while other clones push.
const maxAttempts = 30

// Push sends the new records of the store to a remote.
func (s *Share) Push(ctx context.Context, opts PushOptions) (*PushResult, error) {
	remote := s.opts.Policy.remote(opts.Remote)
	for try := range maxAttempts {
		if try > 0 {
			if err := s.opts.Wait(ctx, try); err != nil {
				return nil, err
			}
		}
		done, err := s.push(ctx, remote, opts, try > 0 || opts.Prune)
		if err != nil {
			return nil, fmt.Errorf("share with %s: %w", remote, err)
		}
		if done != nil {
			return done, nil
		}
	}
	return nil, &fault.Error{
		Hint: "try again: " + opts.command(remote),
		Err:  fmt.Errorf("share with %s: other clones pushed first, %d times", remote, maxAttempts),
	}
}

// push tries once. It returns nil if another clone pushed first.
//
// It does not fetch first, unless it has to: most of the time no other clone has pushed, and a
// fetch takes as long as the push.
func (s *Share) push(ctx context.Context, remote string, opts PushOptions, fetch bool) (*PushResult, error) {
	fetch = fetch && !opts.DryRun
	u, err := s.mergeRemote(ctx, remote, fetch, !opts.DryRun)
	again := !fetch && !opts.DryRun
	if again && (err != nil || u.theirs.IsZero()) {
		return s.push(ctx, remote, opts, true)
	}
	if err != nil {
		return nil, err
	}
	out := &PushResult{Remote: remote, DryRun: opts.DryRun, Taken: u.taken}
	if err := s.addNew(ctx, u, out, opts); err != nil {
		return nil, err
	}
	if opts.DryRun {
		return out, s.describe(ctx, u, out)
	}
	if u.Tip == u.theirs && again && !opts.OnlyIfNew {
		return s.push(ctx, remote, opts, true) // the remote can have lost its records
	}
	out.Tip = u.Tip
	if err := s.describe(ctx, u, out); err != nil {
		return nil, err
	}
	if u.Tip != u.theirs {
		accepted, err := s.git.PushRef(ctx, remote, knowledgeRef, git.PushTip{Tip: u.Tip, Over: u.theirs, Replace: u.replace})
		if err != nil || !accepted {
			return nil, err
		}
		u.pushed, u.Fetched = u.Tip, s.now()
	}
	return out, s.save(ctx, u)
}

// addNew adds commits with the new records of the store to a union, and prunes if asked to. A
// dry run without a prune only counts.
func (s *Share) addNew(ctx context.Context, u *union, out *PushResult, opts PushOptions) error {
	waiting, err := s.unpushed(ctx, u)
	if err != nil {
		return err
	}
	tip := u.Tip
	counted, err := s.eachNewRecord(ctx, u, func(files []git.NewFile) error {
		if opts.DryRun && !opts.Prune {
			return nil
		}
		c := git.NewCommit{Put: files}
		if tip.IsZero() {
			c.Put = append(slices.Clip(files), git.NewFile{Path: formatFile, Data: []byte(formatText)})
		} else {
			c.Parents = []repo.ID{tip}
		}
		tip, err = s.commit(ctx, c, fmt.Sprintf("ken: %d records", len(files)))
		return err
	})
	if err != nil {
		return err
	}
	u.Tip, u.Mark = tip, counted.mark
	u.Records += counted.records
	u.Bytes += counted.bytes
	out.Records = waiting + counted.records
	out.Skipped = counted.skipped
	if opts.Prune && !u.Tip.IsZero() {
		out.Dropped, out.Cleared, err = s.prune(ctx, u)
	}
	return err
}

// describe adds the facts about the whole union.
func (s *Share) describe(ctx context.Context, u *union, out *PushResult) (err error) {
	out.Size, out.Ignored = s.size(u.view), len(u.untrusted)
	if out.Committer, _, err = s.git.Identity(ctx); err != nil {
		return err
	}
	out.DistrustReason = s.opts.Policy.ownDistrustReason(out.Committer)
	if s.opts.Policy.Trust == Signed && out.Records > 0 && !out.DryRun {
		list, err := s.git.VerifyCommits(ctx, []repo.ID{u.Tip})
		if err != nil {
			return err
		}
		out.DistrustReason = s.opts.Policy.DistrustReason(list[0])
	}
	return nil
}

// newRecords is the result of counting the records that the remote does not have.
type newRecords struct {
	records int
	bytes   int64
	mark    store.Mark // after all records of the store
	skipped []Quarantined
}

// maxCommitBytes limits the bytes of records in one commit of a push, and thereby the memory.
const maxCommitBytes = 16 << 20

// eachNewRecord calls write with the records after the mark that neither the remote nor the union
// has, in portions. A record that the last union had is not new: someone pruned it.
func (s *Share) eachNewRecord(ctx context.Context, u *union, write func([]git.NewFile) error) (*newRecords, error) {
	out := &newRecords{mark: u.Mark}
	for {
		list, next, err := s.store.Since(ctx, out.mark, batch)
		if err != nil {
			return nil, err
		}
		out.mark = next
		if len(list) == 0 {
			return out, nil
		}
		var files []git.NewFile
		bytes := 0
		for i, r := range list {
			data := Encode(r)
			if err := checkNew(r, data, s.opts.Now()); err != nil {
				out.skipped = append(out.skipped, Quarantined{PathJSON: r.Path().JSON(), Reason: err.Error()})
			} else {
				files = append(files, git.NewFile{Path: NameOf(data).Path(), Data: data})
				bytes += len(data)
			}
			if bytes < maxCommitBytes && i+1 < len(list) {
				continue
			}
			files, err = s.missing(ctx, u, files)
			if err == nil && len(files) > 0 {
				err = write(files)
			}
			if err != nil {
				return nil, err
			}
			out.records += len(files)
			for _, f := range files {
				out.bytes += int64(len(f.Data))
			}
			files, bytes = nil, 0
		}
	}
}

// missing returns the files that neither the remote nor the union has, or has damaged.
func (s *Share) missing(ctx context.Context, u *union, files []git.NewFile) ([]git.NewFile, error) {
	paths := make([]repo.Path, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	have, err := s.git.HavePaths(ctx, paths, u.before, u.theirs, u.Tip)
	if err != nil {
		return nil, err
	}
	var out []git.NewFile
	for i, f := range files {
		if _, bad := u.bad[f.Path]; bad || !have[i] {
			delete(u.bad, f.Path)
			out = append(out, f)
		}
	}
	return out, nil
}

// checkNew returns why other clones would not accept a record.
func checkNew(r store.Record, data []byte, now time.Time) error {
	if len(data) > MaxSize {
		return fmt.Errorf("%d bytes are more than %d", len(data), MaxSize)
	}
	if _, err := time.Parse(layout, r.At().UTC().Format(layout)); err != nil {
		return errors.New("invalid time")
	}
	return r.Check(now)
}

// unpushed counts the records of a union that the remote does not have.
func (s *Share) unpushed(ctx context.Context, u *union) (n int, err error) {
	if u.Tip.IsZero() || u.Tip == u.theirs {
		return 0, nil
	}
	changes, err := s.git.TreeChanges(ctx, u.theirs, u.Tip)
	for _, c := range changes {
		_, isRecord := recordAt(c.Path)
		_, bad := u.bad[c.Path]
		if isRecord && !bad && !c.New.IsZero() {
			n++
		}
	}
	return n, err
}

// PushWithin pushes new records within a time limit. It returns one line for the user if the push fails, or if
// other clones ignore the records.
func (s *Share) PushWithin(ctx context.Context, limit time.Duration) string {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := s.Push(bounded, PushOptions{OnlyIfNew: true})
	switch {
	case err == nil && out.DistrustReason != "" && out.Records > 0:
		return fmt.Sprintf("shared, but other clones ignore the records of %s: %s (see share in .ken/config.yaml)", out.Committer, out.DistrustReason)
	case err == nil:
		return ""
	case ctx.Err() == nil && bounded.Err() != nil:
		return fmt.Sprintf("not shared: the remote did not answer within %s (to wait for it: ken share push)", limit)
	}
	return NotShared(err)
}

// NotShared returns one line for a push that failed.
func NotShared(err error) string {
	text := "not shared: " + strings.TrimSpace(err.Error())
	if hint := fault.HintOf(err); hint != "" {
		text += " (" + hint + ")"
	}
	return text
}
