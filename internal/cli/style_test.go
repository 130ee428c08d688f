package cli

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/term"
)

// terminal returns a file that is a terminal.
func terminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals can be made here: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	if !term.IsTerminal(int(f.Fd())) {
		t.Skip("the system's terminals show at their other end only")
	}
	return f
}

func TestColourOnlyWhereItIsWanted(t *testing.T) {
	tty := terminal(t)
	if got := styleFor(tty, []string{"TERM=xterm", "NO_COLOR="}).red("x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("on a terminal: %q", got)
	}
	for _, environ := range [][]string{{"NO_COLOR=1"}, {"NO_COLOR=anything"}, {"TERM=dumb"}} {
		if got := styleFor(tty, environ).red("x"); got != "x" {
			t.Errorf("with %v: %q", environ, got)
		}
	}
	if got := styleFor(new(bytes.Buffer), nil).red("x"); got != "x" {
		t.Errorf("without a terminal: %q", got)
	}
}
