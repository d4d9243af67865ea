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

// A Thinker has a model describe directories. The model may look around in the tree
// with tools that only read, and hands its text in with one of them.
type Thinker struct {
	Model model.Model
	Tree  Tree
	// Turns is how often the model may be asked about one directory; DefaultTurns
	// when 0.
	Turns int
	// Plain has the model told everything at once, and takes its answer as it is: for
	// one that cannot call tools.
	Plain bool

	about string // the repository, as was made out beforehand
}

// Know tells it what the repository seems to be.
func (t *Thinker) Know(about string) { t.about = about }

// How far a model may go about one directory.
const (
	DefaultTurns = 12
	shallowTurns = 3
	replyTokens  = 4096
)

// Author is the model.
func (t *Thinker) Author() string { return t.Model.Name() }

// Recipe is the prompt and the model.
func (t *Thinker) Recipe() string { return "prompt/" + PromptVersion + " " + t.Model.Name() }

// toolRules is what a model with tools is told besides.
const toolRules = `

You may look at the repository with the tools before you write; they only read, and see tracked files alone. Read what you need and no more. Use flag for something that people should look at, such as a bug or a secret. When you know enough, call submit, once.`

// Write asks the model.
func (t *Thinker) Write(ctx context.Context, it *Item) (Draft, error) {
	if t.Plain {
		return t.writePlain(ctx, it)
	}
	s := &session{Thinker: t, item: it}
	turns := t.Turns
	if turns == 0 {
		turns = DefaultTurns
	}
	if it.Rank == RankShallow {
		turns = min(turns, shallowTurns)
	}
	req := model.Request{System: Rules + toolRules, Tools: tools(), MaxTokens: replyTokens, Messages: []model.Message{model.Ask(t.prompt(it))}}
	for turn := range turns {
		reply, err := s.turn(ctx, req)
		if err != nil {
			return s.draft, err
		}
		if s.done {
			return s.draft, nil
		}
		next := model.Ask("Call submit with your text now.")
		switch {
		case len(reply.Calls) > 0:
			next = model.Answer(s.results...)
			if turn == turns-2 {
				next.Text = "That was the last look. Call submit with your text now."
			}
		case reply.Stop == model.Refusal:
			return s.draft, errors.New("the model will not describe it")
		}
		req.Messages = append(req.Messages, reply.Message(), next)
	}
	return s.draft, fmt.Errorf("the model did not submit a text within %d turns", turns)
}

// prompt is what the model is told about an item.
func (t *Thinker) prompt(it *Item) string {
	if t.about == "" {
		return it.Prompt()
	}
	return "What the repository seems to be:\n" + fence(t.about) + "\n\n" + it.Prompt()
}

// writePlain asks once, and takes the answer for the text: as it is, or as JSON.
func (t *Thinker) writePlain(ctx context.Context, it *Item) (Draft, error) {
	s := &session{Thinker: t, item: it}
	reply, err := s.turn(ctx, model.Request{System: Rules, MaxTokens: replyTokens, Messages: []model.Message{model.Ask(t.prompt(it))}})
	if err != nil {
		return s.draft, err
	}
	text := strings.TrimSpace(reply.Text)
	var in submitArgs
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &in) == nil && in.Summary != "" {
		return s.draft, s.submit(in)
	}
	return s.draft, s.submit(submitArgs{Summary: text})
}

// A session is one conversation about one directory.
type session struct {
	*Thinker
	item    *Item
	draft   Draft
	done    bool
	results []model.Result
}

// turn asks the model and carries out what it calls for.
func (s *session) turn(ctx context.Context, req model.Request) (model.Reply, error) {
	reply, err := s.Model.Turn(ctx, req, model.Listener{})
	s.draft.Spent = s.draft.Spent.Add(Spent{
		Calls: reply.Usage.Requests, In: reply.Usage.Input, Out: reply.Usage.Output,
		Cost: reply.Cost.USD, Unknown: !reply.Cost.Known(),
	})
	if err != nil {
		if model.ReasonOf(err).Hopeless() {
			err = fmt.Errorf("%w (%w)", err, ErrHopeless)
		}
		return reply, err
	}
	s.results = nil
	for _, c := range reply.Calls {
		text, err := s.call(ctx, c)
		if err != nil {
			s.results = append(s.results, c.Fail(err))
			continue
		}
		s.results = append(s.results, c.Result(text))
	}
	return reply, ctx.Err()
}

// keepWord is the answer that says that nothing is to be changed.
const keepWord = "keep"

// isKeep reports whether an answer says that nothing is to be changed.
func isKeep(text string) bool {
	return strings.EqualFold(strings.Trim(text, "`\"'. \n"), keepWord)
}

// submit takes the text in, or says what is wrong with it.
func (s *session) submit(in submitArgs) error {
	text := strings.TrimSpace(in.Summary)
	if isKeep(text) {
		if s.item.Old == nil {
			return errors.New("there is no text yet that could be kept: write one")
		}
		s.draft.Keep, s.done = true, true
		return nil
	}
	if err := badText(text); err != nil {
		return err
	}
	s.draft.Text, s.draft.Files, s.done = text, make(map[repo.Path]string), true
	s.draft.Partial = in.Completeness == "partial"
	for _, f := range s.item.Files {
		for _, name := range []string{f.Path.Base(), string(f.Path)} {
			if said, ok := in.Files[name]; ok && badText(said) == nil {
				s.draft.Files[f.Path] = strings.TrimSpace(said)
			}
		}
	}
	return nil
}

// Ask asks one question, without tools.
func (t *Thinker) Ask(ctx context.Context, rules, question string) (string, Spent, error) {
	s := &session{Thinker: t}
	reply, err := s.turn(ctx, model.Request{System: rules, MaxTokens: replyTokens, Messages: []model.Message{model.Ask(question)}})
	return reply.Text, s.draft.Spent, err
}
