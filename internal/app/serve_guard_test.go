package app

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"ken/internal/session"
	"ken/internal/statedir"
	"ken/internal/testrepo"
	"ken/internal/web"
	"ken/internal/workflow"
)

const ackPath = "/api/spec/api/ack"

// signIn trades the token for a cookie.
func (s *served) signIn() string {
	s.t.Helper()
	resp, _ := s.do(call{method: http.MethodPost, path: "/api/login", body: `{"token":"` + s.token + `"}`, anonymous: true})
	pair, _, _ := strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	if resp.StatusCode != http.StatusOK || pair == "" {
		s.t.Fatalf("signing in: %s", resp.Status)
	}
	return pair
}

// With --allow-host the origin may have another port.
func TestServeBehindProxy(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, func(o *web.Options) { o.Hosts = []string{"board.example"} })
	_, port, _ := strings.Cut(strings.TrimPrefix(s.base, "http://"), ":")
	for _, host := range []string{"board.example", "BOARD.example:443", "board.example:" + port, "127.0.0.1:" + port, "localhost:" + port} {
		for _, path := range []string{"/api/board", "/events", "/map", "/api/spec"} {
			s.gives(http.StatusUnauthorized, call{path: path, head: map[string]string{"Host": host}, anonymous: true})
		}
		s.gives(http.StatusOK, call{path: "/login", head: map[string]string{"Host": host}, anonymous: true})
		s.gives(http.StatusOK, call{path: "/api/board", head: map[string]string{"Host": host}})
	}
	for _, host := range []string{"127.0.0.1:443", "localhost", "evil.example", "board.example.evil.example"} {
		s.gives(http.StatusMisdirectedRequest, call{path: "/api/board", head: map[string]string{"Host": host}})
	}
	ack := func(host, origin, site string) call {
		return call{method: http.MethodPost, path: ackPath, body: `{"reason":"it holds"}`, head: map[string]string{"Host": host, "Origin": origin, "Sec-Fetch-Site": site}}
	}
	for _, origin := range []string{"https://evil.example", "https://board.example.evil.example", "ftp://board.example", "null", "https://evil.example/?board.example", "https://board.example@evil.example"} {
		s.gives(http.StatusForbidden, ack("board.example", origin, ""))
	}
	if n := strings.TrimSpace(r.Git("rev-list", "--count", "HEAD")); n != "2" {
		t.Errorf("there are %s commits after refused acks, want 2", n)
	}
	s.gives(http.StatusOK, ack("board.example", "https://board.example", "same-origin"))
	s.gives(http.StatusOK, ack("127.0.0.1:"+port, "https://board.example", "same-origin"))
	s.gives(http.StatusOK, ack("127.0.0.1:"+port, "https://board.example:8443", ""))
	if n := strings.TrimSpace(r.Git("rev-list", "--count", "HEAD")); n != "3" {
		t.Errorf("there are %s commits after acks of one drift, want 3", n)
	}
}

// Without the token every answer is a refusal, except for those that show nothing of the
// repository.
func TestServeShowsNothingWithoutToken(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	head := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	s.gives(http.StatusOK, call{path: "/api/board"}) // pages show the whole board from now on
	for _, path := range []string{
		"/", "/specs", "/documents", "/review", "/map", "/files", "/file?path=api.go", "/state", "/worktrees", "/sessions", "/node/api",
		"/node/api/patch/" + head, "/events", "/mcp", "/nowhere",
		"/api/board", "/api/spec", "/api/spec/api", "/api/spec/api/history", "/api/overlays",
		"/api/survey", "/api/summary?path=api.go", "/api/archive", "/api/find?q=Serve", "/api/review", "/api/brief?path=api.go", "/api/diff?path=api.go",
		"/healthz/", "/login/", "/assets", "/api/login/x",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			if resp, body := s.do(call{method: method, path: path, anonymous: true}); resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s %s without the token: %s, want 401\n%s", method, path, resp.Status, body)
			}
		}
		resp, body := s.do(call{path: path, anonymous: true, head: map[string]string{"Accept": "text/html"}})
		if strings.Contains(body, "The API") || resp.StatusCode == http.StatusOK {
			t.Errorf("a browser without the token got %s: %s\n%s", path, resp.Status, body)
		}
	}
	for _, page := range []string{"/healthz", "/login", "/assets/app.js"} {
		body := s.gives(http.StatusOK, call{path: page, anonymous: true})
		if strings.Contains(body, "The API") || strings.Contains(body, s.token) || strings.Contains(body, `class="repo"`) {
			t.Errorf("%s shows something of the repository:\n%s", page, body)
		}
	}
}

