package mcp

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit returns when a child has ended. It does not wait for it in the
// system's sense, so that its number, and its group's, stays its own; the
// state is therefore nil.
func awaitExit(child *os.Process) *os.ProcessState {
	for errors.Is(unix.Waitid(unix.P_PID, child.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	return nil
}
