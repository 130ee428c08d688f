//go:build amd64 || arm64

package confine_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agentloom/agentloom/internal/confine"
)

type call struct {
	name   string
	number uintptr
	args   [5]uintptr
	want   unix.Errno
}

// denied are calls that would fail with another error, or succeed, if the
// filter let them pass to the superuser.
func denied() []call {
	const bad = ^uintptr(0)
	all := [5]uintptr{bad, bad, bad, bad, bad}
	calls := []call{
		{"ptrace attach", unix.SYS_PTRACE, [5]uintptr{unix.PTRACE_ATTACH, 0}, unix.EPERM},
		{"ptrace seize", unix.SYS_PTRACE, [5]uintptr{unix.PTRACE_SEIZE, 0}, unix.EPERM},
		{"ptrace peek", unix.SYS_PTRACE, [5]uintptr{unix.PTRACE_PEEKDATA, 0}, unix.EPERM},
		{"process_vm_readv", unix.SYS_PROCESS_VM_READV, all, unix.EPERM},
		{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, all, unix.EPERM},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, all, unix.EPERM},
		{"mount", unix.SYS_MOUNT, all, unix.EPERM},
		{"umount2", unix.SYS_UMOUNT2, all, unix.EPERM},
		{"pivot_root", unix.SYS_PIVOT_ROOT, all, unix.EPERM},
		{"chroot", unix.SYS_CHROOT, all, unix.EPERM},
		{"move_mount", unix.SYS_MOVE_MOUNT, all, unix.EPERM},
		{"open_tree", unix.SYS_OPEN_TREE, all, unix.EPERM},
		{"fsopen", unix.SYS_FSOPEN, all, unix.EPERM},
		{"fsmount", unix.SYS_FSMOUNT, all, unix.EPERM},
		{"mount_setattr", unix.SYS_MOUNT_SETATTR, all, unix.EPERM},
		{"unshare", unix.SYS_UNSHARE, [5]uintptr{unix.CLONE_NEWUSER}, unix.EPERM},
		{"unshare of the file table", unix.SYS_UNSHARE, [5]uintptr{unix.CLONE_FILES}, unix.EPERM},
		{"setns", unix.SYS_SETNS, all, unix.EPERM},
		{"clone with a user namespace", unix.SYS_CLONE, [5]uintptr{unix.CLONE_NEWUSER | unix.CLONE_FS}, unix.EPERM},
		{"clone with a network namespace", unix.SYS_CLONE, [5]uintptr{1<<32 | unix.CLONE_NEWNET | unix.CLONE_SIGHAND}, unix.EPERM},
		{"clone3", unix.SYS_CLONE3, all, unix.ENOSYS},
		{"keyctl", unix.SYS_KEYCTL, all, unix.EPERM},
		{"add_key", unix.SYS_ADD_KEY, all, unix.EPERM},
		{"bpf", unix.SYS_BPF, all, unix.EPERM},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, all, unix.EPERM},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, [5]uintptr{1}, unix.EPERM},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, all, unix.EPERM},
		{"io_uring_register", unix.SYS_IO_URING_REGISTER, all, unix.EPERM},
		{"userfaultfd", unix.SYS_USERFAULTFD, all, unix.EPERM},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, all, unix.EPERM},
		{"fanotify_init", unix.SYS_FANOTIFY_INIT, all, unix.EPERM},
		{"kexec_load", unix.SYS_KEXEC_LOAD, all, unix.EPERM},
		{"kexec_file_load", unix.SYS_KEXEC_FILE_LOAD, all, unix.EPERM},
		{"finit_module", unix.SYS_FINIT_MODULE, all, unix.EPERM},
		{"delete_module", unix.SYS_DELETE_MODULE, all, unix.EPERM},
		{"reboot", unix.SYS_REBOOT, all, unix.EPERM},
		{"clock_settime", unix.SYS_CLOCK_SETTIME, all, unix.EPERM},
		{"sethostname", unix.SYS_SETHOSTNAME, all, unix.EPERM},
		{"TIOCSTI", unix.SYS_IOCTL, [5]uintptr{bad, unix.TIOCSTI}, unix.EPERM},
		{"TIOCSTI with a high bit", unix.SYS_IOCTL, [5]uintptr{bad, 1<<32 | unix.TIOCSTI}, unix.EPERM},
		{"TIOCLINUX", unix.SYS_IOCTL, [5]uintptr{bad, 0x541C}, unix.EPERM},
		{"memfd_create", unix.SYS_MEMFD_CREATE, [5]uintptr{bad, 0}, unix.EPERM},
		{"execveat without a path", unix.SYS_EXECVEAT, [5]uintptr{bad, bad, 0, 0, unix.AT_EMPTY_PATH}, unix.EPERM},
		{"prlimit of another", unix.SYS_PRLIMIT64, [5]uintptr{1, unix.RLIMIT_CORE}, unix.EPERM},
		{"socketpair of another family", unix.SYS_SOCKETPAIR, [5]uintptr{unix.AF_TIPC}, unix.EPERM},
	}
	if runtime.GOARCH == "amd64" {
		calls = append(calls, call{"getpid with 32-bit pointers", 0x40000000 | unix.SYS_GETPID, all, unix.EPERM})
	}
	return calls
}

