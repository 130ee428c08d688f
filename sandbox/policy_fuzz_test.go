package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/workflow"
)

// mustStayInside fails when the kernel finds a file by a path outside the
// lists. Joining does not clean the path.
func mustStayInside(t *testing.T, dir, path string, lists []string) {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = dir + "/" + path
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil { // what is missing can't be touched
		return
	}
	if !slices.ContainsFunc(lists, func(list string) bool { return real == list || strings.HasPrefix(real, list+"/") }) {
		t.Errorf("%q leads to %q", path, real)
	}
}

// FuzzCommand: what passes is what sh would run word by word, names an allowed
// program, and names no file outside the lists.
func FuzzCommand(f *testing.F) {
	dir, p := commandTree(f)
	s := p.Sandbox()
	lists := slices.Concat(s.AllowedPaths, s.ReadablePaths, s.WritablePaths)
	for _, seed := range []string{
		"ls", `grep 'a b' "c\"d" e\ f`, "cp f ../write/f", "ls outside", "ls --x=outside", "ls -f../secret/f", "ls link/../secret/f",
		"../bin/ls --a=b=../secret/f", "ls a\u00a0b", "ls 'a\u2028b'", `ls \`, "ls '", `ls "\a\\"`, "A=b ls", "ls #", "ls (", "ls {a,b}", "ls a=~", "ls ''",
		"ls inside/../../f", "ls up", "ls missing/../up/secret/f", "ls /proc/self/cwd", "ls file:///etc/passwd", "ls \xff", "ls a//b/./c/..",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		argv, err := p.Command(command, "work")
		if err != nil {
			return
		}
		name := filepath.Base(argv.Args[0])
		if !slices.Contains(s.AllowedCommands, name) || argv.Path != dir+"/bin/"+name || workflow.IsInterpreter(name) && name != "python3" {
			t.Errorf("%q runs %q", command, argv.Path)
		}
		for _, arg := range argv.Args[1:] {
			mustStayInside(t, argv.Dir, arg, lists)
			for rest := arg; strings.Contains(rest, "="); {
				_, rest, _ = strings.Cut(rest, "=")
				mustStayInside(t, argv.Dir, rest, lists)
			}
			if i := strings.IndexByte(arg, '/'); i > 0 && arg[0] == '-' && arg[1] != '-' {
				mustStayInside(t, argv.Dir, arg[i:], lists)
			}
		}
		out, err := exec.Command("/bin/sh", "-c", "printf '%s\\n' "+command).Output()
		if want := strings.Join(argv.Args, "\n") + "\n"; err != nil || string(out) != want {
			t.Errorf("%q: we read %q, sh %q, %v", command, want, out, err)
		}
	})
}

// FuzzPath: what passes lies under the lists, is what the kernel finds by the
// path, and is what is opened.
func FuzzPath(f *testing.F) {
	dir, p := filesTree(f)
	s := p.Sandbox()
	readable, writable := slices.Concat(s.AllowedPaths, s.ReadablePaths), slices.Concat(s.AllowedPaths, s.WritablePaths)
	for _, seed := range []string{
		"work/f", "work/../secret/f", "work/inside", "work/outside", "work/out/f", "work/toread", "work/loop", "alias/f", "alias/../secret/f",
		"work/d/./..//f", "work/none/../f", "work/f/", "work/proc/etc/passwd", "/proc/self/cwd", "/dev/fd/0", "", "\x00", "work/\xff", "write/f", "later/deep/f",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if at, err := p.ReadPath(path); err == nil {
			if !isUnderAny(at.Path, readable) || at.Path != filepath.Clean(at.Path) {
				t.Errorf("%q is at %q", path, at.Path)
			}
			mustStayInside(t, dir, path, readable)
			if content, err := readAt(at); err == nil && !strings.HasPrefix(content, "content of work/") && !strings.HasPrefix(content, "content of read/") {
				t.Errorf("%q: read %q", path, content)
			}
		}
		if at, err := p.WritePath(path, 0); err == nil {
			if !isUnderAny(at.Path, writable) {
				t.Errorf("%q is at %q", path, at.Path)
			}
			mustStayInside(t, dir, path, writable)
			if found, err := os.Stat(dir + "/" + path); err == nil && !filepath.IsAbs(path) {
				if own, err := os.Stat(at.Path); err != nil || !os.SameFile(found, own) {
					t.Errorf("%q is another file than %q", path, at.Path)
				}
			}
		}
	})
}
