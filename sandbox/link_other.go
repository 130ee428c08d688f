//go:build !unix

package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// readLink returns the target when path is a symbolic link. A missing file is
// told by missing.
func readLink(path string) (target string, missing bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return "", true, nil
	case err != nil || info.Mode()&fs.ModeSymlink == 0:
		return "", false, err
	}
	target, err = os.Readlink(path)
	return target, false, err
}
