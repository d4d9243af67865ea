//go:build unix

package provider

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes stopping the program stop what it has started. The function
// that it returns does the same later, when the program itself has ended.
func ownGroup(cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	return func() { _ = cmd.Cancel() } // there may be nobody left
}
