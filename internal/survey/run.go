package survey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"ken/internal/repo"
)

// RunOptions says how far a run goes. The zero value does all that is to be done, one
// directory at a time.
type RunOptions struct {
	Jobs      int       // directories that are described at once; 1 when 0
	MaxTokens int64     // spent in and out together, at which no more are begun; no limit when 0
	MaxCost   float64   // the same in dollars
	Within    repo.Path // only this directory and those below it
	// Progress hears of every directory that is done, in order.
	Progress func(Progress)
	// Files is given what is to be said of files; nil to let that go.
	Files func(ctx context.Context, it *Item, texts map[repo.Path]string) error
}

// Progress is how far a run has come.
type Progress struct {
	Path        repo.Path
	Err         error
	Done, Total int
	Spent       Spent
}

// Ran is what a run did.
type Ran struct {
	Done    []string     `json:"done"` // in order
	Failed  []FailedPath `json:"failed"`
	Calls   int          `json:"calls"`
	Tokens  Tokens       `json:"tokens"`
	Cost    *float64     `json:"cost"`              // null when the price is not known
	Stopped string       `json:"stopped,omitempty"` // why it ended before all was done
	Left    int          `json:"left"`              // what is still to be done
	Remarks []string     `json:"remarks,omitempty"` // what else went wrong
}

// A FailedPath is a directory that could not be described.
type FailedPath struct {
	repo.PathJSON
	Reason string `json:"reason"`
}

// Tokens are what went in and came out.
type Tokens struct {
	In  int64 `json:"in"`
	Out int64 `json:"out"`
}

// wanted reports whether a directory is to be worked on by a writer: whatever does
// not hold, and for one with a mind also what was merely outlined.
func wanted(s *Standing, w Writer) bool {
	return s.Verdict.Open() || s.Verdict == Fresh && s.Record.Outlined() && w.Recipe() != s.Record.Recipe && !outlines(w)
}

// inVain reports whether a writer would be given just what the text was written from:
// what is below could not be described, or not be read, and so nothing new can be said.
func (j *judgement) inVain(s *Standing, w Writer) bool {
	return (s.Verdict == StaleBelow || s.Verdict == Incomplete) && !s.Record.Partial &&
		(outlines(w) || !s.Record.Outlined()) && s.Record.Basis.Digest() == j.basis(s).Digest()
}

func outlines(w Writer) bool { return (&Record{Recipe: w.Recipe()}).Outlined() }

// Run describes what is to be described, every directory after all below it. One
// that fails is noted, and the rest goes on. When the context is done or a limit is
// reached, no more are begun, and what was paid for is kept.
//
// A mind plans before, and writes an overview afterwards. Neither is needed: if it
// fails at one of them, that is noted too.
func (s *Survey) Run(ctx context.Context, w Writer, opts RunOptions) (*Ran, error) {
	ran := &Ran{Done: []string{}, Failed: []FailedPath{}}
	var spent Spent
	mind, thinks := w.(Mind)
	if thinks {
		plan, cost, err := s.Recon(ctx, mind)
		spent = cost
		switch {
		case errors.Is(err, ErrHopeless) || ctx.Err() != nil:
			return ran, err
		case err != nil:
			ran.Remarks = append(ran.Remarks, oneLine(err.Error()))
		case plan != nil:
			mind.Know(plan.About)
			ranks := plan.Ranking()
			maps.Copy(ranks, s.opts.Ranks) // what people say goes before
			s = New(s.tree, s.store, Options{Exclude: s.opts.Exclude, Ranks: ranks, Counts: s.opts.Counts, Now: s.opts.Now})
		}
	}
	j, err := s.judge(ctx)
	if err != nil {
		return ran, err
	}
	if opts.Within != "" {
		if _, err := j.find(opts.Within); err != nil {
			return ran, err
		}
	}
	r := &run{judgement: j, writer: w, how: opts, ran: ran, spent: spent}
	r.queue = newQueue(j, func(st *Standing) bool {
		return st.Dir.Path.Under(opts.Within) && wanted(st, w)
	})
	err = r.work(ctx)
	if err == nil && thinks && ran.Stopped == "" && opts.Within == "" {
		cost, err := s.Synthesise(ctx, mind)
		r.spent = r.spent.Add(cost)
		if err != nil {
			ran.Remarks = append(ran.Remarks, oneLine(err.Error()))
		}
	}
	r.sum()
	return ran, err
}

