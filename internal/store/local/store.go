// Package local opens the store of a clone on this machine.
//
// The database is <git common dir>/ken/ken.db; all worktrees share it. While that
// file cannot be written, as in many sandboxes, reads still answer from it, and writes go to
// a spool under the user's state directory. [Outlines] are a cache beside the database.
// Package internal/store/sqlite reads and writes the database file.
package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
)

var _ store.Files = (*Store)(nil)

// ErrReadOnly means that neither the git directory nor the state directory can be written.
var ErrReadOnly = sqlite.ErrReadOnly

// Options say where the store is.
type Options struct {
	CommonDir string // the git directory that all worktrees share
	// StateDir is the user's directory for state that outlives a run, such as $XDG_STATE_HOME. Without one ("")
	// there is no spool.
	StateDir    string
	BusyTimeout time.Duration // see [sqlite.Options]
}

// A Store stores the data of the registry and the survey: in the git directory, or in the spool. It is safe for
// concurrent use. Open touches no file.
type Store struct {
	main     *sqlite.Store // the database in the git directory
	readonly *sqlite.Store // the same file, for when it cannot be written
	spool    *sqlite.Store // nil without a state directory
	pending  string        // a file that exists while the spool may have records that main does not have

	mu       sync.Mutex
	denied   bool // a write to main failed although its permissions allow it
	unmerged bool // merging failed; a later run tries again
	note     string
}

// Open returns the store of a repository.
func Open(opts Options) *Store {
	path := filepath.Join(opts.CommonDir, "ken", "ken.db")
	s := &Store{
		main:     sqlite.Open(path, sqlite.Options{BusyTimeout: opts.BusyTimeout}),
		readonly: sqlite.Open(path, sqlite.Options{BusyTimeout: opts.BusyTimeout, ReadOnly: true}),
	}
	if opts.StateDir != "" {
		dir := spoolDir(opts.StateDir, s.main.Path())
		s.pending = filepath.Join(dir, "pending")
		s.spool = sqlite.Open(filepath.Join(dir, "ken.db"), sqlite.Options{
			BusyTimeout: opts.BusyTimeout,
			Spool:       true,
			OnWrite:     s.markPending,
		})
	}
	return s
}

// spoolDir returns the directory of the spool for the database at path. A file has one spool, whichever links lead
// to it.
func spoolDir(state, path string) string {
	common := filepath.Dir(filepath.Dir(path))
	if real, err := filepath.EvalSymlinks(common); err == nil {
		common = real
	}
	sum := sha256.Sum256([]byte(common))
	return filepath.Join(state, "ken", "spool", hex.EncodeToString(sum[:8]))
}

// Path returns the name of the database in the git directory.
func (s *Store) Path() string { return s.main.Path() }

// Files returns the names of all databases that may have records: the one in the git directory, and the spool. They
// may not exist.
func (s *Store) Files() []string {
	if s.spool == nil {
		return []string{s.main.Path()}
	}
	return []string{s.main.Path(), s.spool.Path()}
}

// Note returns a sentence for the user if ken uses the spool, else "".
func (s *Store) Note() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.note
}

// Close closes all files.
func (s *Store) Close() error {
	err := errors.Join(s.main.Close(), s.readonly.Close())
	if s.spool != nil {
		err = errors.Join(err, s.spool.Close())
	}
	return err
}

// database returns the database to use now, for reading or for writing. It decides again on every call, which costs a
// few stats: a read-only mount may become writable while a server runs.
func (s *Store) database(ctx context.Context, write bool) (*sqlite.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	pending := s.spool != nil && exists(s.pending)
	if s.denied || !sqlite.Writable(s.main.Path()) {
		return s.fallback(ctx, pending, write)
	}
	if !s.unmerged {
		s.note = ""
	}
	if pending && !s.unmerged {
		switch err := s.merge(ctx); {
		case err == nil:
		case ctx.Err() != nil:
			return nil, err
		case errors.Is(err, ErrReadOnly) && sqlite.Writable(s.spool.Path()):
			s.denied = true // so main refused the write
			return s.fallback(ctx, pending, write)
		default:
			// The spool keeps its records, and a later run may merge them. Until then, answers come from main alone.
			s.unmerged = true
			s.note = fmt.Sprintf("summaries in %s are not merged yet: %v", s.spool.Path(), err)
		}
	}
	return s.main, nil
}

// fallback returns the database to use while main cannot be written.
func (s *Store) fallback(ctx context.Context, pending, write bool) (*sqlite.Store, error) {
	if !pending && !write {
		return s.readonly, nil
	}
	if s.spool == nil {
		return nil, s.notWritable("")
	}
	switch err := s.refresh(ctx); {
	case err == nil:
		s.note = fmt.Sprintf("git directory is read-only; new summaries go to %s until it is writable", s.spool.Path())
		return s.spool, nil
	case !errors.Is(err, ErrReadOnly):
		return nil, err
	case !write:
		s.note = fmt.Sprintf("ken cannot open %s, and ignores it", s.spool.Path())
		return s.readonly, nil
	default:
		return nil, s.notWritable(filepath.Dir(s.spool.Path()))
	}
}

func (s *Store) notWritable(spool string) error {
	err := fmt.Errorf("write store %s: %w", s.main.Path(), ErrReadOnly)
	if spool != "" {
		err = fmt.Errorf("write store %s, or %s: %w", s.main.Path(), spool, ErrReadOnly)
	}
	return &fault.Error{
		Hint: "name a writable directory for new summaries: export XDG_STATE_HOME=DIR",
		Err:  err,
	}
}

// maxTries limits how often a question is asked again because main changed. The answer was true at some moment
// since the question.
const maxTries = 10

