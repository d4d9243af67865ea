package survey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// LeaseRecipe is the recipe of what agents write under a lease.
const LeaseRecipe = "lease/" + PromptVersion

// DefaultLease is how long a lease lasts when nobody says.
const DefaultLease = 15 * time.Minute

// MaxLease is the longest that a lease may last.
const MaxLease = 24 * time.Hour

// LeaseFor returns how long a lease of so many seconds lasts, the default one for 0.
func LeaseFor(seconds int) (time.Duration, error) {
	if seconds < 0 || seconds > int(MaxLease/time.Second) {
		return 0, fmt.Errorf("a lease lasts from 1 to %d seconds, not %d", int(MaxLease/time.Second), seconds)
	}
	return time.Duration(seconds) * time.Second, nil
}

// A Dispatcher hands out directories to agents and takes in what they write.
type Dispatcher struct {
	*Survey

	// Ticks is what it waits by for a moment; it does not wait when nil.
	Ticks TickerFunc

	leases   store.Leases
	worktree string
	token    func() string // a new one with each call
}

// NewDispatcher returns the dispatcher of a work tree. Tokens come from token, which never gives
// one twice.
func NewDispatcher(s *Survey, leases store.Leases, worktree string, token func() string) *Dispatcher {
	return &Dispatcher{Survey: s, leases: leases, worktree: worktree, token: token}
}

// leasedDirs are directories that are being described, by their paths and by what is described.
type leasedDirs struct {
	paths map[repo.Path]store.Lease
	bases map[fresh.Digest]store.Lease
}

// leasedDirs returns the leases that hold picks.
func (d *Dispatcher) leasedDirs(ctx context.Context, hold func(store.Lease) bool) (leasedDirs, error) {
	all, err := d.leases.Leases(ctx, d.worktree)
	if err != nil {
		return leasedDirs{}, err
	}
	h := leasedDirs{make(map[repo.Path]store.Lease), make(map[fresh.Digest]store.Lease)}
	for p, l := range all {
		if hold(l) {
			h.paths[p], h.bases[l.Basis.Digest()] = l, l
		}
	}
	return h, nil
}

// of returns the lease of a directory, or of one that is the same: what is written of that
// will speak for both.
func (h leasedDirs) of(p repo.Path, basis fresh.Digest) (store.Lease, bool) {
	if l, ok := h.paths[p]; ok {
		return l, true
	}
	l, ok := h.bases[basis]
	return l, ok
}

// NextItem is a directory that was handed out, or none.
type NextItem struct {
	Item      *WorkItem `json:"item"`      // null when nothing is ready
	Remaining int       `json:"remaining"` // directories that are to be described, this one and those in other hands included
	// Held are those that would be ready, were they not in other hands; told when
	// nothing else is.
	Held []HeldPath `json:"held,omitempty"`
}

// A WorkItem is what an agent is given.
type WorkItem struct {
	repo.PathJSON
	Lease   string    `json:"lease"`
	Expires time.Time `json:"expires_at"`
	Prompt  string    `json:"prompt"`

	HasText bool `json:"-"` // the prompt has an older text, which the agent can keep
}

// patience is the number of directories that Next tries if other agents take each of them first.
const patience = 64

// Remaining counts the directories that agents have still to describe, those in
// somebody's hands among them.
func (d *Dispatcher) Remaining(ctx context.Context) (int, error) {
	j, err := d.look(ctx, d.judgeStored, func(*judgement) []*Directory { return nil })
	if err != nil {
		return 0, err
	}
	return newQueue(j, func(s *DirStatus) bool { return wanted(s, agent{}) }).total, nil
}

// NextOptions selects a directory to lease. The zero value is ready to use.
type NextOptions struct {
	Within  repo.Path     // a directory in this one; in the repository when ""
	Lasting time.Duration // length of the lease; DefaultLease when 0
	Holder  string        // name of the agent
}

