package confine_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/internal/confine"
)

func TestMissing(t *testing.T) {
	whole := confine.Report{Landlock: 7, Signals: true, Seccomp: true, NoNewPrivs: true, Capabilities: true, Hold: true}
	with := func(change func(*confine.Report)) confine.Report {
		r := whole
		change(&r)
		return r
	}
	tests := []struct {
		name  string
		on    confine.Report
		rules confine.Rules
		want  []string // "!" marks essential ones
	}{
		{"a whole machine", whole, confine.Rules{NoNetwork: true, Strict: true}, nil},
		{"a newer one", with(func(r *confine.Report) { r.Landlock = 11 }), confine.Rules{}, nil},
		{"no audit", with(func(r *confine.Report) { r.Landlock = 6 }), confine.Rules{}, []string{
			"the kernel's Landlock has version 6 and not 7, so refusals are not in the audit log",
		}},
		{"signals at fault", with(func(r *confine.Report) { r.Signals = false }), confine.Rules{}, []string{
			"the kernel's Landlock has a known fault with signals, so signals reach other processes of the user",
		}},
		{"oldest", with(func(r *confine.Report) { r.Landlock, r.Signals = 1, false }), confine.Rules{UnixSockets: true, NoNetwork: true}, []string{
			"!the kernel's Landlock has version 1 and not 3, so files outside the lists can be cut short",
			"the kernel's Landlock has version 1 and not 5, so devices that may be opened can be controlled",
			"the kernel's Landlock has version 1 and not 6, so abstract Unix sockets are open",
			"the kernel's Landlock has version 1 and not 6, so signals reach other processes of the user",
			"the kernel's Landlock has version 1 and not 7, so refusals are not in the audit log",
		}},
		{"no filter", with(func(r *confine.Report) { r.Seccomp = false }), confine.Rules{NoNetwork: true}, []string{
			"!there is no seccomp filter for this machine, so only TCP is denied, and UDP, DNS and other sockets are open",
			"there is no seccomp filter for this machine, so debugging, mounts, namespaces, Unix sockets and changes of modes are not denied",
		}},
		{"no filter, strict", with(func(r *confine.Report) { r.Seccomp = false }), confine.Rules{Strict: true}, []string{
			"!there is no seccomp filter for this machine, so debugging, mounts, namespaces, Unix sockets and changes of modes are not denied",
		}},
		{"processes of the superuser", with(func(r *confine.Report) { r.Superuser = true }), confine.Rules{Limits: confine.Limits{Processes: 9}}, []string{
			"the superuser is not held by a limit on processes",
		}},
		{"nothing", confine.Report{}, confine.Rules{NoNetwork: true}, []string{
			"!the kernel has no Landlock, so files outside the lists are not protected",
			"!the kernel has no no_new_privs, so programs may change the user",
			"!there is no seccomp filter for this machine and its Landlock is older than version 4, so the network is open",
			"there is no seccomp filter for this machine, so debugging, mounts, namespaces, Unix sockets and changes of modes are not denied",
			"capabilities can't be taken away here, so programs keep the superuser's",
			"programs can't be held at their start here, so limits come a moment after it",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, gap := range tt.on.Missing(tt.rules) {
				text := gap.Text
				if gap.Essential {
					text = "!" + text
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOtherSystems holds everywhere: what is not Linux has nothing, and says so.
func TestOtherSystems(t *testing.T) {
	if runtime.GOOS == "linux" {
		t.Skip("this is Linux")
	}
	if got := confine.Kernel(); got != (confine.Report{}) {
		t.Errorf("the report says %+v", got)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := confine.Start(exec.Command(exe, "-test.list=^$"), confine.Rules{Require: true}); !errors.Is(err, confine.ErrMissing) {
		t.Errorf("required: %v", err)
	}
	cmd := exec.Command(exe, "-test.list=^$")
	if err := confine.Start(cmd, confine.Rules{}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestRefusedArguments(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		cmd   *exec.Cmd
		rules confine.Rules
		want  string
	}{
		{"relative program", &exec.Cmd{Path: "prog"}, confine.Rules{}, `the program "prog" must be named by its absolute path`},
		{"not in PATH", exec.Command("no-such-program-anywhere"), confine.Rules{}, "executable file not found"},
		{"missing program", exec.Command(filepath.Join(t.TempDir(), "none")), confine.Rules{}, "no such file"},
		{"relative path", exec.Command(exe), confine.Rules{Read: []string{"docs"}}, `the path "docs" must be absolute`},
		{"started", &exec.Cmd{Path: exe, Process: &os.Process{Pid: 1}}, confine.Rules{}, "started before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := confine.Start(tt.cmd, tt.rules)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
