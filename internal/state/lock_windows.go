package state

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// unlinksLock says that the lock file stays: Windows cannot remove an open file.
const unlinksLock = false

// lockDir does nothing: Windows cannot remove a locked lock file.
func lockDir(context.Context, *os.Root) (*os.File, error) { return nil, nil }

// beyond is the locked byte, after the content: locked bytes cannot be read, and waiting
// processes read the content.
var beyond = windows.Overlapped{Offset: 0xfffffffe, OffsetHigh: 0x7fffffff}

// tryLock locks a file, or returns errBusy at once.
func tryLock(f *os.File) error {
	at := beyond
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errBusy
	}
	return err
}

func unlock(f *os.File) {
	at := beyond
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}

// process reports whether a process runs, and its start, zero if that is unknown.
func process(pid int) (start time.Time, running bool) {
	p, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return time.Time{}, errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(p) //nolint:errcheck // nothing was written
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(p, &created, &exited, &kernel, &user) == nil {
		start = time.Unix(0, created.Nanoseconds()).UTC()
	}
	const stillActive = 259
	var code uint32
	return start, windows.GetExitCodeProcess(p, &code) == nil && code == stillActive
}
