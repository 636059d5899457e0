//go:build unix

package child

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// together makes the end of a program the end of its group.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		if errors.Is(syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL), syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return nil
	}
}
