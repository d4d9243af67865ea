package surveyrun_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/model"
	"ken/internal/survey/describe"
	"ken/internal/surveyrun"
)

// A free slot goes to the waiting party with the fewest slots, among equals to the one that was
// served least recently. No more callers are in than there are slots, and no slot is free
// while a caller waits.
func TestFairLimiterServesPartyWithFewestSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 4).Draw(t, "slots")
		f := surveyrun.NewFairLimiter(slots)
		type waiter struct {
			party string
			in    chan func()
			stop  context.CancelFunc
		}
		var waiting []waiter
		inside := make(map[string][]func())
		served, turn := make(map[string]int), 0
		total := func() (n int) {
			for _, list := range inside {
				n += len(list)
			}
			return n
		}
		// awaitEntries waits until n callers have entered, and checks that each was the next in turn.
		awaitEntries := func(n int) {
			for range n {
				before := func(a, b string) bool {
					return len(inside[a]) < len(inside[b]) || len(inside[a]) == len(inside[b]) && served[a] < served[b]
				}
				next := waiting[0].party
				for _, w := range waiting {
					if before(w.party, next) {
						next = w.party
					}
				}
				i := -1
				for deadline := time.Now().Add(2 * time.Minute); i < 0; {
					for k, w := range waiting {
						select {
						case leave := <-w.in:
							if i = k; before(next, w.party) {
								t.Fatalf("party %s with %d slots was served; party %s with %d slots should be next", w.party, len(inside[w.party]), next, len(inside[next]))
							}
							turn++
							served[w.party] = turn
							inside[w.party] = append(inside[w.party], leave)
						default:
							continue
						}
						break
					}
					runtime.Gosched()
					if i < 0 && time.Now().After(deadline) {
						t.Fatalf("%d of %d slots are taken while %d callers wait; all slots should be taken", total(), slots, len(waiting))
					}
				}
				waiting = append(waiting[:i], waiting[i+1:]...)
			}
			if total() > slots {
				t.Fatalf("%d callers are in, want at most %d", total(), slots)
			}
		}
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			switch {
			case total() > 0 && rapid.Bool().Draw(t, "leave"):
				var parties []string
				for _, p := range []string{"a", "b", "c"} {
					if len(inside[p]) > 0 {
						parties = append(parties, p)
					}
				}
				p := rapid.SampledFrom(parties).Draw(t, "who leaves")
				leave := inside[p][0]
				inside[p] = inside[p][1:]
				leave()
				awaitEntries(min(1, len(waiting)))
			case len(waiting) > 0 && rapid.IntRange(0, 3).Draw(t, "give up") == 0:
				i := rapid.IntRange(0, len(waiting)-1).Draw(t, "who gives up")
				waiting[i].stop()
				if leave := <-waiting[i].in; leave != nil {
					t.Fatal("Enter returned a slot to a caller that gave up; it should return an error")
				}
				waiting = append(waiting[:i], waiting[i+1:]...)
			default:
				ctx, stop := context.WithCancel(t.Context())
				w := waiter{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who comes"), make(chan func(), 1), stop}
				go func() {
					leave, err := f.Enter(ctx, w.party)
					if err != nil {
						leave = nil
					}
					w.in <- leave
				}()
				full := total() == slots
				waiting = append(waiting, w)
				if !full {
					awaitEntries(1)
				} else {
					for f.Waiting() < len(waiting) { // until Enter waits
						runtime.Gosched()
					}
				}
			}
		}
		for _, w := range waiting {
			w.stop()
			<-w.in
		}
	})
}

// A failed attempt is retried with growing delays and a limit. A fatal error stops the
// worker, a refusal is final, and an attempt that reached a ceiling does not count.
func TestActionAfter(t *testing.T) {
	t.Parallel()
	failed := func(r model.Reason) error { return &model.Failure{Reason: r, Err: errors.New("failed")} }
	away := failed(model.Overloaded)
	odd := errors.New("gibberish")
	for _, c := range []struct {
		err      error
		attempts int
		action   surveyrun.FailureAction
		delay    time.Duration
	}{
		{odd, 1, surveyrun.ActionRetry, 2 * time.Second},
		{odd, 4, surveyrun.ActionRetry, 16 * time.Second},
		{odd, 5, surveyrun.ActionGiveUp, 0},
		{away, 5, surveyrun.ActionRetry, 32 * time.Second},
		{away, 39, surveyrun.ActionRetry, 2 * time.Minute},
		{away, 40, surveyrun.ActionGiveUp, 0},
		{failed(model.Down), 5, surveyrun.ActionRetry, 32 * time.Second},
		{failed(model.RateLimited), 5, surveyrun.ActionRetry, 32 * time.Second},
		{fmt.Errorf("no: %w", describe.ErrRefused), 1, surveyrun.ActionRefuse, 0},
		{failed(model.TooLong), 1, surveyrun.ActionRefuse, 0},
		{fmt.Errorf("bad key: %w", describe.ErrFatal), 1, surveyrun.ActionStop, 0},
		{fmt.Errorf("no more: %w", surveyrun.ErrCeiling), 9, surveyrun.ActionReturn, 0},
	} {
		if action, delay := surveyrun.ActionAfter(c.err, c.attempts); action != c.action || delay != c.delay {
			t.Errorf("%v after %d attempts: action %d after %v, want %d after %v", c.err, c.attempts, action, delay, c.action, c.delay)
		}
	}
}

