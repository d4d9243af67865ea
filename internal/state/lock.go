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
	errMoved = errors.New("what was locked is not there any more")
)

// How often a lock is tried for which the kernel cannot wait: one of another
// program, or any on a system without flock.
const (
	firstPoll = 2 * time.Millisecond
	lastPoll  = 25 * time.Millisecond
)

// Lock waits for the directory's lock, finishes what a killed holder had begun, and
// returns the only way to write. The directory is made if need be.
//
// The lock is the kernel's, so that it ends with the process; the lock file says
// who holds it. A lock file that holds nothing but the number of a running process
// is how some other programs lock, and is honoured too. Whoever waits too long gets
// a [fault.Error] of kind Locked that names the holder.
func (d *Dir) Lock(ctx context.Context, command string) (*Locked, error) {
	if d.guard != nil {
		if err := d.guard(ctx); err != nil {
			return nil, err
		}
	}
	h, err := d.acquire(ctx, command)
	if err != nil {
		return nil, err
	}
	ready := false
	defer func() {
		if !ready {
			h.letGo()
		}
	}()
	if err := h.recover(); err != nil {
		err = fmt.Errorf("finish what a killed run began in %s: %w", repo.Path(d.path), err)
		return nil, errors.Join(err, h.unlink())
	}
	ready = true
	return h, nil
}

func (d *Dir) acquire(ctx context.Context, command string) (*Locked, error) {
	waiting, stop := context.WithTimeout(ctx, d.wait)
	defer stop()
	for delay := firstPoll; ; delay = min(2*delay, lastPoll) {
		h, err := d.attempt(waiting, command)
		switch {
		case err == nil:
			return h, nil
		case errors.Is(err, errMoved) && waiting.Err() == nil:
			continue
		case !errors.Is(err, errBusy) && !errors.Is(err, errMoved):
			return nil, err
		}
		select {
		case <-waiting.Done():
			if ctx.Err() != nil {
				return nil, stopped(ctx, "wait for the lock of "+repo.Path(d.path).String())
			}
			return nil, d.locked()
		// Those who wait for one thing had better not all look at once.
		case <-time.After(delay/2 + rand.N(delay)):
		}
	}
}

// attempt takes the lock or fails, with errBusy if someone else has it. It may wait
// in the kernel as long as the context lasts.
func (d *Dir) attempt(waiting context.Context, command string) (*Locked, error) {
	if err := d.make(); err != nil {
		return nil, err
	}
	root, err := d.open()
	if err != nil {
		return nil, err
	}
	h := &Locked{dir: d, disk: disk{root: root, step: d.step}}
	taken := false
	defer func() {
		if !taken {
			h.letGo()
		}
	}()
	if err := h.take(waiting, command); err != nil {
		return nil, err
	}
	taken = true
	return h, nil
}

// make makes the directory.
func (d *Dir) make() error {
	if _, err := d.stat(); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it says what is wrong with it, if anything is
	}
	// The name of each directory that is made here must last as long as what is
	// written into it.
	var parents []string
	open, path, mkdir := os.Open, d.path, os.MkdirAll
	if d.outer != nil {
		open, path, mkdir = d.outer.Open, d.rel, d.outer.MkdirAll
	}
	for p := filepath.Dir(path); ; p = filepath.Dir(p) {
		parents = append(parents, p)
		f, err := open(p)
		if err == nil {
			_ = f.Close()
		}
		if err == nil || !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			break
		}
	}
	if err := mkdir(path, 0o755); err != nil {
		return d.unwritable("make", err)
	}
	for _, p := range parents {
		f, err := open(p)
		if err == nil {
			err = errors.Join(syncFolder(f), f.Close())
		}
		if err != nil {
			return d.failed("make", err)
		}
	}
	return nil
}

func (h *Locked) take(waiting context.Context, command string) error {
	var err error
	if h.here, err = lockDir(waiting, h.root); err != nil {
		if errors.Is(err, errBusy) {
			return err
		}
		return h.dir.unwritable("lock", err)
	}
	// While we waited, someone may have deleted the directory, or put another in
	// its place; what we hold would then be the lock of nothing.
	mine, err := h.root.Stat(".")
	if err != nil {
		return h.dir.failed("lock", err)
	}
	if now, err := h.dir.stat(); err != nil || !os.SameFile(mine, now) {
		return errMoved
	}
	if err := h.takeFile(); err != nil {
		return err
	}
	who := readHolder(h.lock)
	if who.bare && who.alive() {
		return errBusy
	}
	if err := h.announce("write", h.dir.names.Lock); err != nil {
		return err
	}
	if err := h.sign(command); err != nil {
		return h.dir.unwritable("lock", err)
	}
	return nil
}

