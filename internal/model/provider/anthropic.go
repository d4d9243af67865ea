package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"ken/internal/model"
)

// anthropic implements the Messages API. https://platform.claude.com/docs/en/api/messages
type anthropic struct{ model string }

func newAnthropic(model string, _ endpoint) wire { return anthropic{model: model} }

type (
	anthropicRequest struct {
		Model     string             `json:"model"`
		MaxTokens int                `json:"max_tokens"`
		Stream    bool               `json:"stream"`
		System    []anthropicBlock   `json:"system,omitempty"`
		Tools     []anthropicTool    `json:"tools,omitempty"`
		Messages  []anthropicMessage `json:"messages"`
	}
	anthropicTool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"input_schema"`
		Cache       *cacheControl   `json:"cache_control,omitempty"`
	}
	anthropicMessage struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	// An anthropicBlock is any block that ken sends: text, a tool call or a tool result.
	anthropicBlock struct {
		Type    string          `json:"type"`
		Text    string          `json:"text,omitempty"`
		ID      string          `json:"id,omitempty"`
		Name    string          `json:"name,omitempty"`
		Input   json.RawMessage `json:"input,omitempty"`
		CallID  string          `json:"tool_use_id,omitempty"`
		Content string          `json:"content,omitempty"`
		IsError bool            `json:"is_error,omitempty"`
		Cache   *cacheControl   `json:"cache_control,omitempty"`
	}
	cacheControl struct {
		Type string `json:"type"`
	}
)

var emptySchema = json.RawMessage(`{"type":"object","properties":{}}`)

// body encodes a request. It sets three cache marks: after the tools and the system prompt, which conversations
// share, and after the last two messages of the user, because the next turn reads the cache that this turn writes.
func (a anthropic) body(req model.Request) ([]byte, error) {
	out := anthropicRequest{Model: a.model, MaxTokens: req.MaxTokens, Stream: true}
	keep := &cacheControl{Type: "ephemeral"}
	for _, t := range req.Tools {
		schema := t.Schema
		if schema == nil {
			schema = emptySchema
		}
		out.Tools = append(out.Tools, anthropicTool{Name: t.Name, Description: t.Description, Schema: schema})
	}
	if req.System != "" {
		out.System = []anthropicBlock{{Type: "text", Text: req.System, Cache: keep}}
	} else if n := len(out.Tools); n > 0 {
		out.Tools[n-1].Cache = keep
	}
	marks := 0 // the number of marks set, from the last message back
	for _, m := range req.Messages {
		if m.Role == model.User {
			marks++
		}
	}
	for _, m := range req.Messages {
		var blocks []anthropicBlock
		if m.Role == model.User {
			blocks = userBlocks(m)
			if n := len(blocks); n > 0 && marks <= 2 {
				blocks[n-1].Cache = keep
			}
			marks--
		} else {
			var raw []json.RawMessage
			if json.Unmarshal(m.Raw, &raw) == nil && len(raw) > 0 {
				out.Messages = append(out.Messages, anthropicMessage{Role: m.Role.String(), Content: raw})
				continue
			}
			blocks = assistantBlocks(m)
		}
		if len(blocks) == 0 {
			continue // the API rejects empty messages
		}
		msg := anthropicMessage{Role: m.Role.String()}
		for _, b := range blocks {
			raw, err := json.Marshal(b)
			if err != nil {
				return nil, fmt.Errorf("write the request: %w", err)
			}
			msg.Content = append(msg.Content, raw)
		}
		out.Messages = append(out.Messages, msg)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return b, nil
}

// userBlocks returns the blocks of a user message; the API requires results first.
func userBlocks(m model.Message) []anthropicBlock {
	var blocks []anthropicBlock
	for _, r := range m.Results {
		blocks = append(blocks, anthropicBlock{Type: "tool_result", CallID: r.ID, Content: r.Text, IsError: r.Failed})
	}
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, anthropicBlock{Type: "text", Text: m.Text})
	}
	return blocks
}

// assistantBlocks returns the blocks of a message of the model.
func assistantBlocks(m model.Message) []anthropicBlock {
	var blocks []anthropicBlock
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, anthropicBlock{Type: "text", Text: m.Text})
	}
	for _, c := range m.Calls {
		blocks = append(blocks, anthropicBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: arguments(c)})
	}
	return blocks
}

// arguments returns the arguments of a call, or {} if they are not an object.
func arguments(c model.Call) json.RawMessage {
	if c.Err != nil || len(c.Args) == 0 || !json.Valid(c.Args) {
		return json.RawMessage("{}")
	}
	return c.Args
}

func (anthropic) header(h http.Header, key string) {
	h.Set("Anthropic-Version", "2023-06-01")
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

func (anthropic) adapt(apiError) bool { return false }

func (anthropic) listen(_ []byte, text func(string)) reading {
	return &anthropicReading{text: text, blocks: make(map[int]*anthropicPart)}
}

// An anthropicReading decodes a response while it arrives: a start, blocks in pieces, the stop reason and an end.
type anthropicReading struct {
	text    func(string)
	reply   model.Reply
	begun   bool
	stopped bool // the stop reason has arrived; only the end follows
	counted bool // the provider has reported the output tokens
	order   []*anthropicPart
	blocks  map[int]*anthropicPart
	wrote   int // bytes of output
}

// An anthropicPart is a block of the response.
type anthropicPart struct {
	kind, id, name          string
	fields                  map[string]json.RawMessage // from the start event
	text, think, sign, args strings.Builder
}

type anthropicEvent struct {
	Type    string `json:"type"`
	Message struct {
		Model string          `json:"model"`
		Usage *anthropicUsage `json:"usage"`
	} `json:"message"`
	Index int                        `json:"index"`
	Block map[string]json.RawMessage `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		JSON       string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage *anthropicUsage `json:"usage"`
}