// No answer to a request costs more than MaxAmount: a token has at least one byte, and the
// reply has at most the tokens that were asked for.
func TestMaxAmountIsAnUpperBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := model.Price{
			Input: rapid.Float64Range(0.01, 50).Draw(t, "input"), Output: rapid.Float64Range(0.01, 100).Draw(t, "output"),
			Cached: rapid.Float64Range(0, 0.01).Draw(t, "cached"), Written: rapid.Float64Range(0, 80).Draw(t, "written"),
		}
		req := model.Request{System: rapid.String().Draw(t, "system"), MaxTokens: rapid.IntRange(1, 5000).Draw(t, "max")}
		bytes := int64(len(req.System))
		words := func(what string) string {
			s := strings.Repeat(rapid.String().Draw(t, what), rapid.SampledFrom([]int{1, 5000}).Draw(t, "times"))
			bytes += int64(len(s))
			return s
		}
		for range rapid.IntRange(0, 2).Draw(t, "tools") {
			req.Tools = append(req.Tools, model.Tool{Name: words("tool"), Description: words("what it does"), Schema: json.RawMessage(words("schema"))})
		}
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			m := model.Ask(words("text"))
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				m.Calls = append(m.Calls, model.Call{ID: words("call"), Name: words("of"), Args: json.RawMessage(words("arguments"))})
			}
			for range rapid.IntRange(0, 2).Draw(t, "results") {
				m.Results = append(m.Results, model.Result{ID: words("for"), Text: words("result")})
			}
			req.Messages = append(req.Messages, m)
		}
		u := model.Usage{Input: rapid.Int64Range(0, bytes).Draw(t, "in"), Output: rapid.Int64Range(0, int64(req.MaxTokens)).Draw(t, "out")}
		u.Written = rapid.Int64Range(0, u.Input).Draw(t, "put into the cache")
		most, cost := surveyrun.MaxAmount(req, price), price.Cost(u)
		if most.Unpriced || u.Tokens() > most.Tokens || surveyrun.Dollars(cost.USD) > most.Cost {
			t.Errorf("%+v costs %v, want at most %v", u, cost, most)
		}
	})
	if most := surveyrun.MaxAmount(model.Request{}, model.Price{}); !most.Unpriced {
		t.Errorf("an unknown price gives %v, want an unpriced amount", most)
	}
}

// An amount with an unknown price is within no ceiling of money.
func TestCeiling(t *testing.T) {
	t.Parallel()
	tokens, cost := int64(100), surveyrun.Dollars(1)
	for _, c := range []struct {
		surveyrun.Ceiling
		surveyrun.Amount
		allowed bool
	}{
		{surveyrun.Ceiling{}, surveyrun.Amount{Tokens: 1 << 40, Unpriced: true}, true},
		{surveyrun.Ceiling{Tokens: &tokens}, surveyrun.Amount{Tokens: 100, Unpriced: true}, true},
		{surveyrun.Ceiling{Tokens: &tokens}, surveyrun.Amount{Tokens: 101}, false},
		{surveyrun.Ceiling{Cost: &cost}, surveyrun.Amount{Tokens: 101, Cost: cost}, true},
		{surveyrun.Ceiling{Cost: &cost}, surveyrun.Amount{Cost: cost + 1}, false},
		{surveyrun.Ceiling{Cost: &cost}, surveyrun.Amount{Tokens: 1, Unpriced: true}, false},
		{surveyrun.Ceiling{Tokens: &tokens, Cost: &cost}, surveyrun.Amount{Tokens: 1, Cost: cost + 1}, false},
	} {
		if c.Allows(c.Amount) != c.allowed {
			t.Errorf("%v within %v: %t, want %t", c.Amount, c.Ceiling, !c.allowed, c.allowed)
		}
	}
}

