//go:build unix

package provider

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup starts the program in its own process group, so that cancelling it kills its child processes too. The
// returned function kills the group after the program itself has exited.
func ownGroup(cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	return func() { _ = cmd.Cancel() } // the group may be empty already
}
