package workdir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentloom/agentloom/tool/workdir"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	w := workdir.Write(dir, workdir.WriteOptions{})
	want(t, run(t, w, "path", "a/b/c.txt", "content", "grüß\n"), "Wrote 7 byte(s) to a/b/c.txt")
	want(t, get(t, dir, "a/b/c.txt"), "grüß\n")
	if err := os.Chmod(filepath.Join(dir, "a/b/c.txt"), 0o751); err != nil {
		t.Fatal(err)
	}
	want(t, run(t, w, "path", filepath.Join(dir, "a/b/c.txt"), "content", ""), "Wrote 0 byte(s) to "+filepath.Join(dir, "a/b/c.txt"))
	want(t, get(t, dir, "a/b/c.txt"), "")
	if info, _ := os.Stat(filepath.Join(dir, "a/b/c.txt")); info.Mode().Perm() != 0o751 {
		t.Errorf("its mode is %v now", info.Mode())
	}
	want(t, names(t, dir), ". a a/b a/b/c.txt") // no temporary file is left
	if s := w.Spec(); !s.Destructive || s.Name != "write" {
		t.Errorf("%+v", s)
	}
	wantError(t, run(t, workdir.Write(dir, workdir.WriteOptions{NoCreateParents: true}), "path", "new/x", "content", ""), "no such file")
	want(t, run(t, workdir.Write(dir, workdir.WriteOptions{NoCreateParents: true}), "path", "x", "content", "1"), "Wrote 1 byte(s) to x")
}

// A directory that is missing is made, and one that is replaced by a link is
// still the one the tool works in.
func TestTheDirectoryIsHeld(t *testing.T) {
	parent, outside := t.TempDir(), t.TempDir()
	dir := filepath.Join(parent, "not/yet")
	w, r := workdir.Write(dir, workdir.WriteOptions{}), workdir.Filesystem(dir)[0]
	run(t, w, "path", "a", "content", "inside")
	run(t, r, "path", "a")
	put(t, outside, "a", "outside")
	if err := os.Rename(dir, filepath.Join(parent, "moved")); err != nil {
		t.Fatal(err)
	}
	link(t, outside, parent, "not/yet")
	want(t, run(t, r, "path", "a"), "     1\tinside")
	run(t, w, "path", "a", "content", "changed")
	want(t, get(t, outside, "a"), "outside")
}

func TestWriteFailures(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "d/x", "")
	put(t, dir, "plain", "p")
	link(t, "loop", dir, "loop")
	link(t, "no/such", dir, "nowhere")
	link(t, "plain", dir, "good")
	before := names(t, dir)
	w := workdir.Write(dir, workdir.WriteOptions{})
	for path, part := range map[string]string{
		"d": "it is a directory", "d/": "it is a directory", ".": "it is a directory", "./d/..": "it is a directory",
		"": "is empty", "plain/x": "not a directory", "loop": "too many levels", "loop/x": "too many levels",
		"nowhere/x": "no such file", strings.Repeat("n", 300): "file name too long",
	} {
		wantError(t, run(t, w, "path", path, "content", "x"), part)
	}
	want(t, names(t, dir), before)
	want(t, run(t, w, "path", "good", "content", "via the link"), "Wrote 12 byte(s) to good")
	want(t, get(t, dir, "plain"), "via the link")
	if target, err := os.Readlink(filepath.Join(dir, "good")); err != nil || target != "plain" {
		t.Errorf("the link is %q, %v", target, err)
	}
}

func TestEdit(t *testing.T) {
	dir := t.TempDir()
	e := workdir.Edit(dir, workdir.EditOptions{})
	put(t, dir, "f", "one\n\ttwo\r\none\n")
	if err := os.Chmod(filepath.Join(dir, "f"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantError(t, run(t, e, "path", "f", "old_string", "three", "new_string", "x"), "old_string was not found")
	wantError(t, run(t, e, "path", "f", "old_string", "    two", "new_string", "x"), "old_string was not found")
	wantError(t, run(t, e, "path", "f", "old_string", "two\none", "new_string", "x"), "old_string was not found")
	wantError(t, run(t, e, "path", "f", "old_string", "one", "new_string", "x"), "old_string appears 2 times")
	wantError(t, run(t, e, "path", "f", "old_string", "", "new_string", "x"), "old_string is empty")
	wantError(t, run(t, e, "path", "f", "old_string", "a", "new_string", "a"), "the same")
	wantError(t, run(t, e, "path", "none", "old_string", "a", "new_string", "b"), "no such file")
	want(t, get(t, dir, "f"), "one\n\ttwo\r\none\n")
	want(t, run(t, e, "path", "f", "old_string", "\ttwo\r\n", "new_string", ""), "Replaced 1 occurrence(s) in f")
	want(t, get(t, dir, "f"), "one\none\n")
	want(t, run(t, e, "path", "f", "old_string", "one", "new_string", "$1 \\0", "replace_all", true), "Replaced 2 occurrence(s) in f")
	want(t, get(t, dir, "f"), "$1 \\0\n$1 \\0\n")
	if info, _ := os.Stat(filepath.Join(dir, "f")); info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v now", info.Mode())
	}
	put(t, dir, "latin", "caf\xe9 one\n") // other bytes stay as they are
	run(t, e, "path", "latin", "old_string", "one", "new_string", "two")
	want(t, get(t, dir, "latin"), "caf\xe9 two\n")
	if !e.Spec().Destructive {
		t.Error("it is not destructive")
	}
}

func TestEditIsBounded(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "f", strings.Repeat("a", 1<<20))
	e := workdir.Edit(dir, workdir.EditOptions{})
	wantError(t, run(t, e, "path", "f", "old_string", "a", "new_string", strings.Repeat("b", 1<<20), "replace_all", true), "larger than 67108864 bytes")
	f, err := os.Create(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(200_000_000); err != nil {
		t.Fatal(err)
	}
	f.Close()
	wantError(t, run(t, e, "path", "big", "old_string", "a", "new_string", "b"), "it has 200000000 bytes")
}

// A model may ask for several edits of one file in one turn.
func TestParallelEditsAllCount(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "<%d>\n", i)
	}
	put(t, dir, "f", b.String())
	fs := workdir.Filesystem(dir)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			run(t, fs[2], "path", "f", "old_string", fmt.Sprintf("<%d>", i), "new_string", fmt.Sprintf("[%d]", i))
		})
	}
	group.Wait()
	want(t, get(t, dir, "f"), strings.NewReplacer("<", "[", ">", "]").Replace(b.String()))
}
