//go:build linux || darwin

package state

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// unlinksLock says that Unlock removes the lock file.
const unlinksLock = true

// lockDir locks the directory itself, which no program can replace unnoticed. The kernel
// queues the waiting processes. On file systems that cannot lock directories, such as
// NFS, only the lock file is locked.
func lockDir(ctx context.Context, root *os.Root) (*os.File, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	err = tryLock(f)
	switch {
	case err == nil, errors.Is(err, unix.EBADF), errors.Is(err, unix.EINVAL),
		errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOTSUP):
		return f, nil
	case !errors.Is(err, errBusy) || ctx.Err() != nil:
		_ = f.Close()
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- flock(f, unix.LOCK_EX) }()
	select {
	case err := <-done:
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return f, nil
	case <-ctx.Done():
		go func() { // release a lock that comes too late
			if <-done == nil {
				unlock(f)
			}
			_ = f.Close()
		}()
		return nil, errBusy
	}
}

// tryLock locks a file, or returns errBusy at once.
func tryLock(f *os.File) error {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errBusy
	}
	return err
}

// unlock releases the lock at once, even if a child that is about to exec has the
// descriptor.
func unlock(f *os.File) { _ = flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
