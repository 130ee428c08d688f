//go:build !unix

package mcp

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no process groups.
func ownGroup(*exec.Cmd) {}

// terminateGroup does nothing: a program can't be asked to end here.
func terminateGroup(int) {}

func killGroup(leader int) {
	if p, err := os.FindProcess(leader); err == nil {
		_ = p.Kill()
	}
}