// Next leases the next directory that is ready: all below it have a summary, or nobody
// could write one.
func (d *Dispatcher) Next(ctx context.Context, opts NextOptions) (*NextItem, error) {
	lasting := opts.Lasting
	if lasting <= 0 {
		lasting = DefaultLease
	}
	j, err := d.judgeStored(ctx)
	if err != nil {
		return nil, err
	}
	if opts.Within != "" {
		if _, err := j.find(opts.Within); err != nil {
			return nil, err
		}
	}
	now := d.opts.Now()
	holds := func(l store.Lease) bool { return l.Expires.After(now) }
	held, err := d.leasedDirs(ctx, holds)
	if err != nil {
		return nil, err
	}
	hand := agent{}
	q := newQueue(j, func(s *DirStatus) bool { return s.Dir.Path.Under(opts.Within) && wanted(s, hand) })
	out := &NextItem{Remaining: q.total}
	for tries := 0; tries < patience; {
		st := q.next()
		if st == nil {
			out.Held = q.putBack()
			return out, nil
		}
		if j.inVain(st, hand) {
			q.done(st) // whoever is above need not wait for it
			continue
		}
		if l, ok := held.of(st.Dir.Path, j.basis(st).Digest()); ok {
			q.putAside(st, l)
			continue
		}
		it, err := j.item(ctx, st)
		if errors.Is(err, ErrMoved) {
			continue // whoever asks next is told what is there by then
		}
		if err != nil {
			return nil, err
		}
		// An outline holds, and is to be looked at all the same.
		if it.Old == nil && st.Record != nil && st.Verdict == Fresh {
			it.Old, it.Changes = st.Record, []string{"no agent or model has checked it yet"}
		}
		l := store.Lease{Path: st.Dir.Path, Token: d.token(), Expires: now.Add(lasting).UTC().Truncate(time.Second), Basis: it.Basis, Recipe: hand.Recipe(), Holder: oneLine(opts.Holder)}
		if it.Old != nil {
			l.Shown = it.Old.ID()
		}
		ok, err := d.leases.Take(ctx, d.worktree, l, now)
		if err != nil {
			return nil, err
		}
		if tries++; !ok {
			// Somebody was faster: who, is seen when we come to it again.
			if held, err = d.leasedDirs(ctx, holds); err != nil {
				return nil, err
			}
			q.again(st)
			continue
		}
		met, ok, err := j.free(ctx, d, st, l, hand, func() func(store.Lease) bool {
			now := d.opts.Now() // others may have let go since
			return func(o store.Lease) bool { return o.Token != l.Token && o.Expires.After(now) }
		})
		if err != nil {
			return nil, err
		}
		if ok {
			out.Item = &WorkItem{repo.DirLabel(l.Path).JSON(), l.Token, l.Expires, Rules + "\n\n" + it.Prompt(), it.Old != nil}
			return out, nil
		}
		l.Expires = now.UTC() // it is over
		if _, err := d.leases.Take(context.WithoutCancel(ctx), d.worktree, l, now); err != nil {
			return nil, err
		}
		if met.Token != "" {
			q.putAside(st, met)
		} else {
			q.done(st)
		}
	}
	out.Held = q.putBack()
	return out, nil
}

// Show is [Survey.Show] with the leases of the directories.
func (d *Dispatcher) Show(ctx context.Context, within repo.Path) (*Shown, error) {
	shown, err := d.Survey.Show(ctx, within)
	if err != nil {
		return nil, err
	}
	leases, err := d.validLeases(ctx, within)
	for _, l := range leases {
		shown.Leases = append(shown.Leases, heldPath(l))
	}
	return shown, err
}

