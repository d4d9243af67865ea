package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"ken/internal/model"
)

// openai implements the Chat Completions API.
type openai struct{}

func (openai) name() string { return "openai" }

func (openai) allowed(h http.Header) bool { return h.Get("Authorization") == "Bearer "+Key }

func (openai) kind(status int) string {
	switch {
	case status == 401:
		return "invalid_api_key"
	case status == 404:
		return "model_not_found"
	case status == 429:
		return "rate_limit_exceeded"
	case status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

func (openai) refuse(kind, message string) []byte {
	return encode(map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": kind}})
}

type openaiCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (openai) parse(_ http.Header, body []byte, _ *Server) (string, model.Request, string) {
	var in struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string       `json:"role"`
			Content *string      `json:"content"`
			Calls   []openaiCall `json:"tool_calls"`
			CallID  string       `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Type     string `json:"type"`
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Stream  bool `json:"stream"`
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		Limit    int `json:"max_tokens"`
		NewLimit int `json:"max_completion_tokens"`
	}
	fail := func(format string, args ...any) (string, model.Request, string) {
		return "", model.Request{}, fmt.Sprintf(format, args...)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return fail("%v", err)
	}
	switch {
	case in.Model == "":
		return fail("you must provide a model parameter")
	case !in.Stream || !in.Options.Usage:
		return fail("stream: this server streams only, and counts")
	case len(in.Messages) == 0:
		return fail("[] is too short - 'messages'")
	}
	req := model.Request{MaxTokens: in.Limit + in.NewLimit}
	for _, t := range in.Tools {
		if t.Type != "function" || !bytes.HasPrefix(bytes.TrimSpace(t.Function.Parameters), []byte("{")) {
			return fail("invalid tool")
		}
		req.Tools = append(req.Tools, model.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	var open []model.Call
	var results []model.Result
	settle := func() string {
		problem := answered(open, results)
		if problem == "" && len(results) > 0 {
			req.Messages = append(req.Messages, model.Message{Results: results})
		}
		open, results = nil, nil
		return problem
	}
	for i, m := range in.Messages {
		content := ""
		if m.Content != nil {
			content = *m.Content
		}
		if m.Role == "tool" {
			after, failed := strings.CutPrefix(content, "error: ")
			results = append(results, model.Result{ID: m.CallID, Text: after, Failed: failed})
			continue
		}
		if problem := settle(); problem != "" {
			return fail("messages.%d: %s", i, problem)
		}
		switch m.Role {
		case "system":
			req.System += content
		case "user":
			req.Messages = append(req.Messages, model.Ask(content))
		case "assistant":
			if m.Content == nil && len(m.Calls) == 0 {
				return fail("messages.%d: an assistant message must have content or tool_calls", i)
			}
			for _, c := range m.Calls {
				if c.Type != "function" || !json.Valid([]byte(c.Function.Arguments)) {
					return fail("messages.%d: invalid tool_calls", i)
				}
				open = append(open, model.Call{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
			}
			req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: content, Calls: open})
		default:
			return fail("messages.%d.role: unexpected role %q", i, m.Role)
		}
	}
	if problem := settle(); problem != "" {
		return fail("messages: %s", problem)
	}
	return in.Model, req, ""
}

func (openai) write(n int, modelName string, sent int, a Answer) []byte {
	var out bytes.Buffer
	chunk := func(choices []any, usage any) {
		fmt.Fprintf(&out, "data: %s\n\n", encode(map[string]any{
			"id": fmt.Sprintf("chatcmpl-%08d", n), "object": "chat.completion.chunk", "created": 1700000000,
			"model": modelName, "choices": choices, "usage": usage,
		}))
	}
	delta := func(d map[string]any, finish any) {
		chunk([]any{map[string]any{"index": 0, "delta": d, "finish_reason": finish, "logprobs": nil}}, nil)
	}
	delta(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, s := range pieces(a.Thinking) {
		delta(map[string]any{"reasoning_content": s}, nil)
	}
	for _, s := range pieces(a.Text) {
		delta(map[string]any{"content": s}, nil)
	}
	if a.Error != "" {
		fmt.Fprintf(&out, "data: %s\n\n", openai{}.refuse(a.Error, a.Message))
		return out.Bytes()
	}
	for i, c := range a.Calls {
		call := func(fields map[string]any) {
			fields["index"] = i
			delta(map[string]any{"tool_calls": []any{fields}}, nil)
		}
		call(map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}})
		for _, s := range pieces(string(c.Args)) {
			call(map[string]any{"function": map[string]any{"arguments": s}})
		}
	}
	delta(map[string]any{}, [...]string{"", "stop", "tool_calls", "length", "content_filter"}[a.stop()])
	u := a.usage(sent)
	chunk([]any{}, map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": map[string]any{"cached_tokens": u.Cached},
	})
	if !a.NoEnd {
		out.WriteString("data: [DONE]\n\n")
	}
	return out.Bytes()
}
