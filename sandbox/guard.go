package sandbox

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Resolver resolves host names; *net.Resolver is one.
type Resolver interface {
	// LookupNetIP returns the addresses of a host. network is "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options say how a Guard reaches the network.
type Options struct {
	// Resolver resolves host names; nil is the system's.
	Resolver Resolver
	// Connect connects to an address that was checked. nil connects to it over
	// TCP and checks it once more on the socket. One that connects elsewhere
	// takes the guard's meaning away: it is for programs with a network stack
	// of their own, and for tests.
	Connect func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Interfaces lists the addresses of the host's own interfaces, which are
	// internal too; nil asks the system. Its error refuses the request.
	Interfaces func() ([]net.Addr, error)
	// Proxy chooses the proxy of a request, as http.ProxyFromEnvironment does;
	// nil, or a nil URL, is none. A proxy resolves names itself: the URL and
	// what its host resolves to here are checked all the same, but nothing is
	// pinned, so restrict what the proxy lets through. The proxy itself may be
	// internal.
	Proxy func(*http.Request) (*url.URL, error)
	// TLS is the configuration of https; nil trusts the system's authorities.
	TLS *tls.Config
	// Timeout bounds each phase of a request: connecting (resolving included),
	// the TLS handshake, each write, the wait for the answer's headers and each
	// wait for a part of its body. Default 30 s. A slow server may still take
	// long in all: the request's context is what bounds the whole.
	Timeout time.Duration
	// MaxBody is the most of an answer's body that is read, in bytes after
	// decompression: reading further is ErrTooLarge. 0: no limit.
	MaxBody int64
}

// A Guard sends HTTP requests under a Network's rules. It resolves a host
// once, checks every address it has, and connects to one of those and nothing
// else, so that a DNS answer that changes in between changes nothing. The host
// name stays in the Host header and in the TLS server name. Each request has a
// connection of its own, which ends with it or with the request's context.
//
// A Guard is an http.RoundTripper, and may be used by many goroutines.
type Guard struct {
	network   Network
	opts      Options
	transport *http.Transport
}

// NewGuard returns a Guard of a Network.
func NewGuard(n Network, opts Options) *Guard {
	if opts.Resolver == nil {
		opts.Resolver = net.DefaultResolver
	}
	if opts.Interfaces == nil {
		opts.Interfaces = net.InterfaceAddrs
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 30 * time.Second
	}
	g := &Guard{network: n, opts: opts}
	if g.opts.Connect == nil {
		g.opts.Connect = g.connect
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	g.transport = &http.Transport{
		DialContext:            g.dial,
		Proxy:                  func(req *http.Request) (*url.URL, error) { return callOf(req.Context()).proxy, nil },
		TLSClientConfig:        opts.TLS.Clone(),
		TLSHandshakeTimeout:    opts.Timeout,
		ResponseHeaderTimeout:  opts.Timeout,
		MaxResponseHeaderBytes: 1 << 20,
		DisableKeepAlives:      true,
		Protocols:              protocols,
	}
	return g
}

// Client returns a client that sends through the guard. It follows no
// redirects: a redirect is an answer like any other. Whoever follows one sends
// a new request, which is checked anew and takes no header along.
func (g *Guard) Client() *http.Client {
	return &http.Client{
		Transport:     g,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Check checks a URL and every address that its host resolves to. A host that
// does not resolve is refused. The error is a refusal, or ctx's end.
//
// The answer holds for this moment only. Requests need no Check before: they
// are checked as they are sent.
func (g *Guard) Check(ctx context.Context, rawURL string) error {
	u, err := parseURL(g.network, rawURL)
	if err != nil {
		return err
	}
	h, err := g.network.check(u)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.opts.Timeout, errConnecting)
	defer cancel()
	_, err = g.resolve(ctx, h)
	return err
}

func parseURL(n Network, rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	if err != nil { // its text may hold a password
		return nil, n.refuse(nil, "the URL can't be read")
	}
	return u, nil
}

// call is what the transport's hooks know of the request they serve. The
// context that net/http gives them outlives the request.
type call struct {
	ctx   context.Context
	host  host
	proxy *url.URL // nil: none
}

type callKey struct{}

func callOf(ctx context.Context) call {
	c, _ := ctx.Value(callKey{}).(call)
	return c
}

// RoundTrip sends one request. A refusal is a *fault.Error of kind Refused;
// other errors are those of net/http.
func (g *Guard) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := g.admit(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	own := req.Clone(context.WithValue(req.Context(), callKey{}, c))
	own.URL.Host = c.host.target()
	if own.Host == "" {
		own.Host = own.URL.Host
	}
	res, err := g.transport.RoundTrip(own)
	if err != nil {
		return nil, err
	}
	if g.opts.MaxBody > 0 {
		res.Body = &bounded{ReadCloser: res.Body, left: g.opts.MaxBody}
	}
	return res, nil
}

// admit checks a request as far as it can be before the connection is made.
func (g *Guard) admit(req *http.Request) (call, error) {
	h, err := g.network.check(req.URL)
	if err != nil {
		return call{}, err
	}
	c := call{ctx: req.Context(), host: h}
	if g.opts.Proxy == nil {
		return c, nil
	}
	if c.proxy, err = g.opts.Proxy(req); err != nil { // its text may hold the proxy's password
		return call{}, g.network.refuse(nil, "the proxy setting is no valid URL")
	}
	if c.proxy != nil {
		ctx, cancel := context.WithTimeoutCause(req.Context(), g.opts.Timeout, errConnecting)
		defer cancel()
		_, err = g.resolve(ctx, h)
	}
	return c, err
}
