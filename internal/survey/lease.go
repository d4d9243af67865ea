package survey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey/describe"
	"ken/internal/survey/excerpt"
	"ken/internal/workspace"
)

// LeaseRecipe is the recipe of summaries that agents write under a lease.
const LeaseRecipe = "lease/" + describe.PromptVersion

// defaultLease is the length of a lease without a requested length.
const defaultLease = 15 * time.Minute

// maxLease is the longest lease.
const maxLease = 24 * time.Hour

// LeaseDuration returns the length of a lease in seconds as a duration. 0 means the default length.
func LeaseDuration(seconds int) (time.Duration, error) {
	if seconds < 0 || seconds > int(maxLease/time.Second) {
		return 0, fmt.Errorf("a lease lasts from 1 to %d seconds, not %d", int(maxLease/time.Second), seconds)
	}
	return time.Duration(seconds) * time.Second, nil
}

// A Dispatcher leases directories to agents and stores the summaries that they submit.
type Dispatcher struct {
	*Survey

	// Ticks makes the tickers for short waits. If nil, the dispatcher does not wait.
	Ticks TickerFunc
	// Registry records the summaries of files in a submission; nil ignores them.
	Registry *registry.Registry

	leases   store.Leases
	worktree string
	token    func() string // returns a new token with each call
}

// NewDispatcher returns the dispatcher of a work tree. The function token returns a new, unique token with each
// call.
func NewDispatcher(s *Survey, leases store.Leases, worktree string, token func() string) *Dispatcher {
	return &Dispatcher{Survey: s, leases: leases, worktree: worktree, token: token}
}

// leasedDirs are the leased directories, by path and by basis.
type leasedDirs struct {
	paths map[repo.Path]store.Lease
	bases map[fresh.Digest]store.Lease
}

// leasedDirs returns the leases that match.
func (d *Dispatcher) leasedDirs(ctx context.Context, match func(store.Lease) bool) (leasedDirs, error) {
	all, err := d.leases.Leases(ctx, d.worktree)
	if err != nil {
		return leasedDirs{}, err
	}
	h := leasedDirs{make(map[repo.Path]store.Lease), make(map[fresh.Digest]store.Lease)}
	for p, l := range all {
		if match(l) {
			h.paths[p], h.bases[l.Basis.Digest()] = l, l
		}
	}
	return h, nil
}

// lookup returns the lease of a directory, or of another one with the same basis. Both will share one summary.
func (d leasedDirs) lookup(p repo.Path, basis fresh.Digest) (store.Lease, bool) {
	if l, ok := d.paths[p]; ok {
		return l, true
	}
	l, ok := d.bases[basis]
	return l, ok
}

// A NextItem is a leased directory, or none.
type NextItem struct {
	Item      *WorkItem `json:"item"`      // null if no directory is ready
	Remaining int       `json:"remaining"` // directories that still need a summary, including leased ones
	// Leased are the directories that would be ready without the leases of others. It is set only if Item is null.
	Leased []LeasedPath `json:"leased,omitempty"`
}

// A WorkItem is a leased directory with the prompt for the agent.
type WorkItem struct {
	repo.PathJSON
	Lease   string    `json:"lease"`
	Expires time.Time `json:"expires_at"`
	Prompt  string    `json:"prompt"`

	HasText bool `json:"-"` // the prompt has an older text, which the agent can keep
}

// maxTries is the number of directories that Next tries to lease if other agents lease each of them first.
const maxTries = 64

// Remaining counts the directories that still need a summary by an agent, including leased ones.
func (d *Dispatcher) Remaining(ctx context.Context) (int, error) {
	need, err := d.needSummary(ctx, "")
	return len(need), err
}

// needSummary returns the directories within a path that need a summary by an agent. Outlines that are made again are
// current, as in [Survey.Show] and [Survey.Plan].
func (d *Dispatcher) needSummary(ctx context.Context, within repo.Path) (map[repo.Path]bool, error) {
	question := fmt.Sprintf("left for agents within %q", within)
	return cached(ctx, d.Survey, question, d.judge, func(ts *treeStatus) map[repo.Path]bool {
		need := make(map[repo.Path]bool)
		for dir := range ts.needing(LeaseRecipe, within) {
			need[dir.Path] = true
		}
		return need
	})
}

