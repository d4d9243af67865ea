// Package model defines the types of a conversation with a language model: requests, replies, token usage, cost
// and failures.
//
// A conversation is a list of messages. A turn sends the whole list and returns the next message: text, or calls
// of the tools that the request offered. The caller runs the tools and sends their results in the next turn.
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
// Package provider implements the models and their APIs. The caller decides what to ask, when to stop and how much
// to spend.
package model

import (
	"context"
	"encoding/json"
	"time"
)

// A Model answers one turn of a conversation. It is safe for concurrent use.
type Model interface {
	// Name returns the provider and the model, such as anthropic/claude-opus-5-5. It is part of the recipe of
	// every summary that the model writes.
	Name() string

	// Price returns the price of its tokens, or the zero Price if it is unknown.
	Price() Price

	// Turn sends the conversation and returns the complete next message of the model. It retries the whole turn,
	// within limits, after rate limits, overload and broken connections.
	//
	// The Usage and Cost of the reply are valid even with an error: they are what the attempts cost. An error is a
	// [fault.Error] with a hint, and [ReasonOf] returns its reason.
	Turn(ctx context.Context, req Request, l Listener) (Reply, error)
}

// A Request is one turn: the conversation so far, and the tools and limits of the reply.
type Request struct {
	System    string    // the system prompt; the same text in every turn is cheapest
	Messages  []Message // in order, the first and the last from the user
	Tools     []Tool    // the tools that the model may call; the same in every turn of a conversation
	MaxTokens int       // the limit of the reply, including thinking; DefaultMaxTokens if 0
}

// DefaultMaxTokens limits a reply whose request sets no limit.
const DefaultMaxTokens = 16 << 10

// A Tool is a function that the model may ask the caller to run.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, an object; nil for no arguments
}

// A Role is the author of a message.
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

// A Message is one message of the user or the model. [Reply.Message] returns one of the model; [Ask] and [Answer]
// return one of the user.
type Message struct {
	Role    Role
	Text    string
	Calls   []Call   // only of an Assistant
	Results []Result // only of a User, one for each call in the previous message
	// Raw is an Assistant message as the provider encodes it, including thinking and signatures. Some providers
	// require it unchanged. Only the model that wrote it can use it; it may be nil.
	Raw json.RawMessage
}

// Ask returns a message of the user.
func Ask(text string) Message { return Message{Role: User, Text: text} }

// Answer returns the message that answers the calls in the previous message.
func Answer(results ...Result) Message { return Message{Role: User, Results: results} }

// A Call is a request of the model to run a tool.
type Call struct {
	ID   string
	Name string          // as the model wrote it; it may name no known tool
	Args json.RawMessage // a JSON object, which may violate the schema
	// Err is set if the arguments were not a JSON object; Args is {} then. Send it to the model with Fail, so that
	// the model can correct the call.
	Err error
}

// Result returns the result of a call that succeeded.
func (c Call) Result(text string) Result { return Result{ID: c.ID, Text: text} }

// Fail returns the result of a call that failed.
func (c Call) Fail(err error) Result { return Result{ID: c.ID, Text: err.Error(), Failed: true} }

// A Result is the outcome of a call.
type Result struct {
	ID     string // the ID of the call
	Text   string
	Failed bool // Text is an error message
}

// A Reply is the next message of the model. Its text is not safe for a terminal: apart from invalid UTF-8, it is
// exactly what the model wrote.
type Reply struct {
	Text     string
	Calls    []Call
	Stop     Stop
	StopName string // the name that the provider uses for Stop
	Model    string // the exact model, if the provider reports it
	Raw      json.RawMessage
	Usage    Usage // of the whole turn, including failed attempts
	Cost     Cost  // of Usage
}

// Message returns the reply as a message for the next turn.
func (r Reply) Message() Message {
	return Message{Role: Assistant, Text: r.Text, Calls: r.Calls, Raw: r.Raw}
}

// A Stop is the reason why a reply ends. The zero value is an unknown reason; [Reply.StopName] is the
// provider's name for it.
type Stop int

// The reasons to stop.
const (
	Unknown   Stop = iota
	End            // the reply is complete
	ToolUse        // the model waits for the results of its calls
	MaxTokens      // cut off: the reply or the conversation is too long
	Refusal        // the model refuses to answer
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

// A Listener receives the progress of a turn. Both functions may be nil. Neither is called after Turn has
// returned.
type Listener struct {
	Text func(piece string) // the text as it arrives
	// Retry is called before the turn begins again; the caller discards the text so far. If Retry
	// returns an error, the turn ends and Turn returns that error.
	Retry func(Retry) error
}

// A Retry describes a failed attempt that is followed by another one.
type Retry struct {
	Attempt int           // the number of the failed attempt, from 1
	Reason  Reason        // why it failed
	Err     error         // the error, a [Failure]
	Wait    time.Duration // the time until the next attempt
	Usage   Usage         // of the failed attempt
	Cost    Cost          // of Usage
}
