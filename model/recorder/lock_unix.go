//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package recorder

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lock takes the advisory lock of a file that is there only while somebody
// holds it, or waits for it. A process that dies lets go.
func lock(path string, most time.Duration) (unlock func(), err error) {
	const shortest, longest = time.Millisecond, 20 * time.Millisecond
	deadline := time.Now().Add(most)
	for wait := shortest; ; wait = min(2*wait, longest) {
		f, err := tryLock(path)
		if err != nil {
			return nil, err
		}
		if f != nil {
			return func() {
				// Removed first: whoever has it open sees that it is gone.
				_ = os.Remove(path)
				_ = f.Close()
			}, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("another process has held %s for %v", path, most)
		}
		time.Sleep(wait)
	}
}

// tryLock returns the locked file, nil when another process has it.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, f.Close()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
	}
	// The holder before may have removed it between opening and locking.
	locked, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(locked, there) {
		return nil, f.Close()
	}
	return f, nil
}

// syncDir makes a rename in a folder last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) { // file systems that can't
		err = nil
	}
	return errors.Join(err, d.Close())
}
