package mcp

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxRefusal is how much of an answer that is no success is read, in bytes.
const maxRefusal = 64 << 10

var errTooLarge = errors.New("the answer is too large")

// httpWire is a connection to a server over HTTP.
type httpWire struct {
	server  *server
	next    http.RoundTripper
	idle    func()          // closes what next keeps open
	life    context.Context // ends with the connection
	end     context.CancelFunc
	version atomic.Pointer[string] // of the protocol, once it is agreed on
	once    sync.Once
}

func (s *server) newHTTPWire() *httpWire {
	h := &httpWire{server: s, next: s.all.opts.Transport, idle: func() {}}
	h.life, h.end = context.WithCancel(context.Background())
	if h.next == nil {
		t := &http.Transport{
			Proxy: s.all.opts.Proxy, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 64,
			IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 1 << 20,
		}
		h.next, h.idle = t, t.CloseIdleConnections
	}
	return h
}

// transport is the SDK's. It opens no stream of its own for what a server says
// unasked: what concerns a call comes with the call.
func (h *httpWire) transport() sdk.Transport {
	return &sdk.StreamableClientTransport{
		Endpoint: h.server.def.URL,
		HTTPClient: &http.Client{
			Transport:     h,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		DisableStandaloneSSE: true,
		MaxEventSize:         h.server.all.maxMessage(),
	}
}

// speaks sets the protocol's version, which each further request names.
func (h *httpWire) speaks(version string) {
	if len(version) <= len("2026-07-28") { // the SDK refuses what is no version
		h.version.Store(&version)
	}
}

// RoundTrip sends a request with the server's headers, and bounds the answer.
func (h *httpWire) RoundTrip(req *http.Request) (*http.Response, error) {
	ex := exchangeOf(req.Context())
	ex.note(func(e *exchange) { e.sent = true })
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(h.life, cancel)
	done := func() { stop(); cancel() }
	own := req.Clone(ctx)
	for name, v := range h.server.def.Headers.All() {
		if text, ok := v.(string); ok && own.Header.Get(name) == "" {
			own.Header.Set(name, text)
		}
	}
	if host := own.Header.Get("Host"); host != "" {
		own.Host = host
		own.Header.Del("Host")
	}
	if v := h.version.Load(); v != nil && own.Header.Get("Mcp-Protocol-Version") == "" {
		own.Header.Set("Mcp-Protocol-Version", *v)
	}
	res, err := h.next.RoundTrip(own)
	if err != nil {
		done()
		return nil, err
	}
	body := &boundedBody{ReadCloser: res.Body, most: h.server.all.maxMessage(), ex: ex, done: done}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode < 200 || res.StatusCode > 299:
		body.most, body.quiet = maxRefusal, true
		ex.note(func(e *exchange) { e.status, e.after = res.StatusCode, retryAfter(res.Header) })
	case kind == "text/event-stream":
		body.lines = true
	}
	res.Body = body
	return res, nil
}

// retryAfter reads how long a server asks to wait, in seconds; a date is not
// read.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || n < 0 || n > 24*60*60 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// boundedBody fails when an answer, or a line of a stream of events, is larger
// than it may be.
type boundedBody struct {
	io.ReadCloser
	most  int
	lines bool // the bound is a line's
	quiet bool // the rest is left out without an error
	n     int  // bytes of the answer, or of the line
	ex    *exchange
	done  func()
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.n > b.most {
		if b.quiet {
			return 0, io.EOF
		}
		b.ex.note(func(e *exchange) { e.tooLarge = true })
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p)
	b.n += n
	if b.lines {
		for i := n - 1; i >= 0; i-- {
			if p[i] == '\n' {
				b.n = n - 1 - i
				break
			}
		}
	}
	return n, err
}

func (b *boundedBody) Close() error {
	err := b.ReadCloser.Close()
	b.done()
	return err
}

func (h *httpWire) kill() { h.end() }

// close says goodbye to the server, which has a second to hear it.
func (h *httpWire) close(hangUp func()) {
	h.once.Do(func() {
		late := time.AfterFunc(grace, h.end)
		hangUp()
		late.Stop()
		h.end()
		h.idle()
	})
}

func (h *httpWire) lastWords() string { return "" }
