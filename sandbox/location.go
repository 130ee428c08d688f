package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A Location is where a path leads that was checked. Its methods open that and
// nothing else: no symbolic link is followed on the way, so a path that is
// swapped for a link after the check gives an error. (Outside Linux a swap at
// the right moment, undone at the right moment, can still pass.) The zero
// Location is nowhere.
type Location struct {
	// Path is absolute and resolved; the file may be missing. Opening it by
	// its name follows what has become of it since the check.
	Path string

	isDir bool // the path ended in a slash
}

// ErrChanged is the error of opening what is no longer what was checked.
var ErrChanged = errors.New("it has changed since it was checked")

var (
	errNotRegular  = errors.New("it is no regular file")
	errIsDirectory = errors.New("it is a directory")
)

// Open opens a regular file for reading. It never waits for a writer.
func (l Location) Open() (*os.File, error) {
	dir, err := openDir(filepath.Dir(l.Path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	name := filepath.Base(l.Path)
	before, err := dir.Lstat(name)
	if err := onlyRegular(before, err); err != nil {
		return nil, err
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err = onlyRegular(after, err); err == nil && !os.SameFile(before, after) {
		err = ErrChanged
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func onlyRegular(info fs.FileInfo, err error) error {
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errIsDirectory
	case info.Mode()&fs.ModeSymlink != 0:
		return ErrChanged
	case !info.Mode().IsRegular():
		return errNotRegular
	}
	return nil
}

// OpenDir opens a directory. What is opened through the Root stays inside it;
// links in it lead no further, but may lead from one part of it to another.
func (l Location) OpenDir() (*os.Root, error) { return openDir(l.Path) }

// Parent opens the directory that the file lies in and returns the file's name
// there. Missing directories are made when create is set. To write the file,
// write another one beside it and rename it through the Root: a rename follows
// no link.
func (l Location) Parent(create bool) (*os.Root, string, error) {
	name := filepath.Base(l.Path)
	if os.IsPathSeparator(name[0]) || l.Path == "" || l.isDir {
		return nil, "", errIsDirectory
	}
	dir := filepath.Dir(l.Path)
	root, err := openDir(dir)
	if create && errors.Is(err, fs.ErrNotExist) {
		root, err = makeDir(dir)
	}
	return root, name, err
}

// makeDir opens a directory, which is made with its parents where missing.
func makeDir(path string) (*os.Root, error) {
	var missing []string
	root, err := openDir(path)
	for errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		missing = append(missing, filepath.Base(path))
		path = filepath.Dir(path)
		root, err = openDir(path)
	}
	if err != nil {
		return nil, err
	}
	for i := len(missing) - 1; i >= 0; i-- {
		err := root.Mkdir(missing[i], 0o777) // less the process's umask
		_ = root.Close()
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		path = below(path, missing[i])
		if root, err = openDir(path); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// openRoot opens a directory by its name and makes sure that it is the one
// that was found on a way without links.
func openRoot(path string, found fs.FileInfo) (*os.Root, error) {
	// The slash makes the open fail, not wait, on a FIFO.
	root, err := os.OpenRoot(path + string(filepath.Separator))
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil && !os.SameFile(info, found) {
		err = fmt.Errorf("%s: %w", filepath.Base(path), ErrChanged)
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}
