//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup starts the command in a process group of its own, which is killed
// as one.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// exitCode is the exit status, or the negative number of the signal that
// killed the process.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -int(status.Signal())
	}
	return state.ExitCode()
}

func killGroup(leader int) {
	_ = syscall.Kill(-leader, syscall.SIGKILL) // an error means that it has ended
}
