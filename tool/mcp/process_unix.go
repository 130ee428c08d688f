//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a program the leader of a process group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func terminateGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGTERM) }

func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }
