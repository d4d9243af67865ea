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

// A fingerprinter computes fingerprints of a repository from the stats of all files
// that a board depends on. It reads no contents. Its fields only save time.
type fingerprinter struct {
	root string // root of the worktree of the server
	now  func() time.Time

	runs   *runsCache
	checks func() int // finished checks of documents; may be nil

	mu      sync.Mutex
	indexes map[string]*trackedFiles // by git directory
	files   map[string]string        // last hash of HEAD and the tracked files, by worktree
}

// trackedFiles are the entries of an index with a given stat.
type trackedFiles struct {
	stat    string
	entries []repo.Entry
	dirs    []string // directories of entries, from the root
}

func newFingerprinter(root string) *fingerprinter {
	return &fingerprinter{root: root, now: time.Now, runs: &runsCache{root: root}, indexes: make(map[string]*trackedFiles), files: make(map[string]string)}
}

// take computes the fingerprint of all worktrees.
func (p *fingerprinter) take(ctx context.Context) (web.Fingerprint, error) {
	g, err := git.Open(ctx, p.root)
	if err != nil {
		return web.Fingerprint{}, err
	}
	trees, err := g.Checkouts(ctx)
	if err != nil {
		return web.Fingerprint{}, err
	}
	parts := make([]statDigest, first+3*len(trees))
	var group errgroup.Group
	group.Go(func() error { return parts[0].of(func(sum hash.Hash) error { return hashShared(sum, g.CommonDir()) }) })
	group.Go(func() error { return parts[1].of(func(sum hash.Hash) error { return hashStores(sum, g.CommonDir()) }) })
	for i := range trees {
		c, at := &trees[i], parts[first+3*i:]
		if c.Err != nil {
			continue
		}
		root := c.Repo.Root()
		group.Go(func() error { return at[0].of(func(sum hash.Hash) error { return p.hashFiles(ctx, sum, c.Repo) }) })
		group.Go(func() error {
			return at[1].of(func(sum hash.Hash) error { hashTree(sum, filepath.Join(root, spec.Root)); return nil })
		})
		group.Go(func() error { return at[2].of(func(sum hash.Hash) error { return hashOwn(ctx, sum, c.Repo) }) })
	}
	if err := group.Wait(); err != nil {
		return web.Fingerprint{}, err
	}
	all, specs := sha256.New(), sha256.New()
	// A cleanup depends on the age of files.
	fmt.Fprintf(all, "%d\n", p.now().Truncate(ageing).Unix())
	for i := range trees {
		c := &trees[i]
		fmt.Fprintf(all, "%q %t %q %s %v\n", c.Name, c.Here, c.Head.Branch, c.Head.Commit, c.Err)
		fmt.Fprintf(specs, "%x\n", parts[first+3*i+1])
		p.mu.Lock()
		p.files[c.Name] = fmt.Sprintf("%s %x", c.Head.Commit, parts[first+3*i])
		p.mu.Unlock()
	}
	if p.checks != nil {
		fmt.Fprintf(all, "%d checks\n", p.checks())
	}
	for _, part := range parts {
		fmt.Fprintf(all, "%x\n", part)
	}
	// A late answer changes the next fingerprint.
	if runs := p.runs.part(ctx, runsBriefly); runs != nil && runs != runsLate {
		if err := json.NewEncoder(all).Encode(runs); err != nil {
			return web.Fingerprint{}, err
		}
	}
	return web.Fingerprint{Key: hex.EncodeToString(all.Sum(nil)), Specs: hex.EncodeToString(specs.Sum(nil)), Texts: hex.EncodeToString(parts[1][:])}, nil
}

// first is the index of the first part that belongs to a worktree.
const first = 2

// ageing is how often the fingerprint changes with time alone.
const ageing = 10 * time.Minute

// A statDigest is the hash of stats in one place.
type statDigest [sha256.Size]byte

func (p *statDigest) of(look func(hash.Hash) error) error {
	sum := sha256.New()
	err := look(sum)
	sum.Sum(p[:0])
	return err
}

// hashShared hashes the git files that all worktrees share.
func hashShared(sum hash.Hash, common string) error {
	for _, name := range []string{"HEAD", "packed-refs", "config", "shallow", "info/attributes", "info/exclude"} {
		hashStat(sum, filepath.Join(common, filepath.FromSlash(name)))
	}
	hashTree(sum, filepath.Join(common, "refs"))
	return nil
}

// hashStores hashes the stores of summaries, and what was last read of remotes.
func hashStores(sum hash.Hash, common string) error {
	hashStat(sum, local.OpenShareMemory[struct{}](common).Path())
	for _, name := range databases(common) {
		hashStat(sum, name)
		if info, err := os.Lstat(name + "-wal"); err == nil && info.Size() > 0 { // readers leave empty files
			hashInfo(sum, "wal", info)
		}
	}
	return nil
}

// databases lists the files of the stores.
func databases(common string) []string {
	return local.Open(local.Options{CommonDir: common, StateDir: stateDir()}).Files() // opens no file
}

// own looks at what is one worktree's own, besides its files.
func hashOwn(ctx context.Context, sum hash.Hash, g *git.Repo) error {
	hashStat(sum, filepath.Join(g.GitDir(), "index"))
	hashStat(sum, filepath.Join(g.Root(), filepath.FromSlash(config.Name)))
	hashStat(sum, filepath.Join(g.Root(), filepath.FromSlash(config.ContractName)))
	s, err := openState(ctx, stateOptions{from: g.Root()})
	if err != nil {
		fmt.Fprintf(sum, "%v\n", err) // the board says so
		return nil
	}
	hashDir(sum, s.dir.Path())
	hashDir(sum, filepath.Join(s.dir.Path(), ".archive"))
	return s.Close()
}

// filesOf returns the last hash of HEAD and the tracked files of a worktree.
func (p *fingerprinter) filesOf(worktree string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files[worktree]
}

// hashFiles hashes the stats of all tracked files.
func (p *fingerprinter) hashFiles(ctx context.Context, sum hash.Hash, g *git.Repo) error {
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

func (p *fingerprinter) index(ctx context.Context, g *git.Repo) (*trackedFiles, error) {
	look := sha256.New()
	hashStat(look, filepath.Join(g.GitDir(), "index"))
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
	idx := &trackedFiles{stat: key, entries: make([]repo.Entry, len(snap.Index.Entries))}
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

// hashStat hashes the stat of a file, or its absence.
func hashStat(sum hash.Hash, name string) {
	info, err := os.Lstat(name)
	if err != nil {
		fmt.Fprintf(sum, "%q: none\n", name)
		return
	}
	hashInfo(sum, name, info)
}

func hashInfo(sum hash.Hash, name string, info fs.FileInfo) {
	fmt.Fprintf(sum, "%q %d %d %o\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// hashDir hashes the stats of the entries of a directory.
func hashDir(sum hash.Hash, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		fmt.Fprintf(sum, "%q: %t\n", dir, os.IsNotExist(err))
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			hashInfo(sum, e.Name(), info)
		}
	}
}

// hashTree hashes the stats of everything below a directory.
func hashTree(sum hash.Hash, dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintf(sum, "%q: %v\n", path, err)
			return nil
		}
		if info, err := d.Info(); err == nil {
			hashInfo(sum, path, info)
		}
		return nil
	})
}
