//go:build unix

// Package owner keeps the owner of a file that is replaced.
package owner

import (
	"os"
	"syscall"
)

// Keep gives f the owner of the file that it replaces, where the process
// may do so.
func Keep(f *os.File, old os.FileInfo) {
	want, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if info, err := f.Stat(); err == nil {
		if have, ok := info.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
			return
		}
	}
	_ = f.Chown(int(want.Uid), int(want.Gid)) // not allowed: the new file is ours
}
