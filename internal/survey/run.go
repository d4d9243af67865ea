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
	"ken/internal/survey/describe"
	"ken/internal/survey/excerpt"
	"ken/internal/workspace"
)

// RunOptions limits a run. The zero value describes all directories that need it, one at a time.
type RunOptions struct {
	Jobs int // directories that are described at once; 1 when 0
	// MaxTokens limits the tokens of all calls, in and out together, and MaxCost the same in
	// dollars. Nil is no limit, and 0 allows no call.
	MaxTokens *int64
	MaxCost   *float64
	Within    repo.Path // only this directory and those below it
	// Refresh is for a run that the user did not start. It leaves out directories that a model failed
	// to describe, because a record would clear the failure. Where models or agents wrote summaries,
	// it only replaces outlines.
	Refresh bool
	// Dispatcher leases each directory before a model describes it, as agents do. The run skips directories
	// that others have leased. Nil takes no leases. Outlines cost nothing and need no lease.
	Dispatcher *Dispatcher
	// CurrentTree returns the tree at the end of the run, since files may have changed meanwhile. If nil, the run does
	// not check for changes.
	CurrentTree func() workspace.Tree
	// Progress is called for every directory that is done, in order, and once per Heartbeat while the run goes on.
	Progress  func(Progress)
	Heartbeat time.Duration // 5 seconds when 0
	// OnWait is called when ken waits before it asks the model again, such as for a rate limit.
	// Several goroutines call it.
	OnWait func(model.Retry)
	// Ticks makes tickers. Without it, the run calls no Progress per Heartbeat and waits for no other run.
	Ticks TickerFunc
	// StoreFileSummaries stores the summaries of files; if nil, they are dropped.
	StoreFileSummaries func(ctx context.Context, author string, it *describe.Item, texts map[repo.Path]string) error
}

// Progress is the state of a run.
type Progress struct {
	Path        repo.Path // the directory that is done; "" in a heartbeat
	Err         error
	Done, Total int
	UnderWay    int // number of directories that are being described; set in heartbeats
	Spent       describe.Spent
}

// A RunResult is the result of a run.
type RunResult struct {
	Done    []string     `json:"done"` // in order
	Failed  []FailedPath `json:"failed"`
	Calls   int          `json:"calls"`
	Tokens  Tokens       `json:"tokens"`
	Cost    *float64     `json:"cost"`              // in dollars; null when the price is not known
	Stopped string       `json:"stopped,omitempty"` // why it ended early
	Left    int          `json:"left"`              // directories that still need a summary
	Leased  []LeasedPath `json:"leased,omitempty"`  // of Left: leased by others
	Remarks []string     `json:"remarks,omitempty"` // other problems

	// Err is the reason why no model could be asked; nil if one could.
	Err error `json:"-"`
}

// A FailedPath is a directory that could not be described.
type FailedPath struct {
	repo.PathJSON
	Reason string `json:"reason"`
}

// A LeasedPath is a directory that an agent or a run has leased.
type LeasedPath struct {
	repo.PathJSON
	By    string    `json:"by,omitempty"` // name of the agent or model
	Until time.Time `json:"until"`        // end of the lease

	agent bool // an agent has it, not a run
}

// leasedPath returns the directory of a lease.
func leasedPath(l store.Lease) LeasedPath {
	return LeasedPath{repo.DirLabel(l.Path).JSON(), l.Holder, l.Expires, l.Recipe == LeaseRecipe}
}

// Tokens counts the tokens of requests (In) and of replies (Out).
type Tokens struct {
	In  int64 `json:"in"`
	Out int64 `json:"out"`
}

// Run describes all directories that need it, subdirectories first. It records
// a failure and continues. When the context ends or a limit is reached, it
// starts no more directories, and stores every finished text.
func (s *Survey) Run(ctx context.Context, w describe.Writer, opts RunOptions) (*RunResult, error) {
	r := &run{
		writer:         w,
		runOpts:        opts,
		leases:         make(map[repo.Path]store.Lease),
		sameText:       make(map[string][]*store.DirRecord),
		waitingForSame: make(map[fresh.Digest][]*DirStatus),
		gaveUp:         make(map[repo.Path]bool),
		partial:        make(map[fresh.Digest]partialAnswer),
		result:         &RunResult{Done: []string{}, Failed: []FailedPath{}},
	}
	defer r.setTotals()
	defer r.startHeartbeat(ctx)()
	inputs := ""
	if r.makesOutlines() {
		var err error
		inputs, err = s.cacheInputs(ctx)
		if err != nil {
			return r.result, err
		}
		if opts.Within == "" && s.loadAnswer(outlinesQuestion(w), inputs, new(bool)) {
			return r.result, nil
		}
	}
	ts, err := s.judgeStored(ctx)
	if err != nil {
		return r.result, err
	}
	if r.makesOutlines() && ts.certain() && len(ts.needing(w.Recipe(), "")) == 0 {
		s.saveAnswer(ctx, outlinesQuestion(w), inputs, true)
	}
	if err := ts.checkWithin(opts.Within); err != nil {
		return r.result, err
	}
	if modelWriter, isModel := w.(*describe.ModelWriter); isModel {
		if opts.MaxCost != nil && !modelWriter.Price().Known() {
			return r.result, &fault.Error{
				Kind: fault.Usage, Hint: "set survey.prices in .ken/config.yaml, or use --max-tokens",
				Err: fmt.Errorf("no price known for %s: --max-cost cannot be enforced", modelWriter.Author()),
			}
		}
		modelWriter.Tree = s.tree
		modelWriter.Budget = describe.NewBudget(opts.MaxTokens, opts.MaxCost)
		modelWriter.OnWait = opts.OnWait
	}
	if err := r.rounds(ctx, ts); err != nil {
		return r.result, err
	}
	r.remarkSameText()
	r.remarkPartial()
	r.noteError(ctx, r.recount(ctx))
	return r.result, nil
}

