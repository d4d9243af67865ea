package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"ken/internal/model"
)

// openai implements the Chat Completions API. Many other servers offer it too: Ollama, vLLM, llama.cpp, gateways.
// They differ in details, and this code reads all of their variants.
// https://platform.openai.com/docs/api-reference/chat
type openai struct {
	model string
	// newLimit selects max_completion_tokens instead of max_tokens. Newer models of OpenAI require it, and other
	// servers may not know it.
	newLimit *atomic.Bool
}

func newOpenAI(model string, ep endpoint) wire {
	w := openai{model: model, newLimit: new(atomic.Bool)}
	w.newLimit.Store(ep.own)
	return w
}

type (
	openaiRequest struct {
		Model    string          `json:"model"`
		Messages []openaiMessage `json:"messages"`
		Tools    []openaiTool    `json:"tools,omitempty"`
		Stream   bool            `json:"stream"`
		Options  struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		Limit    int `json:"max_tokens,omitempty"`
		NewLimit int `json:"max_completion_tokens,omitempty"`
	}
	openaiMessage struct {
		Role    string       `json:"role"`
		Content *string      `json:"content"`
		Calls   []openaiCall `json:"tool_calls,omitempty"`
		CallID  string       `json:"tool_call_id,omitempty"`
	}
	openaiTool struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description,omitempty"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	openaiCall struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
)

