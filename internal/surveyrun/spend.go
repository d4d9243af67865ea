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

// Money is in billionths of a dollar, so that sums of many small costs are exact.
type Money int64

const dollar = 1e9

// Dollars returns an amount of money, rounded up.
func Dollars(usd float64) Money {
	if m := math.Ceil(usd * dollar); m < math.MaxInt64 {
		return Money(m)
	}
	return math.MaxInt64
}

// USD is the same in dollars.
func (m Money) USD() float64 { return float64(m) / dollar }

func (m Money) String() string { return fmt.Sprintf("$%.4f", m.USD()) }

// MarshalJSON writes dollars.
func (m Money) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, m.USD(), 'f', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Money) UnmarshalJSON(b []byte) error {
	var usd float64
	if err := json.Unmarshal(b, &usd); err != nil {
		return err
	}
	*m = Money(math.Round(usd * dollar))
	return nil
}

// An Amount is what calls cost, or may cost.
type Amount struct {
	Tokens int64 `json:"tokens"`
	Cost   Money `json:"cost"`
	// Unpriced says that the price of some tokens is not known, and so Cost is not all.
	Unpriced bool `json:"unpriced,omitempty"`
}

// Add returns the sum of both.
func (a Amount) Add(b Amount) Amount {
	return Amount{a.Tokens + b.Tokens, a.Cost + b.Cost, a.Unpriced || b.Unpriced}
}

// IsZero reports whether it is nothing.
func (a Amount) IsZero() bool { return a == Amount{} }

func (a Amount) String() string {
	switch {
	case a.Unpriced && a.Cost == 0:
		return fmt.Sprintf("%d tokens (price not known)", a.Tokens)
	case a.Unpriced:
		return fmt.Sprintf("%d tokens, at least %s", a.Tokens, a.Cost)
	}
	return fmt.Sprintf("%d tokens, %s", a.Tokens, a.Cost)
}

// A Ceiling is the most that may be spent; a nil part has none.
type Ceiling struct {
	Tokens *int64 `json:"max_tokens"`
	Cost   *Money `json:"max_cost"`
}

// Holds reports whether an amount stays under the ceiling. What has no price stays under
// none of money.
func (c Ceiling) Holds(a Amount) bool {
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

// What a request has besides its texts, at most.
const (
	tokensApart      = 2048 // what a provider adds to explain tools
	tokensPerMessage = 64
)

// Most is the most that one request can cost. No token is less than a byte, and no reply is
// longer than it may be; whatever is read may be put into the provider's cache, dearly.
func Most(req model.Request, price model.Price) Amount {
	in := int64(tokensApart + len(req.System))
	for _, t := range req.Tools {
		in += int64(len(t.Name) + len(t.Description) + len(t.Schema))
	}
	for _, m := range req.Messages {
		text := len(m.Text)
		for _, c := range m.Calls {
			text += len(c.ID) + len(c.Name) + len(c.Args)
		}
		in += int64(max(text, len(m.Raw)) + tokensPerMessage)
		for _, r := range m.Results {
			in += int64(len(r.ID) + len(r.Text) + tokensPerMessage)
		}
	}
	out := int64(req.MaxTokens)
	if out == 0 {
		out = model.DefaultMaxTokens
	}
	dear := max(price.Of(model.Usage{Input: in, Output: out}).USD, price.Of(model.Usage{Input: in, Written: in, Output: out}).USD)
	return Amount{in + out, Dollars(dear), !price.Of(model.Usage{Input: in, Output: out}).Known()}
}

// ErrCeiling is in the chain when a call was not made because it could have cost more than
// may be spent.
var ErrCeiling = errors.New("the ceiling is reached")

// ErrAway is in the chain when the server that runs are kept on could not be asked. It may
// come back.
var ErrAway = errors.New("the server is away")

// A Till pays for the calls about one directory.
type Till interface {
	// Reserve sets aside the most that the next call can cost, and puts down what the one
	// before has. An error means that the call must not be made.
	Reserve(ctx context.Context, most, before Amount) error
}

// A Purse is a model that asks a till before each call. It serves one conversation.
type Purse struct {
	model.Model

	till  Till
	last  Amount // what the last call cost, that the till does not know yet
	calls int
}

// NewPurse returns a model that is paid from a till.
func NewPurse(m model.Model, till Till) *Purse { return &Purse{Model: m, till: till} }

// Turn reserves, and asks.
func (p *Purse) Turn(ctx context.Context, req model.Request, l model.Listener) (model.Reply, error) {
	most := Most(req, p.Price())
	if err := p.till.Reserve(ctx, most, p.last); err != nil {
		return model.Reply{}, err
	}
	p.calls++
	reply, err := p.Model.Turn(ctx, req, l)
	p.last = paid(reply, err, most)
	return reply, err
}

// paid is what a call has cost. One that ended before the provider told, and may have been
// worked on, counts as the most that it can have cost: nobody knows better.
func paid(reply model.Reply, err error, most Amount) Amount {
	told := Amount{reply.Usage.Tokens(), Dollars(reply.Cost.USD), !reply.Cost.Known()}
	switch {
	case err == nil, told.Tokens > 0 && !reply.Usage.Estimated:
		return told
	case told.Tokens == 0 && model.Unpaid(err):
		return Amount{}
	default:
		return most
	}
}

// Last is what the last call cost, or may have, which nobody has put down yet.
func (p *Purse) Last() Amount { return p.last }

// Calls is how many were made.
func (p *Purse) Calls() int { return p.calls }
