//go:build !linux

package sandbox

import (
	"io/fs"
	"os"
)

// openDir opens a directory whose path has no link in it. The path is looked
// at before and after.
func openDir(path string) (*os.Root, error) {
	found, err := walk(path)
	if err != nil {
		return nil, err
	}
	root, err := openRoot(path, found)
	if err != nil {
		return nil, err
	}
	if _, err := walk(path); err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

func walk(path string) (fs.FileInfo, error) {
	dir, rest := rootOf(path)
	info, err := os.Lstat(dir)
	for err == nil && rest != "" {
		var part string
		if part, rest = cutPart(rest); part == "" {
			continue
		}
		dir = below(dir, part)
		if info, err = os.Lstat(dir); err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: dir, Err: ErrChanged}
		}
	}
	return info, err
}