// A browser without the cookie gets the sign-in page, which says where the token is and
// leads back to the page that was asked for.
func TestServeSignInPage(t *testing.T) {
	s := serveRepo(t, specced(t), nil)
	resp, _ := s.do(call{path: "/file?path=a%26b", anonymous: true, head: map[string]string{"Accept": "text/html"}})
	const want = "/login?to=%2Ffile%3Fpath%3Da%2526b"
	if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || got != want {
		t.Fatalf("the answer is %s %s, want 303 %s", resp.Status, got, want)
	}
	page := s.gives(http.StatusOK, call{path: want, anonymous: true, head: map[string]string{"Accept": "text/html"}})
	for _, text := range []string{"ken serve", "--git-common-dir", "ken/serve.token", `name="to" value="/file?path=a%26b"`} {
		if !strings.Contains(page, text) {
			t.Errorf("the sign-in page lacks %s:\n%s", text, page)
		}
	}
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html", "Origin": s.base}
	for to, want := range map[string]string{
		"/file?path=a%26b": "/file?path=a%26b", "": "/", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/",
		"evil.example": "/", "javascript:alert(1)": "/", "/\t/evil.example": "/",
	} {
		body := url.Values{"token": {s.token}, "to": {to}}.Encode()
		resp, _ := s.do(call{method: http.MethodPost, path: "/api/login", body: body, anonymous: true, head: form})
		if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("signing in on the way to %q leads to %s %q, want %q", to, resp.Status, got, want)
		}
	}
}

// Only the token and its cookie give access, and each repository has its own cookie.
func TestServeRefusesWrongTokens(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	name, value, _ := strings.Cut(s.signIn(), "=")
	other := serveRepo(t, specced(t), nil)
	theirs := other.signIn()
	if strings.HasPrefix(theirs, name+"=") {
		t.Errorf("two repositories have one cookie, %s: each puts the other's out", name)
	}
	for what, head := range map[string]map[string]string{
		"no value":               {"Cookie": name + "="},
		"another value":          {"Cookie": name + "=" + strings.Repeat("0", len(value))},
		"the beginning of it":    {"Cookie": name + "=" + value[:len(value)-1]},
		"more than it":           {"Cookie": name + "=" + value + "0"},
		"the token itself":       {"Cookie": name + "=" + s.token},
		"another name":           {"Cookie": "ken_00000000=" + value},
		"another's":              {"Cookie": theirs},
		"no token":               {"Authorization": "Bearer "},
		"the token's beginning":  {"Authorization": "Bearer " + s.token[:len(s.token)-1]},
		"more than the token":    {"Authorization": "Bearer " + s.token + "x"},
		"the cookie for a token": {"Authorization": "Bearer " + value},
		"another scheme":         {"Authorization": "Basic " + s.token},
	} {
		if resp, _ := s.do(call{method: http.MethodPost, path: ackPath, body: `{"reason":"x"}`, head: head, anonymous: true}); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: the server answered %s; want 401", what, resp.Status)
		}
	}
	for _, body := range []string{`{"token":""}`, `{}`, `{"token":"` + s.token[:5] + `"}`, `{"token":"` + s.token + `x"}`} {
		if resp, _ := s.do(call{method: http.MethodPost, path: "/api/login", body: body, anonymous: true}); resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("signing in with %s: %s", body, resp.Status)
		}
	}
	if n := strings.TrimSpace(r.Git("rev-list", "--count", "HEAD")); n != "2" {
		t.Errorf("there are %s commits; a refused request wrote one", n)
	}
}

// Forms from other sites are refused.
func TestServeRefusesCrossSiteForms(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	cookie := s.signIn()
	for _, from := range []map[string]string{
		{"Origin": "https://evil.example"},
		{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
		{"Origin": "null", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
		{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}, // another port of this machine
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
	} {
		head := map[string]string{"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
		for name, value := range from {
			head[name] = value
		}
		if resp, _ := s.do(call{method: http.MethodPost, path: ackPath, body: "reason=pwned", head: head}); resp.StatusCode != http.StatusForbidden {
			t.Errorf("a request from %v got %s; want 403", from, resp.Status)
		}
	}
	for _, site := range []string{"cross-site", "same-site"} {
		s.gives(http.StatusForbidden, call{path: "/api/board", head: map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}})
		s.gives(http.StatusOK, call{path: "/", head: map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}}) // a link that is followed
	}
	if n := strings.TrimSpace(r.Git("rev-list", "--count", "HEAD")); n != "2" {
		t.Errorf("there are %s commits; a refused request wrote one", n)
	}
}

// Without scripts, a form redirects to its page, and an error is a page.
func TestServeFormsWithoutScripts(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	form := func(path, body string) call {
		return call{method: http.MethodPost, path: path, body: body, anonymous: true, head: map[string]string{
			"Cookie": s.signIn(), "Origin": s.base, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate",
			"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html,*/*",
		}}
	}
	resp, body := s.do(form(ackPath, "reason=it+holds"))
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/node/api" {
		t.Errorf("it leads to %s %s\n%s", resp.Status, resp.Header.Get("Location"), body)
	}
	resp, body = s.do(form(ackPath, "reason="))
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, "<!doctype html>") {
		t.Errorf("without a reason: %s\n%s", resp.Status, body)
	}
	// A browser that is told to send no referrer calls its own page's origin null.
	if got := resp.Header.Get("Referrer-Policy"); got != "same-origin" {
		t.Errorf("the referrer policy is %q", got)
	}
}