// body encodes a request. The messages keep their order, because the provider caches the beginning of a
// conversation without being asked.
func (o openai) body(req model.Request) ([]byte, error) {
	out := openaiRequest{Model: o.model, Stream: true}
	out.Options.Usage = true
	if o.newLimit.Load() {
		out.NewLimit = req.MaxTokens
	} else {
		out.Limit = req.MaxTokens
	}
	say := func(role, text string) *openaiMessage {
		out.Messages = append(out.Messages, openaiMessage{Role: role, Content: &text})
		return &out.Messages[len(out.Messages)-1]
	}
	if req.System != "" {
		say("system", req.System)
	}
	for _, m := range req.Messages {
		if m.Role == model.Assistant {
			if m.Text == "" && len(m.Calls) == 0 {
				continue
			}
			said := say("assistant", m.Text)
			if m.Text == "" {
				said.Content = nil
			}
			for _, c := range m.Calls {
				call := openaiCall{ID: c.ID, Type: "function"}
				call.Function.Name, call.Function.Arguments = c.Name, string(arguments(c))
				said.Calls = append(said.Calls, call)
			}
			continue
		}
		for _, r := range m.Results {
			text := r.Text
			if r.Failed {
				text = "error: " + text // this API has no field for a failed call
			}
			say("tool", text).CallID = r.ID
		}
		if m.Text != "" {
			say("user", m.Text)
		}
	}
	for _, t := range req.Tools {
		tool := openaiTool{Type: "function"}
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = t.Name, t.Description, t.Schema
		if t.Schema == nil {
			tool.Function.Parameters = emptySchema
		}
		out.Tools = append(out.Tools, tool)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return b, nil
}

func (openai) header(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// adapt switches to the other name of the limit if a server rejects the current one.
func (o openai) adapt(c apiError) bool {
	const older, newer = "max_tokens", "max_completion_tokens"
	switch {
	case c.Param == older && c.is("unsupported_parameter"), c.says("use '" + newer + "' instead"):
		o.newLimit.Store(true)
	case c.Param == newer && c.is("unsupported_parameter"), c.says("unrecognized request argument supplied: " + newer):
		o.newLimit.Store(false)
	default:
		return false
	}
	return true
}

func (openai) listen(sent []byte, text func(string)) reading {
	return &openaiReading{text: text, sent: len(sent)}
}

// An openaiReading decodes a response while it arrives: pieces of one message, the stop reason with the last
// piece, then the token counts.
type openaiReading struct {
	text    func(string)
	sent    int
	reply   model.Reply
	said    strings.Builder
	refusal strings.Builder
	calls   []*openaiPart
	begun   bool
	counted bool
	wrote   int
}

// An openaiPart is an incomplete tool call.
type openaiPart struct {
	index    int
	id, name string
	args     strings.Builder
}

type (
	openaiChunk struct {
		Error   json.RawMessage `json:"error"`
		Model   string          `json:"model"`
		Choices []struct {
			Index   int         `json:"index"`
			Delta   openaiDelta `json:"delta"`
			Message openaiDelta `json:"message"` // of a response that is not a stream
			Finish  string      `json:"finish_reason"`
		} `json:"choices"`
		Usage *struct {
			Input   int64 `json:"prompt_tokens"`
			Output  int64 `json:"completion_tokens"`
			Details struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		} `json:"usage"`
	}
	openaiDelta struct {
		Content   string `json:"content"`
		Refusal   string `json:"refusal"`
		Reasoning string `json:"reasoning_content"`
		Calls     []struct {
			Index    int    `json:"index"`
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
)

func (r *openaiReading) event(_ string, data []byte) (bool, *failure) {
	if strings.TrimSpace(string(data)) == "[DONE]" {
		if r.reply.StopName == "" {
			return false, unfinished("the answer ends without a stop reason")
		}
		return true, nil
	}
	return false, r.whole(data)
}

// whole decodes a chunk, or a response that is not a stream: only one field differs.
func (r *openaiReading) whole(data []byte) *failure {
	var c openaiChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return &failure{reason: model.BadAnswer, text: fmt.Sprintf("invalid event in the answer: %v", err)}
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return parseAPIError(data).inStream()
	}
	r.begun = true
	if c.Model != "" {
		r.reply.Model = c.Model
	}
	if u := c.Usage; u != nil {
		r.counted = true
		r.reply.Usage = model.Usage{Input: count(u.Input), Output: count(u.Output)}
		r.reply.Usage.Cached = min(count(u.Details.Cached), r.reply.Usage.Input)
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // ken asks for one choice
		}
		r.piece(choice.Delta)
		r.piece(choice.Message)
		if len(r.calls) > maxCalls {
			return &failure{reason: model.BadAnswer, text: fmt.Sprintf("more than %d calls in one answer", maxCalls)}
		}
		if choice.Finish != "" {
			r.reply.StopName = choice.Finish
		}
	}
	return nil
}

func (r *openaiReading) piece(d openaiDelta) {
	r.wrote += len(d.Content) + len(d.Reasoning) + len(d.Refusal)
	if d.Content != "" {
		r.said.WriteString(d.Content)
		r.text(d.Content)
	}
	r.refusal.WriteString(d.Refusal)
	for _, c := range d.Calls {
		if len(r.calls) > maxCalls {
			return
		}
		p := r.call(c.Index, c.ID, c.Function.Name)
		if c.ID != "" {
			p.id = c.ID
		}
		if c.Function.Name != "" {
			p.name = c.Function.Name
		}
		args := string(c.Function.Arguments)
		var s string
		if json.Unmarshal(c.Function.Arguments, &s) == nil {
			args = s // a string according to the API; some servers send the object itself
		}
		p.args.WriteString(args)
		r.wrote += len(args)
	}
}

// call returns the call that a piece belongs to. A piece with a name and another id starts a new call, because
// some servers give every call the index 0.
func (r *openaiReading) call(index int, id, name string) *openaiPart {
	for i := len(r.calls) - 1; i >= 0; i-- {
		if p := r.calls[i]; p.index == index {
			if name != "" && id != "" && p.id != "" && id != p.id {
				break
			}
			return p
		}
	}
	p := &openaiPart{index: index}
	r.calls = append(r.calls, p)
	return p
}

func (r *openaiReading) answer() (answer, bool) {
	a := answer{Reply: r.reply, reached: r.begun}
	a.Text = r.said.String()
	for i, p := range r.calls {
		if p.id == "" {
			p.id = fmt.Sprintf("call_%d", i)
		}
		a.Calls = append(a.Calls, newCall(p.id, p.name, p.args.String()))
	}
	a.Stop = openaiStop(a.StopName)
	if a.Stop == model.End && len(a.Calls) > 0 {
		a.Stop = model.ToolUse // some servers send another reason
	}
	if r.refusal.Len() > 0 {
		a.Text, a.Stop = a.Text+r.refusal.String(), model.Refusal
	}
	if !r.counted && r.begun {
		a.Usage.Input, a.Usage.Output = model.EstimateTokens(r.sent), model.EstimateTokens(r.wrote)
		a.Usage.Estimated = true
	}
	return a, a.StopName != ""
}

func openaiStop(why string) model.Stop {
	switch why {
	case "stop":
		return model.End
	case "tool_calls", "function_call":
		return model.ToolUse
	case "length":
		return model.MaxTokens
	case "content_filter":
		return model.Refusal
	}
	return model.Unknown
}