// outlinesQuestion is the cache key for: are all outlines current?
func outlinesQuestion(w describe.Writer) string { return "outlined by " + w.Recipe() }

// wants reports whether the run should describe a directory.
func (r *run) wants(s *DirStatus) bool {
	if r.runOpts.Refresh && (s.Verdict.Reason == fresh.Failed || s.Record == nil && !r.outlinesOnly) {
		return false
	}
	return s.Dir.Path.Under(r.runOpts.Within) && !r.gaveUp[s.Dir.Path] && !r.triedPartial(s) && wanted(s, r.writer.Recipe())
}

// noteError records an error that is not about a directory.
func (r *run) noteError(ctx context.Context, err error) {
	switch {
	case err == nil:
	case ctx.Err() != nil:
		r.result.Stopped = interrupted
	case errors.Is(err, describe.ErrFatal):
		r.result.Stopped, r.result.Err = excerpt.OneLine(err.Error()), err
	case isLimit(err):
		r.result.Stopped = err.Error()
	default:
		r.result.Remarks = append(r.result.Remarks, excerpt.OneLine(err.Error()))
	}
}

// A run is one pass of a writer over the directories of a tree. Only the scheduler goroutine uses the tree status;
// workers get items.
type run struct {
	*treeStatus
	writer  describe.Writer
	runOpts RunOptions
	queue   *queue
	result  *RunResult
	spent   describe.Spent
	batch   int // number of records that flush stores at once
	// noAnswer counts directories in a row for which the provider did not answer.
	noAnswer int
	// unusable counts requests in a row that the provider rejected, or answered with something
	// else than its API.
	unusable int
	sameText map[string][]*store.DirRecord // summaries that models wrote, by text
	gaveUp   map[repo.Path]bool            // directories at which this run failed
	// partial are the directories that this run's model could not finish, by their basis.
	partial map[fresh.Digest]partialAnswer
	// waitingForSame are directories, by basis, that wait because a model or an agent is describing
	// another one with the same basis. They will share its text.
	waitingForSame map[fresh.Digest][]*DirStatus
	unstored       []*store.DirRecord

	mu     sync.Mutex // guards last and leases, which the heartbeat uses too
	last   Progress
	leases map[repo.Path]store.Lease // leases of this run, by directory
}

// makesOutlines reports whether the writer of the run makes outlines.
func (r *run) makesOutlines() bool { return makesOutlines(r.writer.Recipe()) }

// outlineBatch is the number of outlines that a run stores at once. An outline that is lost costs nothing to make again.
const outlineBatch = 512

// An answer is the result of describing one directory.
type answer struct {
	status *DirStatus
	item   *describe.Item
	draft  describe.Draft
	err    error
}

// describeAll describes the directories of the queue with several workers.
func (r *run) describeAll(ctx context.Context) error {
	jobs := max(1, r.runOpts.Jobs)
	items, answers := make(chan answer), make(chan answer)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for a := range items {
				a.item, a.err = r.item(ctx, a.status)
				if a.err == nil {
					a.draft, a.err = r.writer.Write(ctx, a.item)
				}
				if a.err == nil && !r.makesOutlines() { // a model may have read the files later than the item
					a.err = a.item.CheckUnchanged(context.WithoutCancel(ctx), r.tree)
				}
				answers <- a
			}
		})
	}
	defer workers.Wait()
	defer close(items)

	r.batch = 1
	if r.makesOutlines() {
		r.batch = outlineBatch
	}
	var fatal error
	busy := 0
	r.checkLimits(ctx)
	for {
		for busy < jobs && fatal == nil && r.result.Stopped == "" {
			st, err := r.next(ctx)
			if err != nil {
				fatal = err
			}
			if st == nil {
				break
			}
			busy++
			r.setUnderWay(busy)
			items <- answer{status: st}
		}
		if busy == 0 {
			if fatal == nil && r.waitForRuns(ctx) {
				r.checkLimits(ctx)
				continue
			}
			break
		}
		a := <-answers
		busy--
		r.setUnderWay(busy)
		if err := r.finish(ctx, a); err != nil && fatal == nil {
			fatal = err
		}
		r.checkLimits(ctx)
	}
	if err := r.flush(context.WithoutCancel(ctx)); err != nil && fatal == nil {
		fatal = err
	}
	r.result.Left = r.queue.left()
	return fatal
}

