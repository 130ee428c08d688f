package workdir_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

// run calls a tool and returns its result; a Go error fails the test.
func run(t testing.TB, tl tool.Tool, args ...any) string {
	t.Helper()
	got, err := tl.Call(context.Background(), value.MapOf(args...))
	if err != nil {
		t.Fatalf("%s: a Go error: %v", tl.Spec().Name, err)
	}
	s, ok := got.(string)
	if !ok {
		t.Fatalf("%s: the result is a %T", tl.Spec().Name, got)
	}
	return s
}

// put writes a file with its parents.
func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func link(t testing.TB, target, dir, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// names lists everything beneath a directory.
func names(t testing.TB, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		all = append(all, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func wantError(t testing.TB, got, part string) {
	t.Helper()
	if !strings.HasPrefix(got, "ERROR: ") || !strings.Contains(got, part) {
		t.Errorf("got %.300q, want an ERROR that says %q", got, part)
	}
}

func want(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
