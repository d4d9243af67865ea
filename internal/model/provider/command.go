package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"ken/internal/model"
)

// killDelay is the time that a killed program has to close its pipes.
const killDelay = 2 * time.Second

// A program is a model that runs as a local command. It reads the request from its standard input and writes the
// reply to its standard output; docs/manual/models.md describes both formats. It gets the environment of ken. When
// it ends, all processes that it started are killed.
type program struct {
	argv []string
	json bool
	max  int64
	hide redactor
}

// The JSON formats of the input and the output of a program.
type (
	programRequest struct {
		Version   int              `json:"version"`
		System    string           `json:"system"`
		Messages  []programMessage `json:"messages"`
		Tools     []programTool    `json:"tools"`
		MaxTokens int              `json:"max_tokens"`
	}
	programMessage struct {
		Role    string          `json:"role"`
		Text    string          `json:"text,omitempty"`
		Calls   []programCall   `json:"calls,omitempty"`
		Results []programResult `json:"results,omitempty"`
	}
	programTool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
	}
	programCall struct {
		ID        string          `json:"id,omitempty"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
	}
	programResult struct {
		ID    string `json:"id"`
		Text  string `json:"text"`
		Error bool   `json:"error,omitempty"`
	}
	programReply struct {
		Text  *string       `json:"text"`
		Calls []programCall `json:"calls"`
		Stop  string        `json:"stop"`
		Model string        `json:"model"`
		Usage *struct {
			Input   int64 `json:"input"`
			Cached  int64 `json:"cached"`
			Written int64 `json:"written"`
			Output  int64 `json:"output"`
		} `json:"usage"`
	}
)

func (p *program) ask(ctx context.Context, req model.Request, text func(string)) (answer, *failure) {
	in, err := p.prompt(req)
	if err != nil {
		return answer{}, &failure{reason: model.BadRequest, text: err.Error()}
	}
	out, t := p.run(ctx, in)
	// A program that was started may have cost something, even if it failed.
	spent := answer{reached: t == nil || t.reason != model.NoModel}
	if spent.reached {
		spent.Usage = model.Usage{Input: model.EstimateTokens(len(in)), Output: model.EstimateTokens(len(out)), Estimated: true}
	}
	if t != nil {
		return spent, t
	}
	a, t := p.read(out)
	a.reached = true
	if !a.Usage.Estimated && a.Usage.Tokens() == 0 {
		a.Usage = spent.Usage
	}
	if t == nil && a.Text != "" {
		text(a.Text)
	}
	return a, t
}

// prompt returns the input of the program.
func (p *program) prompt(req model.Request) ([]byte, error) {
	if !p.json {
		return []byte(plain(req)), nil
	}
	out := programRequest{
		Version: 1, System: req.System, MaxTokens: req.MaxTokens,
		Messages: []programMessage{}, Tools: []programTool{},
	}
	for _, m := range req.Messages {
		msg := programMessage{Role: m.Role.String(), Text: m.Text}
		for _, c := range m.Calls {
			msg.Calls = append(msg.Calls, programCall{ID: c.ID, Name: c.Name, Arguments: arguments(c)})
		}
		for _, r := range m.Results {
			msg.Results = append(msg.Results, programResult{ID: r.ID, Text: r.Text, Error: r.Failed})
		}
		out.Messages = append(out.Messages, msg)
	}
	for _, t := range req.Tools {
		schema := t.Schema
		if schema == nil {
			schema = emptySchema
		}
		out.Tools = append(out.Tools, programTool{Name: t.Name, Description: t.Description, Schema: schema})
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return append(b, '\n'), nil
}

// plain returns a conversation as text: the system prompt, then the messages. A single question is written as it
// is; with several messages, a line names the author of each.
func plain(req model.Request) string {
	var parts []string
	if req.System != "" {
		parts = append(parts, strings.TrimSpace(req.System))
	}
	for _, m := range req.Messages {
		if len(req.Messages) > 1 {
			parts = append(parts, "--- "+m.Role.String())
		}
		for _, r := range m.Results {
			parts = append(parts, r.Text)
		}
		if m.Text != "" {
			parts = append(parts, m.Text)
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// run starts the program and returns its output.
func (p *program) run(ctx context.Context, in []byte) ([]byte, *failure) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(running, p.argv[0], p.argv[1:]...)
	stdout := &limitedBuffer{max: int(p.max), full: stop}
	stderr := &limitedBuffer{max: maxErrorBody}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), stdout, stderr
	cmd.WaitDelay = killDelay
	kill := ownGroup(cmd)

	err := cmd.Run()
	if cmd.Process != nil && running.Err() != nil {
		kill() // the program may have exited just before and left child processes behind
	}
	name := p.argv[0]
	exit, exited := errors.AsType[*exec.ExitError](err)
	said := p.hide.clean(stderr.String())
	if said != "" {
		said = ": " + said
	}
	switch {
	case stdout.over:
		return stdout.Bytes(), &failure{reason: model.BadAnswer, text: fmt.Sprintf("%s printed more than %d bytes", name, p.max)}
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return stdout.Bytes(), &failure{reason: model.Down, text: name + " was stopped"}
	case cmd.Process == nil:
		return nil, &failure{
			reason: model.NoModel, text: fmt.Sprintf("cannot start %s: %v", name, err),
			hint: "put the program on the PATH, or set another one in survey.command of .ken/config.yaml",
		}
	case exited && exit.ExitCode() >= 0:
		return stdout.Bytes(), &failure{reason: model.Down, text: fmt.Sprintf("%s exited with status %d%s", name, exit.ExitCode(), said)}
	}
	return stdout.Bytes(), &failure{reason: model.Down, text: fmt.Sprintf("%s: %v%s", name, err, said)}
}

// read decodes the output of a program: plain text, or a reply if JSON is set. A JSON document that is not a reply
// counts as text.
func (p *program) read(out []byte) (answer, *failure) {
	bad := func(format string, args ...any) (answer, *failure) {
		return answer{}, &failure{reason: model.BadAnswer, text: p.argv[0] + " " + fmt.Sprintf(format, args...)}
	}
	switch {
	case len(bytes.TrimSpace(out)) == 0:
		return bad("printed nothing")
	case !utf8.Valid(out):
		return bad("printed something that is not text")
	}
	text := answer{Reply: model.Reply{Text: strings.TrimSpace(string(out)), Stop: model.End}}
	var fields map[string]json.RawMessage
	if !p.json || json.Unmarshal(out, &fields) != nil || fields["text"] == nil && fields["calls"] == nil {
		return text, nil
	}
	var r programReply
	if err := json.Unmarshal(out, &r); err != nil {
		return bad("printed an invalid reply: %v", err)
	}
	a := answer{Reply: model.Reply{Model: r.Model, StopName: r.Stop}}
	if r.Text != nil {
		a.Text = *r.Text
	}
	for i, c := range r.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", i)
		}
		a.Calls = append(a.Calls, newCall(c.ID, c.Name, string(c.Arguments)))
	}
	switch r.Stop {
	case "":
		a.Stop = model.End
		if len(a.Calls) > 0 {
			a.Stop = model.ToolUse
		}
	case "end", "tool_use", "max_tokens", "refusal":
		for s := model.End; s <= model.Refusal; s++ {
			if s.String() == r.Stop {
				a.Stop = s
			}
		}
	}
	if u := r.Usage; u != nil {
		in := count(u.Input)
		a.Usage = model.Usage{Input: in, Cached: min(count(u.Cached), in), Written: min(count(u.Written), in), Output: count(u.Output)}
	}
	return a, nil
}

// A limitedBuffer keeps the first max bytes and drops the rest. At the first dropped byte it calls full, if that
// is set.
type limitedBuffer struct {
	bytes.Buffer
	max  int
	over bool
	full func()
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if free := b.max - b.Len(); len(p) > free {
		b.over = true
		b.Buffer.Write(p[:free])
		if b.full != nil {
			b.full()
		}
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// ReadFrom hides the method of the embedded buffer, which has no limit.
func (b *limitedBuffer) ReadFrom(src io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, src)
}
