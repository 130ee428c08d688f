package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
	"github.com/google/go-cmp/cmp"
)

// testingT is what tests, property tests and fuzzers share.
type testingT interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// layout makes a tree: "dir/" is a directory, "link -> target" a link, and
// "program!" an executable file; $ is the tree's root. It returns the root,
// resolved.
func layout(t testing.TB, entries ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		entry = strings.ReplaceAll(entry, "$", root)
		name, target, link := strings.Cut(entry, " -> ")
		path := filepath.Join(root, strings.TrimSuffix(name, "!"))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case strings.HasSuffix(name, "!"):
			err = os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)
		default:
			err = os.WriteFile(path, []byte("content of "+name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// policyAt is a policy with the sandbox enabled that starts in a directory and
// finds programs in its bin.
func policyAt(t testingT, dir string, change func(*workflow.Sandbox)) *Policy {
	t.Helper()
	p, err := New(enabledBlock(change), PolicyOptions{Dir: dir, Path: filepath.Join(dir, "bin")})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func enabledBlock(change func(*workflow.Sandbox)) *workflow.Sandbox {
	s := sandboxOf(change)
	s.Enabled = true
	return s
}

func wantRefusal(t testingT, err error, parts ...string) {
	t.Helper()
	if fault.KindOf(err) != fault.Refused {
		t.Errorf("got %v, want a refusal", err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %s in it", err, part)
		}
	}
}

func TestNewErrors(t *testing.T) {
	dir := layout(t, "loop -> loop")
	commands := func(s *workflow.Sandbox) { s.AllowedCommands = []string{"ls"} }
	cases := []struct {
		name  string
		block *workflow.Sandbox
		opts  PolicyOptions
		want  string // part of the error; "" is none
	}{
		{"no block", nil, PolicyOptions{}, ""},
		{"a missing directory is listed for later", enabledBlock(func(s *workflow.Sandbox) { s.WritablePaths = []string{"out/new"} }), PolicyOptions{}, ""},
		{"an empty entry", enabledBlock(func(s *workflow.Sandbox) { s.ReadablePaths = []string{".", ""} }), PolicyOptions{}, "config.sandbox.readable_paths: an entry is empty"},
		{"links in a circle", enabledBlock(func(s *workflow.Sandbox) { s.AllowedPaths = []string{"loop/x"} }), PolicyOptions{}, `config.sandbox.allowed_paths: "loop/x" can't be resolved: too many levels of symbolic links`},
		{"so what, when disabled", sandboxOf(func(s *workflow.Sandbox) { s.AllowedPaths = []string{"loop/x"} }), PolicyOptions{}, ""},
		{"PATH with .", enabledBlock(commands), PolicyOptions{Path: "/bin:."}, `PATH has the entry "."`},
		{"PATH with an empty entry", enabledBlock(commands), PolicyOptions{Path: "/bin:"}, `PATH has the entry ""`},
		{"PATH that is not used", enabledBlock(nil), PolicyOptions{Path: "/bin:"}, ""},
		{"PATH", enabledBlock(commands), PolicyOptions{Path: "/usr/bin:/bin"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.opts.Dir = dir
			_, err := New(c.block, c.opts)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestDefaults is the table of the fields, with nothing but enabled set.
func TestDefaults(t *testing.T) {
	dir := layout(t, "bin/ls!", "data/f")
	p := policyAt(t, dir, nil)
	_, err := p.Command("ls", "data")
	wantRefusal(t, err, "Sandbox violation (shell_command)")
	wantRefusal(t, p.CheckPath("data/f", false), "Sandbox violation (file_read)")
	wantRefusal(t, p.CheckPath("data/new", true), "Sandbox violation (file_write)")
	if err := p.CheckURL(t.Context(), "https://192.0.32.8/"); err != nil {
		t.Errorf("any public host: %v", err)
	}
	wantRefusal(t, p.CheckURL(t.Context(), "http://127.0.0.1/"), "Sandbox violation (http_request)")
	wantRefusal(t, p.CheckURL(t.Context(), "ftp://192.0.32.8/"), `scheme "ftp"`)

	off, err := New(nil, PolicyOptions{Dir: dir})
	if err != nil || off.Enabled() {
		t.Fatalf("a policy without a block: %v", err)
	}
	for name, err := range map[string]error{
		"read":    off.CheckPath("/etc/passwd", false),
		"write":   off.CheckPath("/dev/null", true),
		"command": off.CheckCommand("cat * | sh >$x", "/nowhere"),
		"URL":     off.CheckURL(t.Context(), "http://127.0.0.1/"),
	} {
		if err != nil {
			t.Errorf("%s, disabled: %v", name, err)
		}
	}
}

// TestPolicyDoesNotChange: neither by its block nor by what it hands out.
func TestPolicyDoesNotChange(t *testing.T) {
	dir := layout(t, "data/f", "other/f")
	most := int64(5)
	block := enabledBlock(func(s *workflow.Sandbox) { s.AllowedPaths, s.MaxWriteBytes = []string{"data"}, &most })
	p, err := New(block, PolicyOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := p.Sandbox()
	if got := want.AllowedPaths; !cmp.Equal(got, []string{dir + "/data"}) {
		t.Errorf("the list is %v", got)
	}
	if p.Dir() != dir {
		t.Errorf("the directory is %s", p.Dir())
	}
	if block.AllowedPaths[0] != "data" {
		t.Errorf("the block that was given has changed: %v", block.AllowedPaths)
	}
	block.AllowedPaths[0], most = "other", 1000
	out := p.Sandbox()
	out.AllowedPaths[0], *out.MaxWriteBytes = "/", 1000
	wantRefusal(t, p.CheckPath("other/f", false))
	if _, err := p.WritePath("data/f", 6); err == nil {
		t.Error("max_write_bytes has changed")
	}
}

func TestAsNamesTheTool(t *testing.T) {
	dir := layout(t, "bin/ls!", "data/f")
	p := policyAt(t, dir, nil).As("search")
	const want = "Sandbox violation (search): "
	wantRefusal(t, p.CheckPath("data/f", false), want)
	wantRefusal(t, p.CheckPath("data/f", true), want)
	wantRefusal(t, p.CheckCommand("ls", "."), want)
	wantRefusal(t, p.CheckURL(t.Context(), "http://localhost/"), want)
	wantRefusal(t, p.CheckURL(t.Context(), "http://%zz/"), want, "can't be read")
}

// TestRefusalsAreShortAndEscaped: what is refused comes from models.
func TestRefusalsAreShortAndEscaped(t *testing.T) {
	dir := layout(t, "bin/ls!", "data/")
	p := policyAt(t, dir, func(s *workflow.Sandbox) { s.AllowedPaths, s.AllowedCommands = []string{"."}, []string{"ls"} })
	for _, text := range []string{"\x1b[31m\u202e", strings.Repeat("é", 1<<20), "../\x1b\u202e", "a\x00b", "\xff", strings.Repeat("x/", 1<<19) + "x"} {
		for _, err := range []error{
			p.CheckPath("../"+text, false), p.CheckPath("../"+text, true), p.CheckCommand(text, "."), p.CheckCommand("ls ../"+text, "."),
			p.CheckCommand("ls", "../"+text),
		} {
			wantRefusal(t, err)
			if err != nil && (len(err.Error()) > 1500 || !utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\x1b\u202e\x00")) {
				t.Errorf("%.20q: %.300q", text, err)
			}
		}
	}
}

func TestCheckURLResolves(t *testing.T) {
	guard := PolicyOptions{Guard: Options{Resolver: addresses{}}}
	p, err := New(enabledBlock(nil), guard)
	if err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, p.CheckURL(t.Context(), "http://no.such.host/"), "does not resolve")
	guard.Guard.Resolver = resolves("93.184.216.34", "10.0.0.1")
	if p, err = New(enabledBlock(nil), guard); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, p.CheckURL(t.Context(), "http://inside.example/"), "resolves to an internal address")
	listed := func(s *workflow.Sandbox) { s.AllowedDomains = []string{"inside.example"} }
	if p, err = New(enabledBlock(listed), guard); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckURL(t.Context(), "http://inside.example/"); err != nil {
		t.Errorf("a listed host may be internal: %v", err)
	}
}
