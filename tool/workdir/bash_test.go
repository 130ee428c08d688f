//go:build unix

package workdir_test

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

	"github.com/agentloom/agentloom/tool/workdir"
	"github.com/agentloom/agentloom/value"
)

func TestBash(t *testing.T) {
	dir := t.TempDir()
	b := workdir.Bash(dir, workdir.BashOptions{})
	for command, result := range map[string]string{
		"printf '.....\\n5 passed\\n'": "[exit=0]\n--- stdout ---\n.....\n5 passed",
		"echo out; echo err >&2":       "[exit=0]\n--- stdout ---\nout\n--- stderr ---\nerr",
		"echo err >&2; exit 3":         "[exit=3]\n--- stdout ---\n--- stderr ---\nerr",
		"true":                         "[exit=0]\n--- stdout ---\n",
		"pwd":                          "[exit=0]\n--- stdout ---\n" + dir,
		"printf $0":                    "[exit=0]\n--- stdout ---\nsh",
		"kill -9 $$":                   "[exit=-9]\n--- stdout ---\n",
		"cat":                          "[exit=0]\n--- stdout ---\n",
		"printf 'a\\377'":              "[exit=0]\n--- stdout ---\na\uFFFD",
		"-x 2>/dev/null; echo $?":      "[exit=0]\n--- stdout ---\n127",
	} {
		want(t, run(t, b, "command", command), "$ "+command+"\n"+result)
	}
	wantError(t, run(t, b, "command", "a\x00b"), "NUL")
	wantError(t, run(t, b), `argument "command" is missing`)
	wantError(t, run(t, b, "command", "true", "timeout_sec", int64(0)), "timeout_sec must be above 0")
	wantError(t, run(t, b, "command", "echo "+strings.Repeat("x", 1<<20)), "the command has 1048581 bytes; at most 131071 are allowed")
	if got := run(t, b, "command", ": "+strings.Repeat("x", 128<<10-3)); !strings.HasSuffix(got, "\n[exit=0]\n--- stdout ---\n") {
		t.Errorf("the longest command: %.200q", got)
	}
	if s := b.Spec(); !s.Destructive || s.Name != "bash" {
		t.Errorf("%+v", s)
	}
}

func TestBashEnvironment(t *testing.T) {
	b := workdir.Bash(t.TempDir(), workdir.BashOptions{
		Environ:  []string{"PATH=/usr/bin:.::bin:/bin", "HOME=/h", "LANG=C", "LC_ALL=C", "TZ=UTC", "TMPDIR=/t", "TERM=dumb", "API_KEY=canary", "LD_PRELOAD=x"},
		ExtraEnv: map[string]string{"CI": "1", "TZ": "CET"},
	})
	got := map[string]string{}
	for _, line := range strings.Split(run(t, b, "command", "/usr/bin/env"), "\n")[3:] {
		name, v, _ := strings.Cut(line, "=")
		if name != "PWD" && name != "OLDPWD" && name != "SHLVL" && name != "_" && !strings.HasPrefix(name, "_AGENTLOOM_COMMAND_") {
			got[name] = v
		}
	}
	for name, v := range map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/h", "LANG": "C", "LC_ALL": "C", "TZ": "CET", "TMPDIR": "/t", "TERM": "dumb", "CI": "1"} {
		if got[name] != v {
			t.Errorf("%s is %q, want %q", name, got[name], v)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("and there is %v", got)
	}
	wantError(t, run(t, workdir.Bash(t.TempDir(), workdir.BashOptions{ExtraEnv: map[string]string{"A=B": ""}}), "command", "true"), `"A=B"`)
	t.Setenv("AGENTLOOM_CANARY", "seen")
	if got := run(t, workdir.Bash("", workdir.BashOptions{}), "command", "env"); strings.Contains(got, "CANARY") || !strings.Contains(got, "PATH=/") {
		t.Errorf("from the process: %s", got)
	}
}

