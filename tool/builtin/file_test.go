//go:build unix

package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/value"
)

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFileRead(t *testing.T) {
	dir := t.TempDir()
	r := tools(t, builtin.Options{Dir: dir})
	tests := []struct{ name, content, encoding, want string }{
		{"whole", "line 1\nline 2", "", "line 1\nline 2"},
		{"empty", "", "", ""},
		{"line ends stay", "a\r\nb\rc\n", "", "a\r\nb\rc\n"},
		{"utf-8", "grün 😀", "UTF8", "grün 😀"},
		{"the mark stays", "\ufeffa", "utf-8", "\ufeffa"},
		{"the mark goes", "\ufeffa", "utf-8-sig", "a"},
		{"ascii", "abc", "us-ascii", "abc"},
		{"latin-1", "gr\xfcn", "latin-1", "grün"},
		{"latin-1 by number", "gr\xfcn", "ISO_8859-1", "grün"},
		{"cp1252", "5 \x80 \x96 \xfc", "windows-1252", "5 € – ü"},
		{"utf-16 little", "\xff\xfea\x00\x3d\xd8\x00\xde", "utf-16", "a😀"},
		{"utf-16 big", "\xfe\xff\x00a\xd8\x3d\xde\x00", "utf-16", "a😀"},
		{"utf-16 without mark", "a\x00", "utf-16", "a"},
		{"utf-16-le", "a\x00", "utf-16-le", "a"},
		{"utf-16-be", "\x00a", "utf-16be", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			put(t, filepath.Join(dir, "f"), tt.content)
			args := []any{"path", "f"}
			if tt.encoding != "" {
				args = append(args, "encoding", tt.encoding)
			}
			got, err := call(t, r, "file_read", args...)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFileReadFailures(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "png"), "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	put(t, filepath.Join(dir, "nul"), "a\x00b")
	put(t, filepath.Join(dir, "latin"), "gr\xfcn")
	put(t, filepath.Join(dir, "odd"), "a\x00b")
	put(t, filepath.Join(dir, "half"), "\x3d\xd8a\x00")
	put(t, filepath.Join(dir, "undefined"), "a\x81")
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "nul"), 1<<40); err != nil {
		t.Logf("no sparse file here: %v", err)
	}
	r := tools(t, builtin.Options{Dir: dir})
	tests := []struct {
		args []any
		want string
	}{
		{[]any{}, `argument "path" is missing`},
		{[]any{"path", nil}, `argument "path" must be a string, not null`},
		{[]any{"path", "latin", "mode", "r"}, `argument "mode" is unknown; the known ones are path, encoding`},
		{[]any{"path", ""}, `argument "path" is empty`},
		{[]any{"path", "a\x00b"}, `argument "path" holds a NUL character`},
		{[]any{"path", "latin", "encoding", "ebcdic"}, `argument "encoding": "ebcdic" is unknown; the known ones are utf-8, utf-8-sig, ascii, latin-1, cp1252, utf-16, utf-16-le, utf-16-be`},
		{[]any{"path", "latin", "encoding", ""}, `argument "encoding": "" is unknown; the known ones are utf-8, utf-8-sig, ascii, latin-1, cp1252, utf-16, utf-16-le, utf-16-be`},
		{[]any{"path", "missing"}, `cannot read "missing": no such file or directory`},
		{[]any{"path", "latin/x"}, `cannot read "latin/x": not a directory`},
		{[]any{"path", "."}, `cannot read ".": it is a directory`},
		{[]any{"path", "fifo"}, `cannot read "fifo": it is no regular file`},
		{[]any{"path", "/dev/zero"}, `cannot read "/dev/zero": it is no regular file`},
		{[]any{"path", "png"}, `cannot read "png": it is a binary file; only text can be read`},
		{[]any{"path", "nul"}, `cannot read "nul": it is a binary file; only text can be read`},
		{[]any{"path", "png", "encoding", "latin-1"}, `cannot read "png": it is a binary file; only text can be read`},
		{[]any{"path", "latin"}, `cannot read "latin": it is no utf-8 text: a binary file, or another encoding`},
		{[]any{"path", "latin", "encoding", "ascii"}, `cannot read "latin": it is no ascii text: a binary file, or another encoding`},
		{[]any{"path", "undefined", "encoding", "cp1252"}, `cannot read "undefined": it is no cp1252 text: a binary file, or another encoding`},
		{[]any{"path", "odd", "encoding", "utf-16"}, `cannot read "odd": it is no utf-16 text: a binary file, or another encoding`},
		{[]any{"path", "half", "encoding", "utf-16"}, `cannot read "half": it is no utf-16 text: a binary file, or another encoding`},
	}
	for _, tt := range tests {
		got, err := call(t, r, "file_read", tt.args...)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q: got %v and error %v, want %s", tt.args, got, err, tt.want)
		}
	}
}

