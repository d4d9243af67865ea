package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"ken/internal/board"
	"ken/internal/cli"
	"ken/internal/content"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/mcp"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/web"
)

// serve shows the repository that dir lies in until ctx ends.
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
		return &fault.Error{Hint: "choose another with: ken serve --addr 127.0.0.1:0", Err: fmt.Errorf("listen on %s: %w", opts.Addr, err)}
	}
	addr, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return errors.Join(fmt.Errorf("listen on %s: %w", opts.Addr, err), l.Close())
	}
	token, err := serveToken(g.CommonDir(), opts.NewToken)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s, err := web.New(webDeps(g), web.Options{Addr: addr, Hosts: opts.Hosts, Token: token, Name: g.CommonDir()})
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

// shownAddr is an address that a browser can be pointed at.
func shownAddr(addr netip.AddrPort) string {
	if addr.Addr().IsUnspecified() {
		return fmt.Sprintf("localhost:%d", addr.Port())
	}
	return addr.String()
}

// tokenFile is where the token lies, in ken's folder.
const tokenFile = "serve.token"

// serveToken returns the token of a repository's dashboard, which stays the same until
// another is asked for.
func serveToken(common string, fresh bool) (string, error) {
	dir := filepath.Join(common, "ken")
	name := filepath.Join(dir, tokenFile)
	if !fresh {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			b, err := os.ReadFile(name)
			if err != nil {
				return "", fmt.Errorf("read the token: %w", err)
			}
			token := strings.TrimSpace(string(b))
			// Windows has no such modes; what is below a user's own folders is theirs.
			if len(token) >= 20 && (info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows") {
				return token, nil
			} // others may have read it, or it is none
		}
	}
	token := rand.Text()
	err := keepToken(dir, name, token)
	if !fresh && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return token, nil // it holds for as long as this server runs
	}
	if err != nil {
		return "", fmt.Errorf("keep the token: %w", err)
	}
	return token, nil
}

func keepToken(dir, name, token string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".token-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(token + "\n")
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// webDeps plugs the dashboard of a repository together.
func webDeps(g *git.Repo) web.Deps {
	root := g.Root()
	p := newPulse(root)
	find := func(ctx context.Context, name string) (*git.Repo, []git.Checkout, git.Checkout, error) {
		g, err := git.Open(ctx, root)
		if err != nil {
			return nil, nil, git.Checkout{}, err
		}
		all, err := g.Checkouts(ctx)
		if err != nil {
			return nil, nil, git.Checkout{}, err
		}
		for _, c := range all {
			if c.Name == name {
				return g, all, c, nil
			}
		}
		return nil, nil, git.Checkout{}, &fault.Error{Kind: fault.Usage, Hint: "git worktree list", Err: fmt.Errorf("there is no worktree %q", name)}
	}
	return web.Deps{
		Version: Version,
		Worktrees: func(ctx context.Context) ([]web.Worktree, error) {
			g, err := git.Open(ctx, root)
			if err != nil {
				return nil, err
			}
			all, err := g.Checkouts(ctx)
			if err != nil {
				return nil, err
			}
			list := make([]web.Worktree, len(all))
			for i, c := range all {
				list[i] = web.Worktree{Name: c.Name, Here: c.Here}
			}
			return list, nil
		},
		Board: func(ctx context.Context, name string, tell func(*board.Board)) (*board.Board, error) {
			g, all, c, err := find(ctx, name)
			if err != nil {
				return nil, err
			}
			return boardOf(ctx, g, all, []git.Checkout{c}, p.runs, tell)
		},
		Pulse: func(ctx context.Context, _ string) (web.Pulse, error) { return p.take(ctx) },
		Watch: func(ctx context.Context, nudge func()) { content.Watch(ctx, p.places, nudge) },
		Open: func(ctx context.Context, name string) (web.Workspace, error) {
			_, _, c, err := find(ctx, name)
			if err != nil {
				return nil, err
			}
			return openDesk(ctx, c)
		},
		OpenState: func(ctx context.Context, name string) (web.StateSpace, error) {
			_, _, c, err := find(ctx, name)
			if err != nil {
				return nil, err
			}
			if c.Err != nil {
				return nil, c.Err
			}
			return openState(ctx, stateOptions{from: c.Repo.Root()})
		},
		MCP: mcp.Handler(confined(g, mcpDeps(root))),
	}
}

// Spec answers for the specs of the worktree.
func (d *boardDesk) Spec() *spec.Reader { return d.specs.Spec() }

// Summaries tells what is said of files.
func (d *boardDesk) Summaries(ctx context.Context, paths []repo.Path) ([]registry.Knowledge, error) {
	return d.files.registry.Show(ctx, paths)
}

// Close lets go of it.
func (d *boardDesk) Close() error {
	d.close()
	return nil
}

// confined keeps whoever asks from afar to the worktrees of one repository. The session
// that the server was started in is not theirs.
func confined(g *git.Repo, deps mcp.Deps) mcp.Deps {
	known := func(ctx context.Context, dir string) error {
		if dir == "" {
			return nil
		}
		other, err := git.Open(ctx, existing(dir))
		if err != nil || other.CommonDir() != g.CommonDir() {
			return &fault.Error{
				Kind: fault.Usage, Hint: "leave root away, or name a directory in one of its worktrees",
				Err: fmt.Errorf("this server answers for one repository, in which %s does not lie", dir),
			}
		}
		return nil
	}
	open, openState := deps.Open, deps.OpenState
	deps.Session = nil
	deps.Open = func(ctx context.Context, root, author string) (mcp.Workspace, error) {
		if err := known(ctx, root); err != nil {
			return nil, err
		}
		return open(ctx, root, author)
	}
	deps.OpenState = func(ctx context.Context, root, named, author string) (mcp.StateSpace, error) {
		if err := known(ctx, root); err != nil {
			return nil, err
		}
		if named != "" {
			from := root
			if from == "" {
				from = g.Root()
			}
			dir := named
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(from, dir)
			}
			if err := known(ctx, dir); err != nil {
				return nil, err
			}
		}
		return openState(ctx, root, named, author)
	}
	return deps
}
