package builtin_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/workflow"
)

// TestSandboxLeavesNothingBehind: what a command started is gone after its
// timeout, with a session of its own and a cleared environment too.
func TestSandboxLeavesNothingBehind(t *testing.T) {
	for _, kernel := range []string{"auto", "off"} {
		t.Run(kernel, func(t *testing.T) {
			dir := t.TempDir()
			script := "env -i setsid sh -c 'echo $$ >pid; exec sleep 300' >/dev/null 2>&1 </dev/null &\n" +
				"while [ ! -s pid ]; do sleep 0.01; done; sleep 300"
			if err := os.WriteFile(filepath.Join(dir, "run.sh"), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			r := tools(t, builtin.Options{Sandbox: sandboxed(t, dir, workflow.Sandbox{
				Kernel: kernel, AllowedCommands: []string{"sh"}, DangerOptIn: []string{"sh"}, AllowedPaths: []string{"."},
			})})
			got, err := call(t, r, "shell_command", "command", "sh run.sh", "timeout", 1.0)
			if err != nil || field(t, got, "returncode") != int64(-1) {
				t.Fatalf("%v, %v", got, err)
			}
			text, err := os.ReadFile(filepath.Join(dir, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			if now, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && !strings.Contains(string(now), ") Z ") {
				t.Errorf("it is still there: %s", now)
			}
		})
	}
}
