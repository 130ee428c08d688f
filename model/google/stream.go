package google

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// readStream reads an answer that comes as server-sent events. From a service
// that does not know these it is the pieces in one JSON array, or the whole as
// one object.
func (a *assembly) readStream(res *http.Response) error {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err == nil && kind == "application/json" {
		return a.readArray(res)
	}
	a.service.GuardEvents(res, httpapi.MaxAnswer, httpapi.MaxEvent)
	return a.events(res.Body)
}

func (a *assembly) readArray(res *http.Response) error {
	a.service.Guard(res, httpapi.MaxAnswer)
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return a.add(body)
	}
	pieces, err := readList[json.RawMessage](bytes.TrimSpace(body), maxParts)
	if err != nil {
		return unknownForm(a.service, err)
	}
	for _, piece := range pieces {
		if err := a.add(piece); err != nil {
			return err
		}
	}
	return nil
}

// events reads a stream of events to its end. Comments and events of a type
// that is not known are skipped.
func (a *assembly) events(body io.Reader) error {
	lines := bufio.NewReaderSize(body, 16<<10)
	var e event
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		text := bytes.TrimRight(line, "\r\n")
		switch {
		case err != nil:
			// The last event need not end in an empty line, but must be whole.
			e.field(text)
			if e.known() && !json.Valid(e.data) {
				return a.service.Cut()
			}
			return a.event(e)
		case len(text) == 0:
			if err := a.event(e); err != nil {
				return err
			}
			e = event{}
		default:
			e.field(text)
		}
	}
}

// event is a server-sent event.
type event struct {
	kind string
	data []byte
}

// field takes a line of an event.
func (e *event) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.kind = string(value)
	case "data":
		if e.data != nil {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	}
}

// known reports whether an event is a piece of the answer.
func (e *event) known() bool {
	switch e.kind {
	case "", "message", "error":
		return len(e.data) > 0 && string(e.data) != "[DONE]" // as some proxies end
	}
	return false
}

func (a *assembly) event(e event) error {
	switch {
	case !e.known():
		return nil
	case e.data[0] == '{':
		return a.add(e.data)
	case json.Valid(e.data):
		return nil // nothing that is known
	}
	return fault.New(fault.Transient, a.service.Name+" sent an event in its stream that is no JSON", nil)
}
