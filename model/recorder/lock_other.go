//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package recorder

import "time"

// lock does nothing where there is no flock: only one process at a time may
// record into a file there.
func lock(string, time.Duration) (unlock func(), err error) { return func() {}, nil }

// syncDir does nothing where folders can't be synced.
func syncDir(string) error { return nil }
