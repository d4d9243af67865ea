package share

import (
	"context"
	"fmt"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/store"
)

// PushOptions say what to push.
type PushOptions struct {
	Remote string // that of the policy when ""
	Prune  bool   // begin a new epoch, if there is more than the budget allows, or junk
	Vouch  bool   // vouch for what is held back though who commits here has brought it
	DryRun bool   // say what would be done, from what is known here
	// Unasked says that the remote need not be asked whether it still has what it had
	// if nothing is new here.
	Unasked bool
}

// purpose says what becomes of what is fresh.
func (o PushOptions) purpose() purpose {
	if o.DryRun && !o.Prune && !o.Vouch {
		return toCount
	}
	return toWrite
}

// command returns the one that pushes so.
func (o PushOptions) command(remote string) string {
	c := "ken share push " + fault.Quote(remote)
	if o.Prune {
		c += " --prune"
	}
	if o.Vouch {
		c += " --vouch"
	}
	return c
}

// A Pushed says what was pushed.
type Pushed struct {
	Remote  string            `json:"remote"`
	Tip     repo.ID           `json:"tip"`
	Records int               `json:"records"` // that the remote got
	Taken   int               `json:"taken"`   // over from it on the way
	DryRun  bool              `json:"dry_run,omitempty"`
	Dropped []Dropped         `json:"dropped,omitempty"` // by a new epoch
	Cleared []Quarantined     `json:"cleared,omitempty"` // junk that it left behind
	Again   int               `json:"dropped_again"`     // records that an epoch has dropped, and the remote had all the same
	Junk    int               `json:"junk"`              // files that a new epoch would leave behind; see status
	Unfit   int               `json:"unfit"`             // records that cannot be shared; see status
	Held    int               `json:"held"`              // records that are held back here, and stay there
	Mine    Own               `json:"held_own"`
	Vouched []Vouched         `json:"vouched,omitempty"`
	Lists   int               `json:"vouched_lists,omitempty"` // of what was dropped
	Who     string            `json:"who,omitempty"`           // commits here
	Why     string            `json:"untrusted,omitempty"`     // why others hold back what is shared from here
	Size    Size              `json:"size"`
	Base    *store.TeamStatus `json:"base,omitempty"` // of the team, where there is one
}

// tries is how often a push is tried while others are quicker.
const tries = 30

// Push hands over to a remote what is new here.
func (s *Share) Push(ctx context.Context, opts PushOptions) (*Pushed, error) {
	remote := s.opts.Policy.remote(opts.Remote)
	for try := range tries {
		if try > 0 {
			if err := s.opts.Wait(ctx, try); err != nil {
				return nil, err
			}
		}
		done, err := s.push(ctx, remote, opts, try > 0)
		if err != nil {
			return nil, fmt.Errorf("share with %s: %w", remote, err)
		}
		if done != nil {
			return done, nil
		}
	}
	return nil, &fault.Error{
		Hint: "try again: " + opts.command(remote),
		Err:  fmt.Errorf("share with %s: others were quicker %d times", remote, tries),
	}
}

