package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"ken/internal/ken"
	"ken/internal/workflow"
)

// New fails without a token.
func TestNewNeedsToken(t *testing.T) {
	if _, err := New(Deps{}, Options{}); err == nil {
		t.Error("New accepted an empty token")
	}
}

// secret is what the guarded dashboards show of their repository.
const secret = "the-repository"

// A guarded dashboard counts the requests that reach its repository, which cannot be opened.
type guarded struct {
	*serving
	base    string
	token   string
	reached atomic.Int32
}

// guardedDashboard starts one.
func guardedDashboard(t *testing.T, change func(*Options)) *guarded {
	t.Helper()
	g := &guarded{token: "the-token-of-the-test"}
	deps := boardOf(secret)
	deps.Open = func(context.Context, string) (*ken.Repository, error) {
		g.reached.Add(1)
		return nil, errors.New("there is none")
	}
	deps.OpenState = func(context.Context, string) (*workflow.Manager, error) {
		g.reached.Add(1)
		return nil, errors.New("there is none")
	}
	deps.MCP = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		g.reached.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
	})
	g.serving = serveWith(t, deps, defaultLimits, func(o *Options) {
		o.Token = g.token
		if change != nil {
			change(o)
		}
	})
	g.base = "http://" + g.addr
	return g
}

// port returns the port of the dashboard, with a colon.
func (g *guarded) port() string { return g.base[strings.LastIndexByte(g.base, ':'):] }

// host returns the name under which browsers sign in, with the port.
func (g *guarded) host() string { return Host(g.token, "the-start") + g.port() }

// A call is a request.
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

func (g *guarded) do(c call) (reply, string) {
	g.t.Helper()
	if c.method == "" {
		c.method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(g.t.Context(), c.method, g.base+c.path, strings.NewReader(c.body))
	if err != nil {
		g.t.Fatal(err)
	}
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if !c.anonymous {
		req.Header.Set("Authorization", "Bearer "+g.token)
	}
	for name, value := range c.head {
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Timeout: patience, CheckRedirect: stay}
	resp, err := client.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Status, resp.Header}, string(b)
}

// gives checks the status of an answer, and returns its body.
func (g *guarded) gives(status int, c call) string {
	g.t.Helper()
	resp, body := g.do(c)
	if resp.StatusCode != status {
		g.t.Fatalf("the server answered %[3]s to %[1]s %[2]s; want %[4]d\n%[5]s", c.method, c.path, resp.Status, status, body)
	}
	return body
}

// passes checks that a request reaches the repository.
func (g *guarded) passes(c call) {
	g.t.Helper()
	before := g.reached.Load()
	resp, body := g.do(c)
	if g.reached.Load() == before {
		g.t.Errorf("the server answered %s to %s %s, without asking the repository\n%s", resp.Status, c.method, c.path, body)
	}
}

// reachedNothing checks that all requests so far were refused.
func (g *guarded) reachedNothing() {
	g.t.Helper()
	if n := g.reached.Load(); n != 0 {
		g.t.Errorf("%d refused requests reached the repository", n)
	}
}

const ackPath = "/api/spec/api/ack"

// signIn trades the key of the printed address for a cookie.
func (g *guarded) signIn() string {
	g.t.Helper()
	login := call{method: http.MethodPost, path: "/api/login", body: `{"token":"` + Key(g.token, "the-start") + `"}`, anonymous: true}
	login.head = map[string]string{"Host": g.host()}
	resp, _ := g.do(login)
	pair, _, _ := strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	if resp.StatusCode != http.StatusOK || pair == "" {
		g.t.Fatalf("signing in: %s", resp.Status)
	}
	return pair
}

