package survey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ken/internal/model"
	"ken/internal/repo"
)

// A ModelDescriber has a model describe directories. The model may look around in the tree
// with tools that only read, and hands its text in with one of them.
type ModelDescriber struct {
	Model model.Model
	Tree  Tree
	// Turns is how often the model may be asked about one directory; DefaultTurns
	// when 0.
	Turns int
	// Plain has the model told everything at once, and takes its answer as it is: for
	// one that cannot call tools.
	Plain bool

	budget *Budget
	onWait func(model.Retry)
}

// See gives the model the tree to look at.
func (t *ModelDescriber) See(tree Tree) { t.Tree = tree }

// Limit gives the model a budget for all of its calls; nil for no limit.
func (t *ModelDescriber) Limit(b *Budget) { t.budget = b }

// OnWait sets the function to call before the model waits and is asked again; nil for none.
func (t *ModelDescriber) OnWait(f func(model.Retry)) { t.onWait = f }

// How far a model may go about one directory.
const (
	DefaultTurns = 12
	shallowTurns = 3
	idleTurns    = 3 // in a row, in which it calls nothing
	replyTokens  = 4096
)

// Author is the model.
func (t *ModelDescriber) Author() string { return t.Model.Name() }

// Price is what the model's tokens cost.
func (t *ModelDescriber) Price() model.Price { return t.Model.Price() }

// Recipe is the prompt and the model.
func (t *ModelDescriber) Recipe() string { return "prompt/" + PromptVersion + " " + t.Model.Name() }

// toolRules is what a model with tools is told besides.
const toolRules = `

You may look at the repository with the tools before you write; they only read, and see tracked files alone. Read what you need and no more. Use flag for something that people should look at, such as a bug or a secret. When you know enough, call submit, once.`

// Write asks the model.
func (t *ModelDescriber) Write(ctx context.Context, it *Item) (Draft, error) {
	if t.Plain {
		return t.writePlain(ctx, it)
	}
	s := &session{ModelDescriber: t, item: it}
	turns := t.Turns
	if turns == 0 {
		turns = DefaultTurns
	}
	if it.Rank == RankShallow {
		turns = min(turns, shallowTurns)
	}
	req := model.Request{System: Rules + toolRules, Tools: tools(), MaxTokens: replyTokens, Messages: []model.Message{model.Ask(it.Prompt())}}
	idle := 0
	for turn := range turns {
		reply, err := s.turn(ctx, req)
		if err != nil {
			return s.draft, err
		}
		s.carryOut(ctx, reply.Calls)
		// What was handed in is paid for, whatever happened meanwhile.
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

// ErrRefused is in the chain when a model refuses to write.
var ErrRefused = errors.New("the model refuses to write the text")

// unsubmitted says that no text came, and what was wrong with the last one that did.
func (s *session) unsubmitted(turns int) error {
	if s.refused != nil {
		return fmt.Errorf("the model submitted no valid text within %d turns: %w", turns, s.refused)
	}
	return fmt.Errorf("the model submitted no text within %d turns", turns)
}

// writePlain asks once, and takes the answer for the text: as it is, or as JSON.
func (t *ModelDescriber) writePlain(ctx context.Context, it *Item) (Draft, error) {
	s := &session{ModelDescriber: t, item: it}
	reply, err := s.turn(ctx, model.Request{System: Rules, MaxTokens: replyTokens, Messages: []model.Message{model.Ask(it.Prompt())}})
	if err != nil {
		return s.draft, err
	}
	text := strings.TrimSpace(reply.Text)
	in := submitArgs{Summary: text}
	if doc := unquoted(text); strings.HasPrefix(doc, "{") && json.Valid([]byte(doc)) {
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

// unquoted takes a document out of the fence that models like to put around it.
func unquoted(text string) string {
	if body, ok := strings.CutPrefix(text, "```"); ok {
		if body, ok = strings.CutSuffix(body, "```"); ok {
			return strings.TrimSpace(strings.TrimPrefix(body, "json"))
		}
	}
	return text
}

// A session is one conversation about one directory.
type session struct {
	*ModelDescriber
	item    *Item
	draft   Draft
	done    bool
	shown   int   // bytes that the model was shown
	refused error // what was wrong with the last text that was handed in
	results []model.Result
}

// turn asks the model, and counts what that cost.
func (s *session) turn(ctx context.Context, req model.Request) (model.Reply, error) {
	call, err := s.budget.begin(ctx, req, s.Price())
	if err != nil {
		return model.Reply{}, err
	}
	retry := func(r model.Retry) error {
		err := call.again(ctx, r)
		if err == nil && s.onWait != nil {
			s.onWait(r)
		}
		return err
	}
	reply, err := s.Model.Turn(ctx, req, model.Listener{Retry: retry})
	call.end(reply, err)
	s.draft.Spent = s.draft.Spent.Add(Spent{
		Calls: reply.Usage.Requests, In: reply.Usage.Input, Out: reply.Usage.Output,
		Cost: reply.Cost.USD, Unknown: !reply.Cost.Known(),
	})
	switch reason := model.ReasonOf(err); {
	case err == nil && reply.Stop == model.Refusal && len(reply.Calls) == 0:
		err = ErrRefused
	case err == nil:
	case reason.Hopeless():
		err = &providerError{err, ErrHopeless}
	case reason == model.Down || reason == model.Overloaded || reason == model.RateLimited:
		err = &providerError{err, errAway}
	case reason == model.BadRequest || reason == model.BadAnswer:
		err = &providerError{err, errUnusable}
	}
	return reply, err
}

// A providerError is a failure that is none of the directory's. Its words are the
// provider's alone.
type providerError struct {
	error

	sort error
}

func (e *providerError) Unwrap() []error { return []error{e.error, e.sort} }

// carryOut does what the model calls for.
func (s *session) carryOut(ctx context.Context, calls []model.Call) {
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

// keepWord is the answer that says that nothing is to be changed.
const keepWord = "keep"

// isKeep reports whether an answer says that nothing is to be changed.
func isKeep(text string) bool {
	return strings.EqualFold(strings.Trim(text, "`\"'. \n"), keepWord)
}

// submit takes the text in, or says what is wrong with it.
func (s *session) submit(in submitArgs) error {
	text := strings.TrimSpace(strings.ReplaceAll(in.Summary, "\r\n", "\n"))
	if isKeep(text) {
		if s.item.Old == nil {
			return errors.New("there is no summary to keep yet: write one")
		}
		s.draft.Keep, s.done = true, true
		return nil
	}
	if err := badWords(text); err != nil {
		return err
	}
	s.draft.Text, s.draft.Files, s.done = text, make(map[repo.Path]string), true
	s.draft.Partial = in.Completeness == "partial"
	for _, f := range s.item.Files {
		for _, name := range []string{f.Path.Base(), string(f.Path)} {
			said := strings.TrimSpace(strings.ReplaceAll(in.Files[name], "\r\n", "\n"))
			if badText(said) == nil {
				s.draft.Files[f.Path] = said
			}
		}
	}
	return nil
}

// Ask asks one question, without tools.
func (t *ModelDescriber) Ask(ctx context.Context, rules, question string) (string, Spent, error) {
	s := &session{ModelDescriber: t}
	reply, err := s.turn(ctx, model.Request{System: rules, MaxTokens: replyTokens, Messages: []model.Message{model.Ask(question)}})
	return reply.Text, s.draft.Spent, err
}
