//go:build unix

package workdir

import (
	"os"

	"golang.org/x/sys/unix"
)

// entriesOf reads an open directory. A file that was opened in an os.Root asks
// for each entry's details at once; a duplicate of it takes the types from the
// directory itself, which is all that a walk needs.
func entriesOf(d *os.File) ([]os.DirEntry, error) {
	fd, err := unix.FcntlInt(d.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	twin := os.NewFile(uintptr(fd), d.Name())
	defer twin.Close()
	return twin.ReadDir(-1)
}
