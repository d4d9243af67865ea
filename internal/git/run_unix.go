//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes stopping git stop the programs it started, which would
// otherwise live on and hold its pipes open.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