// use calls act with the database to use now, and again if that changes meanwhile: main turns out not to be
// writable, or the spool was merged.
func use[T any](ctx context.Context, s *Store, write bool, act func(*sqlite.Store) (T, error)) (T, error) {
	for try := 0; ; try++ {
		db, err := s.database(ctx, write)
		if err != nil {
			var none T
			return none, err
		}
		v, err := act(db)
		switch {
		case db == s.main && errors.Is(err, ErrReadOnly):
			s.mu.Lock()
			s.denied = true
			s.mu.Unlock()
		case db == s.main && !write && errors.Is(err, sqlite.ErrFull):
			// To read beside other processes, SQLite creates a file. There is no room for it while the file of a
			// failed write exists.
			if v, err := act(s.readonly); err == nil {
				return v, nil
			}
			return v, err
		case errors.Is(err, sqlite.ErrDrained):
		case err == nil && db == s.spool && !write && try < maxTries && !s.spoolIsCurrent(ctx):
			// Another process may have merged it, and a third one may have begun it again without noticing the
			// merge.
		default:
			return v, err
		}
	}
}

// change calls act with the database to write to now, and again as use does.
func (s *Store) change(ctx context.Context, act func(*sqlite.Store) error) error {
	_, err := use(ctx, s, true, func(db *sqlite.Store) (struct{}, error) { return struct{}{}, act(db) })
	return err
}

// read calls a method of the database to read now, and again as use does.
func read[A, T any](ctx context.Context, s *Store, method func(*sqlite.Store, context.Context, A) (T, error), arg A) (T, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (T, error) { return method(db, ctx, arg) })
}

// readTwo is read for a method with two results.
func readTwo[A, T, U any](ctx context.Context, s *Store, method func(*sqlite.Store, context.Context, A) (T, U, error), arg A) (first T, second U, err error) {
	first, err = use(ctx, s, false, func(db *sqlite.Store) (first T, err error) {
		first, second, err = method(db, ctx, arg)
		return first, err
	})
	return first, second, err
}

// LastVerification implements [store.Files].
func (s *Store) LastVerification(ctx context.Context, worktree string) (store.Verification, bool, error) {
	return readTwo(ctx, s, (*sqlite.Store).LastVerification, worktree)
}

// Rows implements [store.Files].
func (s *Store) Rows(ctx context.Context, worktree string) iter.Seq2[store.FileRow, error] {
	return func(yield func(store.FileRow, error) bool) {
		rows, err := use(ctx, s, false, func(db *sqlite.Store) (iter.Seq[store.FileRow], error) {
			return db.AllRows(ctx, worktree)
		})
		if err != nil {
			yield(store.FileRow{}, err)
			return
		}
		for r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// RowsOf implements [store.Files].
func (s *Store) RowsOf(ctx context.Context, worktree string, paths []repo.Path) (map[repo.Path]store.FileRow, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[repo.Path]store.FileRow, error) {
		return db.RowsOf(ctx, worktree, paths)
	})
}

// Exceptions implements [store.Files].
func (s *Store) Exceptions(ctx context.Context, worktree string, marks store.FileMarks) (map[repo.Path]store.FileRow, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[repo.Path]store.FileRow, error) {
		return db.Exceptions(ctx, worktree, marks)
	})
}

// Counts implements [store.Files].
func (s *Store) Counts(ctx context.Context, worktree string) (store.FileCounts, error) {
	return read(ctx, s, (*sqlite.Store).Counts, worktree)
}

// NewestBases implements [store.Files].
func (s *Store) NewestBases(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Basis, error) {
	return read(ctx, s, (*sqlite.Store).NewestBases, contents)
}

// Newest implements [store.Files].
func (s *Store) Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error) {
	return read(ctx, s, (*sqlite.Store).Newest, contents)
}

// Record implements [store.Files].
func (s *Store) Record(ctx context.Context, id fresh.Digest) (fresh.Record, bool, error) {
	return readTwo(ctx, s, (*sqlite.Store).Record, id)
}

// HeadersAt implements [store.Files].
func (s *Store) HeadersAt(ctx context.Context, paths []repo.Path) (map[repo.Path][]store.RecordHeader, error) {
	return read(ctx, s, (*sqlite.Store).HeadersAt, paths)
}

// PathsSince implements [store.Files].
func (s *Store) PathsSince(ctx context.Context, mark int64) ([]repo.Path, int64, error) {
	return readTwo(ctx, s, (*sqlite.Store).PathsSince, mark)
}

// NewestAt implements [store.Files].
func (s *Store) NewestAt(ctx context.Context, path repo.Path) (fresh.Record, bool, error) {
	return readTwo(ctx, s, (*sqlite.Store).NewestAt, path)
}

// Commit implements [store.Files]. If main turns out not to be writable, still may be called twice.
func (s *Store) Commit(ctx context.Context, worktree string, c store.FileChanges, still func() (bool, error)) error {
	_, err := use(ctx, s, !c.IsZero(), func(db *sqlite.Store) (struct{}, error) {
		if db == s.readonly { // a change that would write nothing
			return struct{}{}, nil
		}
		return struct{}{}, db.Commit(ctx, worktree, c, still)
	})
	return err
}

// Value returns the value that SetValue last stored under a key, "" if there is none.
func (s *Store) Value(ctx context.Context, key string) (string, error) {
	return read(ctx, s, (*sqlite.Store).Value, key)
}

// SetValue stores a value under a key; "" removes it.
func (s *Store) SetValue(ctx context.Context, key, value string) error {
	return s.change(ctx, func(db *sqlite.Store) error { return db.SetValue(ctx, key, value) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
