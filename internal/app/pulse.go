package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ken/internal/config"
	"ken/internal/content"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/store/local"
	"ken/internal/web"
)

// A pulse takes cheap looks at a repository: stats of all that a board is made from,
// and the contents of nothing. What it keeps saves time alone.
type pulse struct {
	root string // of the worktree that the server was started in
	now  func() time.Time

	runs *runsCache

	mu      sync.Mutex
	indexes map[string]*indexed // by git directory
}

// indexed is what an index tracks, while it looks the same.
type indexed struct {
	stat    string
	entries []repo.Entry
	dirs    []string // of those, from the root
}

func newPulse(root string) *pulse {
	return &pulse{root: root, now: time.Now, runs: &runsCache{root: root}, indexes: make(map[string]*indexed)}
}

// take looks at everything that the boards of a repository depend on.
func (p *pulse) take(ctx context.Context) (web.Pulse, error) {
	g, err := git.Open(ctx, p.root)
	if err != nil {
		return web.Pulse{}, err
	}
	trees, err := g.Checkouts(ctx)
	if err != nil {
		return web.Pulse{}, err
	}
	parts := make([]part, first+3*len(trees))
	var group errgroup.Group
	group.Go(func() error { return parts[0].of(func(sum hash.Hash) error { return shared(sum, g.CommonDir()) }) })
	group.Go(func() error { return parts[1].of(func(sum hash.Hash) error { return kept(sum, g.CommonDir()) }) })
	for i := range trees {
		c, at := &trees[i], parts[first+3*i:]
		if c.Err != nil {
			continue
		}
		root := c.Repo.Root()
		group.Go(func() error { return at[0].of(func(sum hash.Hash) error { return p.files(ctx, sum, c.Repo) }) })
		group.Go(func() error {
			return at[1].of(func(sum hash.Hash) error { walk(sum, filepath.Join(root, spec.Root)); return nil })
		})
		group.Go(func() error { return at[2].of(func(sum hash.Hash) error { return own(ctx, sum, c.Repo) }) })
	}
	if err := group.Wait(); err != nil {
		return web.Pulse{}, err
	}
	all, specs := sha256.New(), sha256.New()
	// What a cleanup would move depends on how old it is, by days.
	fmt.Fprintf(all, "%d\n", p.now().Truncate(ageing).Unix())
	for i := range trees {
		c := &trees[i]
		fmt.Fprintf(all, "%q %t %q %s %v\n", c.Name, c.Here, c.Head.Branch, c.Head.Commit, c.Err)
		fmt.Fprintf(specs, "%x\n", parts[first+3*i+1])
	}
	for _, part := range parts {
		fmt.Fprintf(all, "%x\n", part)
	}
	// An answer that comes later is a change of its own.
	if runs := p.runs.part(ctx, runsBriefly); runs != nil && runs != runsLate {
		if err := json.NewEncoder(all).Encode(runs); err != nil {
			return web.Pulse{}, err
		}
	}
	return web.Pulse{Key: hex.EncodeToString(all.Sum(nil)), Specs: hex.EncodeToString(specs.Sum(nil)), Texts: hex.EncodeToString(parts[1][:])}, nil
}

// first is where the parts of worktrees begin, behind those that are everybody's.
const first = 2

// ageing is how long what is only getting older is taken to be as old as it was.
const ageing = 10 * time.Minute

// A part is the digest of what was seen in one place.
type part [sha256.Size]byte

func (p *part) of(look func(hash.Hash) error) error {
	sum := sha256.New()
	err := look(sum)
	sum.Sum(p[:0])
	return err
}

// shared looks at what all worktrees have in common.
func shared(sum hash.Hash, common string) error {
	for _, name := range []string{"HEAD", "packed-refs", "config", "shallow", "info/attributes", "info/exclude"} {
		stat(sum, filepath.Join(common, filepath.FromSlash(name)))
	}
	walk(sum, filepath.Join(common, "refs"))
	return nil
}

