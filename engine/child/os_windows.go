package child

import (
	"os/exec"
	"strconv"
)

// together makes the end of a program the end of what it has started.
func together(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
		return cmd.Process.Kill() // where that is not there
	}
}
