package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Locked is a state directory whose lock this process has. It is the only way to
// write, and Unlock is called exactly once.
type Locked struct {
	disk
	dir  *Dir
	here *os.File // the directory, locked where directories can be
	lock *os.File // the lock file, locked
}

var (
	errBusy  = errors.New("the lock is held")
	errMoved = errors.New("the locked file was replaced")
)

// Delays between attempts when the kernel cannot wait for the lock: it belongs to
// another program, or the system has no flock.
const (
	firstPoll = 2 * time.Millisecond
	lastPoll  = 25 * time.Millisecond
)

// Lock creates the directory if necessary, waits for its lock, and ends the change of a
// killed process.
//
// The lock is in the kernel and ends with the process; the lock file has the process.
// Some programs lock with a file that contains only the pid of a running process, which
// Lock respects. After waiting too long it returns a [fault.Error] of kind Locked that
// names the holder.
func (d *Dir) Lock(ctx context.Context, command string) (*Locked, error) {
	if d.guard != nil {
		if err := d.guard(ctx); err != nil {
			return nil, err
		}
	}
	waiting, stop := context.WithTimeout(ctx, d.wait)
	defer stop()
	for delay := firstPoll; ; delay = min(2*delay, lastPoll) {
		l, err := d.attempt(waiting, command)
		if errors.Is(err, errMoved) && waiting.Err() == nil {
			continue
		}
		if !errors.Is(err, errBusy) && !errors.Is(err, errMoved) {
			return l, err
		}
		select {
		case <-waiting.Done():
			if ctx.Err() != nil {
				return nil, cancelledError(ctx, "wait for the lock of "+repo.Path(d.path).String())
			}
			return nil, d.locked()
		// Waiting processes should not all try at once.
		case <-time.After(delay/2 + rand.N(delay)):
		}
	}
}

// attempt takes the lock, or returns errBusy if another process has it. It may wait in
// the kernel until the context ends.
func (d *Dir) attempt(waiting context.Context, command string) (*Locked, error) {
	if err := d.make(); err != nil {
		return nil, err
	}
	root, err := d.open()
	if err != nil {
		return nil, err
	}
	l := &Locked{dir: d, disk: disk{root: root, step: d.step}}
	ready := false
	defer func() {
		if !ready {
			l.release()
		}
	}()
	if err := l.take(waiting, command); err != nil {
		return nil, err
	}
	if err := l.recover(); err != nil {
		err = fmt.Errorf("end the interrupted change in %s: %w", repo.Path(d.path), err)
		return nil, errors.Join(err, l.unlink())
	}
	ready = true
	return l, nil
}

// make creates the directory. A new one is out of git from its first moment.
func (d *Dir) make() error {
	if _, err := d.stat(); !errors.Is(err, fs.ErrNotExist) {
		return nil // open reports other errors
	}
	var err error
	if d.outer != nil {
		err = d.outer.MkdirAll(d.rel, 0o755)
	} else {
		err = os.MkdirAll(d.path, 0o755)
	}
	if err == nil {
		err = d.ignore()
	}
	if err != nil {
		return d.unwritable("create", err)
	}
	parent, err := os.Open(filepath.Dir(d.path))
	if err != nil {
		return d.failed("create", err)
	}
	return errors.Join(syncFolder(parent), parent.Close())
}

// ignoreName is the name of the file that keeps a new directory out of git.
const ignoreName = ".gitignore"

// ignore keeps the directory, which was just created, out of git.
func (d *Dir) ignore() error {
	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(ignoreName, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process created the directory at the same time
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Sync(), f.Close())
}

func (l *Locked) take(waiting context.Context, command string) error {
	var err error
	if l.here, err = lockDir(waiting, l.root); err != nil {
		if errors.Is(err, errBusy) {
			return err
		}
		return l.dir.unwritable("lock", err)
	}
	// Another process may have deleted or replaced the directory while we waited.
	mine, err := l.root.Stat(".")
	if err != nil {
		return l.dir.failed("lock", err)
	}
	if now, err := l.dir.stat(); err != nil || !os.SameFile(mine, now) {
		return errMoved
	}
	writable, err := l.takeFile()
	if err != nil {
		return err
	}
	if who := readHolder(l.lock); who.bare && who.alive() {
		return errBusy
	}
	if !writable {
		// A leftover makes room for a new file.
		if err := l.remove(l.dir.names.Lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return l.dir.unwritable("lock", err)
		}
		return errMoved
	}
	if err := l.announce("write " + l.dir.names.Lock); err != nil {
		return err
	}
	if err := l.writeHolder(command); err != nil {
		return l.dir.unwritable("lock", err)
	}
	return nil
}

