package survey

import (
	"context"
	"fmt"
	"math"
	"sync"

	"ken/internal/model"
)

// A Budget limits what the calls of a run spend. Every call reserves the most that it can cost
// before it is made, so calls at the same time cannot exceed a limit together. A nil Budget has
// no limit.
type Budget struct {
	maxTokens, maxNanos *int64 // nil for no limit

	mu       sync.Mutex
	spent    amount
	reserved amount
	calls    int           // that have a reservation
	ended    chan struct{} // closed when a reservation ends
}

// newBudget returns the budget of a run, nil for no limit. A limit of 0 allows nothing.
func newBudget(maxTokens *int64, maxCost *float64) *Budget {
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

// nano is how many parts a dollar has here, so that sums and differences are exact.
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

// A limitError says that ken did not make a call because it could have exceeded a limit.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// reserve reserves the most that a call can cost. If other calls have reserved what it needs, it
// waits until they cost less. It returns a limitError if the call does not fit.
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

// settle ends a reservation and counts what the call cost.
func (b *Budget) settle(most, actual amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved = b.reserved.minus(most)
	b.calls--
	b.spent = b.spent.plus(actual)
	close(b.ended)
	b.ended = make(chan struct{})
}

func (b *Budget) fits(a amount) bool {
	if b.maxTokens != nil && a.tokens > *b.maxTokens {
		return false
	}
	return b.maxNanos == nil || a.nanos <= *b.maxNanos && !a.unpriced
}

// exceeded says which limit a call could exceed.
func (b *Budget) exceeded(most amount) error {
	if b.maxTokens != nil && b.spent.tokens+most.tokens > *b.maxTokens {
		return &limitError{fmt.Sprintf("the next call could use %d tokens, and the run could exceed its limit of %d", most.tokens, *b.maxTokens)}
	}
	if most.unpriced || b.spent.unpriced {
		return &limitError{"no price is known for a call this long, so --max-cost cannot be enforced"}
	}
	return &limitError{fmt.Sprintf("the next call could cost $%.4f, and the run could exceed its limit of $%.2f",
		float64(most.nanos)/nano, float64(*b.maxNanos)/nano)}
}

// A budgetCall is one call with its reservation.
type budgetCall struct {
	budget   *Budget
	most     amount
	attempts model.Usage // that failed and were settled
	cost     model.Cost  // of attempts
}

// begin reserves the cost of a call. After an error, the call must not be made.
func (b *Budget) begin(ctx context.Context, req model.Request, price model.Price) (*budgetCall, error) {
	if b == nil {
		return nil, nil
	}
	usage := req.MaxUsage()
	c := &budgetCall{budget: b, most: amountOf(usage, price.Most(usage))}
	return c, b.reserve(ctx, c.most)
}

// again settles an attempt that failed and reserves the cost of the next one. After an error,
// the next attempt must not be made.
func (c *budgetCall) again(ctx context.Context, r model.Retry) error {
	if c == nil {
		return nil
	}
	c.budget.settle(c.most, c.actual(r.Usage, r.Cost, r.Err))
	c.attempts, c.cost = c.attempts.Add(r.Usage), c.cost.Add(r.Cost)
	if err := c.budget.reserve(ctx, c.most); err != nil {
		c.budget = nil // nothing is reserved
		return err
	}
	return nil
}

// end settles the last attempt of a call.
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
	c.budget.settle(c.most, c.actual(last, cost, err))
}

// actual returns what an attempt cost: the most if the provider did not report it.
func (c *budgetCall) actual(u model.Usage, cost model.Cost, err error) amount {
	if !(model.Reply{Usage: u}).Metered(err) {
		return c.most
	}
	return amountOf(u, cost)
}
