package workdir_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"regexp"

	"github.com/agentloom/agentloom/tool/workdir"
	"github.com/agentloom/agentloom/value"
)

// library is a directory with something of everything that a search meets.
func library(t *testing.T) string {
	t.Helper()
	outside, dir := t.TempDir(), t.TempDir()
	put(t, outside, "f", "needle outside\n")
	put(t, dir, "a.go", "package a\n// needle one\nvar x = 1\r\n// Needle two\n")
	put(t, dir, "b.md", "no\n")
	put(t, dir, "sub/deep/c.go", "// needle three")
	put(t, dir, "sub/.hidden/d", "needle four\n")
	put(t, dir, "bin", "needle\n\x00")
	for _, skipped := range []string{".git/config", "node_modules/m/i.js", "sub/__pycache__/x.pyc", ".venv/lib/v.py", "venv/v.py", "build/o.go", "sub/dist/o.js", "target/o.rs"} {
		put(t, dir, skipped, "needle skipped\n")
	}
	put(t, dir, "myenv/pyvenv.cfg", "home = /usr\n")
	put(t, dir, "myenv/lib/x.py", "needle in an environment\n")
	put(t, dir, "builder/x", "needle five\n") // only looks like build
	link(t, filepath.Join(outside, "f"), dir, "out")
	link(t, outside, dir, "outdir")
	link(t, "a.go", dir, "zlink.go")
	link(t, "..", dir, "sub/loop")
	return dir
}

func TestGrep(t *testing.T) {
	dir := library(t)
	g := workdir.Grep(dir, workdir.GrepOptions{})
	const all = "a.go:2: // needle one\nbuilder/x:1: needle five\nsub/.hidden/d:1: needle four\nsub/deep/c.go:1: // needle three\nzlink.go:2: // needle one"
	want(t, run(t, g, "pattern", "needle"), all)
	want(t, run(t, g, "pattern", "needle", "path", nil, "glob", nil, "ignore_case", false), all)
	want(t, run(t, g, "pattern", "NEEDLE t", "ignore_case", true), "a.go:4: // Needle two\nsub/deep/c.go:1: // needle three\nzlink.go:4: // Needle two")
	want(t, run(t, g, "pattern", `^// n\w+ (one|three)$`, "glob", "*.go", "path", "sub"), "sub/deep/c.go:1: // needle three")
	want(t, run(t, g, "pattern", "needle", "glob", "sub/**/*.go"), "sub/deep/c.go:1: // needle three")
	want(t, run(t, g, "pattern", "needle", "glob", "deep/*.go", "path", "sub"), "sub/deep/c.go:1: // needle three")
	want(t, run(t, g, "pattern", "needle", "path", "a.go"), "a.go:2: // needle one")
	want(t, run(t, g, "pattern", "needle", "path", filepath.Join(dir, "sub/deep")), "sub/deep/c.go:1: // needle three")
	want(t, run(t, g, "pattern", `x = 1$`), "a.go:3: var x = 1\nzlink.go:3: var x = 1")
	want(t, run(t, g, "pattern", "needle", "path", "node_modules"), "node_modules/m/i.js:1: needle skipped")
	want(t, run(t, g, "pattern", "nothing"), "(no lines found)")
	want(t, run(t, g, "pattern", "needle", "path", "bin"), `ERROR: cannot search "bin": it is a binary file; only text can be read`)
	wantError(t, run(t, g, "pattern", "(needle"), "the pattern cannot be read: missing closing )")
	wantError(t, run(t, g, "pattern", `(a)\1`), "the pattern cannot be read")
	wantError(t, run(t, g, "pattern", "x", "glob", "[a"), `the glob "[a" cannot be read`)
	wantError(t, run(t, g, "pattern", "x", "path", "none"), `cannot search "none": no such file`)
	wantError(t, run(t, g, "pattern", "x", "path", "out"), "outside the working directory")
}

