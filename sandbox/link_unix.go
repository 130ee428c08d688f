//go:build unix

package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// readLink returns the target when path is a symbolic link, in one system
// call, for each argument of each command costs some. A missing file is told
// by missing.
func readLink(path string) (target string, missing bool, err error) {
	var buf [256]byte
	n, err := syscall.Readlink(path, buf[:])
	switch {
	case err == nil && n < len(buf):
		return string(buf[:n]), false, nil
	case err == nil:
		target, err = os.Readlink(path)
		return target, false, err
	case errors.Is(err, syscall.EINVAL): // no link
		return "", false, nil
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return "", true, nil
	}
	return "", false, &fs.PathError{Op: "readlink", Path: path, Err: err}
}
