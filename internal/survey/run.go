package survey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/model"
	"ken/internal/repo"
	"ken/internal/store"
)

// RunOptions says how far a run goes. The zero value does all that is to be done, one
// directory at a time.
type RunOptions struct {
	Jobs int // directories that are described at once; 1 when 0
	// MaxTokens limits the tokens of all calls, in and out together, and MaxCost the same in
	// dollars. Nil is no limit, and 0 allows no call.
	MaxTokens *int64
	MaxCost   *float64
	Within    repo.Path // only this directory and those below it
	// Refresh is for a run that nobody asked for. It leaves out directories that a model failed
	// to describe, or may be about to describe: a record would end the failure. So where models
	// or agents wrote summaries, it only replaces outlines.
	Refresh bool
	// Dispatcher leases each directory before a model describes it, as agents do: directories that others
	// have are skipped, and others do not get this one. Nil takes no leases. Outlines cost
	// nothing, and need none.
	Dispatcher *Dispatcher
	// Anew returns the tree as it is when the run is over: files may have changed under it.
	// Nil has nobody look.
	Anew func() Tree
	// Progress hears of every directory that is done, in order, and once in a Beat that
	// the run is still at it.
	Progress func(Progress)
	Beat     time.Duration // 5 seconds when 0
	// OnWait hears that the model waits before it is asked again, such as for a rate limit.
	// Several goroutines call it.
	OnWait func(model.Retry)
	// Ticks is what a run goes by. Without it, it gives no sign of life, and waits for no other.
	Ticks TickerFunc
	// Files is given what is to be said of files; nil to let that go.
	Files func(ctx context.Context, author string, it *Item, texts map[repo.Path]string) error
}

// Progress is how far a run has come.
type Progress struct {
	Path        repo.Path // that was done; "" with a Total of 0 while it is being planned
	Err         error
	Done, Total int
	UnderWay    int // directories; of a beat
	Spent       Spent
}

// RunResult is what a run did.
type RunResult struct {
	Done    []string     `json:"done"` // in order
	Failed  []FailedPath `json:"failed"`
	Calls   int          `json:"calls"`
	Tokens  Tokens       `json:"tokens"`
	Cost    *float64     `json:"cost"`              // in dollars; null when the price is not known
	Stopped string       `json:"stopped,omitempty"` // why it ended before all was done
	Left    int          `json:"left"`              // what is still to be done
	Held    []HeldPath   `json:"held,omitempty"`    // of that, what is in other hands
	Remarks []string     `json:"remarks,omitempty"` // what else went wrong

	// Err is why nobody could be asked at all, nil when somebody could.
	Err error `json:"-"`
}

// A FailedPath is a directory that could not be described.
type FailedPath struct {
	repo.PathJSON
	Reason string `json:"reason"`
}

// A HeldPath is a directory that an agent or a run has leased.
type HeldPath struct {
	repo.PathJSON
	By    string    `json:"by,omitempty"` // name of the agent or model
	Until time.Time `json:"until"`        // end of the lease

	agent bool // no run has it
}

// heldPath describes a lease.
func heldPath(l store.Lease) HeldPath {
	return HeldPath{repo.DirLabel(l.Path).JSON(), l.Holder, l.Expires, l.Recipe == LeaseRecipe}
}

// Tokens are what went in and came out.
type Tokens struct {
	In  int64 `json:"in"`
	Out int64 `json:"out"`
}

// wanted reports whether a writer should describe a directory. Models and agents describe
// directories that are stale or have only an outline. A writer of outlines replaces stale
// outlines and those of another recipe, never a summary of a model or an agent.
func wanted(s *DirStatus, w Writer) bool {
	if s.Verdict.Open() {
		return !outlines(w) || s.Record == nil || s.Record.Outlined()
	}
	return s.Verdict == Fresh && s.Record.Outlined() && w.Recipe() != s.Record.Recipe
}

// inVain reports whether asking a writer again is useless. The writer would get the same input as
// before, because the directories below could not be described or read, or because the same model
// already gave two partial answers.
func (j *judgement) inVain(s *DirStatus, w Writer) bool {
	if s.Verdict == Partial && s.Record.Recipe != w.Recipe() {
		return false
	}
	return j.nothingNew(s) && (outlines(w) || !s.Record.Outlined())
}

