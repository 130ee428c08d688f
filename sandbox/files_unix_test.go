//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/agentloom/agentloom/workflow"
)

// TestSpecialFiles: a FIFO and a device are refused at once, and one that
// appears after the check ends the opening at once.
func TestSpecialFiles(t *testing.T) {
	dir := layout(t, "work/f", "work/d/f")
	if err := syscall.Mkfifo(dir+"/work/fifo", 0o644); err != nil {
		t.Skip(err)
	}
	p := policyAt(t, dir, func(s *workflow.Sandbox) { s.AllowedPaths = []string{"work", "/dev"} })
	for path, want := range map[string]string{"work/fifo": "is a FIFO", "/dev/zero": "is a device", "/dev/null": "is a device"} {
		wantRefusal(t, p.CheckPath(path, false), want)
		wantRefusal(t, p.CheckPath(path, true), want)
	}
	file, err := p.ReadPath("work/f")
	if err != nil {
		t.Fatal(err)
	}
	below, err := p.ReadPath("work/d/f")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(dir+"/work/f"), os.Rename(dir+"/work/fifo", dir+"/work/f"),
		os.RemoveAll(dir+"/work/d"), syscall.Mkfifo(dir+"/work/d", 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, at := range []Location{file, below} {
		if _, err := readAt(at); err == nil {
			t.Errorf("%s was read", at.Path)
		}
		if _, err := at.OpenDir(); err == nil {
			t.Errorf("%s was opened", at.Path)
		}
	}
}

// TestPassableDirectories: a directory on the way need not be readable.
func TestPassableDirectories(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed to root")
	}
	dir := layout(t, "way/work/f")
	p := policyAt(t, dir, func(s *workflow.Sandbox) { s.AllowedPaths = []string{"way/work"} })
	if err := os.Chmod(dir+"/way", 0o111); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir+"/way", 0o755)
	at, err := p.ReadPath("way/work/f")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAt(at); err != nil || got != "content of way/work/f" {
		t.Errorf("%q, %v", got, err)
	}
}
