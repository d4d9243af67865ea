package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/git"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/statedir"
	"ken/internal/testrepo"
	"ken/internal/web"
	"ken/internal/workflow"
)

// A served repository, with a client.
type served struct {
	t     *testing.T
	base  string
	token string
	stop  func() // ends it; the end of the test does, too
}

// serveRepo serves a repository on an address of this machine.
func serveRepo(t *testing.T, r *testrepo.Repo, more func(*web.Options)) *served {
	t.Helper()
	g, err := git.Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	opts := web.Options{Addr: netip.MustParseAddrPort(l.Addr().String()), Token: "the-token-of-the-test", Start: "the-start"}
	if more != nil {
		more(&opts)
	}
	s, err := web.New(webDeps(t.Context(), g, g.Root()), opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve returned the error %v", err)
		}
	})
	t.Cleanup(stop)
	return &served{t: t, base: "http://" + l.Addr().String(), token: opts.Token, stop: stop}
}

// A call is a request with its answer.
type call struct {
	method, path, body string
	head               map[string]string
	anonymous          bool // without the token
}

// A reply is an answer without its body.
type reply struct {
	StatusCode int
	Status     string
	Header     http.Header
}

func (s *served) do(c call) (reply, string) {
	s.t.Helper()
	if c.method == "" {
		c.method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(s.t.Context(), c.method, s.base+c.path, strings.NewReader(c.body))
	if err != nil {
		s.t.Fatal(err)
	}
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if !c.anonymous {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	for name, value := range c.head {
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	client := &http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Status, resp.Header}, string(b)
}

// gives checks the status of an answer, and returns its body.
func (s *served) gives(status int, c call) string {
	s.t.Helper()
	resp, body := s.do(c)
	if resp.StatusCode != status {
		s.t.Fatalf("the server answered %[3]s to %[1]s %[2]s; want %[4]d\n%[5]s", c.method, c.path, resp.Status, status, body)
	}
	return body
}

// specced returns a repository with a spec that has drift.
func specced(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Write("api.go", "package api\n")
	r.Write(".spec/api/spec.md", "---\ntitle: The API\ncode:\n  - api.go\n---\nIt answers.\n")
	r.Commit("begin")
	r.Write("api.go", "package api\n\nfunc Serve() {}\n")
	r.Commit("move")
	return r
}

// /api/board is one document about all parts, with an ETag.
func TestServeBoard(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	resp, _ := s.do(call{path: "/api/board"})
	if n := s.board().Worktrees[0].Spec.Known.Counts.Drift; n != 1 {
		t.Errorf("%d nodes drift, want 1", n)
	}
	tag := resp.Header.Get("ETag")
	s.gives(http.StatusNotModified, call{path: "/api/board", head: map[string]string{"If-None-Match": tag}})
	r.Write("api.go", "package api\n\nfunc Other() {}\n")
	r.Commit("again")
	s.gives(http.StatusOK, call{path: "/api/board", head: map[string]string{"If-None-Match": tag}})
	for _, path := range []string{"/", "/map", "/state", "/worktrees", "/node/api", "/api/spec", "/api/spec/api", "/api/spec/api/history", "/api/overlays", "/api/survey", "/api/archive", "/healthz", "/assets/style.css"} {
		s.gives(http.StatusOK, call{path: path})
	}
}

// summarised returns a repository like specced, with a summary of api.go.
func summarised(t *testing.T) (*testrepo.Repo, *ken.Repository) {
	t.Helper()
	r := specced(t)
	w, err := ken.Open(t.Context(), ken.Options{Dir: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	if _, err := w.Registry.Write(t.Context(), []registry.Update{{Path: "api.go", Text: "It serves."}}); err != nil {
		t.Fatal(err)
	}
	return r, w
}

// /api/summary answers with the document of ken summary show --json, and with no summary for an untracked file.
func TestServeSummaries(t *testing.T) {
	r, w := summarised(t)
	s := serveRepo(t, r, nil)
	want, err := w.Registry.Show(t.Context(), []repo.Path{"api.go", "none"})
	if err != nil {
		t.Fatal(err)
	}
	for query, doc := range map[string]any{"path=api.go": want[0], "path=api.go&path=none": want} {
		printed, err := json.MarshalIndent(doc, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if body := s.gives(http.StatusOK, call{path: "/api/summary?" + query}); strings.TrimSpace(body) != string(printed) {
			t.Errorf("/api/summary?%s differs from what the command prints (-want +got):\n%s", query, cmp.Diff(string(printed), body))
		}
	}
	for _, query := range []string{"", strings.Repeat("path=api.go&", 101)} {
		s.gives(http.StatusBadRequest, call{path: "/api/summary?" + query})
	}
	if err := os.WriteFile(r.Path("secret.txt"), []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"secret.txt", "../secret.txt", "/etc/passwd", ".git/config"} {
		body := s.gives(http.StatusOK, call{path: "/api/summary?path=" + path})
		if strings.Contains(body, "SECRET") || !strings.Contains(body, `"current_id": ""`) && !strings.Contains(body, `"current_id": null`) {
			t.Errorf("the summary of %s is %s; want no content and no id", path, body)
		}
	}
	if page := s.gives(http.StatusOK, call{path: "/file?path=api.go", head: map[string]string{"Accept": "text/html"}}); !strings.Contains(page, "It serves.") {
		t.Errorf("the page does not show the summary:\n%s", page)
	}
	if resp, _ := s.do(call{path: "/sessions?w=x"}); resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/worktrees?w=x" {
		t.Errorf("/sessions leads to %s %s", resp.Status, resp.Header.Get("Location"))
	}
}

// The board and the page of a spec list entries that match no tracked file.
func TestBoardCountsMissingCode(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Write("dir/b.go", "package b\n")
	r.Write(".spec/a/spec.md", "---\ntitle: A\ncode: [a.go, 'a.go#F', dir, dir/, dir/b.go, '**/*.none', no.go, 'no.go#F', no/, di, a.go/]\n---\nIt is.\n")
	r.Write(".spec/b/spec.md", "---\ntitle: B\n---\nIt is.\n")
	r.Commit("begin")
	at := serveRepo(t, r, nil)
	s := at.board().Worktrees[0].Spec.Known // a page does not wait for it
	if d := cmp.Diff([]string{"**/*.none", "no.go", "no.go#F", "no/", "di", "a.go/"}, s.Nodes[0].Missing); d != "" || s.Counts.Missing != 1 {
		t.Errorf("%d specs have missing code: %s", s.Counts.Missing, d)
	}
	page := at.gives(http.StatusOK, call{path: "/node/a", head: map[string]string{"Accept": "text/html"}})
	if n := strings.Count(page, "missing</span>"); n != 6 {
		t.Errorf("the page marks %d entries as missing, want 6", n)
	}
}

// No request reads files outside the worktrees, and only hexadecimal ids reach git.
func TestServeConfinesPathsAndIDs(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/map?dir=../..", "/map?dir=/etc", "/map?dir=%2e%2e%2f", "/map?dir=" + outside, "/api/survey?dir=..", "/api/survey?dir=/etc", "/file?path=../../etc/passwd", "/file?path=/etc/passwd", "/file?path=" + outside, "/files?state=odd", "/api/summary",
		"/assets/..%2fweb.go", "/assets/%2e%2e/web.go", "/assets/../web.go", "/node/..%2f..%2fetc", "/node/%2e%2e", "/?w=..%2f..", "/?w=/etc", "/?w=nowhere", "/api/spec/..%2fapi",
		"/node/api/patch/--output=x", "/node/api/patch/HEAD", "/node/api/patch/HEAD~1", "/node/api/patch/..", "/node/api/patch/%2e%2e", "/node/api/patch/--help",
		"/node/api/patch/@%7b0%7d", "/node/api/patch/deadbeef", "/api/spec/--output=x/history",
	} {
		resp, body := s.do(call{path: path})
		if resp.StatusCode < 300 || resp.StatusCode >= 500 {
			t.Errorf("the server answered %s for %s; want a redirect or a client error", resp.Status, path)
		}
		if strings.Contains(body, "SECRET") {
			t.Errorf("%s shows a file outside the repository", path)
		}
	}
	for _, snapshot := range []string{"../../..", "/etc", "--help", ""} {
		body, _ := json.Marshal(map[string]string{"snapshot": snapshot})
		if resp, _ := s.do(call{method: http.MethodPost, path: "/api/state/restore", body: string(body)}); resp.StatusCode < 400 {
			t.Errorf("restoring the snapshot %q got %s; want an error", snapshot, resp.Status)
		}
	}
	if got := strings.TrimSpace(r.Git("status", "--porcelain")); got != "" {
		t.Errorf("something was written: %s", got)
	}
	// An agent that asks from afar stays in the repository too.
	other := specced(t)
	for _, root := range []string{other.Dir, "/", filepath.Dir(r.Dir)} {
		ask := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"spec","arguments":{"root":%q}}}`, root)
		body := s.gives(http.StatusOK, call{method: http.MethodPost, path: "/mcp", body: ask, head: map[string]string{"Accept": "application/json, text/event-stream"}})
		if !strings.Contains(body, "answers for one repository") {
			t.Errorf("the answer about %s is: %s", root, body)
		}
	}
	ask := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"spec","arguments":{}}}`
	if body := s.gives(http.StatusOK, call{method: http.MethodPost, path: "/mcp", body: ask, head: map[string]string{"Accept": "application/json, text/event-stream"}}); !strings.Contains(body, "The API") && !strings.Contains(body, "api") || strings.Contains(body, `"isError":true`) {
		t.Errorf("the answer to the agent is: %s", body)
	}
}

// An ack from a signed-in browser and one with the token make commits. An ack needs a reason.
func TestServeAcks(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	for _, bad := range []string{`{"reason":""}`, `{"reason":"   "}`} {
		s.post(http.StatusBadRequest, ackPath, bad)
	}
	cookie := map[string]string{"Cookie": s.signIn(), "Host": s.host()}
	s.gives(http.StatusOK, call{method: http.MethodPost, path: ackPath, body: `{"reason":"it holds"}`, anonymous: true, head: cookie})
	if got := strings.TrimSpace(r.Git("log", "-1", "--format=%s")); got != "ack api: it holds" {
		t.Errorf("the last commit is %q", got)
	}
	s.post(http.StatusOK, ackPath, `{"reason":"again"}`)
	if n := strings.TrimSpace(r.Git("rev-list", "--count", "HEAD")); n != "3" {
		t.Errorf("there are %s commits after acks of one drift, want 3", n)
	}
}

// Of two simultaneous acks for the same commit one is refused.
func TestServeSimultaneousAcks(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	head := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	var mu sync.Mutex
	got := map[int]int{}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			resp, _ := s.do(call{method: http.MethodPost, path: "/api/spec/api/ack", body: fmt.Sprintf(`{"reason":"number %d","head":%q}`, i, head)})
			mu.Lock()
			defer mu.Unlock()
			got[resp.StatusCode]++
		})
	}
	all.Wait()
	if got[http.StatusOK] != 1 || got[http.StatusConflict] != 7 {
		t.Errorf("the answers were %v", got)
	}
	if n := strings.TrimSpace(r.Git("rev-list", "--count", "HEAD")); n != "3" {
		t.Errorf("there are %s commits, want 3", n)
	}
	// Requests without a basis run one at a time. The first acknowledges the drift; the others find none.
	r.Write("api.go", "package api\n\nfunc Again() {}\n")
	r.Commit("again")
	for i := range 8 {
		all.Go(func() {
			if resp, body := s.do(call{method: http.MethodPost, path: ackPath, body: fmt.Sprintf(`{"reason":"again %d"}`, i)}); resp.StatusCode != http.StatusOK {
				t.Errorf("the server answered %s: %s; want 200", resp.Status, body)
			}
		})
	}
	all.Wait()
	if n := strings.TrimSpace(r.Git("rev-list", "--count", "HEAD")); n != "5" {
		t.Errorf("there are %s commits, want 5", n)
	}
}

