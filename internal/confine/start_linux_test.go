package confine_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentloom/agentloom/internal/confine"
)

// TestStarterIsNotConfined starts 1,000 programs from the first thread too, and
// looks at every thread afterwards.
func TestStarterIsNotConfined(t *testing.T) {
	needLandlock(t, 1)
	out, err := self(t, "starts", "1000").CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("it says %q, %v", out, err)
	}
	cmd := self(t, "starts", "200")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
		t.Errorf("on one processor it says %q, %v", out, err)
	}
}

func TestStarterGoesOn(t *testing.T) {
	needLandlock(t, 1)
	dir, rules := tree(t)
	c := sing(t, filepath.Join(dir, "outside"))
	rules.NoNetwork = true
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC() // stops every thread, the confined ones too
			}
		}
	})
	var starts sync.WaitGroup
	for range 16 {
		starts.Go(func() {
			for range 5 {
				if got := run(t, exec.Command("/bin/cat", dir+"/read/file"), rules); got != "text of read" {
					t.Errorf("it printed %q", got)
				}
				if _, err := os.ReadFile(filepath.Join(dir, "outside/file")); err != nil {
					t.Error(err)
				}
				conn, err := net.Dial("tcp", c.tcp)
				if err != nil {
					t.Error(err)
					continue
				}
				conn.Close()
			}
		})
	}
	starts.Wait()
	close(stop)
	wg.Wait()
}

func TestOnlyThreeDescriptors(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "left"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Handed down, as from a parent that did not close it.
	left, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, 57)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(left)
	plain, err := self(t, "descriptors").Output()
	if err != nil || !strings.Contains(string(plain), " "+strconv.Itoa(left)+" ") {
		t.Fatalf("the test does not hand it down: %q, %v", plain, err)
	}
	if got := run(t, self(t, "descriptors"), confine.Rules{}); got != "0 1 2 " {
		t.Errorf("the program has the descriptors %q", got)
	}
}

// TestHeld sets what must be there before the first instruction: a limit whose
// value marks the program's processes, also those that go their own way.
func TestHeld(t *testing.T) {
	need(t, confine.Kernel().Hold, "a way to hold programs at their start")
	const mark uint64 = 1<<61 + 12345
	calls := 0
	rules := confine.Rules{Read: []string{"/proc"}, Held: func(pid int) {
		calls++
		if err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: mark, Max: unix.RLIM_INFINITY}, nil); err != nil {
			t.Error(err)
		}
	}}
	for range 30 {
		got := run(t, exec.Command("/usr/bin/setsid", "--fork", "--wait", "/bin/grep", "locks", "/proc/self/limits"), rules)
		if !strings.Contains(got, strconv.FormatUint(mark, 10)) {
			t.Fatalf("a process without the mark: %q", got)
		}
	}
	if calls != 30 {
		t.Errorf("Held was called %d times", calls)
	}
}