// kept looks at what ken keeps, wherever that is.
func kept(sum hash.Hash, common string) error {
	for _, name := range databases(common) {
		stat(sum, name)
		if info, err := os.Lstat(name + "-wal"); err == nil && info.Size() > 0 { // readers leave empty ones
			note(sum, "wal", info)
		}
	}
	return nil
}

// databases are the files that what ken keeps may be in.
func databases(common string) []string {
	return local.Open(local.Options{CommonDir: common, StateDir: stateDir()}).Files() // none is opened
}

// own looks at what is one worktree's own, besides its files.
func own(ctx context.Context, sum hash.Hash, g *git.Repo) error {
	stat(sum, filepath.Join(g.GitDir(), "index"))
	stat(sum, filepath.Join(g.Root(), filepath.FromSlash(config.Name)))
	stat(sum, filepath.Join(g.Root(), filepath.FromSlash(config.ContractName)))
	s, err := openState(ctx, stateOptions{from: g.Root()})
	if err != nil {
		fmt.Fprintf(sum, "%v\n", err) // the board says so
		return nil
	}
	list(sum, s.dir.Path())
	list(sum, filepath.Join(s.dir.Path(), ".archive"))
	return s.Close()
}

// files looks at every tracked file of a worktree.
func (p *pulse) files(ctx context.Context, sum hash.Hash, g *git.Repo) error {
	idx, err := p.index(ctx, g)
	if err != nil {
		return err
	}
	found, err := content.Open(g.Root(), content.Options{Format: g.ObjectFormat()}).Stat(ctx, idx.entries)
	if err != nil {
		return err
	}
	for i := range found {
		f := &found[i]
		fmt.Fprintf(sum, "%d %t %d %d %d %d\n", f.Presence, f.Executable, f.Stat.Size, f.Stat.Mtime, f.Stat.Ctime, f.Stat.Inode)
	}
	return nil
}

func (p *pulse) index(ctx context.Context, g *git.Repo) (*indexed, error) {
	look := sha256.New()
	stat(look, filepath.Join(g.GitDir(), "index"))
	key := hex.EncodeToString(look.Sum(nil))
	p.mu.Lock()
	kept := p.indexes[g.GitDir()]
	p.mu.Unlock()
	if kept != nil && kept.stat == key {
		return kept, nil
	}
	snap, err := g.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	idx := &indexed{stat: key, entries: make([]repo.Entry, len(snap.Index.Entries))}
	last := repo.Path("/")
	for i, e := range snap.Index.Entries {
		idx.entries[i] = repo.Entry{Path: e.Path}
		if dir := e.Path.Dir(); dir != last {
			last = dir
			idx.dirs = append(idx.dirs, string(dir))
		}
	}
	slices.Sort(idx.dirs)
	idx.dirs = slices.Compact(idx.dirs)
	p.mu.Lock()
	p.indexes[g.GitDir()] = idx
	p.mu.Unlock()
	return idx, nil
}

// stat notes how a file looks, or that it is not there.
func stat(sum hash.Hash, name string) {
	info, err := os.Lstat(name)
	if err != nil {
		fmt.Fprintf(sum, "%q: none\n", name)
		return
	}
	note(sum, name, info)
}

func note(sum hash.Hash, name string, info fs.FileInfo) {
	fmt.Fprintf(sum, "%q %d %d %o\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// list notes how everything directly in a directory looks.
func list(sum hash.Hash, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		fmt.Fprintf(sum, "%q: %t\n", dir, os.IsNotExist(err))
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			note(sum, e.Name(), info)
		}
	}
}

// walk notes how everything below a directory looks.
func walk(sum hash.Hash, dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintf(sum, "%q: %v\n", path, err)
			return nil
		}
		if info, err := d.Info(); err == nil {
			note(sum, path, info)
		}
		return nil
	})
}
