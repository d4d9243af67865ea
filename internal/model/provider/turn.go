package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ken/internal/fault"
	"ken/internal/model"
)

// errTotal ends a turn that exceeds its time limit.
var errTotal = errors.New("the turn took too long")

// Turn implements [model.Model].
func (m *Model) Turn(ctx context.Context, req model.Request, l model.Listener) (model.Reply, error) {
	or(&req.MaxTokens, model.DefaultMaxTokens)
	if l.Text == nil {
		l.Text = func(string) {}
	}
	limited, cancel := context.WithTimeoutCause(ctx, m.opts.Total, errTotal)
	defer cancel()

	var usage model.Usage
	var cost model.Cost
	sent := false // true if any attempt was sent
	for attempt := 1; ; attempt++ {
		a, t := m.asker.ask(limited, req, l.Text)
		if a.reached {
			a.Usage.Requests = 1
		}
		attemptCost := m.price.Cost(a.Usage)
		usage, cost = usage.Add(a.Usage), cost.Add(attemptCost)
		if t == nil {
			a.Usage, a.Cost = usage, cost
			return a.Reply, nil
		}
		unsent := t.unsent
		sent = sent || !unsent
		t.unsent = !sent
		spent := model.Reply{Usage: usage, Cost: cost}
		if limited.Err() != nil {
			return spent, m.ended(ctx, attempt)
		}
		wait, again := m.wait(limited, t, attempt)
		if !again {
			return spent, m.failed(t, attempt)
		}
		if l.Retry != nil {
			failure := &model.Failure{Reason: t.reason, Unsent: unsent, Err: errors.New(m.hide.clean(t.text))}
			if err := l.Retry(model.Retry{Attempt: attempt, Reason: t.reason, Err: failure, Wait: wait, Usage: a.Usage, Cost: attemptCost}); err != nil {
				return spent, err
			}
		}
		if err := m.opts.Sleep(limited, wait); err != nil {
			return spent, m.ended(ctx, attempt)
		}
	}
}

// wait returns the wait before the next attempt, and whether to make one: the failure may pass, attempts are left,
// and the wait is within the limits.
//
// If the server asks for no wait, it doubles from one second on. It is partly random, so that clients that were
// rejected together do not retry together.
func (m *Model) wait(ctx context.Context, t *failure, attempt int) (time.Duration, bool) {
	if !t.passes || attempt >= m.opts.Attempts {
		return 0, false
	}
	wait := time.Second << min(attempt-1, 5)
	wait = wait/2 + time.Duration(float64(wait/2)*m.opts.Rand())
	if t.after > 0 {
		if t.after > m.opts.MaxWait {
			return 0, false
		}
		wait = t.after + time.Duration(float64(time.Second)*m.opts.Rand())
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
		return 0, false
	}
	return wait, true
}

// ended returns the error for a turn that the context of the caller, or the time limit, has ended.
func (m *Model) ended(ctx context.Context, attempts int) error {
	if err := ctx.Err(); err != nil {
		kind := fault.Failed
		if errors.Is(err, context.Canceled) {
			kind = fault.Interrupted
		}
		return &fault.Error{Kind: kind, Hint: "continue with: ken survey run", Err: &model.Failure{
			Reason: model.Cancelled, Err: fmt.Errorf("ask %s: %w", m.name, err),
		}}
	}
	return m.failed(&failure{reason: model.Down, text: fmt.Sprintf("no answer within %s", m.opts.Total)}, attempts)
}
