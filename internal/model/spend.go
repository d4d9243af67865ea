package model

import (
	"cmp"
	"fmt"
)

// Usage counts tokens.
type Usage struct {
	Requests int   // attempts that the model may have started to answer
	Input    int64 // tokens read, including the two below
	Cached   int64 // part of Input: read from the cache of the provider, at a lower price
	Written  int64 // part of Input: written to that cache, at a higher price with some providers
	Output   int64 // tokens written, including thinking
	// Estimated is set if the provider did not report some of the counts, such as after a broken connection. ken
	// then counts four bytes as a token.
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

// Tokens returns the number of tokens that are charged.
func (u Usage) Tokens() int64 { return u.Input + u.Output }

// EstimateTokens returns the approximate number of tokens in a text of this many bytes.
func EstimateTokens(bytes int) int64 { return (int64(bytes) + 3) / 4 }

// A Price is the price of a million tokens, in US dollars. The zero Price is unknown; a model that costs nothing
// is Free.
type Price struct {
	Input   float64 `yaml:"input"`
	Cached  float64 `yaml:"cached"`  // read from the cache; Input if 0
	Written float64 `yaml:"written"` // written to the cache; Input if 0
	Output  float64 `yaml:"output"`
	UpTo    int64   `yaml:"-"` // the longest input, in tokens, that has this price; no limit if 0
	Free    bool    `yaml:"-"`
}

// Known reports whether the price is known.
func (p Price) Known() bool { return p.Free || p.Input > 0 || p.Output > 0 }

// Cost returns the cost of one request. Tokens without a known price are counted as Unpriced, so that they do not
// seem free.
func (p Price) Cost(u Usage) Cost {
	switch {
	case p.Free:
		return Cost{}
	case !p.Known(), p.UpTo > 0 && u.Input > p.UpTo:
		return Cost{Unpriced: u.Tokens()}
	}
	plain := max(u.Input-u.Cached-u.Written, 0)
	usd := float64(plain)*p.Input +
		float64(u.Cached)*cmp.Or(p.Cached, p.Input) +
		float64(u.Written)*cmp.Or(p.Written, p.Input) +
		float64(u.Output)*p.Output
	return Cost{USD: usd / 1e6}
}

// MaxCost returns the highest possible cost of one request: the provider may write all of the input to its cache.
func (p Price) MaxCost(u Usage) Cost {
	plain := p.Cost(Usage{Input: u.Input, Output: u.Output})
	written := p.Cost(Usage{Input: u.Input, Written: u.Input, Output: u.Output})
	plain.USD = max(plain.USD, written.USD)
	return plain
}

// Upper bounds for the tokens of a request besides its texts.
const (
	overheadTokens   = 2048 // added by the provider to explain tools
	tokensPerMessage = 64
)

// MaxUsage returns the most tokens that one request can use. A token has at least one byte, and a reply has at
// most MaxTokens tokens.
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

// UsageKnown reports whether the usage of a reply is complete. If a call broke off before the provider reported its
// usage, it is not, and a budget must assume the maximum.
func (r Reply) UsageKnown(err error) bool {
	if err == nil {
		return true
	}
	if r.Usage.Tokens() > 0 {
		return !r.Usage.Estimated
	}
	return NotCharged(err)
}

// A Cost is the cost of some tokens. The zero Cost is the cost of no tokens.
type Cost struct {
	USD      float64 // for the tokens with a known price
	Unpriced int64   // the number of tokens without a known price
}

// Add returns the sum of c and d.
func (c Cost) Add(d Cost) Cost { return Cost{USD: c.USD + d.USD, Unpriced: c.Unpriced + d.Unpriced} }

// Known reports whether USD is the whole cost.
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
