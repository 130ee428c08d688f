package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

const oneCall = `name: one
config: {provider: openai, model: m}
steps:
  - {id: ask, type: llm_call, prompt: Hi, output: answer}
`

// BenchmarkWholeProcess is one model call of 50 ms by a program that is started
// for it and ends with it. Targets: at most 1.5 times the bare one's time, and
// at most 40 MB of memory.
func BenchmarkWholeProcess(b *testing.B) {
	dir := b.TempDir()
	bare := build(b, dir, "bare", "./bare")
	loom := build(b, dir, "agentloom", "../cmd/agentloom")
	file := filepath.Join(dir, "one.yaml")
	if err := os.WriteFile(file, []byte(oneCall), 0o600); err != nil {
		b.Fatal(err)
	}
	url := service(b).URL
	for _, program := range []struct {
		name    string
		command []string
	}{{"bare", []string{bare, url}}, {"agentloom", []string{loom, "run", file}}} {
		name, command := program.name, program.command
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				answers(b, dir, url, command)
			}
			if runtime.GOOS == "linux" { // elsewhere the number has another unit
				b.ReportMetric(float64(peak(b, dir, url, bare, command))/1e6, "MB-peak")
			}
		})
	}
}

// build builds a program and returns its path.
func build(b *testing.B, dir, name, pkg string) string {
	b.Helper()
	path := filepath.Join(dir, name)
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, pkg).CombinedOutput(); err != nil {
		b.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	return path
}

// answers runs a program, which must print the service's answer, and returns
// what it wrote on stderr.
func answers(b *testing.B, dir, url string, command []string) string {
	b.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + url}
	if err := cmd.Run(); err != nil || !strings.Contains(stdout.String(), "Hello there") {
		b.Fatalf("%v: %v\n%s%s", command, err, stdout.String(), stderr.String())
	}
	return stderr.String()
}

// peak is the most memory that a program has, in bytes.
func peak(b *testing.B, dir, url, bare string, command []string) int64 {
	b.Helper()
	lines := strings.Fields(answers(b, dir, url, append([]string{bare, "-rss"}, command...)))
	if len(lines) == 0 {
		b.Fatal("nothing was measured")
	}
	n, err := strconv.ParseInt(lines[len(lines)-1], 10, 64)
	if err != nil {
		b.Fatal(fmt.Errorf("no number of bytes: %w", err))
	}
	return n
}
