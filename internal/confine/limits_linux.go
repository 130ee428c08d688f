package confine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// limit gives a process its limits.
func limit(pid int, limits Limits) error {
	set := []struct {
		resource int
		value    uint64
		name     string
	}{
		{unix.RLIMIT_CPU, uint64((limits.CPU + time.Second - 1) / time.Second), "CPU time"},
		{unix.RLIMIT_AS, limits.Memory, "memory"},
		{unix.RLIMIT_FSIZE, limits.FileSize, "file size"},
		{unix.RLIMIT_NOFILE, limits.OpenFiles, "open files"},
		{unix.RLIMIT_NPROC, limits.Processes, "processes"},
	}
	if err := lower(pid, unix.RLIMIT_CORE, 0); err != nil {
		return fmt.Errorf("core dumps could not be turned off: %w", err)
	}
	for _, s := range set {
		if s.value == 0 {
			continue
		}
		if s.resource == unix.RLIMIT_NPROC {
			s.value += tasks()
		}
		if err := lower(pid, s.resource, s.value); err != nil {
			return fmt.Errorf("the limit on %s could not be set: %w", s.name, err)
		}
	}
	return nil
}

// lower sets a limit for good, unless it is lower already.
func lower(pid, resource int, value uint64) error {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &limit); err != nil {
		return err
	}
	limit.Cur, limit.Max = min(limit.Cur, value), min(limit.Max, value)
	return unix.Prlimit(pid, resource, &limit, nil)
}

// tasks is how many processes and threads the machine has. The kernel compares
// the limit with those of the user, also ones in containers that can't be seen
// from here; the machine's number is never less, and known without a search.
func tasks() uint64 {
	text, err := os.ReadFile("/proc/loadavg") // "0.00 0.01 0.05 running/all last"
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	_, all, _ := strings.Cut(fields[3], "/")
	n, err := strconv.ParseUint(all, 10, 32)
	if err != nil {
		return 0
	}
	return n
}
