package share

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Options tune a Share.
type Options struct {
	Policy Policy
	Now    func() time.Time // the clock; time.Now when nil
	// Wait is called before another attempt, with how many there were; nil does not
	// wait.
	Wait func(ctx context.Context, tries int) error
}

// A Share is what one clone shares with others.
type Share struct {
	ledger   Ledger
	store    Store
	memories Memories
	opts     Options
}

// New returns the part of a clone in what is shared.
func New(l Ledger, s Store, m Memories, opts Options) *Share {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Wait == nil {
		opts.Wait = func(ctx context.Context, _ int) error { return ctx.Err() }
	}
	return &Share{l, s, m, opts}
}

// PushOptions say what to push.
type PushOptions struct {
	Remote string // that of the policy when ""
	Prune  bool   // begin a new epoch, if there is more than the budget allows
	DryRun bool   // say what would be done, from what is known here
}

// A Pushed says what was pushed.
type Pushed struct {
	Remote  string    `json:"remote"`
	Tip     repo.ID   `json:"tip"`
	Records int       `json:"records"` // that the remote got
	Taken   int       `json:"taken"`   // over from it on the way
	DryRun  bool      `json:"dry_run,omitempty"`
	Dropped []Dropped `json:"dropped,omitempty"` // by a new epoch
	Unfit   int       `json:"unfit"`             // records that cannot be shared; see status
	Size    Size      `json:"size"`
	Base    *Base     `json:"base,omitempty"` // of the team, where there is one
}

// A Size is how much there is in a ledger.
type Size struct {
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
	Budget  int64 `json:"budget"`
}

// Over reports whether that is more than it should be.
func (s Size) Over() bool { return s.Bytes > s.Budget }

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
		Hint: "try again: ken share push " + fault.Quote(remote),
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
	if !opts.DryRun && (again || theirs.IsZero() || opts.Prune) {
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
		if p.dropped, err = s.droppedBy(ctx, st); err != nil {
			return nil, err
		}
	} else {
		ex, err := s.examine(ctx, st, theirs, !opts.DryRun)
		if err != nil && !again && !opts.DryRun {
			return s.push(ctx, remote, opts, true) // it may have been put right since
		}
		if err != nil {
			return nil, unusable(remote, err)
		}
		if p, err = s.join(ctx, st, ex); err != nil {
			return nil, err
		}
		out.Taken += ex.taken
	}
	if p.crossed {
		m.Mark = ""
	}
	if out.Records, err = s.unpushed(ctx, p, theirs); err != nil {
		return nil, err
	}
	tips := []repo.ID{own, theirs}
	if p.crossed || p.replace || !p.needed {
		// Not all that either had need be in it.
		if err := s.write(ctx, p, nil); err != nil {
			return nil, err
		}
		tips = []repo.ID{p.tip}
	}
	fresh, err := s.fresh(ctx, p, &m, tips)
	if err != nil {
		return nil, err
	}
	out.Records += len(fresh)
	out.Unfit = len(m.Unfit)
	if opts.DryRun {
		return s.dryRun(ctx, p, fresh, out, opts)
	}
	if err := s.write(ctx, p, fresh); err != nil {
		return nil, err
	}
	if opts.Prune {
		if out.Dropped, err = s.prune(ctx, p); err != nil {
			return nil, err
		}
	}
	out.Tip, out.Size = p.tip, s.size(p.state)
	if p.tip != theirs && !p.tip.IsZero() {
		taken, err := s.ledger.Push(ctx, remote, Offer{Tip: p.tip, Over: theirs, Replace: p.replace})
		if err != nil || !taken {
			return nil, err
		}
		theirs = p.tip
	}
	return out, s.note(ctx, remote, p.state, &m, Move{From: own, To: p.tip, Theirs: theirs})
}

func (s *Share) dryRun(ctx context.Context, p *plan, fresh []Put, out *Pushed, opts PushOptions) (*Pushed, error) {
	out.Size = s.size(p.state)
	if !opts.Prune {
		for _, f := range fresh {
			out.Size.Records++
			out.Size.Bytes += int64(len(f.Data))
		}
		return out, nil
	}
	err := s.write(ctx, p, fresh) // which nothing leads to
	if err == nil {
		out.Dropped, err = s.prune(ctx, p)
	}
	out.Size = s.size(p.state)
	return out, err
}

func (s *Share) size(st *state) Size {
	return Size{st.records, st.bytes, s.opts.Policy.budget()}
}

// fetch asks the remote, and notes that it answered.
func (s *Share) fetch(ctx context.Context, remote string, m *Memory) (repo.ID, error) {
	theirs, err := s.ledger.Fetch(ctx, remote)
	if err != nil {
		return repo.ID{}, err
	}
	s.heard(remote, m)
	return theirs, nil
}

func (s *Share) heard(remote string, m *Memory) {
	if m.Fetched == nil {
		m.Fetched = make(map[string]time.Time)
	}
	m.Fetched[remote] = s.opts.Now().UTC().Truncate(time.Second)
}

// unusable says what to do about a remote's ledger that cannot be read.
func unusable(remote string, err error) error {
	if fault.HintOf(err) != "" {
		return fmt.Errorf("its knowledge cannot be used: %w", err)
	}
	return &fault.Error{
		Hint: fmt.Sprintf("look at it with: git log refs/ken/remotes/%s/knowledge; to replace it with what this clone has: git push --force %s refs/ken/knowledge", remote, fault.Quote(remote)),
		Err:  fmt.Errorf("its knowledge cannot be used: %w", err),
	}
}

