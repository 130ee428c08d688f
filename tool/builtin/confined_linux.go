package builtin

import (
	"os"
	"strconv"
)

// openedDir is a name by which a program that is about to start finds an open
// directory, whatever its path has become; without /proc it is the path.
func openedDir(dir *os.File, path string) string {
	name := "/proc/self/fd/" + strconv.FormatUint(uint64(dir.Fd()), 10)
	if _, err := os.Stat(name); err != nil {
		return path
	}
	return name
}
