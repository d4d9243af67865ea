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

// ErrReadOnly is in the chain of the failure of a write that found no place:
// neither the git directory nor the state directory can be written.
var ErrReadOnly = sqlite.ErrReadOnly

// Options says where to keep things.
type Options struct {
	CommonDir string // the git directory that all worktrees share
	// StateDir is the user's directory for state that outlives a run, such as
	// $XDG_STATE_HOME; "" when there is none, and so no spool.
	StateDir    string
	BusyTimeout time.Duration // see [sqlite.Options]
}

// A Store is that of the registry and the survey, wherever it can be kept at the moment. It is
// safe for concurrent use. Nothing is touched before the first call.
type Store struct {
	main     *sqlite.Store // as it should be
	readonly *sqlite.Store // the same file, for when it cannot be written
	spool    *sqlite.Store // nil without a state directory
	pending  string        // file that stands while the spool may hold what main does not

	mu       sync.Mutex
	denied   bool // main refused to be written, whatever its permissions say
	unmerged bool // merging failed, and is left to a later run
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

// spoolDir returns the directory of the spool for the database at path. One and
// the same file has one spool, by whatever links it was reached.
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

// Files returns the names of all databases that records may be in: the one in the git
// directory, and the spool. None of them need be there.
func (s *Store) Files() []string {
	if s.spool == nil {
		return []string{s.main.Path()}
	}
	return []string{s.main.Path(), s.spool.Path()}
}

// Note returns what a person should be told, once, about where things are kept:
// "" as long as it is where they belong.
func (s *Store) Note() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.note
}

// Close lets go of all files.
func (s *Store) Close() error {
	err := errors.Join(s.main.Close(), s.readonly.Close())
	if s.spool != nil {
		err = errors.Join(err, s.spool.Close())
	}
	return err
}

// place returns the database to use now, for reading or for writing. It asks
// anew on every call, at the cost of a few stats: a server may outlive a mount's
// being read-only.
func (s *Store) place(ctx context.Context, write bool) (*sqlite.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	pending := s.spool != nil && exists(s.pending)
	if s.denied || !sqlite.Writable(s.main.Path()) {
		return s.elsewhere(ctx, pending, write)
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
			s.denied = true // so it was main that refused
			return s.elsewhere(ctx, pending, write)
		default:
			// It keeps, and a run that may succeed comes later. Main answers
			// for itself.
			s.unmerged = true
			s.note = fmt.Sprintf("summaries in %s are not merged yet: %v", s.spool.Path(), err)
		}
	}
	return s.main, nil
}

// elsewhere returns the database to use while main cannot be written.
func (s *Store) elsewhere(ctx context.Context, pending, write bool) (*sqlite.Store, error) {
	if !pending && !write {
		return s.readonly, nil
	}
	if s.spool == nil {
		return nil, s.nowhere("")
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
		return nil, s.nowhere(filepath.Dir(s.spool.Path()))
	}
}

func (s *Store) nowhere(spool string) error {
	err := fmt.Errorf("write store %s: %w", s.main.Path(), ErrReadOnly)
	if spool != "" {
		err = fmt.Errorf("write store %s, or %s: %w", s.main.Path(), spool, ErrReadOnly)
	}
	return &fault.Error{
		Hint: "name a writable directory for new summaries: export XDG_STATE_HOME=DIR",
		Err:  err,
	}
}

// patience is how often a question is asked anew because main has changed; what
// is answered then was true at some moment since it was asked.
const patience = 10

// use calls act with the database to use now, and again when that changes under
// it: main turns out not to be writable, or the spool has just been merged.
func use[T any](ctx context.Context, s *Store, write bool, act func(*sqlite.Store) (T, error)) (T, error) {
	for try := 0; ; try++ {
		db, err := s.place(ctx, write)
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
			// To read as one of several, SQLite makes a file, which there is no room for
			// as long as a write that failed has left its own behind.
			if v, err := act(s.readonly); err == nil {
				return v, nil
			}
			return v, err
		case errors.Is(err, sqlite.ErrDrained):
		case err == nil && db == s.spool && !write && try < patience && !s.current(ctx):
			// It may have been merged, and begun again by somebody who had not
			// seen the merge yet.
		default:
			return v, err
		}
	}
}

// found carries an answer that may be none.
type found[T any] struct {
	v  T
	ok bool
}

// Baseline implements [store.Files].
func (s *Store) Baseline(ctx context.Context, worktree string) (store.Verification, bool, error) {
	f, err := use(ctx, s, false, func(db *sqlite.Store) (found[store.Verification], error) {
		b, ok, err := db.Baseline(ctx, worktree)
		return found[store.Verification]{b, ok}, err
	})
	return f.v, f.ok, err
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

// Tally implements [store.Files].
func (s *Store) Tally(ctx context.Context, worktree string) (store.FileCounts, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (store.FileCounts, error) {
		return db.Tally(ctx, worktree)
	})
}

// Known implements [store.Files].
func (s *Store) Known(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Basis, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[repo.Content]fresh.Basis, error) {
		return db.Known(ctx, contents)
	})
}

// Newest implements [store.Files].
func (s *Store) Newest(ctx context.Context, contents []repo.Content) (map[repo.Content]fresh.Record, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[repo.Content]fresh.Record, error) {
		return db.Newest(ctx, contents)
	})
}

// Record implements [store.Files].
func (s *Store) Record(ctx context.Context, id fresh.Digest) (fresh.Record, bool, error) {
	f, err := use(ctx, s, false, func(db *sqlite.Store) (found[fresh.Record], error) {
		r, ok, err := db.Record(ctx, id)
		return found[fresh.Record]{r, ok}, err
	})
	return f.v, f.ok, err
}

// WrittenAt implements [store.Files].
func (s *Store) WrittenAt(ctx context.Context, paths []repo.Path) (map[repo.Path][]store.RecordHeader, error) {
	return use(ctx, s, false, func(db *sqlite.Store) (map[repo.Path][]store.RecordHeader, error) {
		return db.WrittenAt(ctx, paths)
	})
}

// WrittenSince implements [store.Files].
func (s *Store) WrittenSince(ctx context.Context, mark int64) ([]repo.Path, int64, error) {
	type answer struct {
		paths []repo.Path
		now   int64
	}
	a, err := use(ctx, s, false, func(db *sqlite.Store) (answer, error) {
		paths, now, err := db.WrittenSince(ctx, mark)
		return answer{paths, now}, err
	})
	return a.paths, a.now, err
}

// NewestAt implements [store.Files].
func (s *Store) NewestAt(ctx context.Context, path repo.Path) (fresh.Record, bool, error) {
	f, err := use(ctx, s, false, func(db *sqlite.Store) (found[fresh.Record], error) {
		r, ok, err := db.NewestAt(ctx, path)
		return found[fresh.Record]{r, ok}, err
	})
	return f.v, f.ok, err
}

// Commit implements [store.Files]. When main turns out not to be writable in
// the middle of it, still may be asked twice.
func (s *Store) Commit(ctx context.Context, worktree string, c store.FileChanges, still func() (bool, error)) error {
	_, err := use(ctx, s, !c.IsZero(), func(db *sqlite.Store) (struct{}, error) {
		if db == s.readonly { // a change that would write nothing
			return struct{}{}, nil
		}
		return struct{}{}, db.Commit(ctx, worktree, c, still)
	})
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
