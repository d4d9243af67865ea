package dashboard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ken/internal/board"
	"ken/internal/config"
	"ken/internal/content"
	"ken/internal/contract"
	"ken/internal/git"
	"ken/internal/order"
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
	files   map[string]string        // last digest of HEAD and the tracked files, by worktree
	dirs    []string                 // directories of the last fingerprint, the most important first
}

// trackedFiles are the entries of an index with a given stat.
type trackedFiles struct {
	stat    string
	entries []repo.Entry
	dirs    []string // directories of entries
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
	// If not all directories can be watched, those of the server's worktree come first.
	slices.SortStableFunc(trees, func(a, b git.Checkout) int { return order.TrueFirst(a.Here, b.Here) })
	shared := newStats()
	files := make([]*stats, len(trees))
	own := make([]*stats, len(trees))
	var group errgroup.Group
	group.Go(func() error {
		p.readShared(shared, g.CommonDir())
		return nil
	})
	for i := range trees {
		files[i] = newStats()
		own[i] = newStats()
		if c := &trees[i]; c.Err == nil {
			group.Go(func() error { return p.readFiles(ctx, files[i], c.Repo) })
			group.Go(func() error { return readOwn(ctx, own[i], c.Repo) })
		}
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	all := sha256.New()
	// A cleanup depends on the age of files.
	fmt.Fprintf(all, "%d\n%s\n", p.opts.Now().Truncate(ageing).Unix(), shared.digest())
	for i := range trees {
		c := &trees[i]
		fmt.Fprintf(all, "%q %t %q %s %v\n", c.Name, c.Here, c.Head.Branch, c.Head.Commit, c.Err)
		fmt.Fprintf(all, "%s %s\n", files[i].digest(), own[i].digest())
	}
	p.keep(trees, files, slices.Concat([]*stats{shared}, own, files))
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
	return web.Fingerprint(hex.EncodeToString(all.Sum(nil))), nil
}

// ageing is how often the fingerprint changes with time alone.
const ageing = 10 * time.Minute

// keep keeps the digests of files, and the directories of everything that was read.
func (p *Fingerprinter) keep(trees []git.Checkout, files, read []*stats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range trees {
		p.files[trees[i].Name] = fmt.Sprintf("%s %s", trees[i].Head.Commit, files[i].digest())
	}
	p.dirs = nil
	for _, s := range read {
		p.dirs = append(p.dirs, s.dirs...)
	}
}

// readShared reads the stats of what all worktrees share: files of git, the stores of summaries, and the record of the
// last read of remotes.
func (p *Fingerprinter) readShared(s *stats, common string) {
	for _, name := range []string{"HEAD", "packed-refs", "config", "shallow", "info/attributes", "info/exclude"} {
		s.addFile(filepath.Join(common, filepath.FromSlash(name)))
	}
	s.addTree(filepath.Join(common, "refs"))
	s.addFile(local.OpenShareFile(common).Path())
	for _, name := range p.databases(common) {
		s.addFile(name)
		if info, err := os.Lstat(name + "-wal"); err == nil && info.Size() > 0 { // readers leave empty files
			s.add("wal", info)
		}
	}
}

// databases lists the files of the stores.
func (p *Fingerprinter) databases(common string) []string {
	return local.Open(local.Options{CommonDir: common, StateDir: p.opts.StateDir}).Files() // opens no file
}

// readOwn reads the stats of the index, the specs, the settings and the state directory of a worktree.
func readOwn(ctx context.Context, s *stats, g *git.Repo) error {
	s.addFile(filepath.Join(g.GitDir(), "index"))
	s.addTree(filepath.Join(g.Root(), spec.Root))
	s.addFile(filepath.Join(g.Root(), filepath.FromSlash(config.Name)))
	s.addFile(filepath.Join(g.Root(), filepath.FromSlash(contract.FileName)))
	dir, err := statedir.Open(ctx, statedir.Options{From: g.Root()})
	if err != nil {
		fmt.Fprintf(s.sum, "%v\n", err) // the board says so
		return nil
	}
	s.addDir(dir.Path())
	s.addDir(filepath.Join(dir.Path(), ".archive"))
	return dir.Close()
}

// FilesKey returns the last digest of HEAD and the tracked files of a worktree.
func (p *Fingerprinter) FilesKey(worktree string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files[worktree]
}

// Places lists the directories to watch, for [content.Watch]: those of the last fingerprint.
func (p *Fingerprinter) Places(ctx context.Context) []string {
	p.mu.Lock()
	dirs := p.dirs
	p.mu.Unlock()
	if dirs == nil {
		if _, err := p.Take(ctx); err != nil {
			return nil
		}
		p.mu.Lock()
		dirs = p.dirs
		p.mu.Unlock()
	}
	return dirs[:min(len(dirs), maxWatched)]
}

// maxWatched is the largest number of watched directories. Systems allow few more. The dashboard notices changes in
// other directories a little later, by their fingerprint.
const maxWatched = 2048

// readFiles reads the stats of all tracked files.
func (p *Fingerprinter) readFiles(ctx context.Context, s *stats, g *git.Repo) error {
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
		fmt.Fprintf(s.sum, "%d %t %d %d %d %d\n", f.Presence, f.Executable, f.Stat.Size, f.Stat.Mtime, f.Stat.Ctime, f.Stat.Inode)
	}
	if runtime.GOOS == "linux" || runtime.GOOS == "windows" { // other systems keep every file of a watched directory open
		s.dirs = idx.dirs
	}
	return nil
}

func (p *Fingerprinter) index(ctx context.Context, g *git.Repo) (*trackedFiles, error) {
	now := newStats()
	now.addFile(filepath.Join(g.GitDir(), "index"))
	key := now.digest()
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
			idx.dirs = append(idx.dirs, filepath.Join(g.Root(), filepath.FromSlash(string(dir))))
		}
	}
	slices.Sort(idx.dirs)
	idx.dirs = slices.Compact(idx.dirs)
	p.mu.Lock()
	p.indexes[g.GitDir()] = idx
	p.mu.Unlock()
	return idx, nil
}
