package mcp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// instance is one connection to a server.
type instance struct {
	session *sdk.ClientSession
	line    wire
	gone    chan struct{} // closed when the connection has ended
	killed  atomic.Bool
	once    sync.Once
}

// wire is what a connection runs over: a process or HTTP.
type wire interface {
	// kill ends it at once, without a farewell.
	kill()
	// close ends it properly and returns when nothing of it runs any more. It
	// may be called with hangUp, which ends the session.
	close(hangUp func())
	// lastWords is why it ended, "" when there is nothing to say.
	lastWords() string
}

// open starts the server and greets it. A server that refuses the version it
// is offered is greeted anew in the newest one.
func (s *server) open(ctx context.Context) (*instance, error) {
	s.starts++
	inst, err := s.greet(ctx, oldestOffer)
	if err != nil && asRPC(err) != nil {
		inst, err = s.greet(ctx, "")
	}
	return inst, err
}

// connect makes what the session runs over.
func (s *server) connect() (sdk.Transport, wire, error) {
	changed := func() { s.stale.Store(true) }
	if s.def.URL != "" {
		h := s.newHTTPWire()
		return linked{h.transport(), hooks{changed, h.speaks}}, h, nil
	}
	p, err := s.run()
	if err != nil {
		return nil, nil, err
	}
	return linked{p, hooks{changed, func(string) {}}}, p, nil
}

func (s *server) greet(ctx context.Context, version string) (*instance, error) {
	ex := &exchange{}
	transport, line, err := s.connect()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, line.kill)
	session, err := s.all.client().Connect(ex.in(ctx), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	stop()
	if err != nil {
		line.kill()
		line.close(func() {})
		return nil, s.because(s.failure(ctx, ex, "starting it", err), line)
	}
	inst := &instance{session: session, line: line, gone: make(chan struct{})}
	s.background(func() {
		_ = session.Wait() // why it ended is told by the call that notices
		close(inst.gone)
	})
	return inst, nil
}

func (i *instance) alive() bool {
	select {
	case <-i.gone:
		return false
	default:
		return !i.killed.Load()
	}
}

func (i *instance) kill() {
	i.killed.Store(true)
	i.line.kill()
}

func (i *instance) close() {
	i.once.Do(func() { i.line.close(func() { _ = i.session.Close() }) })
	<-i.gone
}

func (i *instance) lastWords() string { return i.line.lastWords() }

// explain adds to the error of a connection that ended why it did.
func (s *server) explain(err error, inst *instance) error {
	if errors.Is(err, errGone) {
		return s.because(err, inst.line)
	}
	return err
}