// maxSameText is the number of directories that may get the same text without a remark.
const maxSameText = 2

// remarkSameText adds a remark about different directories with the same text. It may be a refusal or gibberish.
func (r *run) remarkSameText() {
	for _, text := range slices.Sorted(maps.Keys(r.sameText)) {
		var names []string
		bases := make(map[fresh.Digest]bool)
		for _, rec := range r.sameText[text] {
			if b := rec.Basis.Digest(); !bases[b] {
				bases[b], names = true, append(names, repo.DirLabel(rec.Path).String())
			}
		}
		if len(names) <= maxSameText {
			continue
		}
		r.result.Remarks = append(r.result.Remarks, fmt.Sprintf("%d directories got the same summary, among them %s and %s: %q; check it with: ken survey show %s",
			len(names), names[0], names[1], excerpt.Cut(excerpt.OneLine(text), 80), fault.Quote(names[0])))
	}
}

// setTotals sets the calls, tokens and cost of the result.
func (r *run) setTotals() {
	usage := r.spent.Usage
	r.result.Calls, r.result.Tokens = usage.Requests, Tokens{usage.Input, usage.Output}
	if r.spent.Cost.Known() {
		r.result.Cost = &r.spent.Cost.USD
	}
}

// flush stores the records that are not stored yet.
func (r *run) flush(ctx context.Context) error {
	if len(r.unstored) == 0 {
		return nil
	}
	if err := r.store.SaveDirRecords(ctx, r.unstored); err != nil {
		return fmt.Errorf("store the summary: %w", err)
	}
	r.unstored = nil
	return nil
}