// A run is one going through the queue. The judgement is the scheduler's own; the
// workers see items alone.
type run struct {
	*judgement
	writer Writer
	how    RunOptions
	queue  *queue
	ran    *Ran
	spent  Spent
	batch  int // how many records are kept at once
	unkept []*Record
}

// outlineBatch is how many outlines are kept at once: they cost nothing to make again.
const outlineBatch = 512

type answer struct {
	standing *Standing
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
			items <- answer{standing: st}
		}
		if busy == 0 {
			break
		}
		a := <-answers
		busy--
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
		return fmt.Errorf("keep what was written: %w", err)
	}
	r.unkept = nil
	return nil
}

// take returns the next directory that is ready and still to be described: those
// below it may have turned out as they were.
func (r *run) take(ctx context.Context) (*Standing, error) {
	for {
		st := r.queue.next()
		if st == nil {
			return nil, nil
		}
		if len(st.children) > 0 {
			if err := r.judgeLevel(ctx, []*Directory{st.Dir}); err != nil {
				return nil, err
			}
			*st = *r.at[st.Dir]
			r.at[st.Dir] = st
		}
		if wanted(st, r.writer) && !r.inVain(st, r.writer) {
			return st, nil
		}
		r.queue.done(st)
	}
}

// finish keeps an answer.
func (r *run) finish(ctx context.Context, a answer) error {
	r.spent = r.spent.Add(a.draft.Spent)
	st := a.standing
	var rec *Record
	if a.err == nil {
		rec, a.err = r.record(a.item, a.draft, r.writer.Author(), r.writer.Recipe())
	}
	// What is to be kept is kept though the run be stopped.
	keep := context.WithoutCancel(ctx)
	switch {
	case a.err == nil:
		if r.unkept = append(r.unkept, rec); len(r.unkept) >= r.batch {
			if err := r.flush(keep); err != nil {
				return err
			}
		}
		st.Record, st.Reasons, st.K = rec, nil, 0
		st.finish()
		r.ran.Done = append(r.ran.Done, Label(st.Dir.Path).JSON().Path)
		if r.how.Files != nil && len(a.draft.Files) > 0 {
			if err := r.how.Files(keep, a.item, a.draft.Files); err != nil {
				return err
			}
		}
	case ctx.Err() != nil:
		return nil // it was stopped, and did not fail
	default:
		f := Failure{Path: st.Dir.Path, Reason: oneLine(a.err.Error()), At: r.opts.Now().UTC().Truncate(time.Microsecond)}
		if a.item != nil {
			f.Basis = a.item.Basis.Digest()
		}
		if err := r.store.KeepFailure(keep, f); err != nil {
			return err
		}
		st.Verdict, st.Reasons = Failed, []string{f.Reason}
		r.ran.Failed = append(r.ran.Failed, FailedPath{Label(st.Dir.Path).JSON(), f.Reason})
		if errors.Is(a.err, ErrHopeless) {
			r.ran.Stopped = f.Reason
		}
	}
	r.queue.done(st)
	if r.how.Progress != nil {
		r.how.Progress(Progress{st.Dir.Path, a.err, r.queue.finished, r.queue.total, r.spent})
	}
	return nil
}

// ErrHopeless is in the chain of a failure after which trying other directories makes
// no sense: there is no key, or nobody answers.
var ErrHopeless = errors.New("no other directory would fare better")

// limits stops the run when enough has been spent.
func (r *run) limits(ctx context.Context) {
	switch {
	case r.ran.Stopped != "":
	case ctx.Err() != nil:
		r.ran.Stopped = "interrupted"
	case r.how.MaxTokens > 0 && r.spent.In+r.spent.Out >= r.how.MaxTokens:
		r.ran.Stopped = fmt.Sprintf("%d tokens were the most", r.how.MaxTokens)
	case r.how.MaxCost > 0 && r.spent.Cost >= r.how.MaxCost:
		r.ran.Stopped = fmt.Sprintf("$%.2f was the most", r.how.MaxCost)
	}
}