// NextOptions selects a directory to lease. The zero value is ready to use.
type NextOptions struct {
	Within   repo.Path     // a directory in this one; in the repository when ""
	Duration time.Duration // of the lease; 15 minutes when 0
	Holder   string        // name of the agent
}

// Next leases the next directory that is ready. A directory is ready when each directory below it has a summary, or
// a failure to write one.
func (d *Dispatcher) Next(ctx context.Context, opts NextOptions) (*NextItem, error) {
	duration := opts.Duration
	if duration <= 0 {
		duration = defaultLease
	}
	ts, err := d.judgeStored(ctx)
	if err != nil {
		return nil, err
	}
	if err := ts.checkWithin(opts.Within); err != nil {
		return nil, err
	}
	now := d.opts.Now()
	valid := func(l store.Lease) bool { return l.Expires.After(now) }
	held, err := d.leasedDirs(ctx, valid)
	if err != nil {
		return nil, err
	}
	need, err := d.needSummary(ctx, opts.Within)
	if err != nil {
		return nil, err
	}
	q := newQueue(ts, func(s *DirStatus) bool { return need[s.Dir.Path] })
	out := &NextItem{Remaining: q.total}
	for tries := 0; tries < maxTries; {
		st := q.next()
		if st == nil {
			break
		}
		if ts.sameInputAsBefore(st, LeaseRecipe) {
			q.done(st) // the directories above need not wait for it
			continue
		}
		if l, ok := held.lookup(st.Dir.Path, ts.basis(st).Digest()); ok {
			q.putAside(st, l)
			continue
		}
		it, err := ts.item(ctx, st)
		if errors.Is(err, workspace.ErrChanged) {
			continue // the next call reads the new content
		}
		if err != nil {
			return nil, err
		}
		// The outline is fresh, but no agent has checked it.
		if it.Old == nil && st.Record != nil && st.Verdict.State == fresh.Fresh {
			it.Old, it.Changes = st.Record, []string{"no agent or model has checked it yet"}
		}
		l := store.Lease{Path: st.Dir.Path, Token: d.token(), Expires: now.Add(duration).UTC().Truncate(time.Second), Basis: it.Basis, Recipe: LeaseRecipe, Holder: excerpt.OneLine(opts.Holder)}
		if it.Old != nil {
			l.Shown = it.Old.ID()
		}
		ok, err := d.leases.Acquire(ctx, d.worktree, l, now)
		if err != nil {
			return nil, err
		}
		if tries++; !ok {
			// Another agent leased it first. Read the leases again.
			if held, err = d.leasedDirs(ctx, valid); err != nil {
				return nil, err
			}
			q.again(st)
			continue
		}
		other, ok, err := ts.checkLease(ctx, d, st, l, func() func(store.Lease) bool {
			now := d.opts.Now() // other leases may have ended
			return func(o store.Lease) bool { return o.Token != l.Token && o.Expires.After(now) }
		})
		if err != nil {
			return nil, err
		}
		if ok {
			out.Item = &WorkItem{repo.DirLabel(l.Path).JSON(), l.Token, l.Expires, describe.Rules + "\n\n" + it.Prompt(), it.Old != nil}
			return out, nil
		}
		l.Expires = now.UTC() // end the lease
		if _, err := d.leases.Acquire(context.WithoutCancel(ctx), d.worktree, l, now); err != nil {
			return nil, err
		}
		if other.Token != "" {
			q.putAside(st, other)
		} else {
			q.done(st)
		}
	}
	out.Leased = q.putBack()
	return out, nil
}

// Show is [Survey.Show] with the leases of the directories.
func (d *Dispatcher) Show(ctx context.Context, within repo.Path) (*DirListing, error) {
	shown, err := d.Survey.Show(ctx, within)
	if err != nil {
		return nil, err
	}
	leases, err := d.validLeases(ctx, within)
	for _, l := range leases {
		shown.Leases = append(shown.Leases, leasedPath(l))
	}
	return shown, err
}

