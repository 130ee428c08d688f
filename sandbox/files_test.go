package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
)

func filesTree(t testing.TB) (string, *Policy) {
	dir := layout(t, "work/f", "work/d/f", "read/f", "write/f", "secret/f", "work2/f",
		"work/inside -> d/f", "work/abs -> $/work/d/f", "work/outside -> ../secret/f", "work/out -> ../secret", "work/toread -> ../read/f",
		"work/loop -> loop", "work/dangling -> ../secret/new", "work/newlink -> d/new", "work/proc -> /proc/self/root", "alias -> read")
	return dir, policyAt(t, dir, func(s *workflow.Sandbox) {
		s.AllowedPaths, s.ReadablePaths, s.WritablePaths = []string{"work"}, []string{"alias"}, []string{"write", "later/deep"}
	})
}

// TestPaths: what may be read and written, by lists, links and "..".
func TestPaths(t *testing.T) {
	dir, p := filesTree(t)
	long := strings.Repeat("n", 300)
	const no, read, write = "no", "r", "w"
	cases := []struct{ name, path, may, why string }{
		{"allowed_paths: both", "work/f", read + write, ""},
		{"the directory itself", "work", read + write, ""},
		{"a new file", "work/new/deep/f", read + write, ""},
		{"by its absolute path", dir + "/work/f", read + write, ""},
		{"readable_paths: reading", "read/f", read, ""},
		{"by the link that is listed", "alias/f", read, ""},
		{"writable_paths: writing", "write/f", write, ""},
		{"a listed directory that is missing", "later/deep/f", write, ""},
		{"but not its parent", "later/f", no, "is not under"},
		{"no list", "secret/f", no, "is not under"},
		{"the run's directory", ".", no, "is not under"},
		{"a longer name", "work2/f", no, "is not under"},
		{"the root", "/", no, "is not under"},
		{".. inside", "work/d/../f", read + write, ""},
		{".. out", "work/../secret/f", no, "is not under"},
		{".. from what is missing", "work/new/../../secret/f", no, "is not under"},
		{".. from what is missing, inside", "work/new/../f", read + write, ""},
		{".. past the root", strings.Repeat("../", 50) + "etc/passwd", no, "is not under"},
		{"a link inside", "work/inside", read + write, ""},
		{"an absolute link inside", "work/abs", read + write, ""},
		{"a link to a new file inside", "work/newlink", read + write, ""},
		{"a link out", "work/outside", no, "is not under"},
		{"through a link out", "work/out/f", no, "is not under"},
		{"a link to a new file outside", "work/dangling", no, "is not under"},
		{"a link to what can be read only", "work/toread", read, ""},
		{"links in a circle", "work/loop/f", no, "too many levels of symbolic links"},
		{"the process's own root", "work/proc" + dir + "/secret/f", no, "is not under"},
		{"and back inside", "work/proc" + dir + "/work/f", read + write, ""},
		{"a directory of open files", "/dev/fd/0", no, "is not under"},
		{"a long name", "work/" + long, no, "file name too long"},
		{"a long path", "work/" + strings.Repeat("n/", 3000), no, "file name too long"},
		{"NUL", "work/f\x00", no, "NUL"},
		{"nothing", "", no, "it is empty"},
		{"a file with a slash", "work/f/", no, "is no directory"},
		{"a space at the end is part of the name", "work/f ", read + write, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, check := range []struct{ may, tool string }{{read, "file_read"}, {write, "file_write"}} {
				err := p.CheckPath(c.path, check.may == write)
				switch {
				case !strings.Contains(c.may, check.may):
					wantRefusal(t, err, "Sandbox violation ("+check.tool+"): path ", c.why)
				case err != nil:
					t.Errorf("%s: %v", check.tool, err)
				}
			}
		})
	}
}