// nothingNew reports whether a stale or partial text was already written from everything that a
// writer would get now.
func (j *judgement) nothingNew(s *DirStatus) bool {
	if s.kept != nil {
		return s.kept.nothingNew
	}
	if s.Verdict == Partial {
		return s.retried
	}
	return (s.Verdict == StaleBelow || s.Verdict == Incomplete) && !s.Record.Partial && s.Record.Basis.Digest() == j.basis(s).Digest()
}

func outlines(w Writer) bool { return (&store.DirRecord{Recipe: w.Recipe()}).Outlined() }

// Run describes all directories that need it, subdirectories first. It records
// a failure and continues. When the context ends or a limit is reached, it
// starts no more directories, and stores everything that was paid for.
//
// A model first plans the survey and finally writes an overview.
// Both are optional: a failure is recorded, and the run continues.
func (s *Survey) Run(ctx context.Context, w Writer, opts RunOptions) (*RunResult, error) {
	r := &run{
		writer: w, how: opts, mine: make(map[repo.Path]store.Lease), alike: make(map[string][]*store.DirRecord), waitingForSame: make(map[fresh.Digest][]*DirStatus),
		gaveUp: make(map[repo.Path]bool), partial: make(map[fresh.Digest]partialAnswer), ran: &RunResult{Done: []string{}, Failed: []FailedPath{}},
	}
	defer r.sum()
	defer r.pulse(ctx)()
	var j *judgement
	var err error
	if outlines(w) {
		j, err = s.renew(ctx, w)
	}
	if j == nil && err == nil {
		j, err = s.judgeMade(ctx)
	}
	if err != nil {
		return r.ran, err
	}
	if opts.Within != "" {
		if _, err := j.find(opts.Within); err != nil {
			return r.ran, err
		}
	}
	mind, thinks := w.(ModelWriter)
	if thinks {
		if opts.MaxCost != nil && !mind.Price().Known() {
			return r.ran, &fault.Error{
				Kind: fault.Usage, Hint: "set survey.prices in .ken/config.yaml, or use --max-tokens",
				Err: fmt.Errorf("no price known for %s: --max-cost cannot be enforced", mind.Author()),
			}
		}
		mind.See(s.tree)
		mind.Limit(newBudget(opts.MaxTokens, opts.MaxCost))
		mind.OnWait(opts.OnWait)
		r.judgement = j
		if j, err = r.plan(ctx, j, mind); err != nil || r.ran.Stopped != "" {
			return r.ran, err
		}
		r.remarkSkipped(j)
	}
	if err := r.rounds(ctx, j); err != nil {
		return r.ran, err
	}
	r.remember(ctx)
	r.remarkAlike()
	r.remarkPartial()
	if thinks && r.ran.Stopped == "" && opts.Within == "" && r.ran.Left == 0 {
		cost, err := s.Synthesise(ctx, mind, func(basis store.DirBasis) (func(), error) { return r.exclusive(ctx, reportPath, basis) })
		r.spent = r.spent.Add(cost)
		r.note(ctx, err)
	}
	r.note(ctx, r.lookAgain(ctx))
	return r.ran, nil
}

// plan has a model or an agent plan what is to be done, if it is worth it and nobody has.
func (r *run) plan(ctx context.Context, j *judgement, m ModelWriter) (*judgement, error) {
	if len(j.order) <= tiny || j.plan != nil && j.plan.exact || newQueue(j, r.wants).total == 0 {
		return j, nil
	}
	if err := j.inVainPlanned(m); err != nil {
		r.note(ctx, err)
		return j, nil
	}
	release, err := r.exclusive(ctx, reconPath, j.planBasis())
	if err != nil {
		r.ran.Left = newQueue(j, r.wants).total
		r.note(ctx, err)
		return j, nil
	}
	defer release()
	if r.leased() { // another run may have planned meanwhile
		now, err := j.judgeStored(ctx)
		if err != nil {
			return j, err
		}
		if now.plan != nil && now.plan.exact {
			return now, nil
		}
		if err := now.inVainPlanned(m); err != nil {
			r.note(ctx, err)
			return now, nil
		}
	}
	cost, err := j.replan(ctx, m)
	r.spent = r.spent.Add(cost)
	if err != nil {
		r.ran.Left = newQueue(j, r.wants).total
		r.note(ctx, err)
		r.countUnusable(err)
		return j, nil
	}
	return j.judgeStored(context.WithoutCancel(ctx))
}