// validLeases returns the leases of a directory and all below it that have not expired, sorted by path.
func (d *Dispatcher) validLeases(ctx context.Context, within repo.Path) ([]store.Lease, error) {
	all, err := d.leases.Leases(ctx, d.worktree)
	if err != nil {
		return nil, err
	}
	now := d.opts.Now()
	var valid []store.Lease
	for _, p := range slices.Sorted(maps.Keys(all)) {
		if l := all[p]; p.Under(within) && l.Expires.After(now) {
			valid = append(valid, l)
		}
	}
	return valid, nil
}

// A Release is the result of [Dispatcher.Release].
type Release struct {
	Released []LeasedPath `json:"released"`
}

// Release ends the leases of agents for a directory and all below it. An agent can still submit, as after the end
// of its lease, until another one leases the directory. Release does not end the leases of runs: they expire soon
// after a run ends.
func (d *Dispatcher) Release(ctx context.Context, within repo.Path) (*Release, error) {
	leases, err := d.validLeases(ctx, within)
	if err != nil {
		return nil, err
	}
	if len(leases) == 0 && within != "" {
		if err := d.CheckDirectories(ctx, []repo.Path{within}); err != nil {
			return nil, err
		}
	}
	out := &Release{Released: []LeasedPath{}}
	for _, l := range leases {
		held := leasedPath(l)
		if !held.agent {
			continue
		}
		l.Expires = d.opts.Now().UTC().Truncate(time.Microsecond)
		ok, err := d.leases.Acquire(ctx, d.worktree, l, l.Expires)
		if err != nil {
			return out, fmt.Errorf("release %s: %w", repo.DirLabel(l.Path), err)
		}
		if ok { // otherwise another agent has just leased it
			out.Released = append(out.Released, held)
		}
	}
	return out, nil
}

// How often a dispatcher checks whether another one released a directory with the same input, and
// how long it waits between the checks.
const (
	maxChecks  = 5
	checkPause = 50 * time.Millisecond
)

// otherLease returns another agent's lease of a directory with the same basis as l, or the zero lease.
//
// Two agents may lease directories with the same basis at the same time. Then the agent with the greater token
// gives up at once, and the other one waits here until it has. It must wait, because an earlier agent, which saw no
// other lease, keeps its directory too.
func (d *Dispatcher) otherLease(ctx context.Context, l store.Lease, others func() func(store.Lease) bool) (store.Lease, error) {
	for n := 1; ; n++ {
		held, err := d.leasedDirs(ctx, others())
		if err != nil {
			return store.Lease{}, err
		}
		other, ok := held.lookup(l.Path, l.Basis.Digest())
		if !ok || other.Token < l.Token || n == maxChecks || d.Ticks.wait(ctx, checkPause) != nil {
			return other, nil
		}
	}
}

// checkLease judges a directory again right after it was leased. ok reports that it still needs a summary and that
// no other agent has leased it or a directory with the same basis. Otherwise other is that lease, or st has the new
// verdict.
func (ts *treeStatus) checkLease(ctx context.Context, d *Dispatcher, st *DirStatus, l store.Lease, others func() func(store.Lease) bool) (other store.Lease, ok bool, err error) {
	if other, err = d.otherLease(ctx, l, others); err != nil || other.Token != "" {
		return other, false, err
	}
	// The previous holder may have submitted a summary meanwhile.
	written, err := ts.store.PastDirRecords(ctx, []repo.Path{l.Path})
	if err != nil {
		return store.Lease{}, false, err
	}
	if list := written[l.Path]; len(list) > 0 {
		latest := list[:1]
		for _, r := range ts.latest[l.Path] {
			if r.IsOutline() {
				latest = append(latest[:1:1], r)
			}
		}
		ts.latest[l.Path] = latest
	}
	ts.outlinesOnly = false
	if err := ts.judgeLevel(ctx, []*Directory{st.Dir}); err != nil {
		return store.Lease{}, false, err
	}
	*st = *ts.status[st.Dir]
	ts.status[st.Dir] = st
	return store.Lease{}, wanted(st, l.Recipe) && !ts.sameInputAsBefore(st, l.Recipe), nil
}

// A Submission is the answer of an agent.
type Submission struct {
	Path   repo.Path
	Lease  string
	Author string
	describe.Draft
}

// A SubmitResult is the result of a submission.
type SubmitResult string

