package workdir_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/workdir"
	"github.com/agentloom/agentloom/value"
)

// echo is a tool that says what it was given.
func echo(got **value.Map) tool.Tool {
	return tool.Func("echo", "", func(_ context.Context, in map[string]any) (any, error) {
		m := value.NewMap(len(in))
		for k, v := range in {
			m.Put(k, v)
		}
		*got = m
		return "called", nil
	})
}

func TestGuard(t *testing.T) {
	dir, second, outside := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, dir, "in", "inside")
	put(t, second, "also", "")
	put(t, outside, "secret", "SECRET")
	link(t, outside, dir, "out")
	link(t, filepath.Join(outside, "nowhere"), dir, "dangling")
	link(t, "in", dir, "link")
	link(t, "loop", dir, "loop")

	var got *value.Map
	g := workdir.Guard([]tool.Tool{echo(&got)}, dir, second)[0]
	for _, tt := range []struct{ name, given, used string }{
		{"path", "in", dir + "/in"}, {"path", "link", dir + "/in"}, {"path", "new/x", dir + "/new/x"}, {"path", dir, dir}, {"path", second + "/also", second + "/also"},
		{"path", ".", dir}, {"path", "", ""}, {"path", "x/../in", ""}, {"file_path", "in", dir + "/in"}, {"sourceDir", "in", dir + "/in"},
		{"content", "/etc/passwd", "/etc/passwd"}, {"profile", "../x", "../x"}, {"text", "~", "~"},
	} {
		got = nil
		result := run(t, g, tt.name, tt.given)
		if tt.given == "x/../in" { // x is new: whether it goes up again depends on the tool
			wantError(t, result, "no such file")
			continue
		}
		if result != "called" {
			t.Errorf("%s %q: %s", tt.name, tt.given, result)
			continue
		}
		if v, _ := got.Get(tt.name); v != tt.used {
			t.Errorf("%s %q: the tool got %q, want %q", tt.name, tt.given, v, tt.used)
		}
	}
	for _, name := range []string{"path", "file", "filename", "filePath", "dir", "Directory", "folder", "cwd", "source", "destination", "output-file", "paths", "directories"} {
		for _, bad := range []string{"/etc/passwd", "../x", "out/secret", "out", "dangling", "loop", "~/x", "file:///etc/passwd", "a\x00b", dir + "-sibling", dir + "/../x", "new/../../x", "/", "/proc/self/root/etc", strings.Repeat("x/", 5000)} {
			got = nil
			wantError(t, run(t, g, name, bad), `argument "`+name+`"`)
			if got != nil {
				t.Fatalf("%s %q: the tool was called", name, bad)
			}
		}
	}
	got = nil
	wantError(t, run(t, g, "edits", []any{value.MapOf("file", "../x")}), `argument "edits[0].file": "../x" is outside the directories that are allowed`)
	wantError(t, run(t, g, "paths", []any{"in", "../x"}), `argument "paths[1]"`)
	wantError(t, run(t, g, "files", value.MapOf("a", "/etc/passwd")), `argument "files.a"`)
	if got != nil {
		t.Error("the tool was called")
	}
	run(t, g, "n", int64(5), "options", value.MapOf("path", "in", "deep", []any{true, nil}))
	v, _ := got.Get("options")
	if diff := cmp.Diff(map[string]any{"path": dir + "/in", "deep": []any{true, nil}}, v); diff != "" {
		t.Error(diff)
	}
	wantError(t, run(t, workdir.Guard([]tool.Tool{echo(&got)})[0], "path", "in"), "outside")
}

// The tools of this package work behind it, on the one directory and no more.
func TestGuardAroundOurTools(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "sub/f", "text")
	put(t, dir, "other", "text")
	tools := workdir.Guard(workdir.Filesystem(dir), filepath.Join(dir, "sub"))
	want(t, run(t, tools[0], "path", "f"), "     1\ttext")
	want(t, run(t, tools[0], "path", filepath.Join(dir, "sub/f")), "     1\ttext")
	wantError(t, run(t, tools[0], "path", filepath.Join(dir, "other")), "outside the directories that are allowed")
	wantError(t, run(t, tools[1], "path", "../other", "content", "x"), "outside the directories that are allowed")
	if s := tools[1].Spec(); s.Name != "write" || !s.Destructive || s.Parameters == nil {
		t.Errorf("the guard changed %+v", s)
	}
}
