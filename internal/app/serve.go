package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"

	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/web"
)

// serve runs the dashboard of the repository that contains dir until ctx ends.
func serve(ctx context.Context, dir string, opts cli.ServeOptions) error {
	if dir == "" {
		dir = "."
	}
	g, err := git.Open(ctx, dir)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", opts.Addr)
	if err != nil {
		return &fault.Error{Hint: "use a free port: ken serve --addr 127.0.0.1:0", Err: fmt.Errorf("listen on %s: %w", opts.Addr, err)}
	}
	addr, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return errors.Join(fmt.Errorf("listen on %s: %w", opts.Addr, err), l.Close())
	}
	token, err := serveToken(g.CommonDir(), opts.NewToken)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s, err := web.New(webDeps(ctx, g, workingDir()), web.Options{Addr: addr, Hosts: opts.Hosts, Token: token, Name: g.CommonDir()})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	following, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	follower.Go(func() { followTeam(following, g.Root()) })
	defer follower.Wait()
	defer stop()
	opts.Ready(cli.Serving{URL: "http://" + shownAddr(addr) + "/#token=" + token, Addr: addr.String(), Local: addr.Addr().IsLoopback()})
	return s.Serve(ctx, l)
}

// workingDir returns the working directory without symbolic links; "" if it is unknown.
func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return ""
	}
	return dir
}

// shownAddr returns an address that a browser can open.
func shownAddr(addr netip.AddrPort) string {
	if addr.Addr().IsUnspecified() {
		return fmt.Sprintf("localhost:%d", addr.Port())
	}
	return addr.String()
}
