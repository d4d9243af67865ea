package modeltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"ken/internal/model"
)

// anthropic implements the Messages API.
type anthropic struct{}

func (anthropic) name() string { return "anthropic" }

func (anthropic) allowed(h http.Header) bool { return h.Get("X-Api-Key") == Key }

func (anthropic) kind(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 402:
		return "billing_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 504:
		return "timeout_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

func (anthropic) refuse(kind, message string) []byte {
	return encode(map[string]any{
		"type": "error", "request_id": "req_0",
		"error": map[string]any{"type": kind, "message": message},
	})
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	CallID    string          `json:"tool_use_id"`
	Content   string          `json:"content"`
	IsError   bool            `json:"is_error"`
	Cache     *struct {
		Type string `json:"type"`
	} `json:"cache_control"`
}

func (anthropic) parse(h http.Header, body []byte, s *Server) (string, model.Request, string) {
	var in struct {
		Model     string           `json:"model"`
		MaxTokens int              `json:"max_tokens"`
		Stream    bool             `json:"stream"`
		System    []anthropicBlock `json:"system"`
		Tools     []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
			Cache       any             `json:"cache_control"`
		} `json:"tools"`
		Messages []struct {
			Role    string           `json:"role"`
			Content []anthropicBlock `json:"content"`
		} `json:"messages"`
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
	case h.Get("Anthropic-Version") != "2023-06-01":
		return fail("anthropic-version: header is required")
	case in.Model == "":
		return fail("model: field required")
	case in.MaxTokens < 1:
		return fail("max_tokens: must be greater than or equal to 1")
	case !in.Stream:
		return fail("stream: this server streams only")
	case len(in.Messages) == 0 || in.Messages[0].Role != "user":
		return fail("messages: first message must use the \"user\" role")
	}
	marks := 0
	req := model.Request{MaxTokens: in.MaxTokens}
	for i, b := range in.System {
		if b.Type != "text" || b.Text == "" {
			return fail("system.%d: text content blocks must be non-empty", i)
		}
		if b.Cache != nil {
			marks++
		}
		req.System += b.Text
	}
	for i, t := range in.Tools {
		if !bytes.HasPrefix(bytes.TrimSpace(t.Schema), []byte("{")) {
			return fail("tools.%d.input_schema: input should be an object", i)
		}
		if t.Cache != nil {
			marks++
		}
		req.Tools = append(req.Tools, model.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	var open []model.Call
	for i, m := range in.Messages {
		msg := model.Message{}
		if m.Role == "assistant" {
			msg.Role = model.Assistant
		} else if m.Role != "user" {
			return fail("messages.%d.role: unexpected role %q", i, m.Role)
		}
		if len(m.Content) == 0 {
			return fail("messages.%d: all messages must have non-empty content", i)
		}
		thought := ""
		for j, b := range m.Content {
			if b.Cache != nil {
				marks++
			}
			switch at := fmt.Sprintf("messages.%d.content.%d", i, j); {
			case b.Type == "text" && b.Text == "":
				return fail("%s: text content blocks must be non-empty", at)
			case b.Type == "text":
				msg.Text += b.Text
			case b.Type == "thinking" && msg.Role == model.Assistant:
				if b.Signature != signature(b.Thinking) {
					return fail("%s: invalid `signature` in `thinking` block", at)
				}
				thought = b.Signature
			case b.Type == "tool_use" && msg.Role == model.Assistant:
				if !bytes.HasPrefix(b.Input, []byte("{")) {
					return fail("%s.tool_use.input: input should be a valid dictionary", at)
				}
				if want := s.thought(b.ID); want != thought {
					return fail("%s: expected `thinking`, but found `tool_use`", at)
				}
				msg.Calls = append(msg.Calls, model.Call{ID: b.ID, Name: b.Name, Args: b.Input})
			case b.Type == "tool_result" && msg.Role == model.User && msg.Text == "":
				msg.Results = append(msg.Results, model.Result{ID: b.CallID, Text: b.Content, Failed: b.IsError})
			default:
				return fail("%s: unexpected block %q", at, b.Type)
			}
		}
		if msg.Role == model.User {
			if problem := answered(open, msg.Results); problem != "" {
				return fail("messages.%d: %s", i, problem)
			}
		} else if len(open) > 0 {
			return fail("messages.%d: calls are open", i)
		}
		open = msg.Calls
		req.Messages = append(req.Messages, msg)
	}
	if len(open) > 0 {
		return fail("the last calls are open")
	}
	if marks > 4 {
		return fail("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}
	return in.Model, req, ""
}

// thought returns the signature of the thinking before a call.
func (s *Server) thought(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signed[id]
}

// signature returns the signature of a thinking block, so that the server detects changes.
func signature(thinking string) string {
	sum := sha256.Sum256([]byte("signed: " + thinking))
	return hex.EncodeToString(sum[:])
}

func (anthropic) write(n int, modelName string, sent int, a Answer) []byte {
	var out bytes.Buffer
	event := func(kind string, fields map[string]any) {
		fields["type"] = kind
		fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", kind, encode(fields))
	}
	u := a.usage(sent)
	event("message_start", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("msg_%08d", n), "type": "message", "role": "assistant", "model": modelName,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens":                u.Input - u.Cached - u.Written,
			"cache_creation_input_tokens": u.Written, "cache_read_input_tokens": u.Cached,
			"output_tokens": 1,
		},
	}})
	event("ping", map[string]any{})
	index := 0
	block := func(start map[string]any, kind, field string, deltas []string, more ...map[string]any) {
		event("content_block_start", map[string]any{"index": index, "content_block": start})
		for _, d := range deltas {
			event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": kind, field: d}})
		}
		for _, d := range more {
			event("content_block_delta", map[string]any{"index": index, "delta": d})
		}
		event("content_block_stop", map[string]any{"index": index})
		index++
	}
	if a.Thinking != "" {
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", pieces(a.Thinking),
			map[string]any{"type": "signature_delta", "signature": signature(a.Thinking)})
	}
	if a.Text != "" {
		block(map[string]any{"type": "text", "text": ""}, "text_delta", "text", pieces(a.Text))
	}
	if a.Error != "" {
		event("error", map[string]any{"error": map[string]any{"type": a.Error, "message": a.Message}})
		return out.Bytes()
	}
	for _, c := range a.Calls {
		event("ping", map[string]any{})
		block(map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}}, "input_json_delta", "partial_json",
			append([]string{""}, pieces(string(c.Args))...))
	}
	stop := a.stop().String()
	if stop == "end" {
		stop = "end_turn"
	}
	event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": u.Output},
	})
	if !a.NoEnd {
		event("message_stop", map[string]any{})
	}
	return out.Bytes()
}

// encode encodes a value that is always valid JSON.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