// wants reports whether a directory is to be described.
func (r *run) wants(s *DirStatus) bool {
	if r.how.Refresh && (s.Verdict == Failed || s.Record == nil && !r.outlinesOnly) {
		return false
	}
	return s.Dir.Path.Under(r.how.Within) && !r.gaveUp[s.Dir.Path] && !r.triedPartial(s) && wanted(s, r.writer)
}

// note puts down what went wrong apart from directories.
func (r *run) note(ctx context.Context, err error) {
	switch {
	case err == nil:
	case ctx.Err() != nil:
		r.ran.Stopped = interrupted
	case errors.Is(err, ErrHopeless):
		r.ran.Stopped, r.ran.Err = oneLine(err.Error()), err
	case isLimit(err):
		r.ran.Stopped = err.Error()
	default:
		r.ran.Remarks = append(r.ran.Remarks, oneLine(err.Error()))
	}
}

// A run is one going through the queue. The judgement is the scheduler's own; the
// workers see items alone.
type run struct {
	*judgement
	writer Writer
	how    RunOptions
	queue  *queue
	ran    *RunResult
	spent  Spent
	batch  int // how many records are kept at once
	away   int // directories in a row that the provider was away for
	// unusable counts requests in a row that the provider rejected, or answered with something
	// else than its API.
	unusable int
	alike    map[string][]*store.DirRecord // summaries that models wrote, by text
	gaveUp   map[repo.Path]bool            // directories that this run has failed at
	// partial are the directories that this run's model could not finish, by their basis.
	partial map[fresh.Digest]partialAnswer
	// waitingForSame are directories, by basis, that wait because a model or an agent is describing
	// another one with the same basis. They will share its text.
	waitingForSame map[fresh.Digest][]*DirStatus
	unkept         []*store.DirRecord
	kept           []*store.DirRecord // by this run

	mu   sync.Mutex // guards what beats tell and keep
	last Progress
	mine map[repo.Path]store.Lease // of what is under way
}

// outlineBatch is how many outlines are kept at once: they cost nothing to make again.
const outlineBatch = 512

type answer struct {
	standing *DirStatus
	item     *Item
	draft    Draft
	err      error
}

func (r *run) work(ctx context.Context) error {
	jobs := max(1, r.how.Jobs)
	items, answers := make(chan answer), make(chan answer)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for a := range items {
				a.item, a.err = r.item(ctx, a.standing)
				if a.err == nil {
					a.draft, a.err = r.writer.Write(ctx, a.item)
				}
				if a.err == nil && !outlines(r.writer) { // which are made of the item alone
					a.err = r.still(context.WithoutCancel(ctx), a.item)
				}
				answers <- a
			}
		})
	}
	defer workers.Wait()
	defer close(items)

	r.batch = 1
	if outlines(r.writer) {
		r.batch = outlineBatch
	}
	var fatal error
	busy := 0
	r.limits(ctx)
	for {
		for busy < jobs && fatal == nil && r.ran.Stopped == "" {
			st, err := r.take(ctx)
			if err != nil {
				fatal = err
			}
			if st == nil {
				break
			}
			busy++
			r.busy(busy)
			items <- answer{standing: st}
		}
		if busy == 0 {
			if fatal == nil && r.awaits(ctx) {
				r.limits(ctx)
				continue
			}
			break
		}
		a := <-answers
		busy--
		r.busy(busy)
		if err := r.finish(ctx, a); err != nil && fatal == nil {
			fatal = err
		}
		r.limits(ctx)
	}
	if err := r.flush(context.WithoutCancel(ctx)); err != nil && fatal == nil {
		fatal = err
	}
	r.ran.Left = r.queue.left()
	return fatal
}

// fewAlike is how many directories may get the same words without a remark.
const fewAlike = 2

