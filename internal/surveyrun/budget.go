package surveyrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"ken/internal/model"
)

// Money is an amount in billionths of a dollar, so that sums of many small costs are exact.
type Money int64

const dollar = 1e9

// Dollars returns an amount of money, rounded up.
func Dollars(usd float64) Money {
	if m := math.Ceil(usd * dollar); m < math.MaxInt64 {
		return Money(m)
	}
	return math.MaxInt64
}

// USD returns the amount in dollars.
func (m Money) USD() float64 { return float64(m) / dollar }

func (m Money) String() string { return fmt.Sprintf("$%.4f", m.USD()) }

// MarshalJSON writes dollars.
func (m Money) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, m.USD(), 'f', -1, 64), nil
}

// UnmarshalJSON reads dollars.
func (m *Money) UnmarshalJSON(b []byte) error {
	var usd float64
	if err := json.Unmarshal(b, &usd); err != nil {
		return err
	}
	*m = Money(math.Round(usd * dollar))
	return nil
}

// An Amount is the cost of calls.
type Amount struct {
	Tokens int64 `json:"tokens"`
	Cost   Money `json:"cost"`
	// Unpriced says that the price of some tokens is unknown, so Cost is too low.
	Unpriced bool `json:"unpriced,omitempty"`
}

// Add returns the sum of two amounts.
func (a Amount) Add(b Amount) Amount {
	return Amount{a.Tokens + b.Tokens, a.Cost + b.Cost, a.Unpriced || b.Unpriced}
}

// IsZero reports whether the amount is nothing.
func (a Amount) IsZero() bool { return a == Amount{} }

func (a Amount) String() string {
	switch {
	case a.Unpriced && a.Cost == 0:
		return fmt.Sprintf("%d tokens (price unknown)", a.Tokens)
	case a.Unpriced:
		return fmt.Sprintf("%d tokens, at least %s", a.Tokens, a.Cost)
	}
	return fmt.Sprintf("%d tokens, %s", a.Tokens, a.Cost)
}

// A Ceiling is a limit of spending; a nil part is unlimited.
type Ceiling struct {
	Tokens *int64 `json:"max_tokens"`
	Cost   *Money `json:"max_cost"`
}

// Allows reports whether an amount is within the ceiling. An unpriced amount is within no
// ceiling of money.
func (c Ceiling) Allows(a Amount) bool {
	return (c.Tokens == nil || a.Tokens <= *c.Tokens) && (c.Cost == nil || a.Cost <= *c.Cost && !a.Unpriced)
}

func (c Ceiling) String() string {
	switch {
	case c.Tokens != nil && c.Cost != nil:
		return fmt.Sprintf("%d tokens or %s", *c.Tokens, *c.Cost)
	case c.Tokens != nil:
		return fmt.Sprintf("%d tokens", *c.Tokens)
	case c.Cost != nil:
		return c.Cost.String()
	default:
		return "none"
	}
}

// MaxAmount returns the most that one request can cost.
func MaxAmount(req model.Request, price model.Price) Amount {
	usage := req.MaxUsage()
	cost := price.MaxCost(usage)
	return Amount{usage.Tokens(), Dollars(cost.USD), !cost.Known()}
}

// ErrCeiling means that ken did not make a call because it could have exceeded a
// ceiling.
var ErrCeiling = errors.New("ceiling reached")

// ErrUnavailable means that the server of the runs did not answer. It may come back.
var ErrUnavailable = errors.New("the server does not answer")

// A Budget limits the cost of the calls for one directory.
type Budget interface {
	// Reserve reserves the most that the next call can cost, and records the cost of the
	// call before. After an error, the call must not be made.
	Reserve(ctx context.Context, most, before Amount) error
}

// A MeteredModel is a model that reserves the cost of each call from a budget. It serves one
// conversation.
type MeteredModel struct {
	model.Model

	budget Budget
	last   Amount // the cost of the last call, which the budget does not know yet
	calls  int
}

// NewMeteredModel returns a model whose calls count against a budget.
func NewMeteredModel(m model.Model, budget Budget) *MeteredModel {
	return &MeteredModel{Model: m, budget: budget}
}

// Turn reserves the cost of a call and makes it.
func (m *MeteredModel) Turn(ctx context.Context, req model.Request, l model.Listener) (model.Reply, error) {
	most := MaxAmount(req, m.Price())
	if err := m.budget.Reserve(ctx, most, m.last); err != nil {
		return model.Reply{}, err
	}
	m.calls++
	reply, err := m.Model.Turn(ctx, req, l)
	m.last = actualAmount(reply, err, most)
	return reply, err
}

// actualAmount returns the cost of a call. A call that ended before the provider reported its
// usage counts as the most that it can have cost, unless the provider did no work.
func actualAmount(reply model.Reply, err error, most Amount) Amount {
	if !reply.UsageKnown(err) {
		return most
	}
	return Amount{reply.Usage.Tokens(), Dollars(reply.Cost.USD), !reply.Cost.Known()}
}

// LastCost returns the cost of the last call, which is not recorded yet.
func (m *MeteredModel) LastCost() Amount { return m.last }

// Calls returns the number of calls.
func (m *MeteredModel) Calls() int { return m.calls }
