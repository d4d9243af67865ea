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
		clock: 100, behind: -1, store: &countingStore{Store: newStore(t.Context())},
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
func (r *fakeRepo) registry() *registry.Registry {
	return registry.New(r, r, r.store, registry.Options{
		Policy: r.policy, Grade: r.grade,
		Author: func() string { return "ann" },
		Now: func() time.Time {
			r.seconds++
			return time.Unix(r.seconds, 0)
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
func (r *fakeRepo) answer(question string) error {
	if question == r.broken {
		return fmt.Errorf("%s: %w", question, errBroken)
	}
	return nil
}

// write replaces a file: new bytes, new inode, new tick.
func (r *fakeRepo) write(p repo.Path, bytes string) {
	r.clock++
	r.inodes++
	mode := repo.Regular
	if f := r.disk[p]; f != nil && f.mode == repo.Executable {
		mode = f.mode
	}
	r.disk[p] = &file{bytes: bytes, mode: mode, stat: repo.Stat{
		Size: int64(len(bytes)), Mtime: r.clock, Ctime: r.clock, Inode: r.inodes,
	}}
	r.clock++
}

// scribble writes to a file within the current tick.
func (r *fakeRepo) scribble(p repo.Path, bytes string) {
	f := r.disk[p]
	f.bytes, f.stat.Size, f.stat.Mtime, f.stat.Ctime = bytes, int64(len(bytes)), r.clock, r.clock
}

// forge changes bytes without changing the stat.
func (r *fakeRepo) forge(p repo.Path, bytes string) { r.disk[p].bytes = bytes }

func (r *fakeRepo) tick() { r.clock++ }

// touch changes the stat of a file and not its bytes.
func (r *fakeRepo) touch(p repo.Path) { r.write(p, r.disk[p].bytes) }

func (r *fakeRepo) chmod(p repo.Path, m repo.Mode) {
	r.clock++
	r.disk[p].mode, r.disk[p].stat.Ctime = m, r.clock
	r.clock++
}

func (r *fakeRepo) link(p repo.Path, target string) {
	r.write(p, target)
	r.disk[p].mode = repo.Symlink
}

func (r *fakeRepo) remove(p repo.Path) { delete(r.disk, p) }

// stage is git add, or git rm for a file that does not exist.
func (r *fakeRepo) stage(p repo.Path) {
	f := r.disk[p]
	if f == nil {
		delete(r.index, p)
		r.writeIndex()
		return
	}
	stored := r.clean(p, f.bytes)
	r.blobs[blob(stored)] = stored
	r.index[p] = &repo.Entry{Path: p, ID: blob(stored), Mode: f.mode, Stat: f.stat}
	r.writeIndex()
}

// put writes a file and adds it.
func (r *fakeRepo) put(p repo.Path, bytes string) {
	r.write(p, bytes)
	r.stage(p)
}

// mv is git mv.
func (r *fakeRepo) mv(from, to repo.Path) {
	r.disk[to], r.index[to] = r.disk[from], r.index[from]
	r.index[to].Path = to
	r.disk[to].stat.Ctime = r.clock
	delete(r.disk, from)
	delete(r.index, from)
	r.clock++
	r.refresh()
}

// refresh is git status: entries with unchanged files get their stat.
func (r *fakeRepo) refresh() {
	for p, e := range r.index {
		if f := r.disk[p]; f != nil && !f.dir && blob(r.clean(p, f.bytes)) == e.ID && f.mode == e.Mode && e.Flags&repo.IntentToAdd == 0 {
			e.Stat = f.stat
		}
	}
	r.writeIndex()
}

// writeIndex treats entries stamped in the tick of the previous index as git does: if the file has changed since,
// the entry gets a stat that matches no file.
func (r *fakeRepo) writeIndex() {
	for p, e := range r.index {
		f := r.disk[p]
		if f != nil && e.Stat.Mtime >= r.indexed && f.stat == e.Stat && blob(r.clean(p, f.bytes)) != e.ID {
			e.Stat = repo.Stat{}
		}
	}
	r.indexed = r.clock
}

// commit commits the index.
func (r *fakeRepo) commit() {
	c := commit{parent: r.head, tree: map[repo.Path]repo.Entry{}}
	for p, e := range r.index {
		c.tree[p] = repo.Entry{Path: p, ID: e.ID, Mode: e.Mode}
	}
	r.head = blob(fmt.Sprintf("commit %d on %s of %s", len(r.commits), r.head, treeOf(c.tree)))
	r.commits[r.head] = c
}

// commitAll is git commit -a.
func (r *fakeRepo) commitAll() {
	for _, p := range slices.Collect(maps.Keys(r.index)) {
		if r.disk[p] != nil || !r.index[p].Flags.Has(repo.SkipWorktree) {
			r.stage(p)
		}
	}
	r.commit()
}

// checkout is git reset --hard.
func (r *fakeRepo) checkout(id repo.ID) {
	tree := r.commits[id].tree
	for _, p := range slices.Sorted(maps.Keys(r.index)) {
		if _, kept := tree[p]; !kept {
			delete(r.index, p)
			r.remove(p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(tree)) {
		e, f := tree[p], r.disk[p]
		if f == nil || f.mode != e.Mode || blob(r.clean(p, f.bytes)) != e.ID {
			r.write(p, r.blobs[e.ID])
			r.disk[p].mode = e.Mode
		}
		e.Stat = r.disk[p].stat
		r.index[p] = &e
	}
	r.head = id
	r.writeIndex()
}

// flag sets flags of an index entry.
func (r *fakeRepo) flag(p repo.Path, f repo.Flags) {
	r.index[p].Flags |= f
	if f.Has(repo.Conflicted) {
		r.index[p].ID = repo.ID{}
	}
	r.writeIndex()
}

func treeOf(entries map[repo.Path]repo.Entry) repo.ID {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(entries)) {
		fmt.Fprintf(&b, "%o %s %q\n", entries[p].Mode, entries[p].ID, p)
	}
	return blob("tree " + b.String())
}
