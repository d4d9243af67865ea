package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"ken/internal/fault"
)

// Options are the addresses of a dashboard and its secrets.
type Options struct {
	// Addr is the address of the listener.
	Addr netip.AddrPort
	// Hosts are further allowed host names, besides [Host], the address and localhost.
	Hosts []string
	// Token gives full access. It is never empty.
	Token string
	// Start is random and new at each start. Everybody may know it.
	Start string
}

// Host returns the host name under which browsers sign in. Cookies ignore ports: under a known name, other programs on
// this machine would get the cookie. Browsers resolve names below localhost to this machine.
func Host(token, start string) string { return "ken-" + derive(token, "host", start) + ".localhost" }

// Key returns the part of the printed address that signs a browser in. It gives the same access as the token, until the
// server stops.
func Key(token, start string) string { return derive(token, "key", start) }

// derive returns a secret for one use that follows from the token.
func derive(token, use, about string) string {
	mac := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(mac, "%s %s", use, about)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// A guard decides who has access.
//
// Every answer needs the token, except for those that show nothing of the repository:
// see needsToken. Other users of the machine can connect, but cannot read the token.
// Pages of other sites never get through: the host must be a known one, which stops DNS
// rebinding, and the origin must be the dashboard's own. Cookies count only under [Host] and Options.Hosts.
type guard struct {
	opts        Options
	host        string // see Host
	key         string // see Key
	cookie      string // name of the cookie: repositories may share a name of Options.Hosts
	cookieValue string
}

func newGuard(opts Options) *guard {
	return &guard{
		opts: opts, host: Host(opts.Token, opts.Start), key: Key(opts.Token, opts.Start),
		cookie: "ken_" + derive(opts.Token, "name", "")[:8], cookieValue: derive(opts.Token, "cookie", opts.Start),
	}
}

// Reasons to refuse a request.
var (
	errHost   = statusErr(http.StatusMisdirectedRequest, "ken serve does not answer to this host name", newAddress)
	errSignIn = statusErr(http.StatusMisdirectedRequest, "browsers cannot sign in under this host name", newAddress)
	errOrigin = statusErr(http.StatusForbidden, "the request comes from another site", "use the dashboard's own pages")
	errToken  = statusErr(http.StatusUnauthorized, "the dashboard needs its token", "open the address that ken serve printed, or send the header Authorization: Bearer TOKEN")
	errNoPage = statusErr(http.StatusNotFound, "page not found", "start at /")
	errID     = statusErr(http.StatusBadRequest, "not a commit id", "use 4 to 64 hexadecimal digits")
	errMoved  = statusErr(http.StatusConflict, "the repository changed since this page was loaded", "check the new state, then acknowledge again")
)

// newAddress is the hint for a browser with another address.
const newAddress = "the address is new at each start: run ken serve in the repository, and open the address that it prints"

// A statusError is an error with its own HTTP status.
type statusError struct {
	error
	status int
}

func (e *statusError) Unwrap() error { return e.error }

func statusErr(status int, text, hint string) error {
	return &statusError{&fault.Error{Kind: fault.Usage, Hint: hint, Err: errors.New(text)}, status}
}

// protect checks each request, sets the security headers, and limits the time until the
// answer begins. /events and /mcp have no such limit.
func (g *guard) protect(within time.Duration, next http.Handler, fail func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "+
			"worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send Origin: null with forms
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		if err := g.check(r); err != nil {
			if r.Method == http.MethodGet && errors.Is(err, errToken) && wantsPage(r) {
				// Browsers keep the fragment, which may have the token.
				http.Redirect(w, r, "/login?"+url.Values{"to": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
				return
			}
			fail(w, r, err)
			return
		}
		if needsToken(r.URL.Path) {
			markProven(r)
		}
		control := http.NewResponseController(w)
		talk := func() { _ = control.SetReadDeadline(time.Time{}) } // no time limit
		switch r.URL.Path {
		case "/events":
			talk()
		case "/mcp":
			r.Body = &bodyReader{http.MaxBytesReader(w, r.Body, maxMessage), talk}
		default:
			_ = control.SetWriteDeadline(time.Now().Add(within))
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		next.ServeHTTP(w, r)
	})
}

// A bodyReader calls done at the end of the body.
type bodyReader struct {
	io.ReadCloser
	done func()
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.done()
	}
	return n, err
}

func (g *guard) check(r *http.Request) error {
	if !g.knownHost(r) {
		return errHost
	}
	if g.crossSite(r) {
		return errOrigin
	}
	if needsToken(r.URL.Path) && !g.signedIn(r) {
		return errToken
	}
	return nil
}

// crossSite reports whether a page of another site sent the request. Older browsers
// send only Origin; other programs send neither header.
func (g *guard) crossSite(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		from, err := url.Parse(origin)
		ours := err == nil && (from.Scheme == "http" || from.Scheme == "https") &&
			(from.Host == r.Host || g.allowed(from.Hostname())) // a proxy may replace Host
		if !ours {
			return true
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	// Allow links from other sites that the user follows.
	return r.Method != http.MethodGet && r.Method != http.MethodHead || r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// acceptsCookie reports whether a browser can sign in under the host name of a request.
func (g *guard) acceptsCookie(r *http.Request) bool {
	host, _ := hostPort(r)
	return strings.EqualFold(host, g.host) || g.allowed(host)
}

// hostPort returns the parts of the Host header.
func hostPort(r *http.Request) (host, port string) {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return strings.Trim(r.Host, "[]"), "80"
	}
	return host, port
}

// allowed reports whether host is in Options.Hosts.
func (g *guard) allowed(host string) bool {
	return slices.ContainsFunc(g.opts.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// knownHost reports whether the Host header names this dashboard. A name from
// Options.Hosts belongs to a proxy, so its port does not matter.
func (g *guard) knownHost(r *http.Request) bool {
	host, port := hostPort(r)
	if g.allowed(host) {
		return true
	}
	if port != fmt.Sprint(g.opts.Addr.Port()) {
		return false
	}
	if strings.EqualFold(host, "localhost") || strings.EqualFold(host, g.host) {
		return true
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	// DNS rebinding needs a name. A literal address on which this connection arrived
	// is safe.
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if ap, err := netip.ParseAddrPort(local.String()); err == nil && ap.Addr().Unmap() == addr.Unmap() {
			return true
		}
	}
	return addr.IsLoopback() && g.loopback() || addr.Unmap() == g.opts.Addr.Addr().Unmap()
}

// loopback reports whether the dashboard listens on a loopback address.
func (g *guard) loopback() bool { return g.opts.Addr.Addr().IsLoopback() }

// needsToken reports whether the answer to a path may show something of the repository.
func needsToken(path string) bool {
	switch path {
	case "/healthz", "/login", "/api/login":
		return false
	}
	return !strings.HasPrefix(path, "/assets/")
}

// signedIn reports whether a request has the token or the cookie.
func (g *guard) signedIn(r *http.Request) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && g.isToken(given) {
		return true
	}
	c, err := r.Cookie(g.cookie)
	return err == nil && g.acceptsCookie(r) && subtle.ConstantTimeCompare([]byte(c.Value), []byte(g.cookieValue)) == 1
}

// isToken reports whether a text is the token or the key of this start. It compares in constant time.
func (g *guard) isToken(given string) bool {
	sum := sha256.Sum256([]byte(given))
	is := func(secret string) bool {
		want := sha256.Sum256([]byte(secret))
		return subtle.ConstantTimeCompare(sum[:], want[:]) == 1
	}
	return is(g.opts.Token) || is(g.key)
}

// Proof returns the answer to a challenge. Only a server that has the token can compute it.
// The port is part of it, so that another program cannot pass the challenge on.
func Proof(token string, port uint16, challenge, start string) string {
	return derive(token, "healthz", fmt.Sprintf("%d %s %s", port, challenge, start))
}

// healthz answers "ok", or the proof for a challenge and Options.Start.
func (g *guard) healthz(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	answer := "ok"
	if challenge := r.URL.Query().Get("challenge"); challenge != "" {
		answer = Proof(g.opts.Token, g.opts.Addr.Port(), challenge, g.opts.Start) + " " + g.opts.Start
	}
	_, _ = io.WriteString(w, answer+"\n")
}

// setCookie signs the browser in, until it is closed or the server stops.
func (g *guard) setCookie(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie, Value: g.cookieValue, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// wantsPage reports whether the client is a browser that shows the answer.
func wantsPage(r *http.Request) bool {
	program := strings.HasPrefix(r.URL.Path, "/api/") && r.Method == http.MethodGet || r.URL.Path == "/events" || r.URL.Path == "/mcp"
	return !program && strings.Contains(r.Header.Get("Accept"), "text/html")
}
