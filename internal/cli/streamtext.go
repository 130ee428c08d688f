package cli

import (
	"io"
	"strings"
	"sync"
)

// screen is where everything for people goes: the log's lines, warnings, and
// streamed answers among them. Pieces of one answer go out as they come, each
// line under its step's name; a piece of another step, or anything else, first
// ends the line that is open. It is safe for concurrent use.
type screen struct {
	st style

	mu   sync.Mutex
	w    *hidingWriter
	open string // the address whose line is open; "" for none
}

func newScreen(w io.Writer, st style, hide *secrets) *screen {
	return &screen{st: st, w: &hidingWriter{w: w, secrets: hide}}
}

// Write writes whole lines.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.end(); err != nil {
		return 0, err
	}
	return s.w.Write(b)
}

// piece writes a piece of the answer at an address.
func (s *screen) piece(address, text string) {
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	if s.open != address {
		_ = s.end()
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
	_, _ = s.w.Write([]byte(b.String()))
}

// end ends the open line.
func (s *screen) end() error {
	if s.open == "" {
		return nil
	}
	s.open = ""
	_, err := s.w.Write([]byte("\n"))
	return err
}

// close writes what was kept back, and ends the open line.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.end()
	_ = s.w.flush()
}
