package builtin

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentloom/agentloom/sandbox"
)

// maxHeaderBytes bounds the headers of a response.
const maxHeaderBytes = 1 << 20

// newClient returns the client that all calls of one registry share.
func newClient(opts Options) *client {
	secure := opts.TLS.Clone()
	if secure == nil {
		secure = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	// One request a connection at a time: what moves on the connection is then
	// the progress of that request.
	secure.NextProtos = []string{"http/1.1"}
	transport := &http.Transport{
		DialContext: dial,
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return dialTLS(ctx, network, addr, secure)
		},
		TLSClientConfig:        secure, // behind a proxy
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
		DisableCompression:     true, // done here, so that the headers stay as they came
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    30 * time.Second, // behind a proxy, when the request has gone
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	if opts.Proxy != nil {
		transport.Proxy = func(req *http.Request) (*url.URL, error) {
			u, err := opts.Proxy(req)
			if err != nil { // it may hold the proxy's password
				return nil, errors.New("the proxy setting is no valid URL")
			}
			return u, nil
		}
	}
	c := &client{transport: transport, userAgent: opts.UserAgent, max: opts.MaxReadBytes}
	if opts.Sandbox != nil {
		c.guard = func(timeout time.Duration) *sandbox.Guard {
			return sandbox.NewGuard(opts.Sandbox.Request(), sandbox.Options{
				Resolver: opts.Resolver, Proxy: opts.Proxy, TLS: opts.TLS, Timeout: timeout,
			})
		}
	}
	return c
}

// dial connects under the context of the request that asked for the
// connection: the one that net/http gives outlives it.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w, ok := ctx.Value(watchKey{}).(*watcher)
	if !ok {
		return nil, errors.New("a connection without a request")
	}
	conn, err := new(net.Dialer).DialContext(w.ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w.step(connecting) // TLS gets its own time
	return &watchedConn{Conn: conn}, nil
}

func dialTLS(ctx context.Context, network, addr string, config *tls.Config) (net.Conn, error) {
	conn, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		config = config.Clone()
		config.ServerName = host
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx.Value(watchKey{}).(*watcher).ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

// phase is a part of a request that has its own time limit.
type phase int

const (
	connecting phase = iota
	sending
	reading
)

func (p phase) String() string { return [...]string{"connecting", "sending", "reading"}[p] }

type watchKey struct{}

// A watcher cancels a request when a phase makes no progress for too long:
// connecting has the time once for TCP and once for TLS, sending and reading
// have it anew after every byte that moves.
type watcher struct {
	ctx     context.Context // ends with the call, or when a phase's time is up
	cancel  context.CancelCauseFunc
	timeout time.Duration
	guarded bool // the timer is off: a guard keeps the time limits

	mu    sync.Mutex
	phase phase
	timer *time.Timer
	conn  *watchedConn
}

// errStalled is the cause of a context that a watcher cancelled.
var errStalled = errors.New("timed out")

// watch starts watching a request that is about to connect. The watcher must
// be ended.
func watch(ctx context.Context, timeout time.Duration) *watcher {
	w := &watcher{timeout: timeout}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(timeout, func() { w.cancel(errStalled) })
	return w
}

// trace follows the phases. Before a request is sent again on a fresh
// connection, it goes back to connecting.
func (w *watcher) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:      func(string) { w.enter(connecting, nil) },
		GotConn:      func(info httptrace.GotConnInfo) { w.enter(sending, watched(info.Conn)) },
		WroteRequest: func(info httptrace.WroteRequestInfo) { w.wrote(info.Err) },
	}
}

// wrote begins reading. The transport may report it late, when the request is
// over or being sent again; that changes nothing.
func (w *watcher) wrote(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.phase == sending {
		w.phase = reading
		w.restart()
	}
}

// enter begins a phase, on a connection unless conn is nil.
func (w *watcher) enter(p phase, conn *watchedConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil && w.conn != conn {
		w.conn.owner.CompareAndSwap(w, nil)
	}
	if conn != nil {
		conn.owner.Store(w)
	}
	w.phase, w.conn = p, conn
	w.restart()
}

// step restarts the time of phase p, unless another has begun.
func (w *watcher) step(p phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.phase == p {
		w.restart()
	}
}

// progress restarts the time of the current phase.
func (w *watcher) progress() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.restart()
}

// restart leaves a timer alone that has fired or was stopped.
func (w *watcher) restart() {
	if w.timer.Stop() {
		w.timer.Reset(w.timeout)
	}
}

func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	if w.conn != nil {
		w.conn.owner.CompareAndSwap(w, nil)
	}
	w.cancel(nil)
}

// watchedConn tells the watcher of the request that uses it that bytes moved.
type watchedConn struct {
	net.Conn
	owner atomic.Pointer[watcher]
}

// watched finds the watchedConn beneath TLS, or returns nil.
func watched(conn net.Conn) *watchedConn {
	for {
		switch c := conn.(type) {
		case *watchedConn:
			return c
		case *tls.Conn:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.moved(n)
	return n, err
}

func (c *watchedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.moved(n)
	return n, err
}

func (c *watchedConn) moved(n int) {
	if w := c.owner.Load(); n > 0 && w != nil {
		w.progress()
	}
}
