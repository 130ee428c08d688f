package cli

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// style colours text for one output: with plain ANSI codes on a terminal, not
// at all elsewhere, under NO_COLOR or on a dumb terminal.
type style struct{ on bool }

func styleFor(w io.Writer, environ []string) style {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return style{}
	}
	env := parseEnviron(environ)
	return style{on: env["NO_COLOR"] == "" && env["TERM"] != "dumb"}
}

func (s style) code(sgr, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string   { return s.code("1", text) }
func (s style) dim(text string) string    { return s.code("2", text) }
func (s style) red(text string) string    { return s.code("31", text) }
func (s style) green(text string) string  { return s.code("32", text) }
func (s style) yellow(text string) string { return s.code("33", text) }
func (s style) cyan(text string) string   { return s.code("36", text) }

// pad fills a text with spaces to a width, in characters.
func pad(text string, width int) string {
	if n := width - displayWidth(text); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}

// displayWidth counts terminal columns: two for the wide characters of East
// Asian scripts and emoji, one for all others.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		n++
		if wide(r) {
			n++
		}
	}
	return n
}

func wide(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3:
		return true
	case r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6:
		return true
	}
	return r >= 0x1f300 && r <= 0x1f64f || r >= 0x1f900 && r <= 0x1f9ff || r >= 0x20000 && r <= 0x3fffd
}
