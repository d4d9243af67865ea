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

// serverUser returns the user that runs the server if root runs the tests, since PostgreSQL refuses root.
func serverUser() (uid, gid int, err error) {
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

// own gives a directory to the user of the server.
func own(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := serverUser()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// demote runs a command as the user of the server, in its own session: an interrupt at the terminal ends the tests, and
// must not end the command that cleans up after them.
func demote(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() != 0 {
		return
	}
	if uid, gid, err := serverUser(); err == nil { // own has reported the error
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