func TestGrepCountsResults(t *testing.T) {
	dir := t.TempDir()
	for i := range 30 {
		put(t, dir, fmt.Sprintf("f%02d", i), strings.Repeat("hit\n", 10))
	}
	lines := strings.Split(run(t, workdir.Grep(dir, workdir.GrepOptions{}), "pattern", "hit"), "\n")
	if len(lines) != 201 || lines[0] != "f00:1: hit" || lines[199] != "f19:10: hit" ||
		lines[200] != "... (only the first 200 lines are shown; narrow the search for the others)" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-2:])
	}
	want(t, run(t, workdir.Grep(dir, workdir.GrepOptions{MaxResults: 2}), "pattern", "hit", "path", "f03"),
		"f03:1: hit\nf03:2: hit\n... (only the first 2 lines are shown; narrow the search for the others)")
	if got := run(t, workdir.Grep(dir, workdir.GrepOptions{MaxResults: 300}), "pattern", "hit"); strings.Contains(got, "only") {
		t.Error("a note although all is shown")
	}
}

func TestGrepLongLines(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "min.js", "first\n"+strings.Repeat("é", 100_000)+"needle"+strings.Repeat("x", 3<<20)+"\nneedle after\n")
	got := run(t, workdir.Grep(dir, workdir.GrepOptions{}), "pattern", "needle")
	lines := strings.Split(got, "\n")
	if len(lines) != 2 || len(lines[0]) > 600 || !strings.Contains(lines[0], "éneedlex") || !strings.HasSuffix(lines[0], "x...") || lines[1] != "min.js:3: needle after" {
		t.Errorf("got %.700q", got)
	}
}

func TestPathologicalPatterns(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", strings.Repeat(strings.Repeat("a", 2000)+"\n", 500))
	put(t, dir, "long", strings.Repeat("a", 3<<20))
	g := workdir.Grep(dir, workdir.GrepOptions{})
	start := time.Now()
	want(t, run(t, g, "pattern", "(a+a+)+b"), "(no lines found)")
	wantError(t, run(t, g, "pattern", strings.Repeat("(a{1,999}){0,1}", 100)), "too large")
	wantError(t, run(t, g, "pattern", `(\pL{500}){2}\pN{500}(x{1000}y{1000}){1}\pM{1000}\pL{1000}`), "too large")
	wantError(t, run(t, g, "pattern", strings.Repeat("a", 5000)), "longer than 4096 bytes")
	wantError(t, run(t, g, "pattern", strings.Repeat("(", 2000)), "cannot be read")
	f := workdir.Find(dir, workdir.FindOptions{})
	wantError(t, run(t, f, "glob", strings.Repeat("{a,aa}", 50)+"b"), "too many alternatives")
	wantError(t, run(t, f, "glob", strings.Repeat("*", 2000)), "longer than 1000 bytes")
	put(t, dir, strings.Repeat("a", 250), "")
	want(t, run(t, f, "glob", strings.Repeat("*a", 100)+"*b"), "(no files found)")
	want(t, run(t, f, "glob", strings.Repeat("**/", 300)+strings.Repeat("*a", 40)+"b"), "(no files found)")
	if took := time.Since(start); took > 60*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestGrepStopsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", strings.Repeat(strings.Repeat("ab", 20000)+"\n", 1500))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := workdir.Grep(dir, workdir.GrepOptions{}).Call(ctx, value.MapOf("pattern", strings.Repeat("(a|b|ab)*", 30)+"c"))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 20*time.Second {
		t.Errorf("got %v after %v", err, time.Since(start))
	}
}