// A stream sends an event soon after a commit, an edit and a new summary.
func TestServeStream(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	s.gives(http.StatusOK, call{path: "/api/board"})
	h := s.listen("")
	seen := map[string]bool{h.next("what there is").Tag: true}
	change := func(what string, act func()) {
		t.Helper()
		act()
		for {
			tag := h.next(what).Tag
			current, _ := s.do(call{path: "/api/board"})
			if !seen[tag] && strings.TrimPrefix(current.Header.Get("ETag"), "W/") == `"`+tag+`"` {
				seen[tag] = true
				return
			}
		}
	}
	change("a verification", func() {
		w, err := ken.Open(t.Context(), ken.Options{Dir: r.Dir})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if _, err := w.Briefer().Orient(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	})
	change("a commit", func() { r.Write("api.go", "package api\n\nfunc More() {}\n"); r.Commit("more") })
	change("an edit", func() { r.Write("api.go", "package api\n\nfunc Edited() {}\n") })
	change("a spec's edit", func() {
		r.Write(".spec/api/spec.md", "---\ntitle: The API\ncode:\n  - api.go\n---\nIt answers well.\n")
	})
	change("a file of the workflow", func() { r.Write(".ken/state/odd.txt", "x") })
}

// A refused restore has a status and a reason.
func TestServeRestoreRefused(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	st, err := statedir.Open(t.Context(), statedir.Options{From: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	r.Write(".ken/state/mine.txt", "old\n")
	swept, err := st.Cleanup(t.Context(), workflow.CleanupOptions{Apply: true})
	if err != nil || len(swept.Moves) != 1 {
		t.Fatalf("Cleanup returned %+v, %v; want one move", swept, err)
	}
	list, err := st.Archive(t.Context())
	if err != nil || len(list.Snapshots) != 1 {
		t.Fatalf("Archive returned %+v, %v; want one snapshot", list, err)
	}
	r.Write(".ken/state/mine.txt", "new\n")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(r.Path(".ken/state/mine.txt"), later, later); err != nil {
		t.Fatal(err)
	}
	restore := func(snapshot string, overwrite bool) call {
		body, _ := json.Marshal(map[string]any{"snapshot": snapshot, "overwrite": overwrite})
		return call{method: http.MethodPost, path: "/api/state/restore", body: string(body)}
	}
	s.gives(http.StatusNotFound, restore("no-such", false))
	if body := s.gives(http.StatusConflict, restore(list.Snapshots[0].Name, false)); !strings.Contains(body, "replace newer files") || !strings.Contains(body, "mine.txt") {
		t.Errorf("the answer is %s", body)
	}
	s.gives(http.StatusOK, restore(list.Snapshots[0].Name, true))
	if got := r.Read(".ken/state/mine.txt"); got != "old\n" {
		t.Errorf("what came back is %q", got)
	}
}

// An MCP client gets the same answers over HTTP as over a pipe.
func TestServeMCP(t *testing.T) {
	s := serveRepo(t, specced(t), nil)
	dial := func(token string) (*mcp.ClientSession, error) {
		client := &http.Client{Transport: bearer{token}}
		return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
			Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.base + "/mcp", HTTPClient: client, MaxRetries: -1}, nil)
	}
	if session, err := dial("wrong"); err == nil {
		session.Close()
		t.Error("an agent without the token got access")
	}
	session, err := dial(s.token)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) < 10 {
		t.Fatalf("ListTools returned %+v, %v; want at least 10 tools", tools, err)
	}
	ask := func(tool string, args map[string]any) string {
		t.Helper()
		done, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil || done.IsError {
			t.Fatalf("the tool %s returned %+v, %v; want a result without an error", tool, done, err)
		}
		if done.StructuredContent != nil || len(done.Content) != 1 {
			t.Errorf("%s: %d parts and structured content %v, want one text", tool, len(done.Content), done.StructuredContent)
		}
		return done.Content[0].(*mcp.TextContent).Text
	}
	if text := ask("spec", map[string]any{"id": "api"}); !strings.Contains(text, "\napi  ") || !strings.HasSuffix(text, "\n> It answers.\n") {
		t.Errorf("the spec as text:\n%s", text)
	}
	var doc struct{ Node struct{ ID, Body string } }
	text := ask("spec", map[string]any{"id": "api", "format": "json"})
	if err := json.Unmarshal([]byte(text), &doc); err != nil || doc.Node.ID != "api" || doc.Node.Body != "It answers.\n" {
		t.Errorf("the spec as JSON: %v\n%s", err, text)
	}
	if text := ask("brief", map[string]any{"paths": []string{"api.go", "nowhere"}}); !strings.Contains(text, "== nowhere ==\nerror: ") || !strings.HasPrefix(text, "== api.go ==\n"+repo.QuotationNote+"\n") {
		t.Errorf("the brief of two paths:\n%s", text)
	}
}