// fresh returns the records of the store that no tip has and nobody dropped, and moves
// the mark behind them.
func (s *Share) fresh(ctx context.Context, p *plan, m *Memory, tips []repo.ID) ([]Put, error) {
	if m.Mark == "" {
		m.Unfit = nil
	}
	var some []Put
	var paths []repo.Path
	for {
		list, next, err := s.store.Since(ctx, m.Mark, batch)
		if err != nil {
			return nil, err
		}
		if m.Mark = next; len(list) == 0 {
			break
		}
		for _, r := range list {
			data := r.Encode()
			if err := fit(r, data); err != nil {
				m.Unfit = append(m.Unfit, Quarantined{r.Path().JSON(), err.Error()})
				continue
			}
			if n := NameOf(data); !p.dropped[n] {
				some = append(some, Put{Path: n.Path(), Data: data})
				paths = append(paths, n.Path())
			}
		}
	}
	there, err := s.ledger.Have(ctx, paths, tips...)
	if err != nil {
		return nil, err
	}
	var puts []Put
	for i, put := range some {
		if _, bad := p.quarantined[put.Path]; !there[i] || bad {
			puts = append(puts, put)
		}
	}
	return puts, nil
}

// fit says why a record cannot be shared: others would not take it over.
func fit(r Record, data []byte) error {
	if len(data) > MaxSize {
		return fmt.Errorf("it has %d bytes, and %d is the most", len(data), MaxSize)
	}
	if _, err := time.Parse(layout, r.at().UTC().Format(layout)); err != nil {
		return errors.New("its time is none")
	}
	return r.Check()
}

// unpushed returns how many records of the ledger the remote is about to get.
func (s *Share) unpushed(ctx context.Context, p *plan, theirs repo.ID) (n int, err error) {
	if p.tip == theirs {
		for _, put := range p.commit.Put {
			if _, ok := recordAt(put.Path); ok {
				n++
			}
		}
		return n, nil
	}
	if p.tip.IsZero() {
		return 0, nil
	}
	changes, err := s.ledger.Differences(ctx, theirs, p.tip)
	for _, c := range changes {
		if _, ok := recordAt(c.Path); ok && !c.New.IsZero() {
			n++
		}
	}
	return n, err
}

// write makes the commit that a plan needs, if any, and the state that of it.
func (s *Share) write(ctx context.Context, p *plan, fresh []Put) error {
	if p.needed || len(fresh) > 0 {
		if !p.needed && !p.tip.IsZero() {
			p.commit.Parents = []repo.ID{p.tip}
		}
		if p.tip.IsZero() {
			p.commit.Put = append(p.commit.Put, Put{Path: formatFile, Data: []byte(formatText)})
		}
		p.commit.Put = append(p.commit.Put, fresh...)
		for _, f := range fresh {
			delete(p.quarantined, f.Path)
			p.records++
			p.bytes += int64(len(f.Data))
		}
		if err := s.commit(ctx, p, "ken: "+counted(len(fresh))); err != nil {
			return err
		}
		p.needed = false
	}
	if p.recount {
		p.recount = false
		return s.count(ctx, p.state)
	}
	return nil
}

func counted(n int) string {
	switch n {
	case 0:
		return "union"
	case 1:
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}

func (s *Share) commit(ctx context.Context, p *plan, message string) error {
	who, signs, err := s.ledger.Author(ctx)
	if err != nil {
		return err
	}
	switch policy := s.opts.Policy; {
	case policy.Trust == SignedOff:
		message += "\n\nSigned-off-by: " + who
	case policy.Trust == Signed && !signs:
		return &fault.Error{
			Hint: "git config commit.gpgSign true",
			Err:  errors.New("only what is signed is trusted, and commits are not signed here"),
		}
	}
	p.commit.Message, p.commit.Sign, p.commit.At = message+"\n", signs, s.opts.Now()
	p.tip, err = s.ledger.Write(ctx, p.commit)
	p.commit = Commit{}
	return err
}

// count counts what a state has.
func (s *Share) count(ctx context.Context, st *state) error {
	changes, err := s.ledger.Differences(ctx, repo.ID{}, st.tip)
	if err != nil {
		return err
	}
	var ids []repo.ID
	for _, c := range changes {
		if _, ok := recordAt(c.Path); ok && c.NewMode == repo.Regular && st.quarantined[c.Path] == "" {
			ids = append(ids, c.New)
		}
	}
	st.records, st.bytes = len(ids), 0
	return s.ledger.EachBlob(ctx, ids, func(_ int, _ []byte, size int64) { st.bytes += max(size, 0) })
}

// note moves the tips, and remembers the state of this clone's. If somebody else has
// moved it, what is remembered is of no use, and the next to come finds it out.
func (s *Share) note(ctx context.Context, remote string, st *state, m *Memory, to Move) error {
	s.heard(remote, m)
	if moved, err := s.ledger.Note(ctx, remote, to); err != nil || !moved {
		return err
	}
	st.remember(m)
	var err error
	if _, m.Store, err = s.store.Since(ctx, "", 1); err != nil {
		return err
	}
	return s.memories.Save(*m)
}
