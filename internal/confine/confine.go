// Package confine starts programs that the kernel holds to a list of paths.
//
// On Linux the program, and everything it starts, runs under Landlock, a
// seccomp filter, no_new_privs and resource limits, without the capabilities
// that pass by these, in a session of its own, with no descriptor but its input
// and outputs. The process that starts it is
// not confined: an operating system thread is, the program is started from
// there, and the thread ends. No helper binary is needed.
//
// What the kernel does not hold back, wherever it is: looking at the names and
// sizes of files whose paths are known; changing the mode, owner, times and
// attributes of files that the user owns, unless Rules.Strict; Unix sockets
// under Rules.UnixSockets; running code that was read, by an interpreter or the
// dynamic loader, as what is executed that way is confined all the same.
package confine

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Rules say what a program may do. The zero value lets it read and execute in
// the system directories and use TCP, UDP and nothing else of the network.
type Rules struct {
	// ReadExec are absolute paths of directories, with all that is in them, and
	// of files that may be read and executed; nil is System(). The program
	// itself always may.
	ReadExec []string
	// Read and Write are absolute paths of directories and files that may be
	// read, and written: changed, made, renamed and removed. A path in both may
	// be both. Links are followed when the program is started. A path that does
	// not exist then, or that can't be reached, allows nothing.
	Read, Write []string
	// NoNetwork denies every socket but Unix ones, so also UDP and with it DNS.
	NoNetwork bool
	// UnixSockets allows Unix sockets: agents, daemons, displays. Through them
	// a service may be asked to do what the program itself may not do. Pairs of
	// sockets are always allowed.
	UnixSockets bool
	// Strict also denies changing a file's mode, owner, times and attributes by
	// its path, which Landlock does not see. It breaks chmod, git and others.
	Strict bool
	// Require refuses to start a program where the machine lacks what a Gap
	// calls essential. Without it, what is lacking is left out.
	Require bool
	// Limits are the program's resources.
	Limits Limits
	// Held, when it is not nil, is called with the program's process id before
	// its first instruction is run, or soon after where the machine can't hold
	// it. It must return soon, and must not wait for the program.
	Held func(pid int)
}

// Limits are resource limits; 0 leaves one as it is. A limit that is already
// lower stays. Core dumps are always off.
type Limits struct {
	CPU       time.Duration // of each process, rounded up to seconds
	Memory    uint64        // bytes of address space of each process
	FileSize  uint64        // bytes of a file that is written
	OpenFiles uint64        // of each process
	// Processes is how many processes and threads there may be beyond those
	// that the whole machine has at the start, as Linux counts a user's. The
	// superuser is not held by it.
	Processes uint64
}

// Report says what a machine enforces.
type Report struct {
	Landlock       int  // the version of its interface, 0 where there is none
	Signals        bool // Landlock can keep signals inside
	Seccomp        bool // system calls can be filtered
	NoNewPrivs     bool // programs that change the user don't
	Capabilities   bool // those of the superuser can be taken away
	UserNamespaces bool // the settings let users make them; they are not needed here
	Hold           bool // a program can be held before its first instruction
	Superuser      bool // this process is root's, whom limits on processes don't bind
}

// Gap is something that rules ask for and a machine does not enforce.
type Gap struct {
	Text      string // a clause such as "the kernel has no Landlock, so …"
	Essential bool   // Rules.Require refuses to run without
}

// ErrMissing is the cause of refusals under Rules.Require.
var ErrMissing = errors.New("the machine lacks what the sandbox requires")

// System returns the directories that programs and their libraries are
// installed in.
func System() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
		"/nix/store", "/gnu/store", "/run/current-system",
	}
}

