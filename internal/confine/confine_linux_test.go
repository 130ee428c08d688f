package confine_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/internal/confine"
)

// need skips a test that the machine can't run, or fails it where it must.
func need(t testing.TB, has bool, what string) {
	t.Helper()
	if has {
		return
	}
	if os.Getenv("AGENTLOOM_TEST_SERVICES") == "1" {
		t.Fatalf("this machine lacks %s", what)
	}
	t.Skipf("this machine lacks %s; AGENTLOOM_TEST_SERVICES=1 makes that a failure", what)
}

func needLandlock(t testing.TB, version int) {
	t.Helper()
	need(t, confine.Kernel().Landlock >= version, fmt.Sprintf("Landlock of version %d", version))
}

// self is a command that runs this test's program to try something.
func self(t testing.TB, action string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(exe, append([]string{"try:" + action}, args...)...)
}

// run runs a command under the rules and returns what it printed.
func run(t testing.TB, cmd *exec.Cmd, rules confine.Rules) string {
	t.Helper()
	return runAs(t, cmd, rules, confine.Kernel())
}

func runAs(t testing.TB, cmd *exec.Cmd, rules confine.Rules, on confine.Report) string {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := confine.StartAs(cmd, rules, on); err != nil {
		t.Fatalf("start: %v", err)
	}
	kill := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer kill.Stop()
	cmd.Wait()
	return out.String()
}

// tree makes files in directories to read, to write, for both and outside.
func tree(t testing.TB) (dir string, rules confine.Rules) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"read", "write", "both", "outside"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "file"), []byte("text of "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	return dir, confine.Rules{Read: []string{in("read"), in("both")}, Write: []string{in("write"), in("both"), in("missing")}}
}

