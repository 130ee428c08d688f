//go:build !linux

package mcp

import "os"

// awaitExit returns when a child has ended, and how. The child's number is
// free then; that another group leader gets it within the microseconds until
// the group is killed is what Linux has a better way against.
func awaitExit(child *os.Process) *os.ProcessState {
	state, _ := child.Wait() // there is no state where it fails
	return state
}