// Requests for unknown hosts and from other origins are refused.
func TestHostAndOriginAreChecked(t *testing.T) {
	g := guardedDashboard(t, nil)
	port := g.port()
	for _, host := range []string{
		"evil.example" + port, "evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example" + port, "10.0.0.1" + port,
		"localhost.evil.example" + port, "@evil" + port, "ken-.localhost" + port, Host(g.token, "another start") + port,
		Host(g.token, "the-start"), "x." + g.host(),
	} {
		for _, path := range []string{"/", "/api/board", "/events", "/healthz", "/mcp", "/assets/app.js"} {
			resp, _ := g.do(call{path: path, head: map[string]string{"Host": host}})
			if resp.StatusCode != http.StatusMisdirectedRequest && resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s under the name %s: %s", path, host, resp.Status)
			}
		}
	}
	for _, host := range []string{"127.0.0.1" + port, "localhost" + port, "LOCALHOST" + port, g.host(), strings.ToUpper(g.host())} {
		g.gives(http.StatusOK, call{path: "/healthz", head: map[string]string{"Host": host}})
	}
	for _, head := range []map[string]string{
		{"Origin": "http://evil.example"},
		{"Origin": "null"},
		{"Origin": "http://127.0.0.1:1"},
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
	} {
		for _, path := range []string{"/", "/api/board", "/events"} {
			g.gives(http.StatusForbidden, call{path: path, head: head})
		}
		g.gives(http.StatusForbidden, call{method: http.MethodPost, path: ackPath, body: `{"reason":"x"}`, head: head})
	}
	g.reachedNothing()
	resp, _ := g.do(call{path: "/api/board", head: map[string]string{"Origin": g.base}})
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the dashboard's own page got %s", resp.Status)
	}
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("the answer has %s", name)
		}
	}
	policy := resp.Header.Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the policy is %q", policy)
	}
}

// Writing needs the token, or the cookie that it is traded for.
func TestWritingNeedsToken(t *testing.T) {
	g := guardedDashboard(t, nil)
	ack := call{method: http.MethodPost, path: ackPath, body: `{"reason":"it holds"}`, anonymous: true}
	g.gives(http.StatusUnauthorized, ack)
	g.gives(http.StatusUnauthorized, call{method: http.MethodPost, path: "/api/state/restore", body: `{"snapshot":"x"}`, anonymous: true})
	for _, path := range []string{"/api/confirm", "/api/summary"} {
		g.gives(http.StatusUnauthorized, call{method: http.MethodPost, path: path, body: `{"path":"api.go","read":"x"}`, anonymous: true})
	}
	g.gives(http.StatusUnauthorized, call{method: http.MethodPost, path: "/mcp", body: `{}`, anonymous: true})
	g.gives(http.StatusUnauthorized, call{path: "/mcp", anonymous: true})
	g.gives(http.StatusUnauthorized, call{method: http.MethodDelete, path: "/", anonymous: true})
	for _, head := range []map[string]string{
		{"Authorization": "Bearer wrong"},
		{"Authorization": "Bearer "},
		{"Cookie": "ken_00000000=" + g.token},
		{"Authorization": g.token},
	} {
		g.gives(http.StatusUnauthorized, call{method: ack.method, path: ack.path, body: ack.body, head: head, anonymous: true})
	}
	browser := map[string]string{"Host": g.host()}
	g.gives(http.StatusUnauthorized, call{method: http.MethodPost, path: "/api/login", body: `{"token":"wrong"}`, head: browser})
	g.reachedNothing()
	resp, _ := g.do(call{method: http.MethodPost, path: "/api/login", body: `{"token":"` + g.token + `"}`, head: browser})
	cookie := resp.Header.Get("Set-Cookie")
	isStrict := strings.Contains(cookie, "HttpOnly") && strings.Contains(cookie, "SameSite=Strict")
	if resp.StatusCode != http.StatusOK || !isStrict || strings.Contains(cookie, g.token) {
		t.Fatalf("login returned %s with the cookie %q; want a strict cookie without the token", resp.Status, cookie)
	}
	pair, _, _ := strings.Cut(cookie, ";")
	g.passes(call{method: ack.method, path: ack.path, body: ack.body, anonymous: true, head: map[string]string{"Cookie": pair, "Host": g.host()}})
	ack.anonymous = false
	g.passes(ack)
	ack.anonymous, ack.head = true, map[string]string{"Authorization": "Bearer " + Key(g.token, "the-start")}
	g.passes(ack)
}

