package builtin

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/agentloom/agentloom/sandbox"
)

// storeChecked writes a file as store does, at a place that was checked: all
// goes through its directory, held open, and follows no link.
func storeChecked(at sandbox.Location, content []byte) error {
	dir, name, err := at.Parent(true)
	if err != nil {
		return err
	}
	defer dir.Close()
	old, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replaceIn(dir, name, content, nil)
	case err != nil:
		return err
	}
	if old.Mode()&fs.ModeSymlink != 0 {
		return sandbox.ErrChanged
	}
	if err := plain(old, nil); err != nil {
		return err
	}
	// A file that is read-only must not be replaced through its directory.
	f, err := openSame(dir, name, old)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = replaceIn(dir, name, content, old); !isKept(err) {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.Write(content)
	return err
}

// openSame opens for writing the file that was found, and no other.
func openSame(dir *os.Root, name string, found os.FileInfo) (*os.File, error) {
	f, err := dir.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(found, now) {
		err = sandbox.ErrChanged
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// replaceIn writes a new file in a directory and renames it to its name there.
// old is the file that has the name, or nil.
func replaceIn(dir *os.Root, name string, content []byte, old os.FileInfo) (err error) {
	mode := os.FileMode(0o666) // less the process's umask
	if old != nil {
		mode = old.Mode().Perm()
	}
	temp := ".agentloom-" + rand.Text()
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = dir.Remove(temp)
		}
	}()
	if err = fill(f, content, old); err != nil {
		return err
	}
	return dir.Rename(temp, name)
}
