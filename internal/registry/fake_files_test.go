package registry_test

import (
	"context"
	"io/fs"
	"iter"
	"path"
	"strings"

	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
)

var _ registry.Files = (*fakeRepo)(nil)

func (r *fakeRepo) Stat(_ context.Context, entries []repo.Entry) ([]repo.FileStat, error) {
	if err := r.answer("Stat"); err != nil {
		return nil, err
	}
	r.calls.stats++
	found := make([]repo.FileStat, len(entries))
	for i, e := range entries {
		found[i] = r.lstat(e.Path)
	}
	return found, nil
}

func (r *fakeRepo) lstat(p repo.Path) repo.FileStat {
	f := r.disk[p]
	switch {
	case f == nil:
		return repo.FileStat{Presence: repo.Absent}
	case f.lstatErr != nil:
		return repo.FileStat{Presence: repo.Unreadable, Err: &fs.PathError{Op: "lstat", Path: string(p), Err: f.lstatErr}}
	case f.dir:
		return repo.FileStat{Presence: repo.Directory}
	case f.mode == repo.Symlink:
		return repo.FileStat{Presence: repo.Link, Stat: f.stat}
	default:
		return repo.FileStat{Presence: repo.RegularFile, Executable: f.mode == repo.Executable, Stat: f.stat}
	}
}

func (r *fakeRepo) Read(_ context.Context, wants []repo.ReadRequest) ([]repo.Reading, error) {
	if err := r.answer("Read"); err != nil {
		return nil, err
	}
	got := make([]repo.Reading, len(wants))
	for i, want := range wants {
		r.calls.read = append(r.calls.read, want.Path)
		got[i] = r.readOne(want)
	}
	return got, nil
}

// readOne computes no digest that the request declares proven, and no kind if it finds the known content.
func (r *fakeRepo) readOne(want repo.ReadRequest) repo.Reading {
	f := r.disk[want.Path]
	fail := func(err error) repo.Reading {
		found := r.lstat(want.Path)
		found.Stat = repo.Stat{}
		return repo.Reading{Found: found, Err: &fs.PathError{Op: "read", Path: string(want.Path), Err: err}}
	}
	switch {
	case f == nil:
		return fail(fs.ErrNotExist)
	case f.readErr != nil:
		return fail(f.readErr)
	case f.dir:
		return fail(fs.ErrInvalid)
	}
	g := repo.Reading{
		Raw: contentOf(f.bytes), Size: int64(len(f.bytes)), Found: r.lstat(want.Path), Kind: kindOf(want.Path, f.bytes),
		AsSeen: want.Seen == f.stat,
	}
	if f.mode == repo.Symlink {
		g.Kind = repo.KindSymlink
	} else {
		g.CRLF = strings.Contains(f.bytes, "\r\n")
	}
	switch {
	case want.Proven && want.Seen == f.stat && !g.CRLF:
		g.Raw.ID = want.Known.ID
	case !want.Proven && want.Known.ID == g.Raw.ID:
		g.Raw.MD5, g.Kind = want.Known.MD5, repo.KindUnknown
	}
	if g.CRLF && (want.Convert == repo.ConvertText || want.Convert == repo.ConvertAuto && !strings.Contains(f.bytes, "\x00")) {
		g.Converted = blob(strings.ReplaceAll(f.bytes, "\r\n", "\n"))
	}
	if f.stat.Mtime >= r.clock || f.stat.Ctime >= r.clock {
		g.Found.Stat = repo.Stat{}
	}
	return g
}

func (r *fakeRepo) KindByName(p repo.Path) repo.Kind { return kindOf(p, "") }

func kindOf(p repo.Path, bytes string) repo.Kind {
	switch {
	case strings.Contains(bytes, "\x00"):
		return repo.KindBinary
	case strings.HasPrefix(bytes, "generated"):
		return repo.KindGenerated
	}
	switch path.Ext(string(p)) {
	case ".go":
		return repo.KindSource
	case ".md":
		return repo.KindDoc
	case ".bin":
		return repo.KindBinary
	case ".sum":
		return repo.KindLockfile
	default:
		return repo.KindData
	}
}

// newStore returns an empty store, which ends with the context.
func newStore(ctx context.Context) *sqlite.Store {
	s := sqlite.Open(sqlite.InMemory, sqlite.Options{})
	context.AfterFunc(ctx, func() { s.Close() })
	return s
}

// A countingStore counts full scans. It calls beforeCommit ahead of the next commit, and afterView when the next run has
// read the last verification and the work tree.
type countingStore struct {
	*sqlite.Store
	scans        int
	commits      int
	beforeCommit func()
	afterView    func()
}

func (s *countingStore) PathsSince(ctx context.Context, mark int64) ([]repo.Path, int64, error) {
	if f := s.afterView; f != nil {
		s.afterView = nil
		f()
	}
	return s.Store.PathsSince(ctx, mark)
}

func (s *countingStore) Rows(ctx context.Context, worktree string) iter.Seq2[store.FileRow, error] {
	return func(yield func(store.FileRow, error) bool) {
		s.scans++
		s.Store.Rows(ctx, worktree)(yield)
	}
}

func (s *countingStore) Commit(ctx context.Context, worktree string, c store.FileChanges, still func() (bool, error)) error {
	s.commits++
	if f := s.beforeCommit; f != nil {
		s.beforeCommit = nil
		f()
	}
	return s.Store.Commit(ctx, worktree, c, still)
}