func TestBashCutsOutput(t *testing.T) {
	b := workdir.Bash(t.TempDir(), workdir.BashOptions{})
	got := run(t, b, "command", "head -c 10000 /dev/zero | tr '\\0' x")
	if !strings.HasSuffix(got, "\n"+strings.Repeat("x", 10_000)) {
		t.Errorf("10,000 characters are cut: …%q", got[len(got)-60:])
	}
	got = run(t, b, "command", "head -c 12345 /dev/zero | tr '\\0' x; head -c 50000000 /dev/zero >&2")
	if !strings.Contains(got, "\n"+strings.Repeat("x", 10_000)+"\n... (truncated, 2345 more bytes)\n--- stderr ---\n") ||
		!strings.HasSuffix(got, "\n... (truncated, 49990000 more bytes)") || len(got) > 50_000 {
		t.Errorf("%d bytes, the end is %q", len(got), got[len(got)-60:])
	}
	// Characters are counted, not bytes.
	got = run(t, b, "command", "yes é | head -n 6000 | tr -d '\\n'; printf end")
	if !strings.HasSuffix(got, "éend") {
		t.Errorf("the end is %q", got[len(got)-60:])
	}
	got = run(t, b, "command", "yes é | head -n 10001 | tr -d '\\n'")
	if !strings.HasSuffix(got, strings.Repeat("é", 10_000)+"\n... (truncated, 2 more bytes)") {
		t.Errorf("the end is %q", got[len(got)-60:])
	}
}

func TestBashTimeoutKillsEverything(t *testing.T) {
	for name, command := range map[string]string{
		"itself":               "echo partial; echo $$ >pid; exec sleep 300",
		"a background process": "echo partial; sleep 300 & echo $! >pid",
		"ignores signals":      "echo partial; trap '' TERM INT HUP; echo $$ >pid; sleep 300; sleep 300",
		"endless output":       "echo partial; echo $$ >pid; yes >&2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b := workdir.Bash(dir, workdir.BashOptions{Timeout: time.Second})
			got := run(t, b, "command", command)
			wantError(t, got, "the command did not end within 1s; it was killed with everything it started\n$ "+command+"\n[killed]\n--- stdout ---\npartial")
			gone(t, dir)
		})
	}
	start := time.Now()
	wantError(t, run(t, workdir.Bash("", workdir.BashOptions{}), "command", "sleep 300", "timeout_sec", 0.2), "within 200ms")
	if time.Since(start) > 20*time.Second {
		t.Error("timeout_sec did not count")
	}
}

// gone checks that the process whose number is in the file pid has ended, if
// not at once, then soon.
func gone(t *testing.T, dir string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(get(t, dir, "pid")))
	if err != nil {
		t.Fatal(err)
	}
	for range 400 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if runtime.GOOS == "linux" && (err != nil || strings.Contains(string(stat), ") Z ")) || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d lives on", pid)
}

func TestBashStopsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	why := errors.New("somebody pressed stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for {
			if b, _ := os.ReadFile(filepath.Join(dir, "pid")); len(b) > 0 {
				cancel(why)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	_, err := workdir.Bash(dir, workdir.BashOptions{}).Call(ctx, value.MapOf("command", "echo $$ >pid; sleep 300"))
	if !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	gone(t, dir)
}

func TestDenyList(t *testing.T) {
	for _, command := range []string{
		"rm -rf /", "rm -rf / ", "rm -fr /", "rm -r -f /", "rm -R /", "rm --recursive --force /", "rm -rf -- /", "rm -rf /*", "rm -rf //", "rm -rf /.",
		"rm -rf --no-preserve-root /", "rm -rf '/'", `rm -rf "/"`, "rm / -rf", "cd /tmp && rm -rf /", "true;rm -rf /", "(rm -rf /)", "echo $(rm -rf /)", "echo `rm -rf /`",
		`echo "$(rm -rf /)"`, "/bin/rm -rf /", `\rm -rf /`, "rm -rf /;", "rm -rf /&", "rm -rf /|cat", "rm -rf /\n", "X=1 rm -rf /", "env X=1 rm -rf /", "nohup rm -rf /", "timeout 5 rm -rf /",
		"sh -c 'rm -rf /'", `bash -lc "rm -rf /"`, "eval rm -rf /", "if true; then rm -rf /; fi", "rm -rf /tmp/..", "rm -rf x /", "bash <<E\nrm -rf /\nE", "find / -delete", "rm -rf \\\n/",
		"sudo ls", "/usr/bin/sudo ls", "ls | sudo tee x", "sudo", "ls&&sudo id",
		"mkfs /dev/sda1", "mkfs.ext4 /dev/sda1", "/sbin/mkfs.xfs x",
		"dd if=/dev/zero of=/dev/sda", "dd of=/dev/nvme0n1 if=x bs=1M", "cat x | dd of=/dev/mem",
		":(){ :|:& };:", ":(){:|:&};:", ": ( ) { : | : & } ; :", "bomb() { bomb | bomb & }; bomb",
		"echo x > /dev/sda", "cat x >/dev/nvme0n1", "echo x >> /dev/sdb1", "echo x >| /dev/vda", "cat x 1>/dev/sda", "cat x | tee /dev/sda", "cp x /dev/sda", "shred /dev/sda", "echo &> /dev/sda",
		"chmod 777 /", "chmod -R 777 /", "chmod 0777 /", "chmod -R a+rwx /", "chmod 1777 /",
	} {
		wantError(t, run(t, workdir.Bash("", workdir.BashOptions{Environ: []string{"PATH=/nowhere"}}), "command", deadly(t, command)), "the command is refused")
	}
}

// A command is taken apart in time in proportion to its length.
func TestDenyListIsQuick(t *testing.T) {
	start := time.Now()
	for _, part := range []string{`"$(`, "`", `"` + "`", "$(", "(", "<<E\n", "<<E ", "'", "\\", ">", "x=1 ", "time ", "sh -c '", "f(){f|", "eval ", "rm -"} {
		workdir.Denied(strings.Repeat(part, 128<<10/len(part)))
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	want(t, workdir.Denied(strings.Repeat(`"$(`, 100)+"sudo"), "it nests too many substitutions")
	want(t, workdir.Denied("eval "+strings.Repeat("eval ", 100)+"sudo"), "it nests too many shells")
}

// deadly is a command that is only run when the list fails; then the test must
// do no harm, so it ends before the shell reads it.
func deadly(t *testing.T, command string) string {
	t.Helper()
	if workdir.Denied(command) == "" {
		t.Errorf("%q is not denied", command)
		return "sudo"
	}
	return command
}

func TestDenyListLeavesTheRest(t *testing.T) {
	for _, command := range []string{
		"rm -rf /tmp/foo", "rm -rf ./x", "rm -rf build/", "rm /", "rm -f /tmp/x", "rm -rf /tmp/*", "rm --force /", "echo rm -rf /", "echo 'rm -rf /'", `grep "rm -rf / " x`,
		"echo sudo", "man sudo", "cat sudo.txt", "git commit -m 'use sudo rm -rf /'", "pip install pseudo", "# sudo", "ls # rm -rf /",
		"echo mkfs", "dd if=/dev/zero of=file", "dd if=/dev/sda of=/dev/null", "dd if=x of=/dev/stdout", "ls > /dev/null", "ls 2>/dev/null", "ls >&2", "cat < /dev/sda1",
		"f() { g | h & }; f", "chmod 777 x", "chmod 777 /tmp/x", "chmod 755 /", "chmod -R 777 .", "find / -name x", "cat <<E >README\nsudo apt install\nrm -rf /\nE\nls",
		"cat <<'E' >x\nrm -rf /\nE", "cp /dev/sda1 x", "tee /dev/null", "cat x > /dev/tty", "for i in 1 2; do echo $i; done", "test -d / && ls", "",
	} {
		if why := workdir.Denied(command); why != "" {
			t.Errorf("%q: %s", command, why)
		}
	}
}

func TestAllowPatternIsTheOnlyFilter(t *testing.T) {
	var asked []string
	b := workdir.Bash(t.TempDir(), workdir.BashOptions{
		Environ:      []string{"PATH=/nowhere"},
		AllowPattern: func(c string) bool { asked = append(asked, c); return strings.HasPrefix(c, "sudo ") },
	})
	wantError(t, run(t, b, "command", "echo hi"), "the command is not allowed here")
	if got := run(t, b, "command", "sudo -n true"); !strings.HasPrefix(got, "$ sudo -n true\n[exit=127]") {
		t.Errorf("got %q", got)
	}
	if len(asked) != 2 || asked[0] != "echo hi" {
		t.Errorf("asked about %q", asked)
	}
}

func FuzzDenied(f *testing.F) {
	for _, seed := range []string{"rm -rf /", "a <<E\nx\nE", `"$(`, "`", "$(((", "<<<<", "\\", "'", ">&", "sh -c \"sh -c 'eval sudo'\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		workdir.Denied(command) // ends, without a panic
		if strings.Trim(command, "abcdefghijklmnop ./") == "" && workdir.Denied("true "+command+"; sudo x") == "" {
			t.Errorf("%q hides a command", command)
		}
	})
}
