// Package model holds the words of a conversation with a language model: what
// is asked, what is answered, what it cost and why there was no answer.
//
// A conversation is a list of messages. A turn sends all of it and brings the
// next message: text, or calls of the tools that the request offered, which the
// caller carries out and answers in the next turn.
//
//	req := model.Request{System: rules, Tools: tools, Messages: []model.Message{model.Ask(question)}}
//	for {
//		reply, err := m.Turn(ctx, req, model.Listener{})
//		spent = spent.Add(reply.Usage) // whether or not it failed
//		if err != nil || reply.Stop != model.ToolUse {
//			return reply, err
//		}
//		req.Messages = append(req.Messages, reply.Message(), model.Answer(carryOut(reply.Calls)...))
//	}
//
// Who answers, and over which wire, is known to package provider. What to ask,
// when to stop and what may be spent are the caller's.
package model

import (
	"context"
	"encoding/json"
	"time"
)

// A Model answers one turn of a conversation. It is safe for several goroutines.
type Model interface {
	// Name is the provider and its model, such as anthropic/claude-opus-5-5. It
	// is part of the recipe of what the model writes.
	Name() string

	// Price is what its tokens cost; the zero Price when that is not known.
	Price() Price

	// Turn sends the conversation and returns the model's next message, all of
	// it. Passing troubles (rate limits, overload, broken connections) are
	// waited out within bounds, and the whole turn is asked again.
	//
	// The reply's Usage and Cost hold with an error too: they are what was
	// spent on trying. An error is a [fault.Error] with a hint, and [ReasonOf]
	// tells what sort.
	Turn(ctx context.Context, req Request, l Listener) (Reply, error)
}

// A Request is one turn: the conversation so far, and what may be done in it.
type Request struct {
	System    string    // the standing rules; the same text every turn is cheapest
	Messages  []Message // in order, the first and the last from the user
	Tools     []Tool    // what the model may call; the same in every turn of a conversation
	MaxTokens int       // the most that the reply may have, thinking included; DefaultMaxTokens when 0
}

// DefaultMaxTokens is how long a reply may get when the request does not say.
const DefaultMaxTokens = 16 << 10

// A Tool is something that the model may ask the caller to do.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, an object; no arguments when nil
}

// A Role says who speaks.
type Role int

// The roles.
const (
	User Role = iota
	Assistant
)

func (r Role) String() string {
	if r == Assistant {
		return "assistant"
	}
	return "user"
}

// A Message is one side's say. What a model said comes from [Reply.Message], what
// it is told from [Ask] and [Answer].
type Message struct {
	Role    Role
	Text    string
	Calls   []Call   // of an Assistant
	Results []Result // of a User, one for each call of the message before
	// Raw is an Assistant's message in its provider's own form, thinking and
	// signatures included, which some want back unchanged. It means something
	// to the model that wrote it only; nil does where there is none.
	Raw json.RawMessage
}

// Ask returns a message of the user.
func Ask(text string) Message { return Message{Role: User, Text: text} }

// Answer returns the message that answers the calls of the one before.
func Answer(results ...Result) Message { return Message{Role: User, Results: results} }

// A Call is the model's wish to have a tool used.
type Call struct {
	ID   string
	Name string          // as the model wrote it: maybe of no tool at all
	Args json.RawMessage // a JSON object, though not necessarily one that the schema allows
	// Err says that the model wrote something else than a JSON object for the
	// arguments; Args is {} then. Tell the model with Fail: it will mend it.
	Err error
}

// Result answers the call.
func (c Call) Result(text string) Result { return Result{ID: c.ID, Text: text} }

// Fail answers the call with what went wrong.
func (c Call) Fail(err error) Result { return Result{ID: c.ID, Text: err.Error(), Failed: true} }

// A Result is what came of a call.
type Result struct {
	ID     string // of the call
	Text   string
	Failed bool // Text says what went wrong
}

// A Reply is the model's next message. Its text is what the model wrote, byte
// for byte where that is UTF-8: it is not yet fit for a terminal.
type Reply struct {
	Text  string
	Calls []Call
	Stop  Stop
	Why   string // the provider's own word for Stop
	Model string // the exact model, by its own account; "" when it does not say
	Raw   json.RawMessage
	Usage Usage // of the whole turn, attempts that failed included
	Cost  Cost  // of Usage
}

// Message returns the reply as a part of the conversation that goes on.
func (r Reply) Message() Message {
	return Message{Role: Assistant, Text: r.Text, Calls: r.Calls, Raw: r.Raw}
}

// A Stop says why a reply ends where it does. Its zero value is none that we
// know; the provider's word is in [Reply.Why] then.
type Stop int

// The reasons to stop.
const (
	Unknown   Stop = iota
	End            // it has said what it wanted to
	ToolUse        // it waits for its calls to be answered
	MaxTokens      // cut off: the reply, or the conversation, got too long
	Refusal        // it will not answer this
)

func (s Stop) String() string {
	switch s {
	case End:
		return "end"
	case ToolUse:
		return "tool_use"
	case MaxTokens:
		return "max_tokens"
	case Refusal:
		return "refusal"
	default:
		return "unknown"
	}
}

// A Listener hears a turn while it is under way. Both functions may be nil, and
// none is called after Turn has returned.
type Listener struct {
	Text func(piece string) // the text as it arrives
	// Retry is called before the turn begins again; the caller discards the text so far. If Retry
	// returns an error, the turn ends and Turn returns that error.
	Retry func(Retry) error
}

// A Retry tells that an attempt failed and another follows.
type Retry struct {
	Attempt int           // that failed, from 1 on
	Reason  Reason        // why
	Err     error         // the same in words, a [Failure]
	Wait    time.Duration // until the next
	Usage   Usage         // of the attempt that failed
	Cost    Cost          // of Usage
}