// validLeases returns the leases of a directory and all below it that have not run out, by path.
// It leaves out the leases of the plan and the overview, which are no directories.
func (d *Dispatcher) validLeases(ctx context.Context, within repo.Path) ([]store.Lease, error) {
	all, err := d.leases.Leases(ctx, d.worktree)
	if err != nil {
		return nil, err
	}
	now := d.opts.Now()
	var valid []store.Lease
	for _, p := range slices.Sorted(maps.Keys(all)) {
		isDirectory := p != reconPath && p != reportPath
		if l := all[p]; isDirectory && p.Under(within) && l.Expires.After(now) {
			valid = append(valid, l)
		}
	}
	return valid, nil
}

// A Release is the result of [Dispatcher.Release].
type Release struct {
	Released []HeldPath `json:"released"`
}

// Release ends the leases that agents have of a directory and of all below it. An agent can
// still submit, as after the end of its lease, until another one leases the directory. The
// leases of runs stay: a run that ended leaves none behind for long.
func (d *Dispatcher) Release(ctx context.Context, within repo.Path) (*Release, error) {
	leases, err := d.validLeases(ctx, within)
	if err != nil {
		return nil, err
	}
	if len(leases) == 0 && within != "" {
		if err := d.Known(ctx, []repo.Path{within}); err != nil {
			return nil, err
		}
	}
	out := &Release{Released: []HeldPath{}}
	for _, l := range leases {
		held := heldPath(l)
		if !held.agent {
			continue
		}
		l.Expires = d.opts.Now().UTC().Truncate(time.Microsecond)
		ok, err := d.leases.Take(ctx, d.worktree, l, l.Expires)
		if err != nil {
			return out, fmt.Errorf("release %s: %w", repo.DirLabel(l.Path), err)
		}
		if ok { // else another agent has leased it in this moment
			out.Released = append(out.Released, held)
		}
	}
	return out, nil
}

// How often a dispatcher checks whether another one released a directory with the same input, and
// how long it waits between the checks.
const (
	meetings  = 5
	meetPause = 50 * time.Millisecond
)

// meet returns another agent's lease of a directory with
// the same input as l, the zero lease if there is none.
//
// Two agents may lease directories with the same input at the same time. Then the one
// with the greater token gives up at once, and the other waits here until it has. It
// must wait: an earlier agent, which saw no other lease, keeps its directory too.
func (d *Dispatcher) meet(ctx context.Context, l store.Lease, others func() func(store.Lease) bool) (store.Lease, error) {
	for n := 1; ; n++ {
		held, err := d.leasedDirs(ctx, others())
		if err != nil {
			return store.Lease{}, err
		}
		met, ok := held.of(l.Path, l.Basis.Digest())
		if !ok || met.Token < l.Token || n == meetings || d.Ticks.wait(ctx, meetPause) != nil {
			return met, nil
		}
	}
}

// free checks a directory again right after it was leased. ok reports that it
// still needs a summary and that no other agent has it or a directory with the
// same input. Otherwise met is the other lease, or st has the new verdict.
func (j *judgement) free(ctx context.Context, d *Dispatcher, st *DirStatus, l store.Lease, w Writer, others func() func(store.Lease) bool) (met store.Lease, ok bool, err error) {
	if met, err = d.meet(ctx, l, others); err != nil || met.Token != "" {
		return met, false, err
	}
	// Who had it before may have handed it in since we looked.
	written, err := j.store.WrittenOf(ctx, []repo.Path{l.Path})
	if err != nil {
		return store.Lease{}, false, err
	}
	if list := written[l.Path]; len(list) > 0 {
		latest := list[:1]
		for _, r := range j.latest[l.Path] {
			if r.Outlined() {
				latest = append(latest[:1:1], r)
			}
		}
		j.latest[l.Path] = latest
	}
	j.outlinesOnly = false
	if err := j.judgeLevel(ctx, []*Directory{st.Dir}); err != nil {
		return store.Lease{}, false, err
	}
	*st = *j.at[st.Dir]
	j.at[st.Dir] = st
	return store.Lease{}, wanted(st, w) && !j.inVain(st, w), nil
}

// An agent is a writer that is not called: it asks.
type agent struct{}

