package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ken/internal/cli"
	"ken/internal/dashboard"
	"ken/internal/git"
	"ken/internal/ken"
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
	listeners, running, err := dashboard.Listen(ctx, g.CommonDir(), dashboard.ListenOptions{
		Addr: opts.Addr, New: len(opts.Hosts) > 0 || opts.NewToken, Taken: opts.Taken,
	})
	if err != nil {
		return err
	}
	if running != nil {
		at := serving(*running)
		at.Running = true
		at.URL, err = dashboard.WorktreeURL(ctx, g, at.URL)
		if err != nil {
			return err
		}
		opts.Ready(at)
		return nil
	}
	closed := func(err error) error {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	addr, err := netip.ParseAddrPort(listeners[0].Addr().String())
	if err != nil {
		return closed(fmt.Errorf("listen on %s: %w", listeners[0].Addr(), err))
	}
	token, err := dashboard.Token(g.CommonDir(), opts.NewToken)
	if err != nil {
		return closed(err)
	}
	at := dashboard.Address{AddrPort: addr, Token: token, Start: rand.Text(), Hosts: opts.Hosts}
	deps := webDeps(ctx, g, workingDir())
	deps.Editor = editor
	s, err := web.New(deps, web.Options{Addr: addr, Hosts: opts.Hosts, Token: token, Start: at.Start})
	if err != nil {
		return closed(err)
	}
	following, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	follower.Go(func() { followTeam(following, g.Root()) })
	defer follower.Wait()
	defer stop()
	opts.Ready(serving(at))
	return s.Serve(ctx, listeners...)
}

// serving describes a server for the user.
func serving(at dashboard.Address) cli.DashboardAddress {
	return cli.DashboardAddress{URL: at.URL(), Addr: at.String(), Local: at.Addr().IsLoopback()}
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

// followEvery is how often a server fetches new records of the team, and so the longest time until two colleagues see
// the same board.
const followEvery = 15 * time.Second

// followTeam synchronizes the repository at root with the store of its team, if there is one, until ctx ends. It ignores
// errors, since commands report them.
func followTeam(ctx context.Context, root string) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		if w, err := ken.OpenWithTeam(ctx, ken.Options{Dir: root}); err == nil {
			_ = w.Close() // commands report the error
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