// Browsers sign in under the random name only, with a cookie that ends with the session. Programs on other ports never
// get it, and it does not work for another start.
func TestCookieHoldsForRandomNameOnly(t *testing.T) {
	g := guardedDashboard(t, nil)
	token := `{"token":"` + g.token + `"}`
	for _, host := range []string{"127.0.0.1" + g.port(), "localhost" + g.port()} {
		head := map[string]string{"Host": host}
		resp, body := g.do(call{method: http.MethodPost, path: "/api/login", body: token, head: head, anonymous: true})
		if resp.StatusCode != http.StatusMisdirectedRequest || resp.Header.Get("Set-Cookie") != "" || strings.Contains(body, Host(g.token, "the-start")) {
			t.Errorf("signing in as %s: %s, cookie %q\n%s", host, resp.Status, resp.Header.Get("Set-Cookie"), body)
		}
		page := g.gives(http.StatusOK, call{path: "/login", anonymous: true, head: map[string]string{"Host": host, "Accept": "text/html"}})
		if strings.Contains(page, "<form method=\"post\"") || strings.Contains(page, "ken-") || !strings.Contains(page, "ken serve") {
			t.Errorf("the sign-in page at %s has a form, tells the name, or does not say what to do:\n%s", host, page)
		}
		g.gives(http.StatusUnauthorized, call{path: "/api/board", anonymous: true, head: map[string]string{"Host": host, "Cookie": g.signIn()}})
	}
	resp, _ := g.do(call{method: http.MethodPost, path: "/api/login", body: token, anonymous: true, head: map[string]string{"Host": g.host()}})
	for _, attribute := range []string{"Max-Age", "Expires", "Domain"} {
		if cookie := resp.Header.Get("Set-Cookie"); strings.Contains(cookie, attribute) {
			t.Errorf("the cookie has %s: %s", attribute, cookie)
		}
	}
	later := guardedDashboard(t, func(o *Options) { o.Start = "later" })
	name := Host(later.token, "later") + later.port()
	later.gives(http.StatusUnauthorized, call{path: "/api/board", anonymous: true, head: map[string]string{"Host": name, "Cookie": g.signIn()}})
	later.gives(http.StatusUnauthorized, call{path: "/api/board", anonymous: true, head: map[string]string{"Authorization": "Bearer " + Key(g.token, "the-start")}})
	later.gives(http.StatusMisdirectedRequest, call{path: "/", head: map[string]string{"Host": Host(g.token, "the-start") + later.port()}})
}

// On other addresses every request needs the token.
func TestOtherAddressesNeedToken(t *testing.T) {
	g := guardedDashboard(t, func(o *Options) {
		o.Addr = netip.AddrPortFrom(netip.MustParseAddr("0.0.0.0"), o.Addr.Port())
		o.Hosts = []string{"board.example"}
	})
	for _, path := range []string{"/api/board", "/events", "/map", "/api/spec"} {
		g.gives(http.StatusUnauthorized, call{path: path, anonymous: true})
	}
	resp, _ := g.do(call{path: "/", head: map[string]string{"Accept": "text/html"}, anonymous: true})
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/login?to=%2F" {
		t.Errorf("a browser is sent to %s %q", resp.Status, resp.Header.Get("Location"))
	}
	g.gives(http.StatusOK, call{path: "/login", anonymous: true})
	g.gives(http.StatusOK, call{path: "/api/board"})
	g.gives(http.StatusOK, call{path: "/api/board", head: map[string]string{"Host": "board.example" + g.port()}})
	g.gives(http.StatusMisdirectedRequest, call{path: "/api/board", head: map[string]string{"Host": "other.example" + g.port()}})
}

