package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/testrepo"
)

// An agent reads summaries as resources. Each read has the current verdict.
func TestAgentReadsSummaryResources(t *testing.T) {
	r := testrepo.New(t)
	r.Write("api/a b.go", "package api\n")
	r.Write("main.go", "package main\n")
	r.Commit("one")
	changed := make(chan string, 10)
	a := connectWith(t, r, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { changed <- req.Params.URI },
	})
	if words := a.resource("ken://brief"); !strings.HasPrefix(words, "bootstrap") {
		t.Errorf("the brief: %s", words)
	}
	if words := a.resource("ken://summary/main.go"); !strings.HasPrefix(words, "<!-- ken\nverdict: none\npath: main.go\n") {
		t.Errorf("without a text: %s", words)
	}
	if err := a.session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "ken://brief"}); err != nil {
		t.Fatal(err)
	}
	var closed struct{}
	a.call("file_registry_update_summaries", map[string]any{"updates": []any{
		map[string]any{"path": "api/a b.go", "summary": "The API.\nAll of it."},
	}}, &closed)
	select {
	case uri := <-changed:
		if uri != "ken://brief" {
			t.Errorf("the client was notified of %s", uri)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the client was not notified that the brief changed")
	}
	for _, uri := range []string{"ken://summary/api/a%20b.go", "ken://summary/api/a b.go", "ken://summary/api%2Fa%20b.go"} {
		words := a.resource(uri)
		if !strings.HasPrefix(words, "<!-- ken\nverdict: fresh\npath: api/a b.go\n") || !strings.HasSuffix(words, "-->\nThe API.\nAll of it.\n") {
			t.Errorf("the resource %s is %s; want a fresh summary of api/a b.go", uri, words)
		}
	}
	r.Write("api/a b.go", "package api\n\nfunc X() {}\n")
	if words := a.resource("ken://summary/api/a%20b.go"); !strings.HasPrefix(words, "<!-- ken\nverdict: stale\n") {
		t.Errorf("after an edit: %s", words)
	}
	if words := a.resource("ken://summary/api"); !strings.HasPrefix(words, "<!-- ken\nverdict: fresh\npath: api\n") {
		t.Errorf("a directory with an outline: %s", words)
	}
	for _, uri := range []string{"ken://summary/", "ken://summary/../x", "ken://summary//etc/passwd", "ken://briefs"} {
		_, err := a.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("ReadResource(%q) returned the error %v; want invalid parameters", uri, err)
		}
	}
}

// The server has prompts, and they name existing tools.
func TestAgentGetsPrompts(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("one")
	a := connect(t, r)
	list, err := a.session.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 3 {
		t.Fatalf("prompts: %+v %v", list, err)
	}
	tools, err := a.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Prompts {
		got, err := a.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: map[string]string{"path": "src/x"}})
		if err != nil || len(got.Messages) != 1 {
			t.Fatalf("GetPrompt(%q) returned %+v, %v; want one message", p.Name, got, err)
		}
		text := got.Messages[0].Content.(*mcp.TextContent).Text
		if strings.Contains(text, "src/x") != (len(p.Arguments) > 0) {
			t.Errorf("%s and its argument: %s", p.Name, text)
		}
		n := 0
		for _, tool := range tools.Tools {
			if strings.Contains(text, tool.Name) {
				n++
			}
		}
		if n < 2 {
			t.Errorf("%s names %d tools", p.Name, n)
		}
	}
}

// A client that asks for progress gets increasing numbers during a long call.
func TestAgentGetsProgress(t *testing.T) {
	t.Parallel()
	r := testrepo.New(t)
	const many = 6000 // more than are read at once
	for i := range many {
		r.Write(fmt.Sprintf("d%d/f%d.txt", i%50, i), fmt.Sprint(i))
	}
	r.Commit("many")
	heard := make(chan float64, 1000)
	a := connectWith(t, r, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { heard <- req.Params.Progress },
	})
	params := &mcp.CallToolParams{Name: "file_registry_verify", Arguments: map[string]any{"full": true, "limit": 1}}
	params.SetProgressToken("p1")
	if res, err := a.session.CallTool(t.Context(), params); err != nil || res.IsError {
		t.Fatalf("file_registry_verify returned %+v, %v; want a result without an error", res, err)
	}
	last := -1.0
	for last != many {
		select {
		case now := <-heard:
			if now <= last {
				t.Fatalf("progress %v after %v", now, last)
			}
			last = now
		case <-time.After(2 * time.Minute):
			t.Fatalf("the last progress is %v", last)
		}
	}
}
