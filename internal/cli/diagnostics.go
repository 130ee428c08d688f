package cli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/workflow"
)

// diagnosticsText prints a file's diagnostics as a compiler does: each on one
// line, then the line of the file with a caret under the place.
func diagnosticsText(l *loaded, st style) string {
	var b strings.Builder
	src := sourceLines{src: l.src}
	for _, d := range l.diagnostics {
		text := line(d.String())
		if d.Severity == workflow.SeverityError {
			text = strings.Replace(text, "error:", st.red("error:"), 1)
		} else {
			text = strings.Replace(text, "warning:", st.yellow("warning:"), 1)
		}
		fmt.Fprintln(&b, text)
		if excerpt, caret, ok := src.excerpt(d.Line, d.Column); ok {
			gutter := fmt.Sprintf("%5d | ", d.Line)
			fmt.Fprintf(&b, "%s%s\n", st.dim(gutter), excerpt)
			fmt.Fprintf(&b, "%s%s%s\n", st.dim(strings.Repeat(" ", len(gutter)-2)+"| "), strings.Repeat(" ", caret), st.red("^"))
		}
	}
	return b.String()
}

// excerptWidth is how much of a long line is shown around the place, in
// characters on each side.
const excerptWidth = 60

// sourceLines finds lines of a file. Diagnostics come in file order, so it goes
// on from the line it found last.
type sourceLines struct {
	src    []byte
	number int // of the line that starts at offset; 0 before the first use
	offset int
}

// excerpt returns a line, made printable and cut around a column, and where in
// it the column is.
func (s *sourceLines) excerpt(number, column int) (text string, caret int, ok bool) {
	raw, ok := s.line(number)
	if !ok || column < 1 || !utf8.Valid(raw) {
		return "", 0, false
	}
	runes := []rune(string(raw))
	at := min(column-1, len(runes))
	from, to := max(0, at-excerptWidth), min(len(runes), at+excerptWidth)
	head, tail := tabless(runes[from:at]), tabless(runes[at:to])
	if from > 0 {
		head = "…" + head
	}
	if to < len(runes) {
		tail += "…"
	}
	return head + tail, displayWidth(head), true
}

func (s *sourceLines) line(number int) ([]byte, bool) {
	if number < 1 || len(s.src) == 0 {
		return nil, false
	}
	if s.number == 0 || number < s.number {
		s.number, s.offset = 1, 0
	}
	for s.number < number {
		i := bytes.IndexByte(s.src[s.offset:], '\n')
		if i < 0 {
			return nil, false
		}
		s.number, s.offset = s.number+1, s.offset+i+1
	}
	l, _, _ := bytes.Cut(s.src[s.offset:], []byte("\n"))
	return bytes.TrimPrefix(bytes.TrimSuffix(l, []byte("\r")), []byte("\ufeff")), true
}

// tabless makes characters printable, a tab as one space so that the caret
// stands right.
func tabless(rs []rune) string {
	return line(strings.ReplaceAll(string(rs), "\t", " "))
}
