//go:build unix

package builtin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/value"
)

func TestShellCommandResults(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := tools(t, builtin.Options{Dir: dir, Environ: []string{"PATH=" + os.Getenv("PATH"), "API_KEY=k1"}})
	tests := []struct {
		name string
		args []any
		want string
	}{
		{"output", []any{"command", "echo out; echo err >&2"}, `{"returncode":0,"stdout":"out\n","stderr":"err\n"}`},
		{"exit code is a result", []any{"command", "exit 7"}, `{"returncode":7,"stdout":"","stderr":""}`},
		{"run by sh -c", []any{"command", "printf a | tr a b && printf $0"}, `{"returncode":0,"stdout":"bsh","stderr":""}`},
		{"killed by a signal", []any{"command", "kill -9 $$"}, `{"returncode":-9,"stdout":"","stderr":""}`},
		{"environment inherited", []any{"command", "printf $API_KEY"}, `{"returncode":0,"stdout":"k1","stderr":""}`},
		{"runs in the directory", []any{"command", "pwd"}, `{"returncode":0,"stdout":"` + dir + `\n","stderr":""}`},
		{"cwd is relative to it", []any{"command", "pwd", "cwd", "sub"}, `{"returncode":0,"stdout":"` + dir + `/sub\n","stderr":""}`},
		{"cwd may be absolute", []any{"command", "pwd", "cwd", "/"}, `{"returncode":0,"stdout":"/\n","stderr":""}`},
		{"stdin is closed", []any{"command", "cat; echo end"}, `{"returncode":0,"stdout":"end\n","stderr":""}`},
		{"bytes that are no UTF-8", []any{"command", `printf 'a\377b'`}, `{"returncode":0,"stdout":"a` + "\uFFFD" + `b","stderr":""}`},
		{"null is left out", []any{"command", "pwd", "cwd", nil, "timeout", nil}, `{"returncode":0,"stdout":"` + dir + `\n","stderr":""}`},
		{"a leading dash is no option", []any{"command", "-x 2>/dev/null; echo $?"}, `{"returncode":0,"stdout":"127\n","stderr":""}`},
		{"empty", []any{"command", ""}, `{"returncode":0,"stdout":"","stderr":""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := call(t, r, "shell_command", tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			if s := show(t, got); s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
		})
	}
}

func TestShellCommandBadArguments(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := tools(t, builtin.Options{Dir: dir})
	tests := []struct {
		args []any
		want string
	}{
		{[]any{}, `argument "command" is missing`},
		{[]any{"command", int64(5)}, `argument "command" must be a string, not an integer`},
		{[]any{"command", "true", "timeout", "5"}, `argument "timeout" must be a number, not a string`},
		{[]any{"command", "true", "timeout", true}, `argument "timeout" must be a number, not a boolean`},
		{[]any{"command", "true", "timeout", int64(0)}, `argument "timeout" must be a number of seconds above 0, not 0`},
		{[]any{"command", "true", "timeout", -1.5}, `argument "timeout" must be a number of seconds above 0, not -1.5`},
		{[]any{"command", "true", "shell", "bash"}, `argument "shell" is unknown; the known ones are command, timeout, cwd`},
		{[]any{"command", "a\x00b"}, `argument "command" holds a NUL character`},
		{[]any{"command", "true", "cwd", "none"}, `the directory to run in, "none": no such file or directory`},
		{[]any{"command", "true", "cwd", "file"}, `the directory to run in, "file", is not a directory`},
		{[]any{"command", "true", "cwd", ""}, `argument "cwd" is empty`},
		{[]any{"command", "echo " + strings.Repeat("x", 1<<18)}, `the command could not be started: argument list too long`},
	}
	for _, tt := range tests {
		_, err := call(t, r, "shell_command", tt.args...)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.80v: got error %v, want %s", tt.args, err, tt.want)
		}
	}
}

func TestShellCommandOutputIsNotLimited(t *testing.T) {
	got, err := call(t, tools(t, builtin.Options{}), "shell_command", "command", "head -c 3000000 /dev/zero | tr '\\0' x")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(field(t, got, "stdout").(string)); n != 3000000 {
		t.Errorf("got %d bytes", n)
	}
}

func TestShellCommandOutputLimit(t *testing.T) {
	r := tools(t, builtin.Options{MaxReadBytes: 1000})
	if _, err := call(t, r, "shell_command", "command", "head -c 1000 /dev/zero"); err != nil {
		t.Errorf("output of just the limit: %v", err)
	}
	_, err := call(t, r, "shell_command", "command", "yes")
	if err == nil || !strings.Contains(err.Error(), "max_read_bytes, which is 1000") {
		t.Errorf("got error %v", err)
	}
}

// Each command leaves a process behind that writes its number to the file pid
// and would live on; after the timeout it must be gone.
func TestShellCommandTimeoutKillsEverything(t *testing.T) {
	tests := []struct{ name, command string }{
		{"the command itself", "echo $$ >pid; echo partial; exec sleep 300"},
		{"a child", "echo partial; sleep 300 & echo $! >pid; wait"},
		{"a background process that holds the pipes", "echo partial; sleep 300 & echo $! >pid"},
		{"one that ignores signals", "echo partial; trap '' TERM HUP INT; echo $$ >pid; sleep 300; sleep 300"},
		{"one that closed its output", "echo partial; echo $$ >pid; exec >/dev/null 2>&1; exec sleep 300"},
	}
	if runtime.GOOS == "linux" {
		tests = append(tests, []struct{ name, command string }{
			{"a new session", "echo partial; setsid sh -c 'echo $$ >pid; exec sleep 300' & wait"},
			{"an orphan in a new session", "echo partial; (setsid sh -c 'echo $$ >pid; exec sleep 300' >/dev/null 2>&1 &); sleep 300"},
			{"an orphan in a new session with a cleared environment", "echo partial; sleep 0.2; " +
				"(setsid env -i sh -c 'echo $$ >pid; exec sleep 300' >/dev/null 2>&1 &); sleep 300"},
			{"the same, and it holds the pipes", "echo partial; sleep 0.2; (setsid env -i sh -c 'echo $$ >pid; exec sleep 300' &)"},
			{"an orphan in a new session that holds the pipes", "echo partial; (setsid sh -c 'echo $$ >pid; exec sleep 300' &)"},
		}...)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			got, err := call(t, tools(t, builtin.Options{Dir: dir}), "shell_command", "command", tt.command, "timeout", 1.0)
			if err != nil {
				t.Fatal(err)
			}
			if s, want := show(t, got), `{"returncode":-1,"stdout":"partial\n","stderr":"Command timed out"}`; s != want {
				t.Errorf("got %s, want %s", s, want)
			}
			src, err := os.ReadFile(filepath.Join(dir, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(src)))
			if err != nil {
				t.Fatal(err)
			}
			if !gone(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Errorf("process %d lives on", pid)
			}
		})
	}
}

// gone says whether a process has ended, if not at once, then soon: the kernel
// and the parent take a moment.
func gone(pid int) bool {
	for range 200 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if runtime.GOOS == "linux" && (err != nil || strings.Contains(string(stat), ") Z ")) {
			return true
		}
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

func TestShellCommandLeavesReleasedBackgroundProcesses(t *testing.T) {
	dir := t.TempDir()
	got, err := call(t, tools(t, builtin.Options{Dir: dir}), "shell_command", "command", "sleep 300 >/dev/null 2>&1 & echo $!")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(field(t, got, "stdout").(string)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("a command that ended in time lost its background process: %v", err)
	}
}

func TestShellCommandCancelled(t *testing.T) {
	dir := t.TempDir()
	tl, _ := tools(t, builtin.Options{Dir: dir}).Get("shell_command")
	why := errors.New("somebody pressed stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for { // until the command is running
			if src, _ := os.ReadFile(filepath.Join(dir, "pid")); len(src) > 0 {
				cancel(why)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	_, err := tl.Call(ctx, value.MapOf("command", "echo $$ >pid; sleep 300"))
	if !errors.Is(err, why) {
		t.Errorf("got error %v", err)
	}
	src, _ := os.ReadFile(filepath.Join(dir, "pid"))
	if pid, _ := strconv.Atoi(strings.TrimSpace(string(src))); !gone(pid) {
		t.Errorf("process %d lives on", pid)
	}
}
