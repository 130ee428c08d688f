package confine

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// signalFix is the bit of Landlock's second erratum. Before it was fixed, a
// confined thread could not signal the other threads of its own process, which
// the Go runtime has to.
const signalFix = 1 << 1

// survey reports all, and kernel what is needed to start a program.
func survey() Report {
	r := kernel()
	r.UserNamespaces = mayNameSpaces()
	return r
}

func kernel() Report {
	version := landlockVersion(unix.LANDLOCK_CREATE_RULESET_VERSION)
	return Report{
		Landlock:     version,
		Signals:      version >= 6 && landlockVersion(unix.LANDLOCK_CREATE_RULESET_ERRATA)&signalFix != 0,
		Seccomp:      hasSeccomp(),
		NoNewPrivs:   hasNoNewPrivs(),
		Capabilities: canDrop(),
		Hold:         canHold(),
		Superuser:    os.Getuid() == 0,
	}
}

// landlockVersion asks for the version or the errata, 0 where there are none.
func landlockVersion(which uintptr) int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, which)
	if errno != 0 {
		return 0
	}
	return int(n)
}

func hasSeccomp() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return auditArch != 0 && errno == 0
}

func hasNoNewPrivs() bool {
	_, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	return err == nil
}

// mayNameSpaces reads the settings that are known to forbid users' namespaces.
func mayNameSpaces() bool {
	return setting("/proc/sys/user/max_user_namespaces", 0) > 0 &&
		setting("/proc/sys/kernel/unprivileged_userns_clone", 1) != 0 &&
		setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0) == 0
}

// canHold says whether a child can ask to be traced by this process. It can't
// where a policy forbids it, and where this process is traced itself, as its
// children then have another tracer.
func canHold() bool {
	const anyProcess = 1 // of Yama's: parents may trace; above it, only some
	if setting("/proc/sys/kernel/yama/ptrace_scope", 0) > anyProcess {
		return false
	}
	// Process 0 is nobody's: the kernel says so, unless a filter forbids to ask.
	if err := unix.PtraceDetach(0); err != unix.ESRCH {
		return false
	}
	status, err := os.ReadFile("/proc/thread-self/status")
	return err == nil && bytes.Contains(status, []byte("\nTracerPid:\t0\n"))
}

// setting reads a number of the kernel's, or returns missing.
func setting(path string, missing int) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return missing
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return missing
	}
	return n
}
