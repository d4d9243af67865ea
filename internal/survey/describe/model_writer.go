package describe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ken/internal/model"
	"ken/internal/repo"
	"ken/internal/workspace"
)

// A ModelWriter describes directories with a model. The model can read the tree with tools, and submits its text
// with one of them.
type ModelWriter struct {
	Model  model.Model
	Tree   workspace.Tree    // the files that the model may read; not used if Plain
	Budget *Budget           // limits the cost of all calls; nil for no limit
	OnWait func(model.Retry) // called before each wait for a retry; nil for none
	// Plain is for a model that cannot call tools. It gets all input in one prompt, and its reply is the text.
	Plain bool
}

// Limits of the conversation about one directory.
const (
	maxTurns     = 12
	shallowTurns = 3
	idleTurns    = 3 // turns in a row without a tool call
	replyTokens  = 4096
)

// Author returns the name of the model.
func (t *ModelWriter) Author() string { return t.Model.Name() }

// Price returns the price of the model.
func (t *ModelWriter) Price() model.Price { return t.Model.Price() }

// Recipe returns the version of the prompt and the name of the model.
func (t *ModelWriter) Recipe() string { return "prompt/" + PromptVersion + " " + t.Model.Name() }

// toolRules is added to the rules for a model with tools.
const toolRules = `

You may look at the repository with the tools before you write; they only read, and see tracked files alone. Read what you need and no more. Use flag for something that people should look at, such as a bug or a secret. When you know enough, call submit, once.`

// Write has the model describe a directory.
func (t *ModelWriter) Write(ctx context.Context, it *Item) (Draft, error) {
	if t.Plain {
		return t.writePlain(ctx, it)
	}
	s := &session{ModelWriter: t, item: it}
	turns := maxTurns
	if it.Shallow {
		turns = shallowTurns
	}
	req := model.Request{System: Rules + toolRules, Tools: tools(), MaxTokens: replyTokens, Messages: []model.Message{model.Ask(it.Prompt())}}
	idle := 0
	for turn := range turns {
		reply, err := s.turn(ctx, req)
		if err != nil {
			return s.draft, err
		}
		s.runCalls(ctx, reply.Calls)
		// Return a submitted text even if the context ended meanwhile: it is paid for.
		if s.done {
			return s.draft, nil
		}
		if err := ctx.Err(); err != nil {
			return s.draft, err
		}
		next := model.Answer(s.results...)
		idle++
		switch {
		case len(reply.Calls) > 0:
			idle = 0
			if turn == turns-2 {
				next.Text = "That was the last tool call. Call submit with your text now."
			}
		case idle == idleTurns:
			return s.draft, s.unsubmitted(turn + 1)
		default:
			next = model.Ask("Call submit with your text now.")
		}
		req.Messages = append(req.Messages, reply.Message(), next)
	}
	return s.draft, s.unsubmitted(turns)
}

// ErrRefused means that a model refuses to write.
var ErrRefused = errors.New("the model refuses to write the text")

// ErrFatal means a failure that every directory would have: the provider does not accept the key, or
// does not have the model.
var ErrFatal = errors.New("the provider fails for every directory")

// ErrNoAnswer means that the provider did not answer.
var ErrNoAnswer = errors.New("the provider does not answer")

// ErrRejected means that a provider rejected a request, or answered with something else
// than its API.
var ErrRejected = errors.New("the provider cannot be used")

// unsubmitted returns the error of a conversation without a valid text. It includes the problem of the last
// submission.
func (s *session) unsubmitted(turns int) error {
	if s.refused != nil {
		return fmt.Errorf("the model submitted no valid text within %d turns: %w", turns, s.refused)
	}
	return fmt.Errorf("the model submitted no text within %d turns", turns)
}