func TestFiles(t *testing.T) {
	needLandlock(t, 3)
	const ok, no = "ok", "permission denied"
	tests := []struct{ how, path, want string }{
		{"read", "read/file", ok},
		{"list", "read", ok},
		{"write", "read/file", no},
		{"make", "read/new", no},
		{"truncate", "read/file", no},
		{"remove", "read/file", no},
		{"mkdir", "read/dir", no},
		{"read", "write/file", no},
		{"list", "write", no},
		{"write", "write/file", ok},
		{"make", "write/new", ok},
		{"mkdir", "write/dir", ok},
		{"truncate", "write/file", ok},
		{"remove", "write/file", ok},
		{"read", "both/file", ok},
		{"make", "both/new", ok},
		{"device", "both/device", no},
		{"read", "outside/file", no},
		{"list", "outside", no},
		{"write", "outside/file", no},
		{"make", "outside/new", no},
		{"truncate", "outside/file", no},
		{"remove", "outside/file", no},
		{"make", "missing", no},
		{"read", "both/../outside/file", no},
		{"symlink", "../outside/file,both/link", ok},
		{"read", "both/link", no},
		{"write", "both/link", no},
		{"link", "outside/file,both/hard", "invalid cross-device link"},
		{"link", "read/file,both/hard", "invalid cross-device link"}, // it would become writable
		{"rename", "outside/file,both/moved", no},
		{"rename", "both/file,outside/moved", no},
		{"rename", "both/file,write/moved", ok}, // it gains nothing there
		{"rename", "both/new,both/renamed", ok},
		{"read", "/etc/passwd", no},
		{"read", "/proc/self/environ", no},
		{"read", "/etc/hosts", ok},
		{"write", "/dev/null", ok},
		{"read", "/dev/kmsg", no},
		{"run", "/bin/true", ok},
	}
	dir, rules := tree(t)
	var args, want, got []string
	for _, tt := range tests {
		path := tt.path
		if !filepath.IsAbs(path) {
			path = dir + "/" + path
		}
		if from, to, two := strings.Cut(tt.path, ","); two {
			if !strings.HasPrefix(from, "..") {
				from = dir + "/" + from
			}
			path = from + "," + dir + "/" + to
		}
		args = append(args, tt.how, path)
		want = append(want, tt.how+" "+tt.path+": "+tt.want)
	}
	out := strings.Split(strings.TrimSpace(run(t, self(t, "files", args...), rules)), "\n")
	for i, line := range out {
		if i < len(tests) {
			got = append(got, tests[i].how+" "+tests[i].path+": "+strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "outside/file")); string(text) != "text of outside" {
		t.Errorf("the file outside holds %q", text)
	}
}

// TestPrograms runs programs that take part in known ways out of a sandbox.
func TestPrograms(t *testing.T) {
	needLandlock(t, 3)
	dir, rules := tree(t)
	rules.NoNetwork = true
	in := func(name string) string { return filepath.Join(dir, name) }
	tests := []struct {
		name, script, want string
	}{
		{"cat outside", "cat /etc/passwd", "Permission denied"},
		{"cat inside", "cat " + in("read/file"), "text of read"},
		{"cp out", "cp " + in("both/file") + " " + in("outside/stolen"), "Permission denied"},
		{"cp in", "cp " + in("outside/file") + " " + in("both/stolen"), "Permission denied"},
		{"cp into a readable directory", "cp " + in("both/file") + " " + in("read/stolen"), "Permission denied"},
		{"cp within", "cp " + in("read/file") + " " + in("both/copy") + " && cat " + in("both/copy"), "text of read"},
		{"curl of a file", "curl -sS file:///etc/passwd", "Couldn't open file"},
		{"tar of another directory", "tar -C " + in("outside") + " -cf - file | tar -tf -", "Permission denied"},
		{"through proc", "cat /proc/self/root/etc/passwd", "Permission denied"},
		{"namespaces", "unshare -r id", "Operation not permitted"},
		{"strace", "strace id", "Operation not permitted"},
		{"mount", "mount -t tmpfs none " + in("both"), ""},
		{"a program that was written", "cp /bin/true " + in("both/true") + "; " + in("both/true"), "Permission denied"},
		{"a status", "grep -h NoNewPrivs /proc/self/status", "NoNewPrivs:\t1"},
		{"no input", "cat; echo end", "end"},
		{"no core", "ulimit -c", "0\n"},
		{"a session", `test "$(cut -d' ' -f6 /proc/$$/stat)" = $$ && echo leads`, "leads"},
		{"nothing else open", "ls /proc/self/fd | head -c 6", "0\n1\n2\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			program, _, _ := strings.Cut(tt.script, " ")
			if _, err := exec.LookPath(program); err != nil && slices.Contains([]string{"curl", "strace", "tar", "unshare"}, program) {
				t.Skipf("%s is not installed", program)
			}
			rules := rules
			if !strings.Contains(tt.script, "root/etc") && strings.Contains(tt.script, "/proc") {
				rules.Read = append([]string{"/proc"}, rules.Read...)
			}
			got := run(t, exec.Command("/bin/sh", "-c", tt.script), rules)
			if !strings.Contains(got, tt.want) {
				t.Errorf("it printed %q, want %q", got, tt.want)
			}
			if strings.Contains(got, "root:") || strings.Contains(got, "text of outside") {
				t.Errorf("it reached what is outside: %q", got)
			}
		})
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "*/stolen")); found != nil {
		t.Errorf("copies were made: %v", found)
	}
	if text, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(text), dir) {
		t.Error("a mount was made")
	}
}

// canaries are services on this machine, and count who reaches them.
type canaries struct {
	tcp, udp, unix string
	reached        chan string
}

func sing(t *testing.T, dir string) canaries {
	t.Helper()
	c := canaries{unix: filepath.Join(dir, "sock"), reached: make(chan string, 100)}
	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				c.reached <- network
				conn.Close()
			}
		}()
		return l
	}
	c.tcp = listen("tcp", "127.0.0.1:0").Addr().String()
	listen("unix", c.unix)
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	go func() {
		buf := make([]byte, 2000)
		for {
			if _, _, err := p.ReadFrom(buf); err != nil {
				return
			}
			c.reached <- "udp"
		}
	}()
	c.udp = p.LocalAddr().String()
	return c
}