// takeFile opens and locks the lock file.
func (h *Locked) takeFile() error {
	name := h.dir.names.Lock
	if err := h.announce("open", name); err != nil {
		return err
	}
	f, mine, err := openRegular(h.root, name, os.O_RDWR|os.O_CREATE, defaultPerm)
	switch {
	case errors.Is(err, errLink), errors.Is(err, errDirectory), errors.Is(err, errSpecial):
		return &fault.Error{
			Hint: "move it away: " + fault.Quote(filepath.Join(h.dir.path, name)),
			Err:  fmt.Errorf("lock %s: its lock file %s cannot be used: %w", repo.Path(h.dir.path), name, err),
		}
	case errors.Is(err, fs.ErrPermission):
		return h.dropUnwritable(name, err)
	case err != nil:
		return h.dir.unwritable("lock", err)
	}
	h.lock = f
	if err := h.announce("lock", name); err != nil {
		return err
	}
	if err := tryLock(f); errors.Is(err, errBusy) {
		return err
	} else if err != nil {
		return h.dir.failed("lock", err)
	}
	// Another program may have unlinked the file between the two calls, and the
	// next holder would then lock another of the same name.
	now, err := h.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(mine, now):
		return errMoved
	case err != nil:
		return h.dir.failed("lock", err)
	case shared(mine):
		// What is written into it would be written into whatever else has it.
		return h.drop(f)
	}
	return nil
}

// drop removes a lock file that nobody uses, so that another can take its place: if
// all is well, the error is errMoved.
func (h *Locked) drop(f *os.File) error {
	if who := readHolder(f); who.bare && who.alive() {
		return errBusy
	}
	if err := h.remove(h.dir.names.Lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return h.dir.unwritable("lock", err)
	}
	return errMoved
}

// dropUnwritable drops a lock file that another user left. One that cannot even be
// read may be in use by a program that honours nothing else.
func (h *Locked) dropUnwritable(name string, why error) error {
	f, _, err := openRegular(h.root, name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return h.dir.unwritable("lock", why)
	}
	if err != nil {
		path := filepath.Join(h.dir.path, name)
		return &fault.Error{
			Hint: "if nobody uses the directory, remove it: rm -f " + fault.Quote(path),
			Err:  fmt.Errorf("lock %s: the lock file of another user is in the way: %w", repo.Path(h.dir.path), cause(err)),
		}
	}
	defer f.Close()
	if err := tryLock(f); err != nil {
		return err
	}
	return h.drop(f)
}

// Unlock lets go. The lock file goes away, where that can be done while the lock is
// held, because other programs take its being there for the lock.
func (h *Locked) Unlock() error {
	err := h.unlink()
	h.letGo()
	if err != nil {
		return h.dir.failed("unlock", err)
	}
	return nil
}

func (h *Locked) unlink() error {
	if !unlinksLock {
		return nil
	}
	mine, err := h.lock.Stat()
	if err != nil {
		return err
	}
	if now, err := h.root.Lstat(h.dir.names.Lock); err != nil || !os.SameFile(mine, now) {
		return nil //nolint:nilerr // it is not ours any more
	}
	if err := h.remove(h.dir.names.Lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// letGo gives back all that the kernel holds for us, as the end of the process would.
func (h *Locked) letGo() {
	for _, f := range []*os.File{h.lock, h.here} {
		if f != nil {
			unlock(f)
			_ = f.Close()
		}
	}
	_ = h.root.Close()
}

// own refuses names that are not those of an ordinary entry: what has a slash, and
// the mechanism's own files.
func (h *Locked) own(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if name == h.dir.names.Lock || name == h.dir.names.Archive {
		return errors.New("the lock and the archive are not to be written, moved or replaced")
	}
	return nil
}

// locked is the error of having waited too long.
func (d *Dir) locked() error {
	who := holder{}
	if root, err := d.open(); err == nil {
		_ = readFile(root, d.names.Lock, func(f *os.File, _ fs.FileInfo) error {
			who = readHolder(f)
			return nil
		})
		_ = root.Close()
	}
	hint := "it lets go when it is done; try again, or wait longer with --wait 1m"
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

// unwritable explains an error of the first write into a directory.
func (d *Dir) unwritable(act string, err error) error {
	err = d.failed(act, err)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &fault.Error{
			Hint: "make it writable, or name another directory",
			Err:  fmt.Errorf("the state directory cannot be written: %w", err),
		}
	}
	return err
}