// remarkAlike says which different directories got the very same words: a refusal, or
// gibberish, looks like a text.
func (r *run) remarkAlike() {
	for _, text := range slices.Sorted(maps.Keys(r.alike)) {
		var names []string
		bases := make(map[fresh.Digest]bool)
		for _, rec := range r.alike[text] {
			if b := rec.Basis.Digest(); !bases[b] {
				bases[b], names = true, append(names, repo.DirLabel(rec.Path).String())
			}
		}
		if len(names) <= fewAlike {
			continue
		}
		r.ran.Remarks = append(r.ran.Remarks, fmt.Sprintf("%d directories got the same summary, among them %s and %s: %q; check it with: ken survey show %s",
			len(names), names[0], names[1], cut(oneLine(text), 80), fault.Quote(names[0])))
	}
}

// sum puts down what was spent.
func (r *run) sum() {
	r.ran.Calls, r.ran.Tokens = r.spent.Calls, Tokens{r.spent.In, r.spent.Out}
	if !r.spent.Unknown {
		r.ran.Cost = &r.spent.Cost
	}
}

// flush keeps what is not kept yet.
func (r *run) flush(ctx context.Context) error {
	if len(r.unkept) == 0 {
		return nil
	}
	if err := r.store.Keep(ctx, r.unkept); err != nil {
		return fmt.Errorf("store the summary: %w", err)
	}
	r.kept = append(r.kept, r.unkept...)
	r.unkept = nil
	return nil
}

