//go:build unix

package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// somebody returns who runs the server when root runs the tests: PostgreSQL refuses root.
func somebody() (uid, gid int, err error) {
	var errs []error
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return 0, 0, err
		}
		gid, err := strconv.Atoi(u.Gid)
		return uid, gid, err
	}
	return 0, 0, errors.Join(errs...)
}

// own gives a directory to whoever runs the server.
func own(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := somebody()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// demote lets whoever runs the server run a command, in a session of its own: what stops the
// tests at a terminal is not to stop what cleans up after them.
func demote(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() != 0 {
		return
	}
	if uid, gid, err := somebody(); err == nil { // own has reported the error
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
