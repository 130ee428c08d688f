package workdir_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/tool/workdir"
)

// tree makes 50,000 files of 0.5 to 8 kB in 2,500 directories, as source code
// has them.
func tree(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	words := strings.Fields("func return error value string context package import type struct interface range nil if else for switch case default")
	r := rand.New(rand.NewPCG(1, 2))
	for d := range 2500 {
		at := filepath.Join(dir, fmt.Sprintf("m%d", d%10), fmt.Sprintf("p%d", d/10%25), fmt.Sprintf("q%d", d/250))
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 20 {
			var text strings.Builder
			for lines := 15 + r.IntN(220); lines > 0; lines-- {
				text.WriteString(strings.Repeat("\t", r.IntN(3)))
				for n := 2 + r.IntN(7); n > 0; n-- {
					text.WriteString(words[r.IntN(len(words))] + " ")
				}
				text.WriteByte('\n')
			}
			if d%100 == 7 && f == 3 {
				text.WriteString("\tneedleInTheHay := 42\n")
			}
			name := fmt.Sprintf("file%d.%s", f, []string{"go", "md", "yaml", "txt"}[f%4])
			if d == 1234 && f == 5 {
				name = "the_one.proto"
			}
			if err := os.WriteFile(filepath.Join(at, name), []byte(text.String()), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	return dir
}

// BenchmarkTree searches the tree with our tools and, where they are installed,
// with the programs that are known for it.
func BenchmarkTree(b *testing.B) {
	dir := tree(b)
	grep, find := workdir.Grep(dir, workdir.GrepOptions{}), workdir.Find(dir, workdir.FindOptions{})
	read := workdir.Read(dir, workdir.ReadOptions{})
	ours := map[string]func() string{
		"grep/literal":       func() string { return run(b, grep, "pattern", "needleInTheHay") },
		"grep/ignore_case":   func() string { return run(b, grep, "pattern", "NEEDLEinthehay", "ignore_case", true) },
		"grep/expression":    func() string { return run(b, grep, "pattern", `needle\w+ := \d+`) },
		"grep/no_literal":    func() string { return run(b, grep, "pattern", `[A-Z]\w+[A-Z]\w+ [:=]+ \d+`) },
		"grep/early":         func() string { return run(b, grep, "pattern", "func") },
		"find/one":           func() string { return run(b, find, "glob", "the_one.proto") },
		"find/path":          func() string { return run(b, find, "glob", "**/q7/*.proto") },
		"read/whole_library": func() string { return run(b, read, "path", "m1/p1/q1/file3.txt") },
	}
	for _, name := range []string{"grep/literal", "grep/ignore_case", "grep/expression", "grep/no_literal", "grep/early", "find/one", "find/path", "read/whole_library"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := ours[name](); strings.HasPrefix(got, "ERROR") || strings.HasPrefix(got, "(no ") && name != "find/path" {
					b.Fatal(got)
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MB-sys")
		})
	}
	for _, other := range [][]string{
		{"rg", "-n", "needleInTheHay"}, {"rg", "-n", `[A-Z]\w+[A-Z]\w+ [:=]+ \d+`}, {"grep", "-rnI", "needleInTheHay", "."}, {"grep", "-rnIE", `[A-Z]\w+[A-Z]\w+ [:=]+ [0-9]+`, "."},
		{"fd", "the_one.proto"}, {"fdfind", "the_one.proto"}, {"find", ".", "-name", "the_one.proto"},
	} {
		b.Run("other/"+strings.Join(other[:min(2, len(other))], "_")+"/"+fmt.Sprint(len(strings.Join(other, " "))), func(b *testing.B) {
			if _, err := exec.LookPath(other[0]); err != nil {
				b.Skip("not installed")
			}
			for b.Loop() {
				cmd := exec.Command(other[0], other[1:]...)
				cmd.Dir = dir
				if out, err := cmd.Output(); err != nil || len(out) == 0 {
					b.Fatalf("%v: %q", err, out)
				}
			}
		})
	}
}
