//go:build unix

package attachment_test

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agentloom/agentloom/attachment"
	"github.com/agentloom/agentloom/fault"
)

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(syscall.Mkfifo(filepath.Join(dir, "fifo.png"), 0o600))
	must(os.Symlink("fifo.png", filepath.Join(dir, "to-fifo.png")))
	must(os.Symlink("/dev/zero", filepath.Join(dir, "zero.png")))
	must(os.Symlink("b.png", filepath.Join(dir, "a.png")))
	must(os.Symlink("a.png", filepath.Join(dir, "b.png")))
	must(os.Symlink("nowhere.png", filepath.Join(dir, "dangling.png")))
	writeFile(t, dir, "real.png", png)
	must(os.Symlink("real.png", filepath.Join(dir, "link.png")))
	writeFile(t, dir, "secret.png", png)
	must(os.Chmod(filepath.Join(dir, "secret.png"), 0))
	socket, err := net.Listen("unix", filepath.Join(dir, "s.png"))
	must(err)
	defer socket.Close()

	l := attachment.New(attachment.Config{Dir: dir})
	for _, c := range []struct{ source, want string }{
		{"fifo.png", `attachment "fifo.png" is no regular file`}, // nobody writes: opening it must not wait
		{"to-fifo.png", "is no regular file"},
		{"zero.png", "is no regular file"},
		{"/dev/zero", "is no regular file"},
		{"/dev/tty", "is no regular file"},
		{"s.png", "is no regular file"},
		{"a.png", `attachment "a.png" is a link that leads back to itself`},
		{"dangling.png", "there is no such file"},
	} {
		_, err := load(t, l, "image", c.source)
		mustFail(t, err, fault.Permanent, c.want)
	}
	if _, err := load(t, l, "image", "link.png"); err != nil {
		t.Errorf("a link to a file: %v", err)
	}
	if os.Geteuid() != 0 {
		_, err := load(t, l, "image", "secret.png")
		mustFail(t, err, fault.Permanent, "may not be read")
	}
}