// With --allow-host the origin may have another port.
func TestBehindProxy(t *testing.T) {
	g := guardedDashboard(t, func(o *Options) { o.Hosts = []string{"board.example"} })
	port := g.port()
	for _, host := range []string{"board.example", "BOARD.example:443", "board.example" + port, "127.0.0.1" + port, "localhost" + port} {
		for _, path := range []string{"/api/board", "/events", "/map", "/api/spec"} {
			g.gives(http.StatusUnauthorized, call{path: path, head: map[string]string{"Host": host}, anonymous: true})
		}
		g.gives(http.StatusOK, call{path: "/login", head: map[string]string{"Host": host}, anonymous: true})
		g.gives(http.StatusOK, call{path: "/api/board", head: map[string]string{"Host": host}})
	}
	for _, host := range []string{"127.0.0.1:443", "localhost", "evil.example", "board.example.evil.example"} {
		g.gives(http.StatusMisdirectedRequest, call{path: "/api/board", head: map[string]string{"Host": host}})
	}
	ack := func(host, origin, site string) call {
		head := map[string]string{"Host": host, "Origin": origin, "Sec-Fetch-Site": site}
		return call{method: http.MethodPost, path: ackPath, body: `{"reason":"it holds"}`, head: head}
	}
	for _, origin := range []string{
		"https://evil.example", "https://board.example.evil.example", "ftp://board.example", "null",
		"https://evil.example/?board.example", "https://board.example@evil.example",
	} {
		g.gives(http.StatusForbidden, ack("board.example", origin, ""))
	}
	g.reachedNothing()
	g.passes(ack("board.example", "https://board.example", "same-origin"))
	g.passes(ack("127.0.0.1"+port, "https://board.example", "same-origin"))
	g.passes(ack("127.0.0.1"+port, "https://board.example:8443", ""))
}

// Without the token every answer is a refusal, except for those that show nothing of the
// repository.
func TestNothingIsShownWithoutToken(t *testing.T) {
	g := guardedDashboard(t, nil)
	head := strings.Repeat("0", 40)
	if board := g.gives(http.StatusOK, call{path: "/api/board"}); !strings.Contains(board, secret) {
		t.Fatalf("the board does not show the repository: %s", board)
	}
	for _, path := range []string{
		"/", "/specs", "/documents", "/review", "/map", "/files", "/file?path=api.go", "/state", "/worktrees", "/sessions", "/node/api",
		"/node/api/patch/" + head, "/events", "/mcp", "/nowhere",
		"/api/board", "/api/spec", "/api/spec/api", "/api/spec/api/history", "/api/overlays",
		"/api/survey", "/api/summary?path=api.go", "/api/archive", "/api/find?q=Serve", "/api/review", "/api/brief?path=api.go", "/api/diff?path=api.go",
		"/api/docs/fix", "/healthz/", "/login/", "/assets", "/api/login/x",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			if resp, body := g.do(call{method: method, path: path, anonymous: true}); resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s %s without the token: %s, want 401\n%s", method, path, resp.Status, body)
			}
		}
		resp, body := g.do(call{path: path, anonymous: true, head: map[string]string{"Accept": "text/html"}})
		if strings.Contains(body, secret) || resp.StatusCode == http.StatusOK {
			t.Errorf("a browser without the token got %s: %s\n%s", path, resp.Status, body)
		}
	}
	for _, page := range []string{"/healthz", "/login", "/assets/app.js"} {
		body := g.gives(http.StatusOK, call{path: page, anonymous: true})
		if strings.Contains(body, secret) || strings.Contains(body, g.token) || strings.Contains(body, `class="repo"`) {
			t.Errorf("%s shows something of the repository:\n%s", page, body)
		}
	}
	g.reachedNothing()
}