// Missing returns what of the rules the machine does not enforce, most
// important first.
func (r Report) Missing(rules Rules) []Gap {
	var gaps []Gap
	lacks := func(missing, essential bool, text string) {
		if missing {
			gaps = append(gaps, Gap{text, essential})
		}
	}
	lacks(r.Landlock == 0, true, "the kernel has no Landlock, so files outside the lists are not protected")
	lacks(!r.NoNewPrivs, true, "the kernel has no no_new_privs, so programs may change the user")
	lacks(!r.Seccomp && rules.NoNetwork && r.Landlock < 4, true,
		"there is no seccomp filter for this machine and its Landlock is older than version 4, so the network is open")
	lacks(!r.Seccomp && rules.NoNetwork && r.Landlock >= 4, true,
		"there is no seccomp filter for this machine, so only TCP is denied, and UDP, DNS and other sockets are open")
	if r.Landlock > 0 {
		older := func(version int, text string) string {
			return fmt.Sprintf("the kernel's Landlock has version %d and not %d, so %s", r.Landlock, version, text)
		}
		lacks(r.Landlock < 3, true, older(3, "files outside the lists can be cut short"))
		lacks(r.Landlock < 5, false, older(5, "devices that may be opened can be controlled"))
		lacks(r.Landlock < 6 && (rules.UnixSockets || !r.Seccomp), false, older(6, "abstract Unix sockets are open"))
		lacks(r.Landlock < 6, false, older(6, "signals reach other processes of the user"))
		lacks(r.Landlock >= 6 && !r.Signals, false,
			"the kernel's Landlock has a known fault with signals, so signals reach other processes of the user")
		lacks(r.Landlock < 7, false, older(7, "refusals are not in the audit log"))
	}
	lacks(!r.Seccomp, rules.Strict,
		"there is no seccomp filter for this machine, so debugging, mounts, namespaces, Unix sockets and changes of modes are not denied")
	lacks(!r.Capabilities, false, "capabilities can't be taken away here, so programs keep the superuser's")
	lacks(rules.Limits.Processes > 0 && r.Superuser, false, "the superuser is not held by a limit on processes")
	lacks(!r.Hold, false, "programs can't be held at their start here, so limits come a moment after it")
	return gaps
}

// refuse returns the error of Rules.Require, or nil.
func (r Report) refuse(rules Rules) error {
	if !rules.Require {
		return nil
	}
	var texts []string
	for _, gap := range r.Missing(rules) {
		if gap.Essential {
			texts = append(texts, gap.Text)
		}
	}
	if texts == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrMissing, strings.Join(texts, "; "))
}

// Kernel returns what this machine enforces for programs that this process
// starts. It asks the kernel each time, which costs some microseconds.
func Kernel() Report { return survey() }

// Start starts a command like its Start method, confined by the rules; it is
// waited for as usual. The command's Path must be absolute. Its environment is
// the caller's to choose: a nil Env is the whole environment of this process.
// Where the command has no Stdin, there is nothing to read.
//
// On Linux the program leads a session and a process group of its own, which
// have its process id, and the command may have no ExtraFiles. Of SysProcAttr
// only Credential, Setpgid and Setsid are allowed; to limit the program of
// another user, this process needs CAP_SYS_RESOURCE.
//
// An error that wraps ErrMissing is Rules.Require's, and any other says why the
// program did not start. It has not run then.
func Start(cmd *exec.Cmd, rules Rules) error { return start(cmd, rules, kernel()) }

// check returns what is wrong with the arguments of Start on any system.
func check(cmd *exec.Cmd, rules Rules) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	if cmd.Process != nil {
		return errors.New("the command was started before")
	}
	if !filepath.IsAbs(cmd.Path) {
		return fmt.Errorf("the program %q must be named by its absolute path to be confined", cmd.Path)
	}
	for _, list := range [][]string{rules.ReadExec, rules.Read, rules.Write} {
		for _, path := range list {
			if !filepath.IsAbs(path) {
				return fmt.Errorf("the path %q must be absolute for the kernel to hold a program to it", path)
			}
		}
	}
	return nil
}