// bearer adds the token to requests.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// Links lead to files and directories with any name.
func TestServeUnprintableNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names are text here")
	}
	r := testrepo.New(t)
	r.Write("odd\xff\u202edir/in \"it\".go", "package x\n")
	r.Write("a&b=c?#/x.go", "package x\n")
	r.Commit("begin")
	s := serveRepo(t, r, nil)
	s.gives(http.StatusOK, call{path: "/api/board"})
	page := s.gives(http.StatusOK, call{path: "/map"})
	for _, dir := range []string{"odd%FF%E2%80%AEdir", "a%26b%3Dc%3F%23"} {
		if !strings.Contains(page, `"/map?dir=`+dir+`"`) {
			t.Errorf("no link to %s:\n%s", dir, page)
		}
	}
	if inside := s.gives(http.StatusOK, call{path: "/map?dir=odd%FF%E2%80%AEdir"}); !strings.Contains(inside, "in &#34;it&#34;.go") {
		t.Errorf("the page does not list the contents:\n%s", inside)
	}
}

// While the repository is missing, requests get 503. When it is back, they get 200.
func TestServeSurvivesMissingRepository(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	s.gives(http.StatusOK, call{path: "/api/board"})
	away := r.Dir + ".away"
	if err := os.Rename(r.Path(".git"), away); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/map", "/api/board", "/api/spec"} {
		if resp, body := s.do(call{path: path}); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "cannot read the repository") {
			t.Errorf("%s without a repository: the server answered %s; want 503 with the reason\n%s", path, resp.Status, body)
		}
	}
	s.gives(http.StatusOK, call{path: "/healthz"})
	if err := os.Rename(away, r.Path(".git")); err != nil {
		t.Fatal(err)
	}
	s.gives(http.StatusOK, call{path: "/api/board"})
}