// A browser without the cookie gets the sign-in page, which says where the token is and
// leads back to the page that was asked for.
func TestSignInPage(t *testing.T) {
	g := guardedDashboard(t, nil)
	resp, _ := g.do(call{path: "/file?path=a%26b", anonymous: true, head: map[string]string{"Accept": "text/html"}})
	const want = "/login?to=%2Ffile%3Fpath%3Da%2526b"
	if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || got != want {
		t.Fatalf("the answer is %s %s, want 303 %s", resp.Status, got, want)
	}
	page := g.gives(http.StatusOK, call{path: want, anonymous: true, head: map[string]string{"Accept": "text/html", "Host": g.host()}})
	for _, text := range []string{"ken serve", "#token=", `name="to" value="/file?path=a%26b"`} {
		if !strings.Contains(page, text) {
			t.Errorf("the sign-in page lacks %s:\n%s", text, page)
		}
	}
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html", "Host": g.host(), "Origin": "http://" + g.host()}
	for to, want := range map[string]string{
		"/file?path=a%26b": "/file?path=a%26b", "": "/", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/",
		"evil.example": "/", "javascript:alert(1)": "/", "/\t/evil.example": "/",
	} {
		body := url.Values{"token": {g.token}, "to": {to}}.Encode()
		resp, _ := g.do(call{method: http.MethodPost, path: "/api/login", body: body, anonymous: true, head: form})
		if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("signing in on the way to %q leads to %s %q, want %q", to, resp.Status, got, want)
		}
	}
}

// Only the token and its cookie give access, and each repository has its own cookie.
func TestWrongTokensAreRefused(t *testing.T) {
	g := guardedDashboard(t, nil)
	name, value, _ := strings.Cut(g.signIn(), "=")
	other := guardedDashboard(t, func(o *Options) { o.Token = "the-token-of-another-repository" })
	other.token = "the-token-of-another-repository"
	theirs := other.signIn()
	if strings.HasPrefix(theirs, name+"=") {
		t.Errorf("two repositories have one cookie, %s: each puts the other's out", name)
	}
	for what, head := range map[string]map[string]string{
		"no value":               {"Cookie": name + "="},
		"another value":          {"Cookie": name + "=" + strings.Repeat("0", len(value))},
		"the beginning of it":    {"Cookie": name + "=" + value[:len(value)-1]},
		"more than it":           {"Cookie": name + "=" + value + "0"},
		"the token itself":       {"Cookie": name + "=" + g.token},
		"another name":           {"Cookie": "ken_00000000=" + value},
		"another's":              {"Cookie": theirs},
		"no token":               {"Authorization": "Bearer "},
		"the token's beginning":  {"Authorization": "Bearer " + g.token[:len(g.token)-1]},
		"more than the token":    {"Authorization": "Bearer " + g.token + "x"},
		"the cookie for a token": {"Authorization": "Bearer " + value},
		"another scheme":         {"Authorization": "Basic " + g.token},
	} {
		head["Host"] = g.host()
		resp, _ := g.do(call{method: http.MethodPost, path: ackPath, body: `{"reason":"x"}`, head: head, anonymous: true})
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: the server answered %s; want 401", what, resp.Status)
		}
	}
	for _, body := range []string{`{"token":""}`, `{}`, `{"token":"` + g.token[:5] + `"}`, `{"token":"` + g.token + `x"}`} {
		resp, _ := g.do(call{method: http.MethodPost, path: "/api/login", body: body, anonymous: true, head: map[string]string{"Host": g.host()}})
		if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("signing in with %s: %s", body, resp.Status)
		}
	}
	g.reachedNothing()
}

// Forms from other sites are refused.
func TestCrossSiteFormsAreRefused(t *testing.T) {
	g := guardedDashboard(t, nil)
	cookie := g.signIn()
	for _, from := range []map[string]string{
		{"Origin": "https://evil.example"},
		{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
		{"Origin": "null", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
		{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}, // another port of this machine
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
	} {
		head := map[string]string{"Cookie": cookie, "Host": g.host(), "Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
		for name, value := range from {
			head[name] = value
		}
		resp, _ := g.do(call{method: http.MethodPost, path: ackPath, body: "reason=pwned", head: head})
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("a request from %v got %s; want 403", from, resp.Status)
		}
	}
	g.reachedNothing()
	for _, site := range []string{"cross-site", "same-site"} {
		g.gives(http.StatusForbidden, call{path: "/api/board", head: map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}})
		// A link that is followed.
		g.gives(http.StatusOK, call{path: "/", head: map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}})
	}
}

