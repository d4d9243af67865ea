package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"zombiezen.com/go/sqlite"

	"ken/internal/fault"
)

// ErrReadOnly means that this process cannot write the database or its directory.
var ErrReadOnly = errors.New("not writable")

// ErrFull means that the disk is full.
var ErrFull = errors.New("disk is full")

type readOnlyError struct {
	path string
	err  error // nil if the store is read-only by its options
}

func (e *readOnlyError) Error() string { return fmt.Sprintf("store is not writable: %s", e.path) }

func (e *readOnlyError) Is(target error) bool { return target == ErrReadOnly }

func (e *readOnlyError) Unwrap() error { return e.err }

// A callbackError is an error of the caller's callback. explain returns it unchanged.
type callbackError struct{ err error }

func (e *callbackError) Error() string { return e.err.Error() }

func (e *callbackError) Unwrap() error { return e.err }

func isBusy(err error) bool {
	if err == nil {
		return false
	}
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultBusy || code == sqlite.ResultLocked
}

// needsCopy reports whether SQLite cannot read a database without writing to it.
func needsCopy(err error) bool {
	if err == nil {
		return false
	}
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultReadOnly || code == sqlite.ResultCantOpen
}

// explain returns an error with a reason and a hint for the user instead of the message of SQLite or the file
// system. It returns callback errors and explained errors unchanged.
func (s *Store) explain(ctx context.Context, act string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s store: %w", act, context.Cause(ctx))
	}
	if e, ok := errors.AsType[*callbackError](err); ok {
		return e.err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*readOnlyError](err); ok {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return s.diskFull(err)
	}
	if s.opts.ReadOnly {
		// The store is read-only anyway: here it could not be read.
		if needsCopy(err) {
			return fmt.Errorf("%s store %s: %w", act, s.path, err)
		}
	} else if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &readOnlyError{path: s.path, err: err}
	}
	switch code := sqlite.ErrCode(err).ToPrimary(); code {
	case sqlite.ResultBusy, sqlite.ResultLocked:
		return s.locked(err)
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		dir := filepath.Dir(s.path)
		aside := freeName(dir + ".damaged")
		return &fault.Error{
			Hint: fmt.Sprintf("mv %s %s && ken verify    # then rescue texts with: sqlite3 %s .recover",
				fault.Quote(dir), fault.Quote(aside), fault.Quote(filepath.Join(aside, filepath.Base(s.path)))),
			Err: fmt.Errorf("store is damaged: %s: %w", s.path, err),
		}
	case sqlite.ResultFull:
		return s.diskFull(err)
	case sqlite.ResultReadOnly, sqlite.ResultCantOpen, sqlite.ResultPerm, sqlite.ResultAuth:
		if code == sqlite.ResultReadOnly || !Writable(s.path) {
			return &readOnlyError{path: s.path, err: err}
		}
	case sqlite.ResultIOErr:
		if full(filepath.Dir(s.path)) {
			return s.diskFull(err)
		}
		return &fault.Error{
			Hint: fmt.Sprintf("check the disk, then run the command again: df -h %s", fault.Quote(filepath.Dir(s.path))),
			Err:  fmt.Errorf("%s store %s: %w", act, s.path, err),
		}
	default:
	}
	return fmt.Errorf("%s store %s: %w", act, s.path, err)
}

func (s *Store) diskFull(err error) error {
	dir := filepath.Dir(s.path)
	return &fault.Error{
		Hint: fmt.Sprintf("free some space, then run the command again: df -h %s", fault.Quote(dir)),
		Err:  fmt.Errorf("%w: %s: %w", ErrFull, s.path, err),
	}
}

func (s *Store) locked(err error) error {
	who := "another process"
	if pid, name := holder(s.path); pid != 0 {
		who = fmt.Sprintf("process %d", pid)
		if name != "" {
			who += fmt.Sprintf(" (%s)", name)
		}
	}
	return &fault.Error{
		Kind: fault.Locked,
		Hint: "wait for it to finish, then run the command again",
		Err:  fmt.Errorf("store is locked by %s: %s: %w", who, s.path, err),
	}
}

// Writable reports whether the permissions allow this process to write the database at path. It checks the database
// files and their directory, or the nearest parent directory that exists.
func Writable(path string) bool {
	// Check each file once, because other processes create and remove them.
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := access(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		err := access(dir)
		if err == nil {
			return true
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return false
		}
	}
}

// freeName returns a name that nothing has yet: the name itself, or with a number behind it.
func freeName(name string) string {
	free := name
	for n := 2; exists(free); n++ {
		free = fmt.Sprintf("%s%d", name, n)
	}
	return free
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