// An amount with an unknown price says so.
func TestAmount(t *testing.T) {
	t.Parallel()
	for a, want := range map[surveyrun.Amount]string{
		{Tokens: 7, Cost: surveyrun.Dollars(0.25)}:                 "7 tokens, $0.2500",
		{Tokens: 7, Unpriced: true}:                                "7 tokens (price unknown)",
		{Tokens: 7, Cost: surveyrun.Dollars(0.25), Unpriced: true}: "7 tokens, at least $0.2500",
	} {
		if a.String() != want {
			t.Errorf("the text of the amount is %s; want %s", a, want)
		}
	}
}

// budget allows calls until it has nothing left.
type budget struct{ left, spent int64 }

func (b *budget) Reserve(_ context.Context, most, before surveyrun.Amount) error {
	b.spent += before.Tokens
	if most.Tokens > b.left-b.spent {
		return surveyrun.ErrCeiling
	}
	return nil
}

// A fakeModel answers every request and reports its cost.
type fakeModel struct {
	model.Model

	asked int
}

func (*fakeModel) Price() model.Price { return model.Price{Free: true} }

func (m *fakeModel) Turn(context.Context, model.Request, model.Listener) (model.Reply, error) {
	m.asked++
	return model.Reply{Usage: model.Usage{Input: 900, Output: 100}}, nil
}

// A metered model makes no call without a reservation, and reports the cost of every call.
func TestMeteredModel(t *testing.T) {
	t.Parallel()
	m, l := &fakeModel{}, &budget{left: 10_000}
	p := surveyrun.NewMeteredModel(m, l)
	var err error
	for err == nil {
		_, err = p.Turn(t.Context(), model.Request{MaxTokens: 100}, model.Listener{})
	}
	if !errors.Is(err, surveyrun.ErrCeiling) || m.asked != p.Calls() || l.spent != int64(1000*m.asked) || l.spent > l.left {
		t.Errorf("Turn returned %v after %d calls with %d tokens spent; want ErrCeiling within the budget", err, m.asked, l.spent)
	}
}

// A failingModel is a model whose calls fail.
type failingModel struct {
	fakeModel

	usage model.Usage
	err   error
}

func (m *failingModel) Turn(context.Context, model.Request, model.Listener) (model.Reply, error) {
	return model.Reply{Usage: m.usage}, m.err
}

// A failed call counts as the most that it can have cost, unless the provider reported its
// usage, rejected the call or did not receive it.
func TestFailedCallsCount(t *testing.T) {
	t.Parallel()
	req := model.Request{MaxTokens: 100}
	most := surveyrun.MaxAmount(req, model.Price{}).Tokens
	failed := func(r model.Reason) error { return &model.Failure{Reason: r, Err: errors.New("failed")} }
	for _, c := range []struct {
		usage model.Usage
		err   error
		want  int64
	}{
		{model.Usage{}, failed(model.Down), most},
		{model.Usage{}, failed(model.Cancelled), most},
		{model.Usage{}, context.Canceled, most},
		{model.Usage{Input: 5, Output: 5, Estimated: true}, failed(model.Down), most},
		{model.Usage{Input: 5, Estimated: true}, failed(model.Overloaded), most}, // after it began
		{model.Usage{Input: 50, Output: 5}, failed(model.BadAnswer), 55},
		{model.Usage{}, failed(model.Overloaded), 0},
		{model.Usage{}, failed(model.RateLimited), 0},
		{model.Usage{}, failed(model.Unauthorized), 0},
		{model.Usage{}, &model.Failure{Reason: model.Down, Unsent: true, Err: errors.New("no route")}, 0},
		{model.Usage{Input: 50, Output: 5}, nil, 55},
	} {
		p := surveyrun.NewMeteredModel(&failingModel{usage: c.usage, err: c.err}, &budget{left: 1 << 20})
		if _, err := p.Turn(t.Context(), req, model.Listener{}); !errors.Is(err, c.err) || p.LastCost().Tokens != c.want {
			t.Errorf("%+v, %v: %d tokens, want %d", c.usage, c.err, p.LastCost().Tokens, c.want)
		}
	}
}

// Money is exact, and its JSON is in dollars.
func TestMoney(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := surveyrun.Money(rapid.Int64Range(0, 1e15).Draw(t, "money"))
		b, err := json.Marshal(m)
		var back surveyrun.Money
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || back != m {
			t.Errorf("%d came back as %d from %s: %v", m, back, b, err)
		}
	})
}

// A run is running while it has work, and done only if every directory has a summary or was refused.
func TestRunState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state surveyrun.RunState
		surveyrun.Counts
	}{
		{surveyrun.Running, surveyrun.Counts{Taken: 1, Dead: 1}}, {surveyrun.Incomplete, surveyrun.Counts{Waiting: 1, Dead: 1}}, {surveyrun.Done, surveyrun.Counts{Done: 3, Failed: 1}},
	} {
		if got := c.State(); got != c.state {
			t.Errorf("%+v: state %s, want %s", c.Counts, got, c.state)
		}
	}
}
