package workdir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/tool/workdir"
)

func TestReadShowsNumberedLines(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.py", "from typing import Any\n\ndef main() -> None:\n    ...\n")
	put(t, dir, "sub/b", "no break at the end")
	put(t, dir, "empty", "")
	put(t, dir, "crlf", "a\r\nb\r\n")
	put(t, dir, "latin", "caf\xe9\n")
	r := workdir.Read(dir, workdir.ReadOptions{})
	want(t, run(t, r, "path", "a.py"), "     1\tfrom typing import Any\n     2\t\n     3\tdef main() -> None:\n     4\t    ...")
	want(t, run(t, r, "path", "sub/b"), "     1\tno break at the end")
	want(t, run(t, r, "path", filepath.Join(dir, "sub/b")), "     1\tno break at the end")
	want(t, run(t, r, "path", "empty"), "")
	want(t, run(t, r, "path", "crlf"), "     1\ta\r\n     2\tb\r")
	want(t, run(t, r, "path", "latin"), "     1\tcaf\uFFFD")
	want(t, run(t, r, "path", "a.py", "offset", int64(2), "limit", int64(1)),
		"     3\tdef main() -> None:\n... (1 more line(s); call read() again with offset=3)")
	want(t, run(t, r, "path", "a.py", "offset", nil, "limit", int64(4)), run(t, r, "path", "a.py"))
	want(t, run(t, r, "path", "a.py", "offset", int64(3)), "     4\t    ...")
}

func TestReadStopsAtTheLimit(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for i := range 2032 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	put(t, dir, "long", b.String())
	got := run(t, workdir.Read(dir, workdir.ReadOptions{}), "path", "long")
	if !strings.HasSuffix(got, "  2000\tline 2000\n... (32 more line(s); call read() again with offset=2000)") {
		t.Errorf("it ends %q", got[len(got)-100:])
	}
	rest := run(t, workdir.Read(dir, workdir.ReadOptions{}), "path", "long", "offset", int64(2000))
	if !strings.HasPrefix(rest, "  2001\tline 2001\n") || !strings.HasSuffix(rest, "  2032\tline 2032") {
		t.Errorf("the rest is %q", rest)
	}
	small := workdir.Read(dir, workdir.ReadOptions{Name: "view", LineLimit: 2})
	const first = "     1\tline 1\n     2\tline 2\n... (2030 more line(s); call view() again with offset=2)"
	want(t, run(t, small, "path", "long"), first)
	want(t, run(t, small, "path", "long", "limit", int64(100)), first)
	if n := small.Spec().Name; n != "view" {
		t.Errorf("it is called %q", n)
	}
}

func TestReadFailures(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "bin", "a\x00b")
	put(t, dir, "two", "1\n2\n")
	put(t, dir, "d/x", "")
	r := workdir.Read(dir, workdir.ReadOptions{})
	wantError(t, run(t, r, "path", "bin"), `cannot read "bin": it is a binary file`)
	wantError(t, run(t, r, "path", "none"), `cannot read "none": no such file or directory`)
	wantError(t, run(t, r, "path", "d"), `it is a directory`)
	wantError(t, run(t, r, "path", ""), `is empty`)
	wantError(t, run(t, r, "path", "a\x00b"), `NUL`)
	wantError(t, run(t, r, "path", strings.Repeat("n", 300)), `file name too long`)
	wantError(t, run(t, r, "path", strings.Repeat("n/", 1<<19)), `file name too long`)
	wantError(t, run(t, r, "path", "two", "offset", int64(2)), `offset 2 is past its end: it has 2 line(s)`)
	wantError(t, run(t, r, "path", "two", "offset", int64(-1)), `offset must be 0 or more`)
	wantError(t, run(t, r, "path", "two", "limit", int64(0)), `limit 1 or more`)
	wantError(t, run(t, r), `argument "path" is missing`)
	wantError(t, run(t, r, "path", int64(5)), `argument "path" must be a string`)
	wantError(t, run(t, r, "path", "two", "lines", int64(5)), `argument "lines" is unknown`)
}

func TestReadBoundsWhatItShows(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "wide", strings.Repeat("x", 10<<20)+"\nend\n")
	got := run(t, workdir.Read(dir, workdir.ReadOptions{}), "path", "wide")
	if len(got) > 100_000 || !strings.Contains(got, "... (line cut, 10420224 more bytes)\n     2\tend") {
		t.Errorf("%d bytes, the end is %q", len(got), got[max(0, len(got)-100):])
	}
	put(t, dir, "much", strings.Repeat(strings.Repeat("y", 50_000)+"\n", 300))
	got = run(t, workdir.Read(dir, workdir.ReadOptions{}), "path", "much")
	if len(got) > 5<<20 || !strings.Contains(got, "more line(s); call read() again with offset=84)") {
		t.Errorf("%d bytes, the end is %q", len(got), got[max(0, len(got)-100):])
	}
	// A sparse file of a terabyte is a binary file, at once.
	f, err := os.Create(filepath.Join(dir, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Skip(err)
	}
	for _, tl := range []string{"read", "edit", "grep"} {
		switch tl {
		case "read":
			wantError(t, run(t, workdir.Read(dir, workdir.ReadOptions{}), "path", "sparse"), "binary")
		case "edit":
			wantError(t, run(t, workdir.Edit(dir, workdir.EditOptions{}), "path", "sparse", "old_string", "a", "new_string", "b"),
				"it has 1099511627776 bytes; only files of up to 67108864 can be edited")
		case "grep":
			want(t, run(t, workdir.Grep(dir, workdir.GrepOptions{}), "pattern", "a", "glob", "sparse"), "(no lines found)")
		}
	}
}