// takeFile opens and locks the lock file. The file is not writable if another user left it, or
// if it has other hard links.
func (l *Locked) takeFile() (writable bool, err error) {
	name := l.dir.names.Lock
	path := filepath.Join(l.dir.path, name)
	if err := l.announce("open " + name); err != nil {
		return false, err
	}
	f, mine, err := openRegular(l.root, name, os.O_RDWR|os.O_CREATE, defaultPerm)
	writable = err == nil && !shared(mine)
	if errors.Is(err, fs.ErrPermission) {
		denied := err
		f, mine, err = openRegular(l.root, name, os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return false, l.dir.unwritable("lock", denied)
		}
		if err != nil { // a program that uses pid files may hold it
			return false, &fault.Error{
				Hint: "if no process uses the directory: rm -f " + fault.Quote(path),
				Err:  fmt.Errorf("lock %s: cannot read the lock file of another user: %w", repo.Path(l.dir.path), cause(err)),
			}
		}
	}
	switch {
	case errors.Is(err, errLink), errors.Is(err, errDirectory), errors.Is(err, errSpecial):
		return false, &fault.Error{
			Hint: "move it away: " + fault.Quote(path),
			Err:  fmt.Errorf("lock %s: cannot use its lock file %s: %w", repo.Path(l.dir.path), name, err),
		}
	case err != nil:
		return false, l.dir.unwritable("lock", err)
	}
	l.lock = f
	if err := l.announce("lock " + name); err != nil {
		return false, err
	}
	if err := tryLock(f); errors.Is(err, errBusy) {
		return false, err
	} else if err != nil {
		return false, l.dir.failed("lock", err)
	}
	// Another program may have removed the file before we locked it. The next process
	// would then lock another file of the same name.
	now, err := l.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, now) {
		return false, errMoved
	}
	if err != nil {
		return false, l.dir.failed("lock", err)
	}
	return writable, nil
}

// Unlock releases the lock. It removes the lock file where the system allows that, since
// other programs take an existing file for a lock.
func (l *Locked) Unlock() error {
	err := l.unlink()
	l.release()
	if err != nil {
		return l.dir.failed("unlock", err)
	}
	return nil
}

func (l *Locked) unlink() error {
	mine, err := l.lock.Stat()
	if err != nil || !unlinksLock {
		return err
	}
	if now, err := l.root.Lstat(l.dir.names.Lock); err != nil || !os.SameFile(mine, now) {
		return nil //nolint:nilerr // it is another file now
	}
	if err := l.remove(l.dir.names.Lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// release closes the files and releases the locks, as the end of the process would.
func (l *Locked) release() {
	for _, f := range []*os.File{l.lock, l.here} {
		if f != nil {
			unlock(f)
			_ = f.Close()
		}
	}
	_ = l.root.Close()
}

// checkOwned returns an error for a name with a slash, and for the lock and the archive.
func (l *Locked) checkOwned(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if name == l.dir.names.Lock || name == l.dir.names.Archive {
		return errors.New("the lock and the archive cannot be written, moved or replaced")
	}
	return nil
}

// locked returns the error after waiting too long.
func (d *Dir) locked() error {
	who := holder{}
	if root, err := d.open(); err == nil {
		_ = readFile(root, d.names.Lock, func(f *os.File, _ fs.FileInfo) error {
			who = readHolder(f)
			return nil
		})
		_ = root.Close()
	}
	hint := "try again, or wait longer with --wait 1m"
	if who.bare {
		hint = fmt.Sprintf("try again with a longer --wait, or, if process %d does not use the directory: rm %s",
			who.PID, fault.Quote(filepath.Join(d.path, d.names.Lock)))
	}
	return &fault.Error{
		Kind: fault.Locked,
		Hint: hint,
		Err:  fmt.Errorf("%s is locked by %s", repo.Path(d.path), who),
	}
}

// unwritable adds a hint to a permission error.
func (d *Dir) unwritable(act string, err error) error {
	err = d.failed(act, err)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &fault.Error{
			Hint: "make it writable, or use another directory with --dir",
			Err:  fmt.Errorf("cannot write to the state directory: %w", err),
		}
	}
	return err
}
