package cli

import (
	"io"
	"strings"
	"sync"
)

// lockedWriter lets several goroutines write whole pieces of text.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// streamText shows streamed answers among the log's lines: pieces of one
// answer go out as they come, each line under its step's name, and a piece of
// another step, or a log line, first ends the line that is open.
type streamText struct {
	w    io.Writer
	st   style
	open string // the address whose line is open; "" for none
}

// piece writes a piece of the answer at an address.
func (s *streamText) piece(address, text string) {
	if text == "" {
		return
	}
	var b strings.Builder
	if s.open != address {
		s.end(&b)
	}
	for part := range strings.SplitAfterSeq(text, "\n") {
		if part == "" {
			continue
		}
		if s.open == "" {
			step, _, _ := strings.Cut(address, "/")
			b.WriteString(s.st.dim(shortLine(step) + " │ "))
			s.open = address
		}
		body, ends := strings.CutSuffix(part, "\n")
		b.WriteString(line(body))
		if ends {
			b.WriteString("\n")
			s.open = ""
		}
	}
	_, _ = io.WriteString(s.w, b.String())
}

// end ends the open line.
func (s *streamText) end(b *strings.Builder) {
	if s.open != "" {
		b.WriteString("\n")
		s.open = ""
	}
}
