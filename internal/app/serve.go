package app

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"

	"ken/internal/cli"
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
	editor, err := g.UserSetting(ctx, "ken.editor")
	if err != nil {
		return err
	}
	if err := web.CheckEditor(editor); err != nil {
		return err
	}
	l, running, err := listen(ctx, g.CommonDir(), opts)
	if err != nil {
		return err
	}
	if running != nil {
		running.URL, err = ownPage(ctx, g, running.URL)
		if err != nil {
			return err
		}
		opts.Ready(*running)
		return nil
	}
	addr, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return errors.Join(fmt.Errorf("listen on %s: %w", l.Addr(), err), l.Close())
	}
	token, err := serveToken(g.CommonDir(), opts.NewToken)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	deps := webDeps(ctx, g, workingDir())
	deps.Editor = editor
	s, err := web.New(deps, web.Options{Addr: addr, Hosts: opts.Hosts, Token: token, Name: g.CommonDir()})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	following, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	follower.Go(func() { followTeam(following, g.Root()) })
	defer follower.Wait()
	defer stop()
	opts.Ready(serving(addr, token))
	return s.Serve(ctx, l)
}

// serving describes a server for the user.
func serving(addr netip.AddrPort, token string) cli.Serving {
	return cli.Serving{URL: "http://" + shownAddr(addr) + "/#token=" + token, Addr: addr.String(), Local: addr.Addr().IsLoopback()}
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
