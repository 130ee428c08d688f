//go:build unix

package process_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/internal/process"
)

func TestShell(t *testing.T) {
	var stdout, stderr bytes.Buffer
	dir := t.TempDir()
	r, err := process.Shell("pwd; echo $A >&2; cat; exit 3", process.Options{Dir: dir, Environ: []string{"A=1"}, Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		t.Fatal(err)
	}
	<-r.Done()
	if r.ExitCode() != 3 || stdout.String() != dir+"\n" || stderr.String() != "1\n" {
		t.Errorf("exit %d, %q, %q", r.ExitCode(), stdout.String(), stderr.String())
	}
}

func TestKillWaitsForTheEnd(t *testing.T) {
	var stdout, stderr bytes.Buffer
	r, err := process.Shell("trap '' TERM INT; sleep 300 & yes", process.Options{Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		t.Fatal(err)
	}
	r.Kill()
	select {
	case <-r.Done():
	default:
		t.Fatal("it is not done")
	}
	if r.ExitCode() != -9 {
		t.Errorf("exit %d", r.ExitCode())
	}
}

func TestShellThatCannotStart(t *testing.T) {
	_, err := process.Shell("true", process.Options{Dir: "/no/such/directory"})
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}