func TestNetwork(t *testing.T) {
	need(t, confine.Kernel().Seccomp, "seccomp filters")
	dir, rules := tree(t)
	c := sing(t, filepath.Join(dir, "both"))
	attempts := []string{"tcp", c.tcp, "udp", c.udp, "dns", c.udp, "listen", "127.0.0.1:0", "unix", c.unix,
		"netlink", "", "packet", "", "vsock", "", "alg", "", "pair", ""}
	const ok, no = "ok", "operation not permitted"
	tests := []struct {
		name    string
		network bool
		unix    bool
		want    []string
	}{
		{"none", false, false, []string{no, no, no, no, no, no, no, no, no, ok}},
		{"Unix sockets", false, true, []string{no, no, no, no, ok, no, no, no, no, ok}},
		{"the network", true, false, []string{ok, ok, "i/o timeout", ok, no, ok, no, no, no, ok}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := rules
			rules.NoNetwork, rules.UnixSockets = !tt.network, tt.unix
			got := strings.Split(strings.TrimSpace(run(t, self(t, "net", attempts...), rules)), "\n")
			for i, line := range got {
				got[i] = strings.TrimSpace(line)
				if strings.HasSuffix(got[i], no) { // Go's resolver puts more before it
					got[i] = no
				}
				if strings.HasSuffix(got[i], "i/o timeout") {
					got[i] = "i/o timeout"
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			reached := map[string]bool{}
			for len(c.reached) > 0 {
				reached[<-c.reached] = true
			}
			if reached["tcp"] && !tt.network || reached["udp"] && !tt.network || reached["unix"] && !tt.unix {
				t.Errorf("it reached %v", reached)
			}
		})
	}
}

// TestLandlockDeniesTCP shows that TCP is denied twice.
func TestLandlockDeniesTCP(t *testing.T) {
	needLandlock(t, 4)
	dir, rules := tree(t)
	c := sing(t, filepath.Join(dir, "both"))
	rules.NoNetwork = true
	on := confine.Kernel()
	on.Seccomp = false
	if got := runAs(t, self(t, "net", "tcp", c.tcp, "listen", "127.0.0.1:0"), rules, on); got != " permission denied\n permission denied\n" {
		t.Errorf("it printed %q", got)
	}
}

func TestOtherProcesses(t *testing.T) {
	needLandlock(t, 6)
	need(t, confine.Kernel().Signals, "Landlock whose signals are in order")
	other := exec.Command("/bin/sleep", "60")
	other.Env = []string{"SECRET=canary"}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Process.Kill()
	got := run(t, self(t, "process", fmt.Sprint(other.Process.Pid)), confine.Rules{Read: []string{"/proc"}})
	const want = " permission denied\noperation not permitted\noperation not permitted\noperation not permitted\n"
	if got != want {
		t.Errorf("it printed %q, want %q", got, want)
	}
}

func TestStrict(t *testing.T) {
	needLandlock(t, 3)
	need(t, confine.Kernel().Seccomp, "seccomp filters")
	dir, rules := tree(t)
	attempts := []string{"chmod", dir + "/both/file", "touch", dir + "/both/file", "chmod", dir + "/outside/file", "make", dir + "/both/new"}
	if got := run(t, self(t, "files", attempts...), rules); got != "ok\nok\nok\nok\n" {
		t.Errorf("not strict, it printed %q", got)
	}
	rules.Strict = true
	const no = " operation not permitted\n"
	if got := run(t, self(t, "files", attempts...), rules); got != no+no+no+"ok\n" {
		t.Errorf("strict, it printed %q", got)
	}
	if got := run(t, exec.Command("/bin/sh", "-c", "touch "+dir+"/both/file && echo touched"), rules); got != "touched\n" {
		t.Errorf("touch, which uses a descriptor, printed %q", got)
	}
}

// TestOldKernels runs as older versions of Landlock would.
func TestOldKernels(t *testing.T) {
	needLandlock(t, 7)
	for version := range 8 {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dir, rules := tree(t)
			on := confine.Kernel()
			on.Landlock, on.Signals = version, on.Signals && version >= 6
			attempts := []string{"read", dir + "/outside/file", "truncate", dir + "/outside/file", "read", dir + "/read/file", "make", dir + "/both/new"}
			got := strings.Split(runAs(t, self(t, "files", attempts...), rules, on), "\n")
			want := []string{" permission denied", " permission denied", "ok", "ok", ""}
			if version < 3 {
				want[1] = "ok"
			}
			if version < 1 {
				want[0] = "ok"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			rules.Require = true
			cmd := exec.Command("/bin/true")
			err := confine.StartAs(cmd, rules, on)
			if refused := errors.Is(err, confine.ErrMissing); refused != (version < 3) {
				t.Errorf("required, it says %v", err)
			}
			if err == nil {
				cmd.Wait()
			} else if version == 0 && err.Error() != "the machine lacks what the sandbox requires: the kernel has no Landlock, so files outside the lists are not protected" {
				t.Errorf("it says %q", err)
			}
		})
	}
}