// Browsers may cache an asset forever under the address of its release.
func TestServeAssetsAreCachedByRelease(t *testing.T) {
	s := serveRepo(t, specced(t), nil)
	page := s.gives(http.StatusOK, call{path: "/login", head: map[string]string{"Accept": "text/html"}})
	_, rest, _ := strings.Cut(page, `src="/assets/app.js`)
	release, _, found := strings.Cut(rest, `"`)
	if !found || len(release) < 5 {
		t.Fatalf("the page has no script:\n%s", page)
	}
	for query, kept := range map[string]bool{release: true, "": false, "?v=": false, release + "0": false} {
		resp, _ := s.do(call{path: "/assets/app.js" + query})
		if got := strings.Contains(resp.Header.Get("Cache-Control"), "immutable"); resp.StatusCode != http.StatusOK || got != kept {
			t.Errorf("app.js%s: %s, %q", query, resp.Status, resp.Header.Get("Cache-Control"))
		}
	}
}

// Every answer has the security headers.
func TestServeSecurityHeaders(t *testing.T) {
	s := serveRepo(t, specced(t), nil)
	for _, path := range []string{"/", "/api/board", "/assets/app.js", "/nowhere", "/mcp", "/healthz", "/login"} {
		resp, _ := s.do(call{path: path, head: map[string]string{"Accept": "text/html"}})
		policy := make(map[string]string)
		for part := range strings.SplitSeq(resp.Header.Get("Content-Security-Policy"), ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), " ")
			policy[name] = value
		}
		for name, want := range map[string]string{
			"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'", "worker-src": "'self'",
			"form-action": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'", "img-src": "'self' data:",
		} {
			if policy[name] != want {
				t.Errorf("%s: %s is %q, want %q", path, name, policy[name], want)
			}
			delete(policy, name)
		}
		if len(policy) > 0 {
			t.Errorf("%s: the policy also has %v", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Referrer-Policy": "same-origin",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

// Acks from pages and from agents over HTTP do not carry the session of the server.
func TestServeAcksHaveNoSession(t *testing.T) {
	t.Setenv("KEN_SESSION", "the-servers-own")
	if session.ID() == "" {
		t.Fatal("the server runs in no session")
	}
	r := specced(t)
	s := serveRepo(t, r, nil)
	s.gives(http.StatusOK, call{method: http.MethodPost, path: ackPath, body: `{"reason":"from a page"}`})
	r.Write("api.go", "package api\n\nfunc Again() {}\n")
	r.Commit("again")
	a := s.agent(nil)
	a.call("spec_ack", map[string]any{"ids": []string{"api"}, "reason": "from afar"})
	if got := r.Git("log", "-3", "--format=%B"); strings.Contains(got, "the-servers-own") || !strings.Contains(got, "from afar") {
		t.Errorf("the commits say:\n%s", got)
	}
}

// An ack for an older commit is refused.
func TestServeAckNeedsSeenCommit(t *testing.T) {
	r := specced(t)
	s := serveRepo(t, r, nil)
	seen := strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	ack := call{method: http.MethodPost, path: ackPath, body: `{"reason":"x","head":"` + seen + `"}`}
	r.Write("api.go", "package api\n\nfunc Meanwhile() {}\n")
	r.Commit("meanwhile")
	if body := s.gives(http.StatusConflict, ack); !strings.Contains(body, "the repository changed") {
		t.Errorf("the answer is %s", body)
	}
	ack.body = `{"reason":"x","head":"nonsense"}`
	s.gives(http.StatusBadRequest, ack)
	if n := strings.TrimSpace(r.Git("rev-list", "--count", "HEAD")); n != "3" {
		t.Errorf("there are %s commits, want 3", n)
	}
}

// Restore replaces newer files only with overwrite.
func TestServeRestoreOverwrites(t *testing.T) {
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("begin")
	r.Write(".ken/state/odd.txt", "old")
	s := serveRepo(t, r, nil)
	space, err := statedir.Open(t.Context(), statedir.Options{From: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	sweep, err := space.Cleanup(t.Context(), workflow.CleanupOptions{Apply: true})
	if err != nil || sweep.Archive == nil {
		t.Fatalf("Cleanup returned %+v, %v; want an archive", sweep, err)
	}
	snapshot := path.Base(*sweep.Archive)
	s.gives(http.StatusOK, call{path: "/api/board"}) // a page does not wait for it
	page := s.gives(http.StatusOK, call{path: "/state", head: map[string]string{"Accept": "text/html"}})
	if !strings.Contains(page, `action="/api/state/restore"`) {
		t.Errorf("the page has no form to restore a snapshot:\n%s", page)
	}
	r.Write(".ken/state/odd.txt", "new")
	restore := call{method: http.MethodPost, path: "/api/state/restore", body: `{"snapshot":"` + snapshot + `"}`}
	s.do(restore)
	if got := r.Read(".ken/state/odd.txt"); got != "new" {
		t.Errorf("the file has %q", got)
	}
	restore.body = "snapshot=" + snapshot + "&overwrite=on"
	restore.head = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	s.gives(http.StatusOK, restore)
	if got := r.Read(".ken/state/odd.txt"); got != "old" {
		t.Errorf("after overwriting the file has %q", got)
	}
}
