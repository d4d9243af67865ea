package dashboard

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

	"ken/internal/board"
	"ken/internal/config"
	"ken/internal/content"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/statedir"
	"ken/internal/store/local"
	"ken/internal/web"
)

// FingerprintOptions tunes a Fingerprinter. Only Root is required.
type FingerprintOptions struct {
	Root     string // root of the worktree of the server
	StateDir string // the user's directory for state, where summaries may be
	// Runs returns the surveys that workers run, nil if they are not known. It may be nil.
	Runs func(context.Context) *board.Part[board.Runs]
	// Checks returns the number of finished checks of documents. It may be nil.
	Checks func() int
	Now    func() time.Time // the clock; time.Now when nil
}

// A Fingerprinter computes fingerprints of a repository from the stats of all files
// that a board depends on. It reads no contents. Its fields only save time.
type Fingerprinter struct {
	opts FingerprintOptions

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

// NewFingerprinter returns a Fingerprinter.
func NewFingerprinter(opts FingerprintOptions) *Fingerprinter {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Fingerprinter{opts: opts, indexes: make(map[string]*trackedFiles), files: make(map[string]string)}
}

// Take computes the fingerprint of all worktrees.
func (p *Fingerprinter) Take(ctx context.Context) (web.Fingerprint, error) {
	g, err := git.Open(ctx, p.opts.Root)
	if err != nil {
		return "", err
	}
	trees, err := g.Checkouts(ctx)
	if err != nil {
		return "", err
	}
	var group errgroup.Group
	var shared string
	files := make([]string, len(trees))
	own := make([]string, len(trees))
	group.Go(func() error {
		shared = p.sharedDigest(g.CommonDir())
		return nil
	})
	for i := range trees {
		c := &trees[i]
		if c.Err != nil {
			continue
		}
		group.Go(func() (err error) {
			files[i], err = p.filesDigest(ctx, c.Repo)
			return err
		})
		group.Go(func() error {
			own[i] = ownDigest(ctx, c.Repo)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	all := sha256.New()
	// A cleanup depends on the age of files.
	fmt.Fprintf(all, "%d\n%s\n", p.opts.Now().Truncate(ageing).Unix(), shared)
	for i := range trees {
		c := &trees[i]
		fmt.Fprintf(all, "%q %t %q %s %v %s %s\n", c.Name, c.Here, c.Head.Branch, c.Head.Commit, c.Err, files[i], own[i])
		p.mu.Lock()
		p.files[c.Name] = fmt.Sprintf("%s %s", c.Head.Commit, files[i])
		p.mu.Unlock()
	}
	if p.opts.Checks != nil {
		fmt.Fprintf(all, "%d checks\n", p.opts.Checks())
	}
	if p.opts.Runs != nil {
		if runs := p.opts.Runs(ctx); runs != nil {
			if err := json.NewEncoder(all).Encode(runs); err != nil {
				return "", err
			}
		}
	}
	return web.Fingerprint(digestOf(all)), nil
}

// ageing is how often the fingerprint changes with time alone.
const ageing = 10 * time.Minute

func digestOf(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }

// sharedDigest hashes the stats of what all worktrees share: files of git, the stores of summaries, and the record of
// the last read of remotes.
func (p *Fingerprinter) sharedDigest(common string) string {
	sum := sha256.New()
	for _, name := range []string{"HEAD", "packed-refs", "config", "shallow", "info/attributes", "info/exclude"} {
		hashStat(sum, filepath.Join(common, filepath.FromSlash(name)))
	}
	hashTree(sum, filepath.Join(common, "refs"))
	hashStat(sum, local.OpenShareFile(common).Path())
	for _, name := range p.databases(common) {
		hashStat(sum, name)
		if info, err := os.Lstat(name + "-wal"); err == nil && info.Size() > 0 { // readers leave empty files
			hashInfo(sum, "wal", info)
		}
	}
	return digestOf(sum)
}

// databases lists the files of the stores.
func (p *Fingerprinter) databases(common string) []string {
	return local.Open(local.Options{CommonDir: common, StateDir: p.opts.StateDir}).Files() // opens no file
}

// ownDigest hashes the stats of the index, the specs, the settings and the state directory of a worktree.
func ownDigest(ctx context.Context, g *git.Repo) string {
	sum := sha256.New()
	hashTree(sum, filepath.Join(g.Root(), spec.Root))
	hashStat(sum, filepath.Join(g.GitDir(), "index"))
	hashStat(sum, filepath.Join(g.Root(), filepath.FromSlash(config.Name)))
	hashStat(sum, filepath.Join(g.Root(), filepath.FromSlash(config.ContractName)))
	s, err := statedir.Open(ctx, statedir.Options{From: g.Root()})
	if err != nil {
		fmt.Fprintf(sum, "%v\n", err) // the board says so
		return digestOf(sum)
	}
	defer s.Close()
	hashDir(sum, s.Path())
	hashDir(sum, filepath.Join(s.Path(), ".archive"))
	return digestOf(sum)
}

// FilesKey returns the last hash of HEAD and the tracked files of a worktree.
func (p *Fingerprinter) FilesKey(worktree string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files[worktree]
}

// filesDigest hashes the stats of all tracked files.
func (p *Fingerprinter) filesDigest(ctx context.Context, g *git.Repo) (string, error) {
	idx, err := p.index(ctx, g)
	if err != nil {
		return "", err
	}
	found, err := content.Open(g.Root(), content.Options{Format: g.ObjectFormat()}).Stat(ctx, idx.entries)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for i := range found {
		f := &found[i]
		fmt.Fprintf(sum, "%d %t %d %d %d %d\n", f.Presence, f.Executable, f.Stat.Size, f.Stat.Mtime, f.Stat.Ctime, f.Stat.Inode)
	}
	return digestOf(sum), nil
}

func (p *Fingerprinter) index(ctx context.Context, g *git.Repo) (*trackedFiles, error) {
	sum := sha256.New()
	hashStat(sum, filepath.Join(g.GitDir(), "index"))
	key := digestOf(sum)
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