// take returns the next directory that is ready and still to be described: those
// below it may have turned out as they were.
func (r *run) take(ctx context.Context) (*DirStatus, error) {
	held, err := r.others(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { r.ran.Held = r.queue.putBack() }()
	for {
		st := r.queue.next()
		if st == nil {
			return nil, nil
		}
		basis := r.shared(st)
		if l, ok := held.of(st.Dir.Path, basis); ok {
			r.queue.putAside(st, l)
			continue
		}
		if twins, ok := r.waitingForSame[basis]; ok {
			r.waitingForSame[basis] = append(twins, st)
			continue
		}
		if len(st.children) > 0 || !outlines(r.writer) {
			if err := r.judgeLevel(ctx, []*Directory{st.Dir}); err != nil {
				return nil, err
			}
			*st = *r.at[st.Dir]
			r.at[st.Dir] = st
		}
		if !wanted(st, r.writer) || r.triedPartial(st) || r.inVain(st, r.writer) {
			r.queue.done(st)
			continue
		}
		switch met, ok, err := r.hold(ctx, st); {
		case err != nil:
			return nil, err
		case ok:
			if !basis.IsZero() {
				r.waitingForSame[basis] = nil
			}
			return st, nil
		case wanted(st, r.writer) && !r.inVain(st, r.writer):
			r.queue.putAside(st, met)
		default:
			r.queue.done(st)
		}
	}
}

// finish keeps an answer.
func (r *run) finish(ctx context.Context, a answer) error {
	r.spent = r.spent.Add(a.draft.Spent)
	st := a.standing
	defer r.wake(r.shared(st))
	var rec *store.DirRecord
	if a.err == nil {
		rec, a.err = r.record(a.item, a.draft, r.writer.Author(), r.writer.Recipe())
	}
	if a.err != nil {
		rec = nil
	}
	// What is to be kept is kept though the run be stopped.
	keep := context.WithoutCancel(ctx)
	settled, err := r.letGo(keep, st, rec)
	if err != nil {
		return err
	}
	switch {
	case a.err == nil && outlines(r.writer) && rec.Partial && repeats(rec, st.Record):
		// It was tried again, and nothing came of it.
	case a.err == nil:
		if !settled {
			r.unkept = append(r.unkept, rec)
		}
		if len(r.unkept) >= r.batch {
			if err := r.flush(keep); err != nil {
				return err
			}
		}
		if !a.draft.Keep && !rec.Outlined() {
			r.alike[rec.Text] = append(r.alike[rec.Text], rec)
		}
		if rec.Partial && !rec.Outlined() {
			r.partial[rec.Basis.Digest()] = partialAnswer{rec.Path, st.Record != nil && sameAttempt(rec, st.Record)}
		}
		st.Record, st.Reasons, st.K = rec, nil, 0
		st.finish()
		r.ran.Done = append(r.ran.Done, repo.DirLabel(st.Dir.Path).JSON().Path)
		r.away, r.unusable = 0, 0
		if r.how.Files != nil && len(a.draft.Files) > 0 {
			if err := r.how.Files(keep, r.writer.Author(), a.item, a.draft.Files); err != nil {
				r.ran.Remarks = append(r.ran.Remarks, oneLine(fmt.Sprintf("summaries of files in %s: %v", repo.DirLabel(st.Dir.Path), err)))
			}
		}
	case ctx.Err() != nil:
		return nil // it was stopped, and did not fail
	case errors.Is(a.err, ErrHopeless), isLimit(a.err):
		r.note(ctx, a.err) // nor did the directory
		return nil
	case errors.Is(a.err, ErrMoved):
		// Nobody failed: it is as it was, and the next run sees what is there.
		r.away = 0
		r.gaveUp[st.Dir.Path] = true
		r.ran.Failed = append(r.ran.Failed, FailedPath{repo.DirLabel(st.Dir.Path).JSON(), oneLine(a.err.Error())})
	default:
		if errors.Is(a.err, errAway) {
			r.away++
		} else {
			r.away = 0
		}
		r.countUnusable(a.err)
		f := store.DirFailure{Path: st.Dir.Path, Reason: oneLine(a.err.Error()), At: r.stamp(st.Dir.Path)}
		if a.item != nil {
			f.Basis = a.item.Basis.Digest()
		}
		if err := r.store.KeepFailure(keep, f); err != nil {
			return err
		}
		st.Verdict, st.Reasons = Failed, []string{f.Reason}
		r.gaveUp[st.Dir.Path] = true
		r.ran.Failed = append(r.ran.Failed, FailedPath{repo.DirLabel(st.Dir.Path).JSON(), f.Reason})
	}
	r.queue.done(st)
	r.tell(Progress{Path: st.Dir.Path, Err: a.err, Done: r.queue.finished, Total: r.queue.total, Spent: r.spent})
	return nil
}

// ErrHopeless is in the chain of a failure after which trying other directories makes
// no sense: the key is not accepted, or there is no such model.
var ErrHopeless = errors.New("the provider fails for every directory")

// errAway is in the chain of a failure of a provider that did not answer.
var errAway = errors.New("the provider does not answer")

// errUnusable is in the chain when a provider rejected a request, or answered with something else
// than its API.
var errUnusable = errors.New("the provider cannot be used")

// maxUnusable is the number of such failures in a row after which a run stops. One failure may come
// from the content of a directory; several come from a wrong address or model.
const maxUnusable = 3

// countUnusable counts failures in a row that are errUnusable, and stops the run if they are too
// many.
func (r *run) countUnusable(err error) {
	if !errors.Is(err, errUnusable) {
		r.unusable = 0
		return
	}
	r.unusable++
	if r.unusable == maxUnusable && r.ran.Stopped == "" {
		r.ran.Stopped, r.ran.Err = oneLine(err.Error()), err
	}
}

// maxAway is for how many directories in a row a provider may be away before no more
// are begun: each has waited for a while.
const maxAway = 8

const interrupted = "interrupted"

// limits stops the run after an interrupt, or if the provider did not answer for maxAway directories
// in a row.
func (r *run) limits(ctx context.Context) {
	switch {
	case r.ran.Stopped != "":
	case ctx.Err() != nil:
		r.ran.Stopped = interrupted
	case r.away >= maxAway:
		r.ran.Stopped = fmt.Sprintf("the provider did not answer for %d directories in a row", r.away)
	}
}

// isLimit reports whether a call was not made because of a limit.
func isLimit(err error) bool {
	_, ok := errors.AsType[*limitError](err)
	return ok
}

// repeats reports whether a record has the same text, basis and recipe as an old one.
func repeats(r, old *store.DirRecord) bool {
	return old != nil && r.Text == old.Text && r.Recipe == old.Recipe && r.Partial == old.Partial && r.Basis.Digest() == old.Basis.Digest()
}
