package model

import "fmt"

// Usage counts tokens.
type Usage struct {
	Requests int   // attempts that the model may have begun to answer
	Input    int64 // tokens read, those below included
	Cached   int64 // of Input: read from the provider's cache, cheaply
	Written  int64 // of Input: put into its cache, dearly with some
	Output   int64 // tokens written, thinking included
	// Estimated says that the provider did not count some of them, as when a
	// connection broke; ken counted four bytes to a token.
	Estimated bool
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Requests: u.Requests + v.Requests,
		Input:    u.Input + v.Input,
		Cached:   u.Cached + v.Cached,
		Written:  u.Written + v.Written,
		Output:   u.Output + v.Output, Estimated: u.Estimated || v.Estimated,
	}
}

// Tokens is how many were paid for.
func (u Usage) Tokens() int64 { return u.Input + u.Output }

// EstimateTokens says how many tokens so many bytes of text are, roughly.
func EstimateTokens(bytes int) int64 { return (int64(bytes) + 3) / 4 }

// A Price is what a million tokens cost, in US dollars. The zero Price is not
// known; a model that costs nothing is Free.
type Price struct {
	Input   float64
	Cached  float64 // read from the cache; as Input when 0
	Written float64 // put into the cache; as Input when 0
	Output  float64
	UpTo    int64 // the longest input, in tokens, that this is the price for; any when 0
	Free    bool
}

// Known reports whether it is one.
func (p Price) Known() bool { return p.Free || p.Input > 0 || p.Output > 0 }

// Of returns what one request cost. Where the price does not cover it, the
// tokens are counted as Unpriced: an unknown price is not 0.
func (p Price) Of(u Usage) Cost {
	switch {
	case p.Free:
		return Cost{}
	case !p.Known(), p.UpTo > 0 && u.Input > p.UpTo:
		return Cost{Unpriced: u.Tokens()}
	}
	or := func(a, b float64) float64 {
		if a > 0 {
			return a
		}
		return b
	}
	plain := max(u.Input-u.Cached-u.Written, 0)
	usd := float64(plain)*p.Input +
		float64(u.Cached)*or(p.Cached, p.Input) +
		float64(u.Written)*or(p.Written, p.Input) +
		float64(u.Output)*p.Output
	return Cost{USD: usd / 1e6}
}

// Most returns the most that one request can cost: the provider may write all of the input to
// its cache.
func (p Price) Most(u Usage) Cost {
	plain := p.Of(Usage{Input: u.Input, Output: u.Output})
	written := p.Of(Usage{Input: u.Input, Written: u.Input, Output: u.Output})
	plain.USD = max(plain.USD, written.USD)
	return plain
}

// The most tokens of a request besides its texts.
const (
	overheadTokens   = 2048 // that a provider adds to explain tools
	tokensPerMessage = 64
)

// MaxUsage returns the most tokens that one request can use. A token has at least one byte, and
// a reply has at most the tokens that were asked for.
func (r Request) MaxUsage() Usage {
	in := int64(overheadTokens + len(r.System))
	for _, t := range r.Tools {
		in += int64(len(t.Name) + len(t.Description) + len(t.Schema))
	}
	for _, m := range r.Messages {
		text := len(m.Text)
		for _, c := range m.Calls {
			text += len(c.ID) + len(c.Name) + len(c.Args)
		}
		in += int64(max(text, len(m.Raw)) + tokensPerMessage)
		for _, result := range m.Results {
			in += int64(len(result.ID) + len(result.Text) + tokensPerMessage)
		}
	}
	out := int64(r.MaxTokens)
	if out == 0 {
		out = DefaultMaxTokens
	}
	return Usage{Input: in, Output: out}
}

// Metered reports whether the usage of a reply is all that the provider can charge. After a call
// that broke off before the provider reported its usage, a budget must assume the most.
func (r Reply) Metered(err error) bool {
	if err == nil {
		return true
	}
	if r.Usage.Tokens() > 0 {
		return !r.Usage.Estimated
	}
	return Unpaid(err)
}

// A Cost is what tokens have cost. The zero Cost is that of nothing.
type Cost struct {
	USD      float64 // of those whose price is known
	Unpriced int64   // tokens whose price is not
}

// Add returns the sum of c and d.
func (c Cost) Add(d Cost) Cost { return Cost{USD: c.USD + d.USD, Unpriced: c.Unpriced + d.Unpriced} }

// Known reports whether USD is all of it.
func (c Cost) Known() bool { return c.Unpriced == 0 }

func (c Cost) String() string {
	switch {
	case c.Known():
		return fmt.Sprintf("$%.4f", c.USD)
	case c.USD > 0:
		return fmt.Sprintf("at least $%.4f", c.USD)
	}
	return "unknown"
}