// The results.
const (
	SubmitStored     SubmitResult = "stored"     // the summary is current
	SubmitSuperseded SubmitResult = "superseded" // stored, but the directory has changed since the lease
	SubmitLeaseEnded SubmitResult = "fenced"     // the lease is not valid any more
	SubmitRejected   SubmitResult = "rejected"   // the text is not accepted
)

// Submitted is the result of a submission, with the reason.
type Submitted struct {
	repo.PathJSON
	Result SubmitResult `json:"result"`
	Reason string       `json:"reason"`

	basis store.DirBasis // of the lease
}

// Submit stores the summary of a directory and of its files. The basis is that of the lease, even if the directory
// has changed since. The reason names the files whose summaries were refused.
func (d *Dispatcher) Submit(ctx context.Context, sub Submission) (*Submitted, error) {
	done, err := d.submitDir(ctx, sub)
	if err != nil || done.Result == SubmitLeaseEnded || done.Result == SubmitRejected || d.Registry == nil {
		return done, err
	}
	refused, err := WriteFileSummaries(ctx, d.Registry, sub.Author, sub.Path, done.basis, sub.Files)
	if len(refused) > 0 {
		if done.Reason != "" {
			done.Reason += "; "
		}
		done.Reason += "not kept: " + strings.Join(refused, ", ")
	}
	return done, err
}

// submitDir stores the summary of a directory.
func (d *Dispatcher) submitDir(ctx context.Context, sub Submission) (*Submitted, error) {
	out := &Submitted{PathJSON: repo.DirLabel(sub.Path).JSON()}
	held, err := d.leases.Leases(ctx, d.worktree)
	if err != nil {
		return nil, err
	}
	l, ok := held[sub.Path]
	if !ok || l.Token != sub.Lease {
		return out, d.refuse(ctx, sub.Path, out)
	}
	out.basis = l.Basis
	ts, err := d.judgeStored(ctx)
	if err != nil {
		return nil, err
	}
	if describe.IsKeep(sub.Text) {
		sub.Text, sub.Keep = "", true
	}
	it := &describe.Item{Path: l.Path, Basis: l.Basis}
	changed := "the directory is gone"
	if dir, err := ts.find(l.Path); err == nil {
		changed = ""
		if ts.basis(ts.status[dir]).Digest() != l.Basis.Digest() {
			changed = "the directory changed since you leased it"
		}
	}
	// The agent keeps the text that the work item showed, even if there is a newer one.
	if sub.Keep && !l.Shown.IsZero() {
		if it.Old, err = d.store.DirRecord(ctx, l.Shown); err != nil {
			return nil, err
		}
	}
	r, err := ts.record(it, sub.Draft, sub.Author, l.Recipe)
	if err == nil && sub.Keep && changed != "" {
		err = fmt.Errorf("%s: submit a text instead of keep", changed)
	}
	if err != nil {
		out.Result, out.Reason = SubmitRejected, err.Error()
		return out, nil
	}
	ok, err = d.leases.Complete(ctx, d.worktree, l, r)
	switch {
	case err != nil:
		return nil, fmt.Errorf("store the summary of %s: %w", repo.DirLabel(l.Path), err)
	case !ok:
		out.Result, out.Reason = SubmitLeaseEnded, "your lease ran out and another agent has the directory"+takeAnother
	case changed != "":
		out.Result, out.Reason = SubmitSuperseded, changed
	default:
		out.Result = SubmitStored
	}
	return out, nil
}

// takeAnother is the hint for an agent whose lease ended.
const takeAnother = "; lease another one with: ken survey next"

// refuse sets the result of a submission without a valid lease.
func (d *Dispatcher) refuse(ctx context.Context, p repo.Path, out *Submitted) error {
	files, err := d.tree.Files(ctx)
	if err != nil {
		return err
	}
	out.Result = SubmitLeaseEnded
	out.Reason = "the lease is not valid: it is unknown, its summary was submitted, or it ran out and another agent has the directory" + takeAnother
	if p != "" && !slices.ContainsFunc(files, func(f repo.File) bool { return f.Path.Dir().Under(p) }) {
		out.Result, out.Reason = SubmitRejected, "git tracks no file in "+p.String()+"; list directories with: ken survey show"
	}
	return nil
}
