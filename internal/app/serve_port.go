package app

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

	"ken/internal/cli"
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

// repositoryPort returns the port of a repository's dashboard. It stays the same, so that
// bookmarks and cookies stay valid.
func repositoryPort(common string) uint16 {
	sum := sha256.Sum256([]byte(common))
	return firstPort + uint16(binary.BigEndian.Uint64(sum[:8])%portCount)
}

// listen opens the listener of a dashboard. If opts name no address, it uses the port of
// the repository, or any free port if another program has that one. It returns running
// instead of a listener if a dashboard of this repository answers there.
func listen(ctx context.Context, common string, opts cli.ServeOptions) (l net.Listener, running *cli.Serving, err error) {
	if opts.Addr != "" {
		l, err = listenOn(ctx, opts.Addr)
		return l, nil, err
	}
	own := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), repositoryPort(common))
	l, err = new(net.ListenConfig).Listen(ctx, "tcp", own.String())
	if err == nil {
		return l, nil, nil
	}
	plain := len(opts.Hosts) == 0 && !opts.NewToken // a running server may not have the requested options
	if token := storedToken(common); plain && token != "" && isDashboard(ctx, own, token) {
		at := serving(own, token)
		at.Running = true
		return nil, &at, nil
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

// ownPage returns the address of the home page of this worktree. The running server may
// have been started in another one.
func ownPage(ctx context.Context, g *git.Repo, home string) (string, error) {
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