// writePlain asks once. The reply is the text itself, or JSON with the text.
func (t *ModelWriter) writePlain(ctx context.Context, it *Item) (Draft, error) {
	s := &session{ModelWriter: t, item: it}
	reply, err := s.turn(ctx, model.Request{System: Rules, MaxTokens: replyTokens, Messages: []model.Message{model.Ask(it.Prompt())}})
	if err != nil {
		return s.draft, err
	}
	text := strings.TrimSpace(reply.Text)
	in := submitArgs{Summary: text}
	if doc := unfenced(text); strings.HasPrefix(doc, "{") && json.Valid([]byte(doc)) {
		in = submitArgs{}
		if err := json.Unmarshal([]byte(doc), &in); err != nil {
			return s.draft, fmt.Errorf("the answer is not the expected JSON: %w", err)
		}
		if in.Summary == "" {
			return s.draft, errors.New("the answer is JSON without a summary")
		}
	}
	err = s.submit(in)
	return s.draft, err
}

// unfenced removes the code fence around a document.
func unfenced(text string) string {
	if body, ok := strings.CutPrefix(text, "```"); ok {
		if body, ok = strings.CutSuffix(body, "```"); ok {
			return strings.TrimSpace(strings.TrimPrefix(body, "json"))
		}
	}
	return text
}

// A session is the conversation about one directory.
type session struct {
	*ModelWriter
	item    *Item
	draft   Draft
	done    bool
	shown   int   // bytes of all tool results
	refused error // problem of the last submitted text
	results []model.Result
}

// turn makes one request to the model and adds its cost.
func (s *session) turn(ctx context.Context, req model.Request) (model.Reply, error) {
	call, err := s.Budget.begin(ctx, req, s.Price())
	if err != nil {
		return model.Reply{}, err
	}
	retry := func(r model.Retry) error {
		err := call.chargeAndReserve(ctx, r)
		if err == nil && s.OnWait != nil {
			s.OnWait(r)
		}
		return err
	}
	reply, err := s.Model.Turn(ctx, req, model.Listener{Retry: retry})
	call.end(reply, err)
	s.draft.Spent = s.draft.Spent.Add(Spent{reply.Usage, reply.Cost})
	switch reason := model.ReasonOf(err); {
	case err == nil && reply.Stop == model.Refusal && len(reply.Calls) == 0:
		err = ErrRefused
	case err == nil:
	case reason.Permanent():
		err = &providerError{err, ErrFatal}
	case reason == model.Down || reason == model.Overloaded || reason == model.RateLimited:
		err = &providerError{err, ErrNoAnswer}
	case reason == model.BadRequest || reason == model.BadAnswer:
		err = &providerError{err, ErrRejected}
	}
	return reply, err
}

// A providerError is a failure of the provider, not of the directory. Its text is that of the provider. The field
// kind is ErrNoAnswer, ErrRejected or ErrFatal.
type providerError struct {
	error

	kind error
}

func (e *providerError) Unwrap() []error { return []error{e.error, e.kind} }

// runCalls runs the tool calls of the model.
func (s *session) runCalls(ctx context.Context, calls []model.Call) {
	s.results = nil
	for _, c := range calls {
		text, err := s.call(ctx, c)
		if err != nil {
			s.results = append(s.results, c.Fail(err))
			continue
		}
		s.shown += len(text)
		s.results = append(s.results, c.Result(text))
	}
}

// keepWord is the answer that keeps the present summary.
const keepWord = "keep"

// IsKeep reports whether an answer keeps the present summary.
func IsKeep(text string) bool {
	return strings.EqualFold(strings.Trim(text, "`\"'. \n"), keepWord)
}

// submit accepts a text of the model, or returns its problem.
func (s *session) submit(in submitArgs) error {
	text := strings.TrimSpace(strings.ReplaceAll(in.Summary, "\r\n", "\n"))
	if IsKeep(text) {
		if s.item.Old == nil {
			return errors.New("there is no summary to keep yet: write one")
		}
		s.draft.Keep, s.done = true, true
		return nil
	}
	if err := CheckSummary(text); err != nil {
		return err
	}
	s.draft.Text, s.draft.Files, s.done = text, make(map[repo.Path]string), true
	s.draft.Partial = in.Completeness == "partial"
	for _, f := range s.item.Files {
		for _, name := range []string{f.Path.Base(), string(f.Path)} {
			summary := strings.TrimSpace(strings.ReplaceAll(in.Files[name], "\r\n", "\n"))
			if CheckText(summary) == nil {
				s.draft.Files[f.Path] = summary
			}
		}
	}
	return nil
}
