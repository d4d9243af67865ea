package registry_test

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store/memory"
)

// A fakeRepo is a repository and its work tree in memory. It implements registry.Git and registry.Files, and
// counts the calls.
//
// The test advances its clock: files written in one tick have the same stat, an index written in the tick of a
// file proves nothing about it, and neither does a reading in that tick.
type fakeRepo struct {
	ctx     context.Context
	disk    map[repo.Path]*file
	index   map[repo.Path]*repo.Entry
	subs    map[repo.Path]repo.Submodule
	blobs   map[repo.ID]string
	commits map[repo.ID]commit
	head    repo.ID

	info     string // .git/info/attributes
	autocrlf bool
	silent   bool // the index does not have the tree that it would write
	behind   int  // commits of an upstream; no upstream if negative
	lost     bool // commits outside the history of HEAD are unreachable
	shallow  bool // the changes of a commit are unknown

	clock, indexed int64
	inodes         uint64
	seconds        int64 // of the clock of the registry, one per call

	store  *countingStore
	policy registry.Policy
	grade  func(context.Context, []registry.ContentChange) ([]fresh.Grade, error)
	calls  calls
	broken string // the name of the method that fails
	// Called just before or after a call, to simulate other processes; may be nil.
	beforeUnmoved, afterCleaned func()
}

// calls counts the calls of a fakeRepo.
type calls struct {
	snapshots, attributes, stats int
	read                         []repo.Path // every file opened
}

type file struct {
	bytes    string
	mode     repo.Mode
	dir      bool
	stat     repo.Stat
	readErr  error // from opening it
	lstatErr error // from lstat
}

type commit struct {
	parent repo.ID
	tree   map[repo.Path]repo.Entry // ids and modes only
}

func newFakeRepo(t interface{ Context() context.Context }) *fakeRepo {
	return &fakeRepo{
		ctx:  t.Context(),
		disk: map[repo.Path]*file{}, index: map[repo.Path]*repo.Entry{}, subs: map[repo.Path]repo.Submodule{},
		blobs: map[repo.ID]string{}, commits: map[repo.ID]commit{},
		clock: 100, behind: -1, store: &countingStore{Store: memory.New()},
	}
}

// committed returns a repository with one commit, given names and contents of its files.
func committed(t interface{ Context() context.Context }, files ...string) *fakeRepo {
	w := newFakeRepo(t)
	for i := 0; i < len(files); i += 2 {
		w.put(repo.Path(files[i]), files[i+1])
	}
	w.commit()
	return w
}

// registry returns a new registry, as for every request.
func (w *fakeRepo) registry() *registry.Registry {
	return registry.New(w, w, w.store, registry.Options{
		Policy: w.policy, Grade: w.grade,
		Author: func() string { return "ann" },
		Now: func() time.Time {
			w.seconds++
			return time.Unix(w.seconds, 0)
		},
	})
}

func blob(s string) repo.ID {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(s), s))
	return repo.IDFromBytes(sum[:])
}

func digest(s string) repo.MD5 { return md5.Sum([]byte(s)) }

func contentOf(s string) repo.Content { return repo.Content{ID: blob(s), MD5: digest(s)} }

var errBroken = errors.New("broken")

// answer fails if the method is the broken one.
func (w *fakeRepo) answer(question string) error {
	if question == w.broken {
		return fmt.Errorf("%s: %w", question, errBroken)
	}
	return nil
}

// write replaces a file: new bytes, new inode, new tick.
func (w *fakeRepo) write(p repo.Path, bytes string) {
	w.clock++
	w.inodes++
	mode := repo.Regular
	if f := w.disk[p]; f != nil && f.mode == repo.Executable {
		mode = f.mode
	}
	w.disk[p] = &file{bytes: bytes, mode: mode, stat: repo.Stat{
		Size: int64(len(bytes)), Mtime: w.clock, Ctime: w.clock, Inode: w.inodes,
	}}
	w.clock++
}

// scribble writes to a file within the current tick.
func (w *fakeRepo) scribble(p repo.Path, bytes string) {
	f := w.disk[p]
	f.bytes, f.stat.Size, f.stat.Mtime, f.stat.Ctime = bytes, int64(len(bytes)), w.clock, w.clock
}

// forge changes bytes without changing the stat.
func (w *fakeRepo) forge(p repo.Path, bytes string) { w.disk[p].bytes = bytes }

func (w *fakeRepo) tick() { w.clock++ }