// next returns the next directory that is ready and still needs a summary. It judges a directory again first, because
// the directories below it may have got the same texts as before.
func (r *run) next(ctx context.Context) (*DirStatus, error) {
	held, err := r.otherLeases(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { r.result.Leased = r.queue.putBack() }()
	for {
		st := r.queue.next()
		if st == nil {
			return nil, nil
		}
		basis := r.sharedBasis(st)
		if l, ok := held.lookup(st.Dir.Path, basis); ok {
			r.queue.putAside(st, l)
			continue
		}
		if waiting, ok := r.waitingForSame[basis]; ok {
			r.waitingForSame[basis] = append(waiting, st)
			continue
		}
		if len(st.children) > 0 || !r.makesOutlines() {
			if err := r.judgeLevel(ctx, []*Directory{st.Dir}); err != nil {
				return nil, err
			}
			*st = *r.status[st.Dir]
			r.status[st.Dir] = st
		}
		if !wanted(st, r.writer.Recipe()) || r.triedPartial(st) || r.sameInputAsBefore(st, r.writer.Recipe()) {
			r.queue.done(st)
			continue
		}
		switch other, ok, err := r.lease(ctx, st); {
		case err != nil:
			return nil, err
		case ok:
			if !basis.IsZero() {
				r.waitingForSame[basis] = nil
			}
			return st, nil
		case wanted(st, r.writer.Recipe()) && !r.sameInputAsBefore(st, r.writer.Recipe()):
			r.queue.putAside(st, other)
		default:
			r.queue.done(st)
		}
	}
}

// finish stores an answer, or records the failure.
func (r *run) finish(ctx context.Context, a answer) error {
	r.spent = r.spent.Add(a.draft.Spent)
	st := a.status
	defer r.resumeWaiting(r.sharedBasis(st))
	var rec *store.DirRecord
	if a.err == nil {
		rec, a.err = r.record(a.item, a.draft, r.writer.Author(), r.writer.Recipe())
	}
	if a.err != nil {
		rec = nil
	}
	// Store the answer even if the run was stopped.
	keep := context.WithoutCancel(ctx)
	stored, err := r.endLease(keep, st, rec)
	if err != nil {
		return err
	}
	switch {
	case a.err == nil && r.makesOutlines() && rec.Partial && repeats(rec, st.Record):
		// The retry gave the same partial outline.
	case a.err == nil:
		err = r.keepAnswer(keep, a, rec, stored)
	case ctx.Err() != nil:
		return nil // the run was stopped; this is no failure
	case errors.Is(a.err, describe.ErrFatal), isLimit(a.err):
		r.noteError(ctx, a.err) // this is no failure of the directory
		return nil
	case errors.Is(a.err, workspace.ErrChanged):
		// Record no failure: the next run reads the new content.
		r.noAnswer = 0
		r.giveUp(st, excerpt.OneLine(a.err.Error()))
	default:
		err = r.keepFailure(keep, a)
	}
	if err != nil {
		return err
	}
	r.queue.done(st)
	r.reportProgress(Progress{Path: st.Dir.Path, Err: a.err, Done: r.queue.finished, Total: r.queue.total, Spent: r.spent})
	return nil
}

// keepAnswer makes a record the text of its directory. It stores the record, unless the end of the lease stored it, and the
// summaries of files.
func (r *run) keepAnswer(ctx context.Context, a answer, rec *store.DirRecord, stored bool) error {
	st := a.status
	if !stored {
		r.unstored = append(r.unstored, rec)
	}
	if len(r.unstored) >= r.batch {
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	if !a.draft.Keep && !rec.IsOutline() {
		r.sameText[rec.Text] = append(r.sameText[rec.Text], rec)
	}
	if rec.Partial && !rec.IsOutline() {
		r.partial[rec.Basis.Digest()] = partialAnswer{rec.Path, st.Record != nil && sameAttempt(rec, st.Record)}
	}
	st.Record, st.Reasons, st.ChangedChildren = rec, nil, 0
	st.finish()
	r.result.Done = append(r.result.Done, repo.DirLabel(st.Dir.Path).JSON().Path)
	r.noAnswer, r.unusable = 0, 0
	if r.runOpts.StoreFileSummaries == nil || len(a.draft.Files) == 0 {
		return nil
	}
	if err := r.runOpts.StoreFileSummaries(ctx, r.writer.Author(), a.item, a.draft.Files); err != nil {
		r.result.Remarks = append(r.result.Remarks, excerpt.OneLine(fmt.Sprintf("summaries of files in %s: %v", repo.DirLabel(st.Dir.Path), err)))
	}
	return nil
}

// keepFailure stores the failure of a writer to describe a directory.
func (r *run) keepFailure(ctx context.Context, a answer) error {
	st := a.status
	if errors.Is(a.err, describe.ErrNoAnswer) {
		r.noAnswer++
	} else {
		r.noAnswer = 0
	}
	r.countUnusable(a.err)
	f := store.DirFailure{Path: st.Dir.Path, Reason: excerpt.OneLine(a.err.Error()), At: r.stamp(st.Dir.Path)}
	if a.item != nil {
		f.Basis = a.item.Basis.Digest()
	}
	if err := r.store.SaveFailure(ctx, f); err != nil {
		return err
	}
	st.Verdict, st.Reasons = fresh.Failed.Verdict(), []string{f.Reason}
	r.giveUp(st, f.Reason)
	return nil
}

// giveUp reports a directory as failed. The run does not ask about it again.
func (r *run) giveUp(st *DirStatus, reason string) {
	r.gaveUp[st.Dir.Path] = true
	r.result.Failed = append(r.result.Failed, FailedPath{repo.DirLabel(st.Dir.Path).JSON(), reason})
}

// maxUnusable is the number of rejected requests in a row after which a run stops. One failure may come from
// the content of a directory; several come from a wrong address or model.
const maxUnusable = 3

// countUnusable counts failures in a row that are describe.ErrRejected, and stops the run if they are too
// many.
func (r *run) countUnusable(err error) {
	if !errors.Is(err, describe.ErrRejected) {
		r.unusable = 0
		return
	}
	r.unusable++
	if r.unusable == maxUnusable && r.result.Stopped == "" {
		r.result.Stopped, r.result.Err = excerpt.OneLine(err.Error()), err
	}
}

// maxNoAnswer is the number of directories in a row without an answer of the provider after which a run stops. Each of
// them has waited for some time.
const maxNoAnswer = 8

const interrupted = "interrupted"

// checkLimits stops the run after an interrupt, or if the provider did not answer for maxNoAnswer directories
// in a row.
func (r *run) checkLimits(ctx context.Context) {
	switch {
	case r.result.Stopped != "":
	case ctx.Err() != nil:
		r.result.Stopped = interrupted
	case r.noAnswer >= maxNoAnswer:
		r.result.Stopped = fmt.Sprintf("the provider did not answer for %d directories in a row", r.noAnswer)
	}
}

// isLimit reports whether a call was not made because of a limit.
func isLimit(err error) bool {
	_, ok := errors.AsType[*describe.LimitError](err)
	return ok
}

// repeats reports whether a record has the same text, basis and recipe as an old one.
func repeats(r, old *store.DirRecord) bool {
	return old != nil && r.Text == old.Text && r.Recipe == old.Recipe && r.Partial == old.Partial && r.Basis.Digest() == old.Basis.Digest()
}
