//go:build unix

package workdir_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agentloom/agentloom/tool/workdir"
)

func TestNoPathLeaves(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put(t, outside, "secret", "SECRET\n")
	put(t, outside, "d/secret", "SECRET\n")
	put(t, dir, "sub/in", "inside\n")
	link(t, filepath.Join(outside, "secret"), dir, "abs")
	link(t, "../"+filepath.Base(filepath.Dir(outside))+"/x", dir, "up")
	link(t, outside, dir, "dirlink")
	link(t, "dirlink", dir, "chain")
	link(t, filepath.Join(outside, "new"), dir, "fresh")
	link(t, "/proc/self/root", dir, "proc")
	sibling := dir + "-sibling"
	put(t, sibling, "secret", "SECRET\n")
	defer os.RemoveAll(sibling)
	before := names(t, outside)

	for _, path := range []string{
		"../secret", "sub/../../x", "/etc/passwd", filepath.Join(outside, "secret"), "abs", "up", "dirlink/secret", "chain/secret",
		"dirlink/../secret", "fresh", "dirlink/new", sibling + "/secret", "../" + filepath.Base(sibling) + "/secret",
		dir + "/../" + filepath.Base(sibling) + "/secret", "proc" + outside + "/secret", "/proc/self/root" + outside + "/secret",
		"dirlink/", "/dev/fd/0", "/dev/stdin", "..", "../..", "/", dir + "/..", "sub/../../" + filepath.Base(sibling), "dirlink/d", "new/../../x",
	} {
		for _, tl := range workdir.Filesystem(dir) {
			args := map[string][]any{
				"read": {"path", path}, "write": {"path", path, "content", "OVERWRITTEN"},
				"edit": {"path", path, "old_string", "SECRET", "new_string", "x"},
				"grep": {"path", path, "pattern", "."}, "find": {"path", path, "glob", "*"}, "ls": {"path", path},
			}[tl.Spec().Name]
			got := run(t, tl, args...)
			if !strings.HasPrefix(got, "ERROR: ") || strings.Contains(got, "SECRET") {
				t.Errorf("%s of %q: %.200q", tl.Spec().Name, path, got)
			}
		}
	}
	want(t, names(t, outside), before)
	want(t, get(t, outside, "secret"), "SECRET\n")
	wantError(t, run(t, workdir.Read(dir, workdir.ReadOptions{}), "path", "../x"), `cannot read "../x": it is outside the working directory`)
}

// What only looks like leaving is let through.
func TestPathsThatComeBack(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "sub/in", "inside")
	link(t, filepath.Join(dir, "sub"), dir, "abs") // absolute, but inside
	link(t, "sub/in", dir, "rel")
	link(t, "../"+filepath.Base(dir)+"/sub", dir, "round")
	r, w := workdir.Read(dir, workdir.ReadOptions{}), workdir.Write(dir, workdir.WriteOptions{})
	for _, path := range []string{"sub/../sub/in", "./sub//in", "abs/in", "rel", "round/in", "../" + filepath.Base(dir) + "/sub/in", dir + "//sub/in", dir + "/abs/in"} {
		want(t, run(t, r, "path", path), "     1\tinside")
		if got := run(t, w, "path", path, "content", "inside"); strings.HasPrefix(got, "ERROR") {
			t.Errorf("write %q: %s", path, got)
		}
	}
	if got := run(t, w, "path", "abs/new/x", "content", "1"); got != "Wrote 1 byte(s) to abs/new/x" || get(t, dir, "sub/new/x") != "1" {
		t.Error(got)
	}
	// A workdir that is itself a link takes absolute paths in both spellings.
	other := filepath.Join(t.TempDir(), "w")
	if err := os.Symlink(dir, other); err != nil {
		t.Fatal(err)
	}
	r = workdir.Read(other, workdir.ReadOptions{})
	want(t, run(t, r, "path", filepath.Join(other, "sub/in")), "     1\tinside")
	want(t, run(t, r, "path", filepath.Join(dir, "sub/in")), "     1\tinside")
}

func TestNothingHangs(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Mknod(filepath.Join(dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5) // /dev/zero, where we may
	link(t, "loop", dir, "loop")
	link(t, ".", dir, "self")
	put(t, dir, "f", "text\n")
	start := time.Now()
	for _, path := range []string{"fifo", "zero", "loop"} {
		if _, err := os.Lstat(filepath.Join(dir, path)); err != nil {
			continue
		}
		for _, tl := range workdir.Filesystem(dir)[:4] {
			got := run(t, tl, map[string][]any{
				"read": {"path", path}, "write": {"path", path, "content", "x"},
				"edit": {"path", path, "old_string", "a", "new_string", "b"}, "grep": {"path", path, "pattern", "."},
			}[tl.Spec().Name]...)
			if !strings.HasPrefix(got, "ERROR: ") {
				t.Errorf("%s %s: %.100q", tl.Spec().Name, path, got)
			}
		}
	}
	want(t, run(t, workdir.Grep(dir, workdir.GrepOptions{}), "pattern", "."), "f:1: text")
	want(t, run(t, workdir.Find(dir, workdir.FindOptions{}), "glob", "*"), "f")
	if got := run(t, workdir.Ls(dir, workdir.LsOptions{}), "path", "."); !strings.Contains(got, "fifo (no regular file)") {
		t.Error(got)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// While another process swaps a directory and a file for links to the outside,
// over and over, nothing outside is read or written.
func TestSwapsNeverWin(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put(t, outside, "f", "SECRET")
	put(t, dir, "real/f", "inside")
	link(t, outside, dir, "evil")
	link(t, filepath.Join(outside, "f"), dir, "evilfile")
	put(t, dir, "file", "inside")
	if err := os.Symlink("real", filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		for !stop.Load() {
			for _, to := range []string{outside, "real"} {
				_ = os.Symlink(to, filepath.Join(dir, "tmp"))
				_ = os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, "d"))
			}
			_ = os.Symlink(filepath.Join(outside, "f"), filepath.Join(dir, "tmp2"))
			_ = os.Rename(filepath.Join(dir, "tmp2"), filepath.Join(dir, "file"))
			_ = os.WriteFile(filepath.Join(dir, "tmp3"), []byte("inside"), 0o644)
			_ = os.Rename(filepath.Join(dir, "tmp3"), filepath.Join(dir, "file"))
		}
	})
	fs := workdir.Filesystem(dir)
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		for _, path := range []string{"d/f", "file"} {
			for _, got := range []string{
				run(t, fs[0], "path", path),
				run(t, fs[1], "path", path, "content", "inside"),
				run(t, fs[2], "path", path, "old_string", "SECRET", "new_string", "x"),
				run(t, fs[3], "path", ".", "pattern", "SECRET"),
				run(t, fs[3], "path", path, "pattern", "SECRET"),
			} {
				if strings.Contains(got, "SECRET\n") || strings.Contains(got, "\tSECRET") || strings.Contains(got, ": SECRET") || strings.Contains(got, "Replaced") {
					t.Fatalf("a swap won: %q", got)
				}
			}
		}
	}
	stop.Store(true)
	group.Wait()
	want(t, get(t, outside, "f"), "SECRET")
	want(t, names(t, outside), ". f")
}