// Sizes are those on the disk, not those in the index. A worktree that cannot be opened
// is unknown, not empty.
func TestServeCurrentSizes(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.txt", strings.Repeat("x", 5000))
	r.Commit("begin")
	r.Git("read-tree", "HEAD") // which knows no sizes
	s := serveRepo(t, r, nil)
	bytes := func() int64 {
		t.Helper()
		files := s.board().Worktrees[0].Files
		if files.Known == nil {
			t.Fatal("the files are unknown")
		}
		return files.Known.Bytes
	}
	if n := bytes(); n != 5000 {
		t.Errorf("%d bytes, want 5000", n)
	}
	r.Write("a.txt", "short")
	if n := bytes(); n != 5 {
		t.Errorf("after an edit %d bytes, want 5", n)
	}
	away := r.Path("../away")
	r.Git("worktree", "add", "-q", "--detach", away)
	if err := os.RemoveAll(away); err != nil {
		t.Fatal(err)
	}
	s = serveRepo(t, r, nil)
	s.gives(http.StatusOK, call{path: "/api/board"})
	page := s.gives(http.StatusOK, call{path: "/worktrees"})
	_, article, _ := strings.Cut(page, `id="w-away"`)
	article, _, _ = strings.Cut(article, "</article>")
	if !strings.Contains(article, "unknown:") || strings.Contains(article, "Changes no spec") || strings.Contains(article, "detached") {
		t.Errorf("the article of the missing worktree is: %s", article)
	}
}