// push tries once. It returns nothing when the remote has moved meanwhile.
func (s *Share) push(ctx context.Context, remote string, opts PushOptions, again bool) (*Pushed, error) {
	own, theirs, err := s.ledger.Tips(ctx, remote)
	if err != nil {
		return nil, err
	}
	m := s.memories.Load()
	// What is known of the remote is as good as ever until it says otherwise: most of
	// the time nobody else has pushed, and asking first would cost as much again.
	asked := !opts.DryRun && (again || theirs.IsZero() || opts.Prune)
	if asked {
		if theirs, err = s.fetch(ctx, remote, &m); err != nil {
			return nil, err
		}
	}
	st, taken, err := s.settled(ctx, &m, own, !opts.DryRun)
	if err != nil {
		return nil, err
	}
	p := &plan{state: st}
	out := &Pushed{Remote: remote, DryRun: opts.DryRun, Taken: taken}
	if theirs.IsZero() || theirs == own {
		if p.letGo, err = s.lists(ctx, st); err != nil {
			return nil, err
		}
	} else {
		ex, err := s.examine(ctx, st, theirs, !opts.DryRun)
		if err != nil && !again && !opts.DryRun {
			return s.push(ctx, remote, opts, true) // it may have been put right since
		}
		if err != nil {
			return nil, s.unusable(remote, own, !opts.DryRun, err)
		}
		if p, err = s.join(ctx, st, ex); err != nil {
			return nil, err
		}
		out.Taken += len(ex.taken)
	}
	if opts.Vouch {
		if p, err = s.vouchAnew(ctx, p, out, !opts.DryRun); err != nil {
			return nil, err
		}
		p.reread = true
	}
	if p.reread {
		m.Mark = ""
	}
	if out.Records, err = s.unpushed(ctx, p, theirs); err != nil {
		return nil, err
	}
	fresh, err := s.news(ctx, p, &m, opts, own, theirs)
	if err != nil {
		return nil, err
	}
	out.Records += len(fresh.puts)
	if err := s.carryOut(ctx, p, fresh, out, opts); err != nil {
		return nil, err
	}
	if opts.DryRun {
		return out, s.tell(ctx, p, &m, out, theirs)
	}
	if p.tip == theirs && !asked && !opts.Unasked {
		// Nobody has said that it still has what it had.
		return s.push(ctx, remote, opts, true)
	}
	out.Tip, out.Junk = p.tip, len(p.junk())
	if err := s.tell(ctx, p, &m, out, theirs); err != nil {
		return nil, err
	}
	if p.tip != theirs && !p.tip.IsZero() {
		taken, err := s.ledger.Push(ctx, remote, Offer{Tip: p.tip, Over: theirs, Replace: p.replace})
		if err != nil || !taken {
			return nil, err
		}
		theirs = p.tip
	}
	return out, s.note(ctx, remote, p.state, &m, Move{From: own, To: p.tip, Theirs: theirs})
}

// news finds what neither side has. Where what they are joined to need not hold all that
// either had, that is written first, and counts instead of them.
func (s *Share) news(ctx context.Context, p *plan, m *Memory, opts PushOptions, own, theirs repo.ID) (*news, error) {
	if p.crossed || p.replace || !p.needed {
		if err := s.write(ctx, p, new(news)); err != nil {
			return nil, err
		}
		return s.fresh(ctx, p, m, opts.purpose(), p.tip)
	}
	return s.fresh(ctx, p, m, opts.purpose(), own, theirs)
}

// carryOut writes what is planned, and begins a new epoch if that is asked for. Nothing leads
// to it yet. Of a dry run that only counts, no more than the size becomes what it would be.
func (s *Share) carryOut(ctx context.Context, p *plan, fresh *news, out *Pushed, opts PushOptions) (err error) {
	if opts.DryRun && !opts.Prune {
		p.records += len(fresh.puts)
		p.bytes += fresh.bytes
		return nil
	}
	if err := s.write(ctx, p, fresh); err != nil || !opts.Prune {
		return err
	}
	out.Dropped, out.Cleared, err = s.prune(ctx, p)
	return err
}

// tell says what is left to know of a push: how much there is then, what is held back or not
// shared and what of that is one's own, what is dropped again, and whether others trust who
// commits here.
func (s *Share) tell(ctx context.Context, p *plan, m *Memory, out *Pushed, theirs repo.ID) (err error) {
	out.Size, out.Held, out.Unfit = s.size(p.state), len(p.held), len(m.Unfit)
	out.Who = s.me(ctx)
	out.Mine, out.Why = p.mine(out.Who, m.Unfit), s.untrusted(out.Who)
	if out.Again, err = s.droppedAgain(ctx, p, theirs, out.Dropped); err != nil {
		return err
	}
	if p.vouches && out.Why == "" {
		out.Why, err = s.unverified(ctx, p.tip)
	}
	return err
}

// droppedAgain returns how many records a remote has that an epoch had dropped before, and
// loses by what is to be pushed.
func (s *Share) droppedAgain(ctx context.Context, p *plan, theirs repo.ID, now []Dropped) (n int, err error) {
	if !p.replace || theirs.IsZero() {
		return 0, nil
	}
	just := make(map[Name]bool)
	for _, d := range now {
		just[d.Name] = true
	}
	changes, err := s.ledger.Differences(ctx, theirs, p.tip)
	for _, c := range changes {
		if name, ok := recordAt(c.Path); ok && c.New.IsZero() && p.dropped[name] && !just[name] {
			n++
		}
	}
	return n, err
}
