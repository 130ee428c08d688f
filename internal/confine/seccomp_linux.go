//go:build amd64 || arm64

package confine

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Where the filter finds the call: struct seccomp_data, of a little-endian
// machine, as all machines with a filter here are.
const (
	callNumber = 0
	callArch   = 4
	callArg0   = 16 // the lower halves of the arguments, 8 bytes apart
)

const (
	deny     = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	denyAsIf = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS) // as if the kernel were older
	permit   = unix.SECCOMP_RET_ALLOW
)

// newNamespaces are the flags of clone that make namespaces. CLONE_NEWTIME is
// none of clone's: its bit is a signal's there.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// deniedCalls are denied whatever their arguments. Most need privileges, which
// the program has when the superuser starts it.
func deniedCalls() []uint32 {
	return append([]uint32{
		// Into other processes.
		unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
		unix.SYS_PROCESS_MADVISE,
		// Mounts and roots; namespaces.
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT,
		unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
		unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL,
		unix.SYS_QUOTACTL_FD, unix.SYS_UNSHARE, unix.SYS_SETNS,
		// Files by other ways than their paths.
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
		// Parts of the kernel with a history; io_uring passes by this filter.
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_USERFAULTFD,
		// The machine.
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
		unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	}, deniedHere()...)
}

// pathChanges are the calls that change what Landlock does not see of a file
// that is named by its path.
func pathChanges() []uint32 {
	return append([]uint32{
		unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	}, pathChangesHere()...)
}

// filter writes the seccomp program of the rules.
func filter(rules Rules) []unix.SockFilter {
	f := program{}
	f.load(callArch)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, auditArch, 1, 0)
	f.ret(deny) // calls of another instruction set have other numbers
	f.load(callNumber)
	if foreignBit != 0 {
		f.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, foreignBit, 0, 1)
		f.ret(deny)
	}
	for _, call := range deniedCalls() {
		f.when(call, deny)
	}
	if rules.Strict {
		for _, call := range pathChanges() {
			f.when(call, deny)
		}
		f.onArg(unix.SYS_UTIMENSAT, 1, deny, test{unix.BPF_JEQ, 0, permit}) // no path: by descriptor
	}
	// A child asks to be held, and its starter lets it go. Neither reads or
	// changes another process.
	f.onArg(unix.SYS_PTRACE, 0, deny,
		test{unix.BPF_JEQ, unix.PTRACE_TRACEME, permit}, test{unix.BPF_JEQ, unix.PTRACE_DETACH, permit})
	f.onArg(unix.SYS_CLONE, 0, permit, test{unix.BPF_JSET, newNamespaces, deny})
	f.when(unix.SYS_CLONE3, denyAsIf) // its flags are out of sight; C libraries go on with clone
	f.onArg(unix.SYS_PRLIMIT64, 0, deny, test{unix.BPF_JEQ, 0, permit})
	f.onArg(unix.SYS_IOCTL, 1, permit,
		test{unix.BPF_JEQ, unix.TIOCSTI, deny}, test{unix.BPF_JEQ, tiocLinux, deny})
	// A file without a path would be executed from outside every list.
	f.onArg(unix.SYS_EXECVEAT, 4, permit, test{unix.BPF_JSET, unix.AT_EMPTY_PATH, deny})
	f.onArg(unix.SYS_MEMFD_CREATE, 1, deny, test{unix.BPF_JSET, unix.MFD_NOEXEC_SEAL, permit})
	f.sockets(rules)
	f.ret(permit)
	return f
}

// tiocLinux is the request that pastes into a console.
const tiocLinux = 0x541C

// sockets adds what the rules say about the network. Families are allowed by
// name, so that one nobody thought of is denied.
func (f *program) sockets(rules Rules) {
	var families []test
	if rules.UnixSockets {
		families = append(families, test{unix.BPF_JEQ, unix.AF_UNIX, permit})
	}
	if !rules.NoNetwork {
		families = append(families, test{unix.BPF_JEQ, unix.AF_INET, permit},
			test{unix.BPF_JEQ, unix.AF_INET6, permit}, test{unix.BPF_JEQ, unix.AF_NETLINK, permit})
	}
	f.onArg(unix.SYS_SOCKET, 0, deny, families...)
	f.onArg(unix.SYS_SOCKETPAIR, 0, deny, test{unix.BPF_JEQ, unix.AF_UNIX, permit})
}

// program is a seccomp program in the making. Between its parts the
// accumulator holds the call's number.
type program []unix.SockFilter

func (f *program) add(code uint16, k uint32, ifTrue, ifFalse uint8) {
	*f = append(*f, unix.SockFilter{Code: code, K: k, Jt: ifTrue, Jf: ifFalse})
}

func (f *program) load(offset uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

func (f *program) ret(action uint32) { f.add(unix.BPF_RET|unix.BPF_K, action, 0, 0) }

// when answers a call.
func (f *program) when(call, action uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, 0, 1)
	f.ret(action)
}

// test compares an argument's lower half: BPF_JEQ for equal, BPF_JSET for a
// bit in common. The kernel ignores the upper halves of all that are tested.
type test struct {
	how    uint16
	k      uint32
	action uint32
}

// onArg answers a call by the first test that holds for one of its arguments.
func (f *program) onArg(call uint32, arg uint32, otherwise uint32, tests ...test) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, 0, uint8(2+2*len(tests)))
	f.load(callArg0 + 8*arg)
	for _, t := range tests {
		f.add(unix.BPF_JMP|t.how|unix.BPF_K, t.k, 0, 1)
		f.ret(t.action)
	}
	f.ret(otherwise)
}

// install puts the calling thread, and what it starts, under a filter.
func install(code []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("the kernel does not take the seccomp filter: %w", errno)
	}
	return nil
}
