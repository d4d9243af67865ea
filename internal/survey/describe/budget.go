package describe

import (
	"context"
	"fmt"
	"math"
	"sync"

	"ken/internal/model"
)

// A Budget limits the cost of the calls of a run. Every call first reserves the most that it can cost, so
// concurrent calls cannot exceed a limit together. A nil Budget has no limit.
type Budget struct {
	maxTokens, maxNanos *int64 // nil for no limit

	mu       sync.Mutex
	spent    amount
	reserved amount
	calls    int           // number of reservations
	ended    chan struct{} // closed when a reservation ends
}

// NewBudget returns the budget of a run, nil for no limit. A limit of 0 allows nothing.
func NewBudget(maxTokens *int64, maxCost *float64) *Budget {
	if maxTokens == nil && maxCost == nil {
		return nil
	}
	b := &Budget{maxTokens: maxTokens, ended: make(chan struct{})}
	if maxCost != nil {
		n := int64(math.Min(math.Floor(*maxCost*nano), math.MaxInt64/2))
		b.maxNanos = &n
	}
	return b
}

// nano is the number of parts of a dollar in an amount. Sums and differences of integers are exact.
const nano = 1e9

// An amount is the cost of calls.
type amount struct {
	tokens, nanos int64
	unpriced      bool // the price of some tokens is not known
}

func amountOf(u model.Usage, c model.Cost) amount {
	nanos := math.Min(math.Ceil(c.USD*nano), math.MaxInt64/8)
	return amount{u.Tokens(), int64(nanos), !c.Known()}
}

func (a amount) plus(b amount) amount {
	return amount{a.tokens + b.tokens, a.nanos + b.nanos, a.unpriced || b.unpriced}
}

func (a amount) minus(b amount) amount {
	return amount{a.tokens - b.tokens, a.nanos - b.nanos, a.unpriced}
}

// A LimitError says that ken did not make a call because it could have exceeded a limit.
type LimitError struct{ text string }

func (e *LimitError) Error() string { return e.text }

// reserve reserves the most that a call can cost. If the reservations of other calls leave too little, it waits
// until they end. It returns a LimitError if the call does not fit.
func (b *Budget) reserve(ctx context.Context, most amount) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if b.fits(b.spent.plus(b.reserved).plus(most)) {
			b.reserved = b.reserved.plus(most)
			b.calls++
			return nil
		}
		if b.calls == 0 || !b.fits(b.spent.plus(most)) {
			return b.exceeded(most)
		}
		ended := b.ended
		b.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-ended:
		}
		b.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// charge ends a reservation and adds the actual cost of the call.
func (b *Budget) charge(most, actual amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved = b.reserved.minus(most)
	b.calls--
	b.spent = b.spent.plus(actual)
	close(b.ended)
	b.ended = make(chan struct{})
}

// fits reports whether an amount is within the limits.
func (b *Budget) fits(a amount) bool {
	if b.maxTokens != nil && a.tokens > *b.maxTokens {
		return false
	}
	return b.maxNanos == nil || a.nanos <= *b.maxNanos && !a.unpriced
}

// exceeded returns the error for a call that could exceed a limit.
func (b *Budget) exceeded(most amount) error {
	if b.maxTokens != nil && b.spent.tokens+most.tokens > *b.maxTokens {
		return &LimitError{fmt.Sprintf("the next call could use %d tokens, and the run could exceed its limit of %d", most.tokens, *b.maxTokens)}
	}
	if most.unpriced || b.spent.unpriced {
		return &LimitError{"no price is known for a call this long, so --max-cost cannot be enforced"}
	}
	return &LimitError{fmt.Sprintf("the next call could cost $%.4f, and the run could exceed its limit of $%.2f",
		float64(most.nanos)/nano, float64(*b.maxNanos)/nano)}
}

// A budgetCall is one call with its reservation.
type budgetCall struct {
	budget   *Budget
	most     amount
	attempts model.Usage // failed attempts that were charged
	cost     model.Cost  // of the failed attempts
}

// begin reserves the cost of a call. After an error, the call must not be made.
func (b *Budget) begin(ctx context.Context, req model.Request, price model.Price) (*budgetCall, error) {
	if b == nil {
		return nil, nil
	}
	usage := req.MaxUsage()
	c := &budgetCall{budget: b, most: amountOf(usage, price.MaxCost(usage))}
	return c, b.reserve(ctx, c.most)
}

// chargeAndReserve charges a failed attempt and reserves the cost of the next one. After an error, the next attempt
// must not be made.
func (c *budgetCall) chargeAndReserve(ctx context.Context, r model.Retry) error {
	if c == nil {
		return nil
	}
	c.budget.charge(c.most, c.actual(r.Usage, r.Cost, r.Err))
	c.attempts, c.cost = c.attempts.Add(r.Usage), c.cost.Add(r.Cost)
	if err := c.budget.reserve(ctx, c.most); err != nil {
		c.budget = nil // nothing is reserved
		return err
	}
	return nil
}

// end charges the last attempt of a call.
func (c *budgetCall) end(reply model.Reply, err error) {
	if c == nil || c.budget == nil {
		return
	}
	last := reply.Usage
	last.Input -= c.attempts.Input
	last.Output -= c.attempts.Output
	cost := reply.Cost
	cost.USD -= c.cost.USD
	cost.Unpriced -= c.cost.Unpriced
	c.budget.charge(c.most, c.actual(last, cost, err))
}

// actual returns the cost of an attempt, or the most that it can cost if the provider did not report it.
func (c *budgetCall) actual(u model.Usage, cost model.Cost, err error) amount {
	if !(model.Reply{Usage: u}).UsageKnown(err) {
		return c.most
	}
	return amountOf(u, cost)
}
