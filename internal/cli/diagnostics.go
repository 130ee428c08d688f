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

// sourceLines finds places in a file. Diagnostics come in file order, so it
// goes on from the place it found last: a file can be one line of 10 MiB with a
// thousand mistakes.
type sourceLines struct {
	src        []byte
	number     int // of the line; 0 before the first use
	start, end int // the line's offsets
	column, at int // a place in it, and that place's offset
}

// excerpt returns a line, made printable and cut around a column, and where in
// it the column is.
func (s *sourceLines) excerpt(number, column int) (text string, caret int, ok bool) {
	if column < 1 || !s.seek(number, column) {
		return "", 0, false
	}
	from, to := s.at, s.at
	for n := 0; n < excerptWidth && from > s.start; n++ {
		_, size := utf8.DecodeLastRune(s.src[s.start:from])
		from -= size
	}
	for n := 0; n < excerptWidth && to < s.end; n++ {
		_, size := utf8.DecodeRune(s.src[to:s.end])
		to += size
	}
	if !utf8.Valid(s.src[from:to]) {
		return "", 0, false
	}
	head, tail := tabless(s.src[from:s.at]), tabless(s.src[s.at:to])
	if from > s.start {
		head = "…" + head
	}
	if to < s.end {
		tail += "…"
	}
	return head + tail, displayWidth(head), true
}

// seek goes to a place, or to the end of its line where that is shorter.
func (s *sourceLines) seek(number, column int) bool {
	if number < 1 || len(s.src) == 0 {
		return false
	}
	if s.number == 0 || number < s.number {
		s.enter(1, 0)
	}
	for s.number < number {
		i := bytes.IndexByte(s.src[s.end:], '\n')
		if i < 0 {
			return false
		}
		s.enter(s.number+1, s.end+i+1)
	}
	if column < s.column {
		s.column, s.at = 1, s.start
	}
	for ; s.column < column && s.at < s.end; s.column++ {
		_, size := utf8.DecodeRune(s.src[s.at:s.end])
		s.at += size
	}
	return true
}

// enter makes the line at an offset the current one, without what is no text of
// it: a byte order mark, and the carriage return of its end.
func (s *sourceLines) enter(number, start int) {
	line, _, _ := bytes.Cut(s.src[start:], []byte("\n"))
	end := start + len(bytes.TrimSuffix(line, []byte("\r")))
	if bytes.HasPrefix(line, []byte("\ufeff")) {
		start += len("\ufeff")
	}
	s.number, s.start, s.end = number, start, end
	s.column, s.at = 1, start
}

// tabless makes characters printable, a tab as one space so that the caret
// stands right.
func tabless(text []byte) string {
	return line(strings.ReplaceAll(string(text), "\t", " "))
}
