package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// ErrTooLarge is the error of reading more of a body than Options.MaxBody.
var ErrTooLarge = errors.New("the answer is larger than the limit")

// resolve returns the addresses of a host, all of them checked.
func (g *Guard) resolve(ctx context.Context, h host) ([]netip.Addr, error) {
	if h.addr.IsValid() {
		addrs := []netip.Addr{h.addr}
		return addrs, g.checkAddrs(h.name, addrs)
	}
	addrs, err := g.opts.Resolver.LookupNetIP(ctx, "ip", h.name)
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return nil, fmt.Errorf("resolving host %s: %w", quote(h.name), context.Cause(ctx))
	case err != nil:
		return nil, g.network.refuse(err, "host %s does not resolve", quote(h.name))
	case len(addrs) == 0:
		return nil, g.network.refuse(nil, "host %s has no address", quote(h.name))
	}
	return addrs, g.checkAddrs(h.name, addrs)
}

// checkAddrs refuses a host when one of its addresses is internal. The address
// is not told: what a refusal says may reach a model, which shall not learn
// the network behind it.
func (g *Guard) checkAddrs(name string, addrs []netip.Addr) error {
	if !g.network.DenyInternal {
		return nil
	}
	own, err := g.ownAddrs()
	if err != nil {
		return g.network.refuse(err, "host %s can't be told from this host, whose own addresses can't be listed", quote(name))
	}
	for _, a := range addrs {
		if IsInternal(a) || slices.Contains(own, a.Unmap()) {
			return g.network.refuse(nil, "host %s is or resolves to an internal address", quote(name))
		}
	}
	return nil
}

func (g *Guard) ownAddrs() ([]netip.Addr, error) {
	list, err := g.opts.Interfaces()
	if err != nil {
		return nil, err
	}
	var own []netip.Addr
	for _, a := range list {
		var ip net.IP
		switch a := a.(type) {
		case *net.IPNet:
			ip = a.IP
		case *net.IPAddr:
			ip = a.IP
		}
		if addr, ok := netip.AddrFromSlice(ip); ok {
			own = append(own, addr.Unmap())
		}
	}
	return own, nil
}

// dial connects for the transport: to a proxy as it is told, to anything else
// by way of the checks.
func (g *Guard) dial(ctx context.Context, _, address string) (net.Conn, error) {
	c := callOf(ctx)
	if c.ctx == nil {
		return nil, g.network.refuse(nil, "a connection without a request")
	}
	timed, cancel := context.WithTimeoutCause(c.ctx, g.opts.Timeout, errConnecting)
	defer cancel()
	var conn net.Conn
	var err error
	if c.proxy != nil {
		conn, err = new(net.Dialer).DialContext(timed, "tcp", address)
	} else {
		conn, err = g.dialHost(timed, c.host, address)
	}
	if err != nil {
		if errors.Is(context.Cause(timed), errConnecting) {
			err = errConnecting
		}
		return nil, err
	}
	return newPaced(c.ctx, conn, g.opts.Timeout), nil
}

var errConnecting = errors.New("connecting took too long")

func (g *Guard) dialHost(ctx context.Context, h host, address string) (net.Conn, error) {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, err
	}
	addrs, err := g.resolve(ctx, h)
	if err != nil {
		return nil, err
	}
	var first error
	for i, addr := range addrs {
		conn, err := g.try(ctx, netip.AddrPortFrom(addr.Unmap(), uint16(port)), len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// try connects to one address of a host in its share of the time that is left.
func (g *Guard) try(ctx context.Context, to netip.AddrPort, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return g.opts.Connect(ctx, to)
}

// connect is the Connect of a Guard that was given none.
func (g *Guard) connect(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Control: g.control}
	return d.DialContext(ctx, "tcp", to.String())
}

// control checks the address that a socket is about to connect to, whatever
// way led there.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return g.network.refuse(err, "address %s can't be read", quote(address))
	}
	return g.checkAddrs(to.Addr().String(), []netip.Addr{to.Addr()})
}

// paced is a connection of one request: each read and write has its own time
// limit, and the request's end closes it.
type paced struct {
	net.Conn
	timeout time.Duration
	stop    func() bool
}

func newPaced(ctx context.Context, conn net.Conn, timeout time.Duration) *paced {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &paced{Conn: conn, timeout: timeout, stop: stop}
}

func (c *paced) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *paced) Write(p []byte) (int, error) {
	// The transport waits for the answer while it still sends: both have their
	// time anew.
	if err := c.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func (c *paced) Close() error {
	c.stop()
	return c.Conn.Close()
}

// bounded is a body of which left bytes may be read.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	// One byte more than is left tells a body of the limit's size from a
	// longer one.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		return 0, ErrTooLarge
	}
	b.left -= int64(n)
	return n, err
}
