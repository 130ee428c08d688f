package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// MaxEvent is the largest single event of a stream that is read, in bytes.
const MaxEvent = 16 << 20

// GuardEvents bounds an event stream's body: its whole length as Guard does,
// and the length of a single event (up to a blank line) to maxEvent bytes.
func (s Service) GuardEvents(res *http.Response, max, maxEvent int64) {
	s.Guard(res, max)
	res.Body = &eventGuard{guarded: res.Body.(*guarded), max: maxEvent}
}

type eventGuard struct {
	*guarded
	max, size int64
	line      int64 // bytes of the line so far, its end not counted
}

func (g *eventGuard) Read(p []byte) (int, error) {
	n, err := g.guarded.Read(p)
	for _, c := range p[:n] {
		g.size++
		switch {
		case c == '\n' && g.line == 0:
			g.size = 0
		case c == '\n':
			g.line = 0
		case c != '\r':
			g.line++
		}
		if g.size > g.max {
			text := fmt.Sprintf("%s sent an event of more than %d bytes in its stream, which is more than is read of one", g.service.Name, g.max)
			return 0, fault.New(fault.Permanent, text, nil)
		}
	}
	return n, err
}

// Cut is the error for a stream that ended before its end marker.
func (s Service) Cut() *fault.Error {
	return fault.New(fault.Transient, s.Name+" ended its stream before the answer was whole", nil)
}

func (s Service) odd(what string) *fault.Error {
	return fault.New(fault.Transient, s.Name+" answered "+what, nil)
}

// StatusOfType returns the status that a service would have answered for an
// error of a type (or code) that it reports in a stream, such as
// "overloaded_error" or "RESOURCE_EXHAUSTED"; 500 for one that is not known.
func StatusOfType(kind string) int {
	kind = strings.ToLower(kind)
	for _, known := range []struct {
		part   string
		status int
	}{
		{"overloaded", 529},
		{"rate_limit", http.StatusTooManyRequests},
		{"resource_exhausted", http.StatusTooManyRequests},
		{"insufficient_quota", http.StatusTooManyRequests},
		{"authentication", http.StatusUnauthorized},
		{"unauthenticated", http.StatusUnauthorized},
		{"api_key", http.StatusUnauthorized},
		{"billing", http.StatusPaymentRequired},
		{"permission", http.StatusForbidden},
		{"not_found", http.StatusNotFound},
		{"too_large", http.StatusRequestEntityTooLarge},
		{"invalid", http.StatusBadRequest},
		{"failed_precondition", http.StatusBadRequest},
		{"context_length", http.StatusBadRequest},
		{"unavailable", http.StatusServiceUnavailable},
		{"timeout", http.StatusGatewayTimeout},
		{"deadline", http.StatusGatewayTimeout},
	} {
		if strings.Contains(kind, known.part) {
			return known.status
		}
	}
	return http.StatusInternalServerError
}

// Collector gathers the pieces of an answer and hands each on as it comes. It
// is for one answer and one goroutine.
type Collector struct {
	sink            func(model.Delta)
	start           time.Time
	first           time.Duration
	split           ThinkSplitter
	text, reasoning strings.Builder
}

// Collect returns a collector for a call that starts now. The sink, which may
// be nil, gets each piece from the goroutine that brings it.
func Collect(sink func(model.Delta)) *Collector {
	return &Collector{sink: sink, start: time.Now()}
}

// Text takes the next piece of the answer's text; an inline <think> block at
// its start becomes reasoning.
func (c *Collector) Text(piece string) {
	reasoning, text := c.split.Add(piece)
	c.Reasoning(reasoning)
	c.Plain(text)
}

// Plain takes the next piece of text that can't hold a <think> block, such as a
// refusal.
func (c *Collector) Plain(piece string) {
	if piece != "" {
		c.text.WriteString(piece)
		c.hand(model.Delta{Text: piece})
	}
}

// Reasoning takes the next piece of the reasoning.
func (c *Collector) Reasoning(piece string) {
	if piece != "" {
		c.reasoning.WriteString(piece)
		c.hand(model.Delta{Reasoning: piece})
	}
}

func (c *Collector) hand(d model.Delta) {
	if c.first == 0 {
		c.first = max(1, time.Since(c.start)) // 0 would say that nothing streamed
	}
	if c.sink != nil {
		c.sink(d)
	}
}

// Finish hands on what was held back, and sets the response's Text, Reasoning
// and, for a call with a sink, FirstToken. It is called whether the stream
// came to its end or broke off.
func (c *Collector) Finish(r *model.Response) {
	reasoning, text := c.split.End()
	c.Reasoning(reasoning)
	c.Plain(text)
	r.Text, r.Reasoning = c.text.String(), c.reasoning.String()
	if c.sink != nil {
		r.FirstToken = c.first
	}
}