// anthropicUsage is the usage as the API reports it: input does not include the tokens read from or written to the
// cache.
type anthropicUsage struct {
	Input   *int64 `json:"input_tokens"`
	Written *int64 `json:"cache_creation_input_tokens"`
	Cached  *int64 `json:"cache_read_input_tokens"`
	Output  *int64 `json:"output_tokens"`
}

// event decodes one event by the type in its data, which repeats the event's name. It ignores unknown types: the
// API may add some at any time.
func (r *anthropicReading) event(name string, data []byte) (bool, *failure) {
	e := anthropicEvent{Type: name}
	if err := json.Unmarshal(data, &e); err != nil {
		return false, &failure{reason: model.BadAnswer, text: fmt.Sprintf("an event %q is not JSON: %v", name, err)}
	}
	switch e.Type {
	case "message_start":
		r.begun, r.reply.Model = true, e.Message.Model
		r.count(e.Message.Usage)
	case "content_block_start":
		return false, r.start(e)
	case "content_block_delta":
		p := r.blocks[e.Index]
		if p == nil {
			return false, &failure{reason: model.BadAnswer, text: "the answer continues a block that has not started"}
		}
		r.piece(p, e)
	case "message_delta":
		r.count(e.Usage)
		r.counted = r.counted || e.Usage != nil && e.Usage.Output != nil
		if e.Delta.StopReason != "" {
			r.stopped, r.reply.StopName = true, e.Delta.StopReason
		}
	case "message_stop":
		if !r.stopped {
			return false, &failure{reason: model.BadAnswer, text: "the answer ends without a stop reason"}
		}
		return true, nil
	case "error":
		return false, parseAPIError(data).inStream()
	}
	return false, nil
}

func (r *anthropicReading) start(e anthropicEvent) *failure {
	if r.blocks[e.Index] != nil {
		return &failure{reason: model.BadAnswer, text: "the answer starts a block twice"}
	}
	if e.Block == nil {
		return &failure{reason: model.BadAnswer, text: "the answer starts an empty block"}
	}
	p := &anthropicPart{fields: e.Block}
	str := func(field string) string {
		var s string
		_ = json.Unmarshal(e.Block[field], &s) // "" if it is not a string
		return s
	}
	p.kind, p.id, p.name = str("type"), str("id"), str("name")
	r.blocks[e.Index], r.order = p, append(r.order, p)
	p.think.WriteString(str("thinking"))
	p.sign.WriteString(str("signature"))
	if s := str("text"); p.kind == "text" && s != "" {
		p.text.WriteString(s)
		r.text(s)
	}
	return nil
}

func (r *anthropicReading) piece(p *anthropicPart, e anthropicEvent) {
	d := e.Delta
	r.wrote += len(d.Text) + len(d.Thinking) + len(d.JSON)
	switch d.Type {
	case "text_delta":
		p.text.WriteString(d.Text)
		if d.Text != "" {
			r.text(d.Text)
		}
	case "thinking_delta":
		p.think.WriteString(d.Thinking)
	case "signature_delta":
		p.sign.WriteString(d.Signature)
	case "input_json_delta":
		p.args.WriteString(d.JSON)
	}
}

// count stores the latest counts. Each event reports the totals of the whole response.
func (r *anthropicReading) count(u *anthropicUsage) {
	if u == nil {
		return
	}
	set := func(to *int64, from *int64) {
		if from != nil {
			*to = count(*from)
		}
	}
	n := &r.reply.Usage
	plain := n.Input - n.Cached - n.Written
	set(&plain, u.Input)
	set(&n.Cached, u.Cached)
	set(&n.Written, u.Written)
	set(&n.Output, u.Output)
	n.Input = plain + n.Cached + n.Written
}

// whole rejects a response without events: this API always streams.
func (r *anthropicReading) whole([]byte) *failure {
	return &failure{reason: model.BadAnswer, text: "the answer is not a stream of events"}
}

func (r *anthropicReading) answer() (answer, bool) {
	a := answer{Reply: r.reply, reached: r.begun}
	if !r.counted && r.begun {
		a.Usage.Output = max(a.Usage.Output, model.EstimateTokens(r.wrote))
		a.Usage.Estimated = true
	}
	var text strings.Builder
	var raw []map[string]json.RawMessage
	for _, p := range r.order {
		set := func(field, value string) {
			b, _ := json.Marshal(value) // a string can always be encoded
			p.fields[field] = b
		}
		switch p.kind {
		case "text":
			text.WriteString(p.text.String())
			if set("text", p.text.String()); strings.TrimSpace(p.text.String()) == "" {
				continue // the API would reject an empty text in the next turn
			}
		case "thinking":
			if p.sign.Len() == 0 {
				continue // cut off, and the API would reject it in the next turn
			}
			set("thinking", p.think.String())
			set("signature", p.sign.String())
		case "tool_use":
			args := p.args.String()
			if args == "" {
				args = string(p.fields["input"])
			}
			c := newCall(p.id, p.name, args)
			p.fields["input"] = c.Args
			a.Calls = append(a.Calls, c)
		}
		raw = append(raw, p.fields)
	}
	a.Text = text.String()
	a.Stop = anthropicStop(a.StopName)
	if raw != nil {
		a.Raw, _ = json.Marshal(raw) // the parts were decoded from JSON
	}
	return a, r.stopped
}

func anthropicStop(why string) model.Stop {
	switch why {
	case "end_turn", "stop_sequence":
		return model.End
	case "tool_use":
		return model.ToolUse
	case "max_tokens", "model_context_window_exceeded":
		return model.MaxTokens
	case "refusal":
		return model.Refusal
	}
	return model.Unknown
}
