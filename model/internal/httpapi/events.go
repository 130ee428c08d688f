package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Events reads server-sent events: of each only its data, which is all that
// most services use. It keeps one event at a time; GuardEvents bounds its size.
type Events struct {
	r    *bufio.Reader
	data []byte
	line []byte // the pieces of a line longer than r's buffer
	err  error
}

// eventBuffer is more than most events take, in bytes.
const eventBuffer = 2048

// ReadEvents returns a reader of the events in a stream's body.
func ReadEvents(body io.Reader) *Events {
	return &Events{r: bufio.NewReaderSize(body, eventBuffer)}
}

// Next reads the next event that has data. It returns false at the stream's
// end, where an event without its blank line is dropped, and when reading
// fails.
func (e *Events) Next() bool {
	e.data = e.data[:0]
	some := false
	for e.err == nil {
		line, err := e.readLine()
		if err != nil {
			e.err = err
			break
		}
		if len(line) == 0 {
			if some {
				return true
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" {
			continue // a comment, or a field that nobody asks for
		}
		if some {
			e.data = append(e.data, '\n')
		}
		some = true
		e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...)
	}
	return false
}

// readLine returns a whole line without its end.
func (e *Events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		piece, err := e.r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			e.line = append(e.line, piece...)
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(e.line) > 0 {
			e.line = append(e.line, piece...)
			piece = e.line
		}
		return bytes.TrimSuffix(piece[:len(piece)-1], []byte("\r")), nil
	}
}

// Data is the event's data, its lines joined by line breaks. It is valid until
// Next is called again.
func (e *Events) Data() []byte { return e.data }

// Err is the error that ended the reading, nil at the stream's end.
func (e *Events) Err() error {
	if errors.Is(e.err, io.EOF) {
		return nil
	}
	return e.err
}
