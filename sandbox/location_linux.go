package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openDir opens a directory whose path has no link in it. Each part is opened
// below the one before, so nothing can be swapped on the way. Directories that
// may be passed but not listed are no obstacle.
func openDir(path string) (*os.Root, error) {
	const oPath = 0x200000 // O_PATH, the same on every architecture
	const flags = oPath | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	fd, err := openAt(-1, "/", flags)
	for rest := path; err == nil && rest != ""; {
		var part string
		if part, rest = cutPart(rest); part == "" {
			continue
		}
		next, failed := openAt(fd, part, flags)
		_ = syscall.Close(fd)
		fd, err = next, failed
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	way := os.NewFile(uintptr(fd), path)
	defer way.Close()
	found, err := way.Stat()
	if err != nil {
		return nil, err
	}
	return openRoot(path, found)
}

func openAt(dir int, name string, flags int) (int, error) {
	for {
		fd, err := syscall.Openat(dir, name, flags, 0)
		if !errors.Is(err, syscall.EINTR) {
			return fd, err
		}
	}
}