// TestKilledSession shows that what is killed is all of the group, and that a
// process which left it is found by its mark.
func TestKilledSession(t *testing.T) {
	const mark uint64 = 1<<61 + 54321
	cmd := exec.Command("/bin/sh", "-c", "setsid sleep 97 & sleep 98 & exec sleep 99")
	err := confine.Start(cmd, confine.Rules{Held: func(pid int) {
		unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: mark, Max: unix.RLIM_INFINITY}, nil)
	}})
	if err != nil {
		t.Fatal(err)
	}
	marked := func(want int) []int {
		var pids []int
		for since := time.Now(); time.Since(since) < 5*time.Second; time.Sleep(time.Millisecond) {
			pids = withLimit(t, mark)
			if len(pids) == want {
				return pids
			}
		}
		t.Fatalf("%d processes have the mark, want %d", len(pids), want)
		return nil
	}
	marked(3)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	left := marked(1)
	if err := syscall.Kill(left[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	marked(0)
}

// withLimit finds the live processes with a limit on locks.
func withLimit(t *testing.T, mark uint64) (pids []int) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/limits")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), " "+strconv.FormatUint(mark, 10)) {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(path), "stat"))
		if pid, e := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && e == nil && !strings.Contains(string(stat), ") Z ") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestKilledWhileHeld(t *testing.T) {
	before := threads()
	for range 20 {
		cmd := exec.Command("/bin/sleep", "60")
		err := confine.Start(cmd, confine.Rules{Held: func(pid int) { unix.Kill(pid, unix.SIGKILL) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Fatalf("it ended with %v", err)
		}
	}
	if after := threads(); after > before+10 {
		t.Errorf("from %d to %d threads", before, after)
	}
}

func TestContextStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "/bin/sleep", "60")
	if err := confine.Start(cmd, confine.Rules{}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := cmd.Wait(); !errors.Is(err, context.Canceled) && (err == nil || err.Error() != "signal: killed") {
		t.Errorf("it ended with %v", err)
	}
}

func TestInput(t *testing.T) {
	cmd := exec.Command("/bin/cat")
	cmd.Stdin = strings.NewReader("given")
	if got := run(t, cmd, confine.Rules{}); got != "given" {
		t.Errorf("it printed %q", got)
	}
}

func TestLimits(t *testing.T) {
	limits := confine.Limits{CPU: 1500 * time.Millisecond, Memory: 1 << 30, FileSize: 4096, OpenFiles: 20, Processes: 5}
	got := run(t, exec.Command("/bin/cat", "/proc/self/limits"), confine.Rules{Read: []string{"/proc"}, Limits: limits})
	for _, want := range []string{
		`Max cpu time +2 +2 `, `Max file size +4096 +4096 `, `Max address space +1073741824 +1073741824 `,
		`Max open files +20 +20 `, `Max core file size +0 +0 `, `Max processes +\d{2,4} +\d{2,4} `,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	dir := t.TempDir()
	rules := confine.Rules{Write: []string{dir}, Limits: confine.Limits{FileSize: 4096}}
	run(t, exec.Command("/bin/dd", "if=/dev/zero", "of="+dir+"/big", "bs=1024", "count=100"), rules)
	if info, err := os.Stat(dir + "/big"); err != nil || info.Size() != 4096 {
		t.Errorf("the file: %v, %v", info, err)
	}
	cmd := exec.Command("/bin/sh", "-c", "while :; do :; done")
	if err := confine.Start(cmd, confine.Rules{Limits: confine.Limits{CPU: time.Second}}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.HasPrefix(err.Error(), "signal: ") {
		t.Errorf("a program without end ended with %v", err)
	}
}

// TestForkBomb starts one as a user who is not the superuser.
func TestForkBomb(t *testing.T) {
	if confine.Kernel().Superuser {
		if got := run(t, exec.Command("/bin/sh", "-c", "ulimit -p"), confine.Rules{Limits: confine.Limits{Processes: 20}}); got == "unlimited\n" {
			t.Error("the limit is not set")
		}
	}
	cmd := asNobody(t, self(t, "bomb"))
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "all started") || !strings.Contains(string(out), "fork") {
		t.Errorf("it says %q, %v", out, err)
	}
}

// TestWithoutPrivileges runs as a user who has none.
func TestWithoutPrivileges(t *testing.T) {
	needLandlock(t, 1)
	if out, err := asNobody(t, self(t, "starts", "20")).CombinedOutput(); err != nil || string(out) != "done\n" {
		t.Errorf("it says %q, %v", out, err)
	}
}

// asNobody makes a command of this test's program run as a user without
// privileges, from where that user can reach it.
func asNobody(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Getuid() != 0 {
		return cmd
	}
	dir, err := os.MkdirTemp("/tmp", "confine")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Dir = filepath.Join(dir, "program"), "/"
	if err := os.WriteFile(cmd.Path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return cmd
}

// TestTraced starts this program under strace, where a child can't be held, and
// everything else is as ever.
func TestTraced(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	inner := self(t, "starts", "3")
	cmd := exec.Command(strace, append([]string{"-f", "-e", "trace=execve,seccomp", "-o", trace}, inner.Args...)...)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
		t.Fatalf("it says %q, %v", out, err)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `execve("/bin/true"`); n != 3 {
		t.Errorf("%d programs were executed, want 3:\n%s", n, text)
	}
}

// TestCapabilities shows that the superuser's programs keep few of them.
func TestCapabilities(t *testing.T) {
	need(t, confine.Kernel().Capabilities, "a way to drop capabilities")
	got := run(t, exec.Command("/bin/grep", "^Cap", "/proc/self/status"), confine.Rules{Read: []string{"/proc"}})
	const kept = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
		1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID | 1<<unix.CAP_NET_BIND_SERVICE
	for line := range strings.Lines(got) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		has, err := strconv.ParseUint(value, 16, 64)
		if err != nil || name != "CapBnd" && has&^kept != 0 || os.Getuid() == 0 && has&^kept != 0 {
			t.Errorf("%s: %x, %v", name, has, err)
		}
	}
}

func TestRefusedAttributes(t *testing.T) {
	for name, cmd := range map[string]*exec.Cmd{
		"files":     {Path: "/bin/true", ExtraFiles: []*os.File{os.Stdin}},
		"namespace": {Path: "/bin/true", SysProcAttr: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}},
		"end":       {Path: "/bin/true", SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}},
		"chroot":    {Path: "/bin/true", SysProcAttr: &syscall.SysProcAttr{Chroot: "/"}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := confine.Start(cmd, confine.Rules{}); err == nil {
				cmd.Wait()
				t.Error("it was started")
			}
		})
	}
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := confine.Start(cmd, confine.Rules{}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestFailedStarts leaves nothing behind: no thread, no descriptor.
func TestFailedStarts(t *testing.T) {
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	dir := t.TempDir()
	before, files := threads(), count()
	for range 200 {
		if err := confine.Start(exec.Command(dir), confine.Rules{}); !errors.Is(err, syscall.EACCES) {
			t.Fatalf("it says %v", err)
		}
	}
	if after := threads(); after > before+10 {
		t.Errorf("from %d to %d threads", before, after)
	}
	if after := count(); after > files+5 {
		t.Errorf("from %d to %d descriptors", files, after)
	}
}

func BenchmarkStart(b *testing.B) {
	for name, start := range map[string]func(*exec.Cmd) error{
		"plain":    (*exec.Cmd).Start,
		"confined": func(c *exec.Cmd) error { return confine.Start(c, confine.Rules{NoNetwork: true}) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("/bin/true")
				if err := start(cmd); err != nil {
					b.Fatal(err)
				}
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
