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
	"slices"
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
// programs find it.
func Port(common string) uint16 {
	sum := sha256.Sum256([]byte(common))
	return firstPort + uint16(binary.BigEndian.Uint64(sum[:8])%portCount)
}

// An Address is where a dashboard can be reached.
type Address struct {
	netip.AddrPort

	Token string // it opens everything
	Start string // see [web.Options]
	// Hosts are further host names to which it answers.
	Hosts []string
}

// URL returns the address of the home page for a browser, with the key that signs it in.
func (a Address) URL() string {
	host := web.Host(a.Token, a.Start)
	switch {
	case !isNamed(a.Addr()):
		host = a.Addr().String()
	case slices.Contains(a.Hosts, "localhost"):
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(a.Port())) + "/#token=" + web.Key(a.Token, a.Start)
}

// loopback lists the addresses where browsers look for the name of a dashboard.
var loopback = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}

// isNamed reports whether browsers on this machine reach a listener on addr under [web.Host].
func isNamed(addr netip.Addr) bool {
	return addr.IsUnspecified() || slices.Contains(loopback, addr.Unmap())
}

// ListenOptions tunes Listen. The zero value is ready to use.
type ListenOptions struct {
	Addr string // "" for the port of the repository on this machine
	// New asks for a new server, since a running one may not have the requested options.
	New   bool
	Taken func(port uint16) // called if another program listens on the repository's port; may be nil
}

// Listen opens the listeners of the dashboard of the repository whose git directory is common. Without an address, it
// uses the port of the repository, or any free port if another program has that one. It returns the address of a
// running dashboard, instead of listeners, if one of this repository answers there.
func Listen(ctx context.Context, common string, opts ListenOptions) (ls []net.Listener, running *Address, err error) {
	if opts.Addr != "" {
		ls, err = listenOn(ctx, opts.Addr)
		return ls, nil, err
	}
	own := netip.AddrPortFrom(loopback[0], Port(common))
	ls, err = listenBoth(ctx, own.String())
	if err == nil {
		return ls, nil, nil
	}
	if token := storedToken(common); !opts.New && token != "" {
		if start := runningSince(ctx, own, token); start != "" {
			return nil, &Address{AddrPort: own, Token: token, Start: start}, nil
		}
	}
	ls, err = listenOn(ctx, "127.0.0.1:0")
	if err == nil && opts.Taken != nil {
		opts.Taken(own.Port())
	}
	return ls, nil, err
}

// portTries is how often ken looks for a port that is free on both loopback addresses.
const portTries = 10

func listenOn(ctx context.Context, addr string) ([]net.Listener, error) {
	ls, err := listenBoth(ctx, addr)
	for range portTries {
		if err == nil || !strings.HasSuffix(addr, ":0") {
			break
		}
		ls, err = listenBoth(ctx, addr)
	}
	if err == nil {
		return ls, nil
	}
	hint := "use the address of this repository: ken serve"
	if errors.Is(err, syscall.EADDRINUSE) {
		hint = "use any free port: ken serve --port 0"
	}
	return nil, &fault.Error{Hint: hint, Err: err}
}

// listenBoth listens on an address. If browsers reach it under the name of the dashboard, it listens on both loopback
// addresses: browsers try both, and another program must not have one of them.
func listenBoth(ctx context.Context, addr string) ([]net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	ls := []net.Listener{l}
	at, err := netip.ParseAddrPort(l.Addr().String())
	for _, other := range loopback {
		isMissing := isNamed(at.Addr()) && !covers(at.Addr(), other)
		if err != nil || !isMissing || !hasAddress(other) {
			continue
		}
		also := netip.AddrPortFrom(other, at.Port()).String()
		if l, err = new(net.ListenConfig).Listen(ctx, "tcp", also); err != nil {
			err = fmt.Errorf("listen on %s: %w", also, err)
			continue
		}
		ls = append(ls, l)
	}
	if err != nil {
		closeAll(ls)
		return nil, err
	}
	return ls, nil
}

// covers reports whether a listener on addr also gets the connections to a loopback address.
func covers(addr, other netip.Addr) bool {
	if addr.IsUnspecified() {
		return addr.Is6() || other.Is4()
	}
	return addr.Unmap() == other
}

// hasAddress reports whether this machine has an address. Some have no IPv6.
func hasAddress(addr netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(all, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr() == addr
	})
}

func closeAll(ls []net.Listener) {
	for _, l := range ls {
		_ = l.Close()
	}
}

// runningSince returns the start of the dashboard with this token that listens on an address, and "" if there is none.
// Another program could answer there: only a server that has the token can compute the proof.
func runningSince(ctx context.Context, addr netip.AddrPort, token string) (start string) {
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	challenge := rand.Text()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr.String()+"/healthz?challenge="+challenge, nil)
	if err != nil {
		return ""
	}
	// No proxy from the environment, and no redirects.
	client := &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err != nil || resp.StatusCode != http.StatusOK {
		return ""
	}
	proof, start, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	if proof != web.Proof(token, addr.Port(), challenge, start) {
		return ""
	}
	return start
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
