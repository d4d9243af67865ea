package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/testrepo"
)

// A farAgent is an MCP client of a dashboard.
type farAgent struct {
	t       *testing.T
	session *mcp.ClientSession
}

func (s *served) agent(opts *mcp.ClientOptions) *farAgent {
	s.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(s.t.Context(),
		&mcp.StreamableClientTransport{Endpoint: s.base + "/mcp", HTTPClient: &http.Client{Transport: bearer{s.token}}, MaxRetries: -1}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { session.Close() })
	return &farAgent{s.t, session}
}

// call calls a tool that must succeed.
func (a *farAgent) call(name string, args map[string]any) string {
	a.t.Helper()
	text, failed := a.try(name, args)
	if failed {
		a.t.Fatalf("the tool %s returned an error: %s", name, text)
	}
	return text
}

// try calls a tool and returns its answer.
func (a *farAgent) try(name string, args map[string]any) (text string, failed bool) {
	a.t.Helper()
	done, err := a.session.CallTool(a.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		a.t.Fatalf("calling the tool %s failed with %v", name, err)
	}
	b, err := json.Marshal(done)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(b), done.IsError
}

// Agents get the same resources and prompts over HTTP as over a pipe.
func TestServeMCPResourcesAndPrompts(t *testing.T) {
	s := serveRepo(t, specced(t), nil)
	a := s.agent(nil)
	read := func(uri string) string {
		t.Helper()
		got, err := a.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatalf("ReadResource(%q) returned the error %v", uri, err)
		}
		return got.Contents[0].Text
	}
	if text := read("ken://brief"); !strings.HasPrefix(text, "bootstrap") {
		t.Errorf("the brief: %s", text)
	}
	if text := read("ken://summary/api.go"); !strings.Contains(text, "verdict: none\npath: api.go") {
		t.Errorf("a summary: %s", text)
	}
	list, err := a.session.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list.Resources, func(r *mcp.Resource) bool { return strings.Contains(r.URI, "spec") })
	if i < 0 {
		t.Fatalf("no spec is among the resources: %+v", list.Resources)
	}
	if text := read(list.Resources[i].URI); !strings.Contains(text, "It answers.") {
		t.Errorf("the spec: %s", text)
	}
	prompts, err := a.session.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) == 0 {
		t.Fatalf("ListPrompts returned %+v, %v; want some prompts", prompts, err)
	}
	for _, p := range prompts.Prompts {
		if got, err := a.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name}); err != nil || len(got.Messages) == 0 {
			t.Errorf("GetPrompt(%q) returned %+v, %v; want messages", p.Name, got, err)
		}
	}
}

// A client that asks for progress gets it over HTTP too.
func TestServeMCPProgress(t *testing.T) {
	r := testrepo.New(t)
	const many = 600
	for i := range many {
		r.Write(fmt.Sprintf("d%d/f%d.txt", i%20, i), fmt.Sprint(i))
	}
	r.Commit("many")
	heard := make(chan float64, 1000)
	a := serveRepo(t, r, nil).agent(&mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { heard <- req.Params.Progress },
	})
	params := &mcp.CallToolParams{Name: "file_registry_verify", Arguments: map[string]any{"full": true, "limit": 1}}
	params.SetProgressToken("p1")
	if done, err := a.session.CallTool(t.Context(), params); err != nil || done.IsError {
		t.Fatalf("file_registry_verify returned %+v, %v; want a result without an error", done, err)
	}
	for last := -1.0; last != many; {
		select {
		case last = <-heard:
		case <-time.After(patience):
			t.Fatalf("the last notification is %v", last)
		}
	}
}

// Subscribers over HTTP are notified when another agent changes a resource.
func TestServeMCPSubscriptions(t *testing.T) {
	s := serveRepo(t, specced(t), nil)
	changed := make(chan string, 10)
	a := s.agent(&mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { changed <- req.Params.URI },
	})
	if err := a.session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "ken://brief"}); err != nil {
		t.Fatal(err)
	}
	s.agent(nil).call("file_registry_update_summaries", map[string]any{"updates": []any{map[string]any{"path": "api.go", "summary": "The API."}}})
	select {
	case uri := <-changed:
		if uri != "ken://brief" {
			t.Errorf("notified of %s", uri)
		}
	case <-time.After(patience):
		t.Error("no notification arrived")
	}
}

// Agents over HTTP cannot reach other repositories.
func TestServeMCPStaysInRepository(t *testing.T) {
	r, other := specced(t), specced(t)
	other.Write(".ken/state/workflow.json", `{"workflow_id":"SECRET"}`)
	a := serveRepo(t, r, nil).agent(nil)
	state := func(args map[string]any) (string, bool) {
		args["action"] = "get"
		return a.try("state", args)
	}
	theirs := other.Path(".ken/state")
	up, err := filepath.Rel(r.Dir, theirs)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []map[string]any{
		{"root": other.Dir},
		{"dir": theirs},
		{"dir": up},
		{"root": r.Dir, "dir": theirs},
		{"root": r.Dir, "dir": up},
		{"root": other.Dir, "dir": ".ken/state"},
		{"dir": filepath.Dir(r.Dir)},
		{"root": "/"},
	} {
		if text, failed := state(args); !failed || strings.Contains(text, "SECRET") || !strings.Contains(text, "answers for one repository") {
			t.Errorf("state with %v: %s", args, text)
		}
	}
	for _, tool := range []string{"brief", "spec", "file_registry_verify", "survey_next"} {
		if text, failed := a.try(tool, map[string]any{"root": other.Dir}); !failed || !strings.Contains(text, "answers for one repository") {
			t.Errorf("%s for another repository returned %q; want a refusal", tool, text)
		}
	}
	if text, failed := state(map[string]any{"root": r.Path(".spec")}); failed {
		t.Errorf("within the repository: %s", text)
	}
	if text, failed := state(map[string]any{"dir": "my/state"}); failed && strings.Contains(text, "answers for one repository") {
		t.Errorf("a directory of its own: %s", text)
	}
}

// The size of a call over HTTP is limited.
func TestServeMCPLimitsRequestSize(t *testing.T) {
	s := serveRepo(t, specced(t), nil)
	body := &endless{}
	body.left.Store(100 << 20)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/mcp", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+s.token)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("a request of 100 MB got %s; want 413", resp.Status)
		}
	} // else it was hung up on, which is as good
	if sent := 100<<20 - body.left.Load(); sent > 24<<20 {
		t.Errorf("the server read %d bytes; it should have stopped at the limit", sent)
	}
	s.gives(http.StatusOK, call{path: "/healthz"})
}

// An endless body counts the bytes that were read.
type endless struct {
	left  atomic.Int64
	begun bool
}

func (e *endless) Read(p []byte) (int, error) {
	left := int(e.left.Load())
	if left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	if !e.begun {
		e.begun = true
		copy(p, `{"reason":"`)
	}
	e.left.Add(int64(-n))
	return n, nil
}
