package confine

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxClosed bounds the descriptors that are closed in the program one by one.
const maxClosed = 1 << 16

// closeOthers makes the command close every descriptor but the first three
// that this process would hand down. Go's own never are; a parent of this
// process or a C library may have left others.
func closeOthers(cmd *exec.Cmd) error {
	highest, err := highestInherited()
	if err != nil || highest < 3 {
		return err
	}
	if highest >= maxClosed {
		return fmt.Errorf("descriptor %d of this process would be open in the program; close it, or start this process without it", highest)
	}
	cmd.ExtraFiles = make([]*os.File, highest-2) // nil is a closed one
	return nil
}

// highestInherited is the highest descriptor that is not closed when a program
// is executed.
func highestInherited() (int, error) {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0, fmt.Errorf("the open descriptors can't be listed, so they can't be kept from the program: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0, fmt.Errorf("the open descriptors can't be listed, so they can't be kept from the program: %w", err)
	}
	highest := 0
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= highest {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 { // an error means that it was closed since
			highest = fd
		}
	}
	return highest, nil
}