func TestDisabledLocates(t *testing.T) {
	dir := layout(t, "f", "loop -> loop", "link -> f")
	p, err := New(nil, PolicyOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if at, err := p.ReadPath("link"); err != nil || at.Path != dir+"/f" {
		t.Errorf("%q, %v", at.Path, err)
	}
	if at, err := p.WritePath("/dev/null", 1<<40); err != nil || at.Path != "/dev/null" {
		t.Errorf("%q, %v", at.Path, err)
	}
	if _, err := p.ReadPath("loop"); err == nil || fault.KindOf(err) == fault.Refused {
		t.Errorf("links in a circle: %v", err)
	}
}

func TestMaxWriteBytes(t *testing.T) {
	dir := layout(t, "work/")
	most := int64(10)
	p := policyAt(t, dir, func(s *workflow.Sandbox) { s.AllowedPaths, s.MaxWriteBytes = []string{"work"}, &most })
	if _, err := p.WritePath("work/f", 10); err != nil {
		t.Error(err)
	}
	_, err := p.WritePath("work/f", 11)
	wantRefusal(t, err, `writing 11 bytes to "work/f" is more than max_write_bytes, which is 10`)
	_, err = p.WritePath("f", 11)
	wantRefusal(t, err, "is not under")
}

func TestProtected(t *testing.T) {
	dir := layout(t, "run.yaml", ".agentloom/x", "state -> .agentloom", "named -> run.yaml", "recorded/", "f")
	if err := os.Link(dir+"/run.yaml", dir+"/hard"); err != nil {
		t.Skip(err)
	}
	p, err := New(enabledBlock(func(s *workflow.Sandbox) { s.AllowedPaths = []string{"."} }),
		PolicyOptions{Dir: dir, Protected: []string{"named", "recorded/calls.json"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"run.yaml", "named", "hard", ".agentloom", ".agentloom/x", ".agentloom/new/x", "state/x", "./f/../.agentloom/x", "recorded/calls.json",
	} {
		wantRefusal(t, p.CheckPath(path, true), "Sandbox violation (file_write)", "tools can't write")
		if err := p.CheckPath(path, false); err != nil {
			t.Errorf("%s may be read: %v", path, err)
		}
	}
	for _, path := range []string{"f", ".agentloom2", "recorded/f", "d/.agentloom/f"} {
		if err := p.CheckPath(path, true); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestListsAreResolvedAtTheStart: a link that is changed later changes nothing.
func TestListsAreResolvedAtTheStart(t *testing.T) {
	dir, p := filesTree(t)
	if err := errors.Join(os.Remove(dir+"/alias"), os.Symlink("secret", dir+"/alias")); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, p.CheckPath("alias/f", false))
	if err := p.CheckPath("read/f", false); err != nil {
		t.Error(err)
	}
	// A listed directory that becomes a link leads out of the list.
	if err := errors.Join(os.Rename(dir+"/work", dir+"/moved"), os.Symlink("secret", dir+"/work")); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, p.CheckPath("work/f", false))
}

func readAt(l Location) (string, error) {
	f, err := l.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

func TestLocationOpens(t *testing.T) {
	_, p := filesTree(t)
	at := func(path string) Location {
		l, err := p.ReadPath(path)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, path := range []string{"work/f", "work/inside", "work/abs", "alias/f"} {
		if got, err := readAt(at(path)); err != nil || !strings.HasPrefix(got, "content of ") {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	if _, err := readAt(at("work/none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := readAt(at("work/d")); err == nil {
		t.Error("a directory was opened as a file")
	}
	if _, err := readAt(Location{}); err == nil {
		t.Error("the zero Location was opened")
	}
	root, err := at("work/d").OpenDir()
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if b, err := root.ReadFile("f"); err != nil || string(b) != "content of work/d/f" {
		t.Errorf("%q, %v", b, err)
	}
}

// writeAt writes as the file tools do.
func writeAt(l Location, content string) error {
	root, name, err := l.Parent(true)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.WriteFile(".temporary", []byte(content), 0o644); err != nil {
		return err
	}
	return root.Rename(".temporary", name)
}

func TestLocationParent(t *testing.T) {
	dir, p := filesTree(t)
	for _, path := range []string{"work/f", "work/a/b/c/f", "work/newlink", "later/deep/f", "write/a/../f"} {
		at, err := p.WritePath(path, 3)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := at.Parent(false); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if err := writeAt(at, "new"); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(b) != "new" {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	for _, path := range []string{"work/", "work/none/"} {
		at, err := p.WritePath(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := at.Parent(true); err == nil {
			t.Errorf("%s was taken for a file", path)
		}
	}
	if at, err := p.WritePath("work/f/x", 0); err == nil {
		if _, _, err := at.Parent(true); err == nil {
			t.Error("a file was taken for a directory")
		}
	}
}

// TestLaterLinksAreNotFollowed: what a path leads to may be swapped after the
// check; nothing outside is opened or written then.
func TestLaterLinksAreNotFollowed(t *testing.T) {
	for _, swapped := range []string{"work/d/f", "work/d", "work"} {
		t.Run(swapped, func(t *testing.T) {
			dir, p := filesTree(t)
			if err := os.MkdirAll(dir+"/secret/d", 0o755); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"/secret/d/f", "/secret/f"} {
				if err := os.WriteFile(dir+path, []byte("secret"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			reading, err := p.ReadPath("work/d/f")
			if err != nil {
				t.Fatal(err)
			}
			writing, err := p.WritePath("work/d/f", 1)
			if err != nil {
				t.Fatal(err)
			}
			target := map[string]string{"work/d/f": dir + "/secret/f", "work/d": dir + "/secret", "work": dir + "/secret"}[swapped]
			if err := errors.Join(os.Rename(dir+"/"+swapped, dir+"/old"), os.Symlink(target, dir+"/"+swapped)); err != nil {
				t.Fatal(err)
			}
			if got, err := readAt(reading); err == nil {
				t.Errorf("read %q", got)
			}
			_ = writeAt(writing, "written") // may replace the link itself
			for _, path := range []string{"/secret/d/f", "/secret/f"} {
				if b, _ := os.ReadFile(dir + path); string(b) != "secret" {
					t.Errorf("%s holds %q", path, b)
				}
			}
		})
	}
}

// TestOpenRootKnowsItsDirectory: the name may lead elsewhere by the time it is
// opened.
func TestOpenRootKnowsItsDirectory(t *testing.T) {
	dir := layout(t, "work/", "secret/f")
	found, err := os.Stat(dir + "/work")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openRoot(dir+"/secret", found); !errors.Is(err, ErrChanged) {
		t.Errorf("another directory was opened: %v", err)
	}
	root, err := openRoot(dir+"/work", found)
	if err != nil {
		t.Fatal(err)
	}
	root.Close()
}

// TestSwappingNeverWins swaps a directory for a link out while files are
// checked, read and written through it.
func TestSwappingNeverWins(t *testing.T) {
	dir := layout(t, "work/d/f", "secret/f")
	p := policyAt(t, dir, func(s *workflow.Sandbox) { s.AllowedPaths = []string{"work"} })
	if err := os.Symlink("../secret", dir+"/work/link"); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		names := [2]string{"/work/link", "/work/kept"}
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(dir+"/work/d", dir+names[1])
			_ = os.Rename(dir+names[0], dir+"/work/d")
			_ = os.Rename(dir+"/work/d", dir+names[0])
			_ = os.Rename(dir+names[1], dir+"/work/d")
		}
	}()
	func() {
		defer func() { close(stop); <-done }()
		for range 400 {
			if at, err := p.ReadPath("work/d/f"); err == nil {
				if got, err := readAt(at); err == nil && got != "content of work/d/f" {
					t.Errorf("read %q", got)
				}
			}
			if at, err := p.WritePath("work/d/g", 1); err == nil {
				_ = writeAt(at, "x")
			}
		}
	}()
	if entries, err := os.ReadDir(dir + "/secret"); err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
}
