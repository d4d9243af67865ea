package dashboard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/web"
)

// Ports of dashboards. Operating systems do not use them for outgoing connections: Linux
// uses ports from 32768 on, others from 49152 on.
const (
	firstPort = 20000
	portCount = 10000
)

// Port returns the port of a repository's dashboard. It stays the same, so that
// bookmarks and cookies stay valid.
func Port(common string) uint16 {
	sum := sha256.Sum256([]byte(common))
	return firstPort + uint16(binary.BigEndian.Uint64(sum[:8])%portCount)
}

// An Address is where a dashboard can be reached.
type Address struct {
	netip.AddrPort

	Token string // it opens everything
}

// URL returns the address of the home page for a browser, with the token.
func (a Address) URL() string {
	host := a.String()
	if a.Addr().IsUnspecified() {
		host = fmt.Sprintf("localhost:%d", a.Port())
	}
	return "http://" + host + "/#token=" + a.Token
}

// ListenOptions tunes Listen. The zero value is ready to use.
type ListenOptions struct {
	Addr string // "" for the port of the repository on this machine
	// New asks for a new server, since a running one may not have the requested options.
	New   bool
	Taken func(port uint16) // called if another program listens on the repository's port; may be nil
}

// Listen opens the listener of the dashboard of the repository whose git directory is common. Without an address, it
// uses the port of the repository, or any free port if another program has that one. It returns the address of a
// running dashboard, instead of a listener, if one of this repository answers there.
func Listen(ctx context.Context, common string, opts ListenOptions) (l net.Listener, running *Address, err error) {
	if opts.Addr != "" {
		l, err = listenOn(ctx, opts.Addr)
		return l, nil, err
	}
	own := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), Port(common))
	l, err = new(net.ListenConfig).Listen(ctx, "tcp", own.String())
	if err == nil {
		return l, nil, nil
	}
	if token := storedToken(common); !opts.New && token != "" && isDashboard(ctx, own, token) {
		return nil, &Address{AddrPort: own, Token: token}, nil
	}
	l, err = listenOn(ctx, "127.0.0.1:0")
	if err == nil && opts.Taken != nil {
		opts.Taken(own.Port())
	}
	return l, nil, err
}

func listenOn(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	hint := "use the address of this repository: ken serve"
	if errors.Is(err, syscall.EADDRINUSE) {
		hint = "use any free port: ken serve --port 0"
	}
	return nil, &fault.Error{Hint: hint, Err: fmt.Errorf("listen on %s: %w", addr, err)}
}

// isDashboard reports whether a dashboard with this token listens on an address. Another
// program could answer there: only a server that has the token can compute the proof.
func isDashboard(ctx context.Context, addr netip.AddrPort, token string) bool {
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	challenge := rand.Text()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr.String()+"/healthz?challenge="+challenge, nil)
	if err != nil {
		return false
	}
	// No proxy from the environment, and no redirects.
	client := &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err != nil || resp.StatusCode != http.StatusOK {
		return false
	}
	return strings.TrimSpace(string(b)) == web.Proof(token, addr.Port(), challenge)
}

// proofTime is how long ken serve waits for the program that has its port.
const proofTime = 2 * time.Second

// WorktreeURL returns the address of the home page of the worktree of g, given the home page of the server. The server
// may have been started in another worktree.
func WorktreeURL(ctx context.Context, g *git.Repo, home string) (string, error) {
	all, err := g.Checkouts(ctx)
	if err != nil || len(all) < 2 {
		return home, err
	}
	for _, c := range all {
		if c.Here {
			return strings.Replace(home, "/#", "/?w="+url.QueryEscape(c.Name)+"#", 1), nil
		}
	}
	return home, nil
}
