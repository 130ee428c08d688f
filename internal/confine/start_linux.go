package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// start starts the command on a machine that enforces what the report says,
// which is never more than this one does.
func start(cmd *exec.Cmd, rules Rules, on Report) error {
	if err := check(cmd, rules); err != nil {
		return err
	}
	if err := on.refuse(rules); err != nil {
		return err
	}
	attr, err := attributes(cmd, on)
	if err != nil {
		return err
	}
	cmd.SysProcAttr = attr
	if err := closeOthers(cmd); err != nil {
		return err
	}
	// What the command would open itself, it could not from the confined thread.
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("nothing to read can be given to the program: %w", err)
	}
	defer null.Close()
	fillIn(cmd, null)
	// The first look at how processes are handled must not be from there either.
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
	l := &launch{
		cmd: cmd, on: on, ruleset: -1,
		started: make(chan error, 1), release: make(chan struct{}), released: make(chan error, 1),
	}
	if on.Landlock > 0 {
		if l.ruleset, err = ruleset(cmd.Path, rules, on); err != nil {
			return err
		}
		defer unix.Close(l.ruleset)
	}
	if on.Seccomp {
		l.filter = filter(rules)
	}
	return l.run(rules)
}

func fillIn(cmd *exec.Cmd, null *os.File) {
	if cmd.Stdin == nil {
		cmd.Stdin = null
	}
	if cmd.Stdout == nil {
		cmd.Stdout = null
	}
	if cmd.Stderr == nil {
		cmd.Stderr = null
	}
}

// attributes returns how the process is made: the leader of a session, stopped
// when its program is loaded.
func attributes(cmd *exec.Cmd, on Report) (*syscall.SysProcAttr, error) {
	if len(cmd.ExtraFiles) > 0 {
		return nil, errors.New("a confined program gets no files but its input and outputs")
	}
	attr := &syscall.SysProcAttr{}
	if given := cmd.SysProcAttr; given != nil {
		if given.Ptrace || given.Setctty || given.Foreground || given.Pdeathsig != 0 || given.UseCgroupFD ||
			given.Cloneflags != 0 || given.Chroot != "" || given.Unshareflags != 0 || given.AmbientCaps != nil || given.Pgid != 0 {
			return nil, errors.New("a confined program has its own session and ends with nobody: " +
				"of SysProcAttr only Credential, Setpgid and Setsid are allowed")
		}
		attr.Credential = given.Credential
	}
	attr.Setsid = true
	attr.Ptrace = on.Hold
	return attr, nil
}

// launch is a program on its way.
type launch struct {
	cmd      *exec.Cmd
	on       Report
	ruleset  int // a descriptor
	filter   []unix.SockFilter
	started  chan error // the program is there and held
	release  chan struct{}
	released chan error // it runs
}

// run starts the program on a thread of its own and sets its limits while it
// is held. Limits belong to processes, so the thread can't bring them along.
func (l *launch) run(rules Rules) error {
	go l.onThread()
	if err := <-l.started; err != nil {
		return err
	}
	pid := l.cmd.Process.Pid
	err := limit(pid, rules.Limits)
	if errors.Is(err, unix.ESRCH) {
		err = nil // it was killed, and so needs none
	}
	if err == nil && rules.Held != nil {
		rules.Held(pid)
	}
	if err != nil {
		_ = l.cmd.Process.Kill()
	}
	close(l.release)
	if e := <-l.released; err == nil && e != nil {
		err = e
		_ = l.cmd.Process.Kill()
	}
	if err != nil {
		_ = l.cmd.Wait() // the caller has nothing to wait for
	}
	return err
}

// onThread starts the program on a thread that ends with it. The process's
// first thread can't end: it would stay behind, and what /proc says about the
// process is what it says about that thread. It is blocked while another is
// taken.
func (l *launch) onThread() {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		l.confined()
		return // locked, so that the thread ends
	}
	taken := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(taken)
		l.confined()
	}()
	<-taken
	runtime.UnlockOSThread()
}

// confined confines the calling thread and starts the program from it. All
// calls about a held process must come from the thread that started it.
func (l *launch) confined() {
	err := l.confine()
	if err == nil {
		err = l.cmd.Start()
	}
	if err == nil && l.on.Hold {
		err = stopped(l.cmd.Process.Pid)
		if err != nil { // whatever it does, it does not do it as it should
			_ = l.cmd.Process.Kill()
			_ = l.cmd.Wait()
		}
	}
	l.started <- err
	if err != nil {
		return
	}
	<-l.release
	if l.on.Hold {
		if err = unix.PtraceDetach(l.cmd.Process.Pid); errors.Is(err, unix.ESRCH) {
			err = nil // it was killed while it was held
		}
	}
	if err != nil {
		err = fmt.Errorf("the program could not be let go: %w", err)
	}
	l.released <- err
}

// confine takes the calling thread's rights away. It never gets them back.
func (l *launch) confine() error {
	if l.on.NoNewPrivs {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("the kernel does not set no_new_privs: %w", err)
		}
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if l.ruleset >= 0 {
		if err := enforce(l.ruleset, l.on); err != nil {
			return err
		}
	}
	if l.filter != nil {
		return install(l.filter)
	}
	return nil
}

// stopped waits until a child has stopped, as one that asked to be traced does
// when its program is loaded, or has ended. It leaves it to be waited for.
func stopped(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return fmt.Errorf("the program could not be held: %w", err)
		}
	}
}