// allowed are calls that the filter must let pass: what they say is the kernel's
// own answer, or that they work.
func allowed() []call {
	const bad = ^uintptr(0)
	return []call{
		{"ioctl", unix.SYS_IOCTL, [5]uintptr{bad, unix.TCGETS}, unix.EBADF},
		{"memfd_create that is never executed", unix.SYS_MEMFD_CREATE, [5]uintptr{bad, unix.MFD_NOEXEC_SEAL}, unix.EFAULT},
		{"execveat", unix.SYS_EXECVEAT, [5]uintptr{bad, bad, 0, 0, 0}, unix.EFAULT},
		{"own limits", unix.SYS_PRLIMIT64, [5]uintptr{0, unix.RLIMIT_CORE, 0, 0}, 0},
		{"clone", unix.SYS_CLONE, [5]uintptr{unix.CLONE_SIGHAND}, unix.EINVAL},
	}
}

func calls() {
	for _, c := range append(denied(), allowed()...) {
		_, _, errno := unix.Syscall6(c.number, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], 0)
		fmt.Printf("%s: %d\n", c.name, errno)
	}
}

func TestCallsAreDenied(t *testing.T) {
	need(t, confine.Kernel().Seccomp, "seccomp filters")
	got := run(t, self(t, "calls"), confine.Rules{})
	for _, c := range append(denied(), allowed()...) {
		if want := fmt.Sprintf("%s: %d\n", c.name, c.want); !strings.Contains(got, want) {
			t.Errorf("want %q", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

// TestOldInstructions calls the kernel the 32-bit way, in which the numbers
// mean other calls.
func TestOldInstructions(t *testing.T) {
	need(t, confine.Kernel().Seccomp, "seccomp filters")
	if _, err := exec.LookPath("gcc"); err != nil || runtime.GOARCH != "amd64" {
		t.Skip("needs gcc on an amd64 machine")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "old.c"), filepath.Join(dir, "old")
	const text = `#include <stdio.h>
int main(void) {
	int result;
	__asm__ volatile ("int $0x80" : "=a"(result) : "a"(20) : "memory"); /* getpid */
	printf("%d\n", result);
}`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-o", program, source).CombinedOutput(); err != nil {
		t.Skipf("gcc fails: %v: %s", err, out)
	}
	if err := exec.Command(program).Run(); err != nil {
		t.Skipf("the kernel has no such calls: %v", err)
	}
	if got := run(t, exec.Command(program), confine.Rules{}); got != "-1\n" {
		t.Errorf("the call returned %q, want EPERM", got)
	}
}