// The shortcuts of grep find what the regular expression finds, line by line.
func TestGrepAgreesWithRegexp(t *testing.T) {
	dir := t.TempDir()
	g := workdir.Grep(dir, workdir.GrepOptions{MaxResults: 10_000})
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"ab", "Ka", "s", "\u212a", "ſ", "é", " ", "\n", "\n", "\r\n", "abab", "kab", "x", "\uFFFD", "\xff", "B"})
		content := strings.Join(rapid.SliceOfN(part, 0, 40).Draw(t, "content"), "")
		piece := rapid.SampledFrom([]string{"ab", "(ab|ka)", "^", "$", "s?", "(?i)ka", "[ab]+", "x{0,2}", ".", "(abab|Ka|é)", `\s`, "[^x]", `\b`, "ka", "(?:as|bs)+", "\uFFFD", `\w`, `\B`})
		pattern := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "pattern"), "")
		fold := rapid.Bool().Draw(t, "fold")
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		source := pattern
		if fold {
			source = "(?i)" + source
		}
		re := regexp.MustCompile(source)
		var lines []string
		for i, line := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
			if line = strings.TrimSuffix(line, "\r"); content != "" && re.MatchString(line) {
				lines = append(lines, fmt.Sprintf("f:%d: %s", i+1, strings.ToValidUTF8(line, "\uFFFD")))
			}
		}
		expect := strings.Join(lines, "\n")
		if lines == nil {
			expect = "(no lines found)"
		}
		got, err := g.Call(context.Background(), value.MapOf("pattern", pattern, "ignore_case", fold))
		if err != nil || got != expect {
			t.Fatalf("%q in %q: got %v, %v\nwant %s", source, content, got, err, expect)
		}
	})
}

func TestFind(t *testing.T) {
	dir := library(t)
	f := workdir.Find(dir, workdir.FindOptions{})
	want(t, run(t, f, "glob", "*.go"), "a.go\nsub/deep/c.go\nzlink.go")
	want(t, run(t, f, "glob", "**/*.go"), "a.go\nsub/deep/c.go\nzlink.go")
	want(t, run(t, f, "glob", "./*/deep/*.go"), "sub/deep/c.go")
	want(t, run(t, f, "glob", "deep/c.go", "path", "sub"), "sub/deep/c.go")
	want(t, run(t, f, "glob", "{a,b}.{go,md}"), "a.go\nb.md")
	want(t, run(t, f, "glob", "[ab].??"), "a.go\nb.md")
	want(t, run(t, f, "glob", "*"), "a.go\nb.md\nbin\nbuilder/x\nsub/.hidden/d\nsub/deep/c.go\nzlink.go")
	want(t, run(t, f, "glob", "*.go", "path", filepath.Join(dir, "sub")), "sub/deep/c.go")
	want(t, run(t, f, "glob", "none"), "(no files found)")
	wantError(t, run(t, f, "glob", ""), "cannot be read")
	wantError(t, run(t, f, "glob", "{a"), "cannot be read")
	wantError(t, run(t, f, "glob", "x", "path", "a.go"), "it is not a directory")
	wantError(t, run(t, f, "glob", "x", "path", "outdir"), "outside the working directory")
	small := workdir.Find(dir, workdir.FindOptions{MaxResults: 2})
	want(t, run(t, small, "glob", "*.go"), "a.go\nsub/deep/c.go\n... (only the first 2 files are shown; narrow the search for the others)")
	for i := range 301 {
		put(t, dir, fmt.Sprintf("many/%03d", i), "")
	}
	got := strings.Split(run(t, f, "glob", "many/*"), "\n")
	if len(got) != 301 || got[299] != "many/299" || !strings.HasPrefix(got[300], "... (only the first 300 files") {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
}

func TestLs(t *testing.T) {
	dir := t.TempDir()
	l := workdir.Ls(dir, workdir.LsOptions{})
	want(t, run(t, l), "(the directory is empty)")
	put(t, dir, "a.txt", "12345")
	put(t, dir, "z/x", "")
	put(t, dir, "b/y", "")
	put(t, dir, "two\nlines", "")
	link(t, "z", dir, "link")
	link(t, filepath.Join(dir, "a.txt"), dir, "abs")
	link(t, "/etc", dir, "out")
	const all = "b/\nlink/\nz/\na.txt (5 bytes)\nabs (5 bytes)\nout (a link that is not followed)\n\"two\\nlines\" (0 bytes)"
	want(t, run(t, l), all)
	want(t, run(t, l, "path", dir), all)
	want(t, run(t, l, "path", "link"), "x (0 bytes)")
	want(t, run(t, workdir.Ls(dir, workdir.LsOptions{MaxResults: 2})), "b/\nlink/\n... (5 more)")
	wantError(t, run(t, l, "path", "a.txt"), `cannot list "a.txt": it is not a directory`)
	wantError(t, run(t, l, "path", "none"), "no such file")
}