// touch changes the stat of a file and not its bytes.
func (w *fakeRepo) touch(p repo.Path) { w.write(p, w.disk[p].bytes) }

func (w *fakeRepo) chmod(p repo.Path, m repo.Mode) {
	w.clock++
	w.disk[p].mode, w.disk[p].stat.Ctime = m, w.clock
	w.clock++
}

func (w *fakeRepo) link(p repo.Path, target string) {
	w.write(p, target)
	w.disk[p].mode = repo.Symlink
}

func (w *fakeRepo) remove(p repo.Path) { delete(w.disk, p) }

// stage is git add, or git rm for a file that does not exist.
func (w *fakeRepo) stage(p repo.Path) {
	f := w.disk[p]
	if f == nil {
		delete(w.index, p)
		w.writeIndex()
		return
	}
	stored := w.clean(p, f.bytes)
	w.blobs[blob(stored)] = stored
	w.index[p] = &repo.Entry{Path: p, ID: blob(stored), Mode: f.mode, Stat: f.stat}
	w.writeIndex()
}

// put writes a file and adds it.
func (w *fakeRepo) put(p repo.Path, bytes string) {
	w.write(p, bytes)
	w.stage(p)
}

// mv is git mv.
func (w *fakeRepo) mv(from, to repo.Path) {
	w.disk[to], w.index[to] = w.disk[from], w.index[from]
	w.index[to].Path = to
	w.disk[to].stat.Ctime = w.clock
	delete(w.disk, from)
	delete(w.index, from)
	w.clock++
	w.refresh()
}

// refresh is git status: entries with unchanged files get their stat.
func (w *fakeRepo) refresh() {
	for p, e := range w.index {
		if f := w.disk[p]; f != nil && !f.dir && blob(w.clean(p, f.bytes)) == e.ID && f.mode == e.Mode && e.Flags&repo.IntentToAdd == 0 {
			e.Stat = f.stat
		}
	}
	w.writeIndex()
}

// writeIndex treats entries stamped in the tick of the previous index as git does: if the file has changed since,
// the entry gets a stat that matches no file.
func (w *fakeRepo) writeIndex() {
	for p, e := range w.index {
		f := w.disk[p]
		if f != nil && e.Stat.Mtime >= w.indexed && f.stat == e.Stat && blob(w.clean(p, f.bytes)) != e.ID {
			e.Stat = repo.Stat{}
		}
	}
	w.indexed = w.clock
}

// commit commits the index.
func (w *fakeRepo) commit() {
	c := commit{parent: w.head, tree: map[repo.Path]repo.Entry{}}
	for p, e := range w.index {
		c.tree[p] = repo.Entry{Path: p, ID: e.ID, Mode: e.Mode}
	}
	w.head = blob(fmt.Sprintf("commit %d on %s of %s", len(w.commits), w.head, treeOf(c.tree)))
	w.commits[w.head] = c
}

// commitAll is git commit -a.
func (w *fakeRepo) commitAll() {
	for _, p := range slices.Collect(maps.Keys(w.index)) {
		if w.disk[p] != nil || !w.index[p].Flags.Has(repo.SkipWorktree) {
			w.stage(p)
		}
	}
	w.commit()
}

// checkout is git reset --hard.
func (w *fakeRepo) checkout(id repo.ID) {
	tree := w.commits[id].tree
	for _, p := range slices.Sorted(maps.Keys(w.index)) {
		if _, kept := tree[p]; !kept {
			delete(w.index, p)
			w.remove(p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(tree)) {
		e, f := tree[p], w.disk[p]
		if f == nil || f.mode != e.Mode || blob(w.clean(p, f.bytes)) != e.ID {
			w.write(p, w.blobs[e.ID])
			w.disk[p].mode = e.Mode
		}
		e.Stat = w.disk[p].stat
		w.index[p] = &e
	}
	w.head = id
	w.writeIndex()
}

// flag sets flags of an index entry.
func (w *fakeRepo) flag(p repo.Path, f repo.Flags) {
	w.index[p].Flags |= f
	if f.Has(repo.Conflicted) {
		w.index[p].ID = repo.ID{}
	}
	w.writeIndex()
}

func treeOf(entries map[repo.Path]repo.Entry) repo.ID {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(entries)) {
		fmt.Fprintf(&b, "%o %s %q\n", entries[p].Mode, entries[p].ID, p)
	}
	return blob("tree " + b.String())
}