func TestFileReadPaths(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(real, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "a", "f"), "beside b")
	put(t, filepath.Join(dir, "f"), "beside a")
	if err := os.Symlink(real, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	r := tools(t, builtin.Options{Dir: dir})
	for path, want := range map[string]string{
		"f":                       "beside a",
		"./a/../f":                "beside a",
		"link/../f":               "beside b", // as the kernel has it
		filepath.Join(dir, "f"):   "beside a",
		"a/b/../../link/.././//f": "beside b",
	} {
		if got, err := call(t, r, "file_read", "path", path); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %s", path, got, err, want)
		}
	}
	t.Chdir(dir)
	if got, err := call(t, tools(t, builtin.Options{}), "file_read", "path", "f"); err != nil || got != "beside a" {
		t.Errorf("from the working directory: got %v, %v", got, err)
	}
}

func TestFileReadLimit(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f"), strings.Repeat("x", 10))
	if _, err := call(t, tools(t, builtin.Options{Dir: dir, MaxReadBytes: 10}), "file_read", "path", "f"); err != nil {
		t.Error(err)
	}
	_, err := call(t, tools(t, builtin.Options{Dir: dir, MaxReadBytes: 9}), "file_read", "path", "f")
	if want := `cannot read "f": it is too large: more than max_read_bytes, which is 9`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestFileWrite(t *testing.T) {
	dir := t.TempDir()
	r := tools(t, builtin.Options{Dir: dir})
	tests := []struct {
		name, content, encoding, bytes string
	}{
		{"ascii text", "abc\n", "", "abc\n"},
		{"written counts bytes", "grün 😀", "", "grün 😀"},
		{"empty", "", "", ""},
		{"NUL", "a\x00", "", "a\x00"},
		{"latin-1", "grün", "latin-1", "gr\xfcn"},
		{"cp1252", "€", "cp1252", "\x80"},
		{"utf-8-sig", "a", "utf-8-sig", "\ufeffa"},
		{"utf-16", "a😀", "utf-16", "\xff\xfea\x00\x3d\xd8\x00\xde"},
		{"utf-16-be", "a😀", "utf-16-be", "\x00a\xd8\x3d\xde\x00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := []any{"path", "./out/deep/f.txt", "content", tt.content}
			if tt.encoding != "" {
				args = append(args, "encoding", tt.encoding)
			}
			got, err := call(t, r, "file_write", args...)
			if err != nil {
				t.Fatal(err)
			}
			want := show(t, value.MapOf("written", int64(len(tt.bytes)), "path", "./out/deep/f.txt"))
			if s := show(t, got); s != want {
				t.Errorf("got %s, want %s", s, want)
			}
			b, err := os.ReadFile(filepath.Join(dir, "out/deep/f.txt"))
			if err != nil || string(b) != tt.bytes {
				t.Errorf("the file holds %q, %v; want %q", b, err, tt.bytes)
			}
		})
	}
	if names := list(t, filepath.Join(dir, "out/deep")); len(names) != 1 {
		t.Errorf("something was left beside the file: %v", names)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestFileWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	r := tools(t, builtin.Options{Dir: dir})
	script := filepath.Join(dir, "script")
	put(t, script, "old and longer")
	if err := os.Chmod(script, 0o751); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(script)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := call(t, r, "file_write", "path", "script", "content", "new"); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(script); string(b) != "new" {
		t.Errorf("the file holds %q", b)
	}
	if info, err := os.Stat(script); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	old := make([]byte, 100)
	if n, _ := reader.Read(old); string(old[:n]) != "old and longer" {
		t.Errorf("a reader of the old file sees %q", old[:n])
	}
}

func TestFileWriteNewFileHasTheUsualMode(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "usual"), "") // 0644
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	if _, err := call(t, tools(t, builtin.Options{Dir: dir}), "file_write", "path", "f", "content", "x"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "f")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestFileWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	r := tools(t, builtin.Options{Dir: dir})
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "real", "f"), "old")
	links := map[string]string{
		"direct": "real/f", "chain": "direct", "dangling": "real/new", "absolute": filepath.Join(dir, "real", "f"),
		"real/back": "../real/f", "loop": "loop",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"direct": "real/f", "chain": "real/f", "dangling": "real/new", "absolute": "real/f", "real/back": "real/f",
	} {
		if _, err := call(t, r, "file_write", "path", link, "content", "by "+link); err != nil {
			t.Error(err)
			continue
		}
		if b, err := os.ReadFile(filepath.Join(dir, target)); string(b) != "by "+link {
			t.Errorf("%s: the target holds %q, %v", link, b, err)
		}
		if got, err := os.Readlink(filepath.Join(dir, link)); got != links[link] {
			t.Errorf("%s is now %q, %v", link, got, err)
		}
	}
	_, err := call(t, r, "file_write", "path", "loop", "content", "x")
	if want := `cannot write "loop": too many levels of symbolic links`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestFileWriteFailures(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "plain"), "kept")
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"loop": "loop", "nowhere": "no/such"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	before := list(t, dir)
	r := tools(t, builtin.Options{Dir: dir})
	tests := []struct {
		args []any
		want string
	}{
		{[]any{"path", "f"}, `argument "content" is missing`},
		{[]any{"path", "f", "content", int64(5)}, `argument "content" must be a string, not an integer`},
		{[]any{"path", "f", "content", value.MapOf("a", "b")}, `argument "content" must be a string, not an object`},
		{[]any{"path", "f", "content", nil}, `argument "content" must be a string, not null`},
		{[]any{"path", "f", "content", "", "append", true}, `argument "append" is unknown; the known ones are path, content, encoding`},
		{[]any{"path", "", "content", ""}, `argument "path" is empty`},
		{[]any{"path", "a\x00b", "content", ""}, `argument "path" holds a NUL character`},
		{[]any{"path", "plain", "content", "ü", "encoding", "ascii"}, `cannot write "plain": the character 'ü' (U+00FC) does not exist in ascii`},
		{[]any{"path", "plain", "content", "€", "encoding", "latin-1"}, `cannot write "plain": the character '€' (U+20AC) does not exist in latin-1`},
		{[]any{"path", "plain", "content", "x", "encoding", "rot13"}, `argument "encoding": "rot13" is unknown; the known ones are utf-8, utf-8-sig, ascii, latin-1, cp1252, utf-16, utf-16-le, utf-16-be`},
		{[]any{"path", "d", "content", ""}, `cannot write "d": it is a directory`},
		{[]any{"path", "d/", "content", ""}, `cannot write "d/": it is a directory`},
		{[]any{"path", "fifo", "content", ""}, `cannot write "fifo": it is no regular file`},
		{[]any{"path", "plain/x", "content", ""}, `cannot write "plain/x": not a directory`},
		{[]any{"path", "loop/x", "content", ""}, `cannot write "loop/x": too many levels of symbolic links`},
		{[]any{"path", "nowhere/x", "content", ""}, `cannot write "nowhere/x": no such file or directory`},
		{[]any{"path", "/dev/full", "content", "x"}, `cannot write "/dev/full": it is no regular file`},
		{[]any{"path", strings.Repeat("n", 300), "content", ""}, `cannot write "` + strings.Repeat("n", 300) + `": file name too long`},
	}
	for _, tt := range tests {
		_, err := call(t, r, "file_write", tt.args...)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.60q: got error %v, want %s", tt.args, err, tt.want)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "plain")); string(b) != "kept" {
		t.Errorf("a failed write left %q", b)
	}
	if d := cmp.Diff(before, list(t, dir)); d != "" {
		t.Errorf("a failed write left files: %s", d)
	}
}