// Browsers may cache an asset forever under the address of its release.
func TestAssetsAreCachedByRelease(t *testing.T) {
	g := guardedDashboard(t, nil)
	page := g.gives(http.StatusOK, call{path: "/login", head: map[string]string{"Accept": "text/html"}})
	_, rest, _ := strings.Cut(page, `src="/assets/app.js`)
	release, _, found := strings.Cut(rest, `"`)
	if !found || len(release) < 5 {
		t.Fatalf("the page has no script:\n%s", page)
	}
	for query, kept := range map[string]bool{release: true, "": false, "?v=": false, release + "0": false} {
		resp, _ := g.do(call{path: "/assets/app.js" + query})
		if got := strings.Contains(resp.Header.Get("Cache-Control"), "immutable"); resp.StatusCode != http.StatusOK || got != kept {
			t.Errorf("app.js%s: %s, %q", query, resp.Status, resp.Header.Get("Cache-Control"))
		}
	}
}

// Every answer has the security headers.
func TestSecurityHeaders(t *testing.T) {
	g := guardedDashboard(t, nil)
	for _, path := range []string{"/", "/api/board", "/assets/app.js", "/nowhere", "/mcp", "/healthz", "/login"} {
		resp, _ := g.do(call{path: path, head: map[string]string{"Accept": "text/html"}})
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

// The server refuses large and invalid requests, and answers others meanwhile.
func TestLargeAndInvalidRequestsAreRefused(t *testing.T) {
	g := guardedDashboard(t, nil)
	t.Run("bodies", func(t *testing.T) {
		body := &flood{}
		body.left.Store(100 << 20)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.base+ackPath, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+g.token)
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("a request of 100 MB got %s; want 413", resp.Status)
			}
		} // else it was hung up on, which is as good
		if sent := 100<<20 - body.left.Load(); sent > 16<<20 {
			t.Errorf("the server read %d bytes; it should have stopped at the limit", sent)
		}
		for _, bad := range []string{"{", "[]", `{"reason":"x"}{"reason":"y"}`, "\x00"} {
			if resp, _ := g.do(call{method: http.MethodPost, path: ackPath, body: bad}); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("the server answered %s for the body %q; want 400", resp.Status, bad)
			}
		}
		plain := map[string]string{"Content-Type": "text/plain"}
		g.gives(http.StatusUnsupportedMediaType, call{method: http.MethodPost, path: ackPath, body: `{"reason":"x"}`, head: plain})
		form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
		said := g.gives(http.StatusUnsupportedMediaType, call{method: http.MethodPost, path: ackPath, body: `{"reason":"x = y & z"}`, head: form})
		if !strings.Contains(said, "Content-Type: application/json") {
			t.Errorf("JSON sent as a form got %s", said)
		}
		// A guard that was misspelt guards nothing.
		for body, head := range map[string]map[string]string{`{"reason":"x","haed":"1"}`: nil, "reason=x&haed=1": form} {
			said := g.gives(http.StatusBadRequest, call{method: http.MethodPost, path: ackPath, body: body, head: head})
			if !strings.Contains(said, "haed") {
				t.Errorf("the answer to %s is %s; want the unknown field in it", body, said)
			}
		}
	})
	t.Run("headers", func(t *testing.T) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.base+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Large", strings.Repeat("x", 200<<10))
		if resp, err := http.DefaultClient.Do(req); err == nil {
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
				t.Errorf("200 kB of headers: %s", resp.Status)
			}
		}
	})
	g.reachedNothing()
	g.gives(http.StatusOK, call{path: "/api/board"})
}

// A flood is a large JSON string, which counts the bytes that were read.
type flood struct {
	left  atomic.Int64
	begun bool
}

func (f *flood) Read(p []byte) (int, error) {
	left := int(f.left.Load())
	if left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	if !f.begun {
		f.begun = true
		copy(p, `{"reason":"`)
	}
	f.left.Add(int64(-n))
	return n, nil
}
