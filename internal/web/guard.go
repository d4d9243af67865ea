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

// Options says under which addresses a dashboard is reached, and by what it knows
// those who may write.
type Options struct {
	// Addr is the address that it listens on.
	Addr netip.AddrPort
	// Hosts are names that it may be asked under, besides its address and localhost.
	Hosts []string
	// Token opens everything. It is never empty.
	Token string
	// Name sets the cookies of one repository's dashboard apart from those of
	// another: ports do not.
	Name string
}

// A guard decides who may ask what.
//
// Whoever is on this machine may look, unless the dashboard is reachable from others,
// be it by way of a proxy; writing, and everything an agent may do, takes the token. A
// browser that is on some other page never gets through: the host must be one that we
// are known by, so that no name that was made to lead here is good for anything, and the
// origin must be ours.
type guard struct {
	opts        Options
	cookie      string // its name
	cookieValue string // its value, of which the token cannot be historyRow
}

func newGuard(opts Options) *guard {
	sum := sha256.Sum256([]byte(opts.Name))
	mac := hmac.New(sha256.New, []byte(opts.Token))
	mac.Write([]byte("cookie"))
	return &guard{
		opts: opts, cookie: "ken_" + hex.EncodeToString(sum[:4]), cookieValue: hex.EncodeToString(mac.Sum(nil)),
	}
}

// What a request is refused with.
var (
	errHost   = statusErr(http.StatusMisdirectedRequest, "ken serve does not answer to this host name", "open the address that ken serve printed")
	errOrigin = statusErr(http.StatusForbidden, "the request comes from another site", "use the dashboard's own pages")
	errToken  = statusErr(http.StatusUnauthorized, "this needs the token", "open the address that ken serve printed, or send the header Authorization: Bearer TOKEN")
	errNoPage = statusErr(http.StatusNotFound, "page not found", "start at /")
	errID     = statusErr(http.StatusBadRequest, "not a commit id", "use 4 to 64 hexadecimal digits")
	errMoved  = statusErr(http.StatusConflict, "the repository changed since this page was loaded", "check the new state, then acknowledge again")
)

// A statusError is an error with its own HTTP status.
type statusError struct {
	error
	status int
}

func (e *statusError) Unwrap() error { return e.error }

func statusErr(status int, text, hint string) error {
	return &statusError{&fault.Error{Kind: fault.Usage, Hint: hint, Err: errors.New(text)}, status}
}

// protect lets through what may pass, with every answer told how it may be used. It has
// so long to be given, but for those that go on.
func (g *guard) protect(within time.Duration, next http.Handler, fail func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "+
			"worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with none, a form's origin would be null
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		if err := g.check(r); err != nil {
			if r.Method == http.MethodGet && errors.Is(err, errToken) && wantsPage(r) {
				http.Redirect(w, r, "/login", http.StatusSeeOther) // the fragment goes along
				return
			}
			fail(w, r, err)
			return
		}
		control := http.NewResponseController(w)
		talk := func() { _ = control.SetReadDeadline(time.Time{}) } // it may go on for as long as both want
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

// bodyReader is a body after which there is no more hurry.
type bodyReader struct {
	io.ReadCloser
	done func()
}

func (h *bodyReader) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		h.done()
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
	if g.needsToken(r) && !g.mayWrite(r) {
		return errToken
	}
	return nil
}

// foreign reports whether a browser sent a request for a page that is not ours. Older
// ones say where it comes from with Origin alone, and others than browsers do not say.
func (g *guard) crossSite(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		from, err := url.Parse(origin)
		ours := err == nil && (from.Scheme == "http" || from.Scheme == "https") &&
			(from.Host == r.Host || g.allowed(from.Hostname())) // which a proxy may not pass on as Host
		if !ours {
			return true
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	// What is left is a link elsewhere that somebody follows.
	return r.Method != http.MethodGet && r.Method != http.MethodHead || r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// named reports whether a name is one that we were told of.
func (g *guard) allowed(host string) bool {
	return slices.ContainsFunc(g.opts.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// known reports whether a request was sent to a name that is ours. Behind such a name
// there is a proxy, which has a port of its own.
func (g *guard) knownHost(r *http.Request) bool {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = strings.Trim(r.Host, "[]"), "80"
	}
	if g.allowed(host) {
		return true
	}
	if port != fmt.Sprint(g.opts.Addr.Port()) {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	// No name leads to an address that is spelled out: whoever asks for one that this
	// connection came in on means us.
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if ap, err := netip.ParseAddrPort(local.String()); err == nil && ap.Addr().Unmap() == addr.Unmap() {
			return true
		}
	}
	return addr.IsLoopback() && g.loopback() || addr.Unmap() == g.opts.Addr.Addr().Unmap()
}

// local reports whether the dashboard listens to this machine alone.
func (g *guard) loopback() bool { return g.opts.Addr.Addr().IsLoopback() }

func (g *guard) needsToken(r *http.Request) bool {
	switch path := r.URL.Path; {
	case path == "/healthz", path == "/login", path == "/api/login", strings.HasPrefix(path, "/assets/"):
		return false
	case path == "/mcp":
		return true
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return true
	}
	return !g.loopback() || len(g.opts.Hosts) > 0 // a proxy asks for people who are elsewhere
}

// mayWrite reports whether a request brings the token, or the cookie that was given
// for it.
func (g *guard) mayWrite(r *http.Request) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && g.isToken(given) {
		return true
	}
	c, err := r.Cookie(g.cookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(g.cookieValue)) == 1
}

// opens reports whether a text is the token.
func (g *guard) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(g.opts.Token))
	return g.opts.Token != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// admit gives the browser the cookie.
func (g *guard) setCookie(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie, Value: g.cookieValue, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: 180 * 24 * 3600,
	})
}

// wantsPage reports whether somebody looks at the answer: one to a page's address, or to
// a form that a browser sent by itself.
func wantsPage(r *http.Request) bool {
	program := strings.HasPrefix(r.URL.Path, "/api/") && r.Method == http.MethodGet || r.URL.Path == "/events" || r.URL.Path == "/mcp"
	return !program && strings.Contains(r.Header.Get("Accept"), "text/html")
}