func TestFileWriteRespectsPermissions(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write every file")
	}
	dir := t.TempDir()
	for _, sub := range []string{"closed", "open"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "open", "readonly"), "kept")
	put(t, filepath.Join(dir, "closed", "f"), "old")
	if err := os.Chmod(filepath.Join(dir, "open", "readonly"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "closed"), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(dir, "closed"), 0o755)
	r := tools(t, builtin.Options{Dir: dir})
	if _, err := call(t, r, "file_write", "path", "open/readonly", "content", "x"); err == nil {
		t.Error("a read-only file was replaced")
	}
	if _, err := call(t, r, "file_write", "path", "closed/f", "content", "new"); err != nil {
		t.Errorf("a writable file in a closed directory: %v", err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "closed", "f")); string(b) != "new" {
		t.Errorf("it holds %q", b)
	}
}

func TestFileToolsStopWithTheContext(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f"), "old")
	r := tools(t, builtin.Options{Dir: dir})
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	for name, args := range map[string]*value.Map{
		"file_read": value.MapOf("path", "f"), "file_write": value.MapOf("path", "f", "content", "new"),
	} {
		tl, _ := r.Get(name)
		if _, err := tl.Call(ctx, args); err == nil {
			t.Errorf("%s went on", name)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "f")); string(b) != "old" {
		t.Errorf("the file holds %q", b)
	}
}