func (agent) Author() string { return "" }
func (agent) Recipe() string { return LeaseRecipe }
func (agent) Write(context.Context, *Item) (Draft, error) {
	return Draft{}, errors.New("agents write through leases, not through Write")
}

// A Submission is an agent's answer.
type Submission struct {
	Path   repo.Path
	Lease  string
	Author string
	Draft
}

// A SubmitResult is what became of a submission.
type SubmitResult string

// The results.
const (
	SubmitStored     SubmitResult = "stored"     // it speaks of what is there
	SubmitSuperseded SubmitResult = "superseded" // it is kept for what it was written from
	SubmitFenced     SubmitResult = "fenced"     // somebody else has the directory now
	SubmitRejected   SubmitResult = "rejected"   // it cannot be kept
)

// Submitted tells what became of a submission.
type Submitted struct {
	repo.PathJSON
	Result SubmitResult `json:"result"`
	Reason string       `json:"reason"`

	Basis store.DirBasis `json:"-"` // what it was written from
}

// Submit takes in an answer. Its basis is what the work item held, whatever has
// happened since.
func (d *Dispatcher) Submit(ctx context.Context, sub Submission) (*Submitted, error) {
	out := &Submitted{PathJSON: repo.DirLabel(sub.Path).JSON()}
	held, err := d.leases.Leases(ctx, d.worktree)
	if err != nil {
		return nil, err
	}
	l, ok := held[sub.Path]
	if !ok || l.Token != sub.Lease {
		return out, d.fence(ctx, sub.Path, out)
	}
	out.Basis = l.Basis
	j, err := d.judgeStored(ctx)
	if err != nil {
		return nil, err
	}
	if isKeep(sub.Text) {
		sub.Text, sub.Keep = "", true
	}
	it := &Item{Path: l.Path, Basis: l.Basis}
	moved := "the directory is gone"
	if dir, err := j.find(l.Path); err == nil {
		if moved = ""; j.basis(j.at[dir]).Digest() != l.Basis.Digest() {
			moved = "the directory changed since you leased it"
		}
	}
	// Whatever is said of it by now, what was looked at is what was shown.
	if sub.Keep && !l.Shown.IsZero() {
		if it.Old, err = d.store.Kept(ctx, l.Shown); err != nil {
			return nil, err
		}
	}
	r, err := j.record(it, sub.Draft, sub.Author, l.Recipe)
	if err == nil && sub.Keep && moved != "" {
		err = fmt.Errorf("%s: submit a text instead of keep", moved)
	}
	if err != nil {
		out.Result, out.Reason = SubmitRejected, err.Error()
		return out, nil
	}
	ok, err = d.leases.Settle(ctx, d.worktree, l, r)
	switch {
	case err != nil:
		return nil, fmt.Errorf("store the summary of %s: %w", repo.DirLabel(l.Path), err)
	case !ok:
		out.Result, out.Reason = SubmitFenced, "your lease ran out and another agent has the directory"+takeAnother
	case moved != "":
		out.Result, out.Reason = SubmitSuperseded, moved
	default:
		out.Result = SubmitStored
	}
	return out, nil
}

// takeAnother is the hint for an agent whose lease ended.
const takeAnother = "; lease another one with: ken survey next"

// fence refuses an answer without the lease that holds, unless there is nothing to hold.
func (d *Dispatcher) fence(ctx context.Context, p repo.Path, out *Submitted) error {
	files, err := d.tree.Files(ctx)
	if err != nil {
		return err
	}
	out.Result = SubmitFenced
	out.Reason = "the lease is not valid: it is unknown, its summary was submitted, or it ran out and another agent has the directory" + takeAnother
	if p != "" && !slices.ContainsFunc(files, func(f File) bool { return f.Path.Dir().Under(p) }) {
		out.Result, out.Reason = SubmitRejected, "git tracks no file in "+p.String()+"; list directories with: ken survey show"
	}
	return nil
}
