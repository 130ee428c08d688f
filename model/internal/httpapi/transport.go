// Package httpapi is what the adapters of all HTTP model services share: one
// tuned transport, answers and streams read in bounded memory, what all make of
// an answer (its reasoning, usage, ids), and the one place where
// statuses and network faults become *fault.Error.
package httpapi

import (
	"net"
	"net/http"
	"net/url"
	"time"
)

// The transport's limits.
const (
	// idlePerHost is how many connections to one service stay open between
	// calls: as many as a workflow may have steps running at once. (The
	// default of net/http is 2, which makes parallel steps reconnect.)
	idlePerHost = 1024
	// headerTimeout bounds the wait for an answer to begin, so that a call
	// without a timeout of its own can't hang for ever. A model may think for
	// minutes before the first byte.
	headerTimeout = 15 * time.Minute
)

// NewTransport returns a transport for calls to a model service. proxy chooses
// the proxy of a request; nil is none.
func NewTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 proxy,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   idlePerHost,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   30 * time.Second,
		ResponseHeaderTimeout: headerTimeout,
		// A connection that died without a word is noticed by a ping.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// NoRedirects returns a copy of the client that hands a redirect back as the
// answer: following one would send the key to whatever host it names.
func NoRedirects(c *http.Client) *http.Client {
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Send returns what sends requests over a transport: as the Do of NoRedirects
// does, without the work for redirects and cookies, of which there are none.
func Send(t http.RoundTripper) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		res, err := t.RoundTrip(req)
		if err != nil {
			return nil, &url.Error{Op: req.Method, URL: req.URL.Redacted(), Err: err}
		}
		return res, nil
	}
}
