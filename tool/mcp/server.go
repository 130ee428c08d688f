package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

const (
	// maxStarts is how often a server is started without answering one call in
	// between.
	maxStarts = 3
	// pingTime is how long a server that let a call time out has to show that
	// it is alive.
	pingTime = 2 * time.Second
	// oldestOffer is the protocol version that is offered first: servers of
	// every age understand how that conversation begins.
	oldestOffer = "2025-11-25"
)

// server is one MCP server, running or not.
type server struct {
	all     *Servers
	def     workflow.MCPServer
	timeout time.Duration
	env     []string
	secrets *strings.Replacer

	turn   chan struct{} // holds one token: who takes it may look at what is below
	now    *instance     // nil: none was started, or it was dropped
	known  []*remote     // the tools that now has
	starts int           // since the last answer
	closed bool

	stale    atomic.Bool // the server said that its tools changed
	answered atomic.Bool // a call was answered since the last look
}

func (s *Servers) newServer(def workflow.MCPServer) (*server, error) {
	if err := checkServerName(def.Name); err != nil {
		return nil, err
	}
	if err := checkToolNames(def.Name, def.Tools); err != nil {
		return nil, err
	}
	if (def.Command == "") == (def.URL == "") {
		return nil, fmt.Errorf("it needs either a command or a url")
	}
	if def.URL != "" { // the address may hold a password: no error says it
		u, err := url.Parse(def.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("its url must be one of http or https")
		}
	}
	one := &server{all: s, def: def, timeout: defaultTimeout, turn: make(chan struct{}, 1)}
	if def.Timeout != nil {
		t := *def.Timeout * float64(time.Second)
		if !(t > 0) || t > math.MaxInt64/2 {
			return nil, fmt.Errorf("its timeout must be a positive number of seconds")
		}
		one.timeout = time.Duration(t)
	}
	own, err := texts("env", def.Env)
	if err != nil {
		return nil, err
	}
	headers, err := texts("headers", def.Headers)
	if err != nil {
		return nil, err
	}
	one.env = environment(s.opts.Environ, own)
	one.secrets = secretsOf(own, headers, def.URL)
	return one, nil
}

// texts returns the pairs of a map whose values must be strings.
func texts(key string, m *value.Map) ([][2]string, error) {
	var out [][2]string
	for k, v := range m.All() {
		text, ok := v.(string)
		if !ok || k == "" || strings.ContainsAny(k, "=\x00\r\n") || strings.ContainsAny(text, "\x00") {
			return nil, fmt.Errorf("its %s must be texts; that of %q can't be used", key, k)
		}
		out = append(out, [2]string{k, text})
	}
	return out, nil
}

// take waits for the turn to look at what the server's state is.
func (s *server) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.all.life.Done():
		return s.stopped()
	}
	if s.closed {
		<-s.turn
		return s.stopped()
	}
	return nil
}

// tools returns the server's tools; it starts the server when it does not run,
// and asks again when it said that they changed.
func (s *server) tools(ctx context.Context) ([]*remote, error) {
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	defer func() { <-s.turn }()
	inst, err := s.ensure(ctx)
	if err != nil {
		return nil, err
	}
	if s.stale.Swap(false) {
		ctx, cancel := s.limit(ctx, "list its tools")
		defer cancel()
		if err := s.look(ctx, inst); err != nil {
			s.stale.Store(true)
			return nil, err
		}
	}
	return s.known, nil
}

// instance returns the running server.
func (s *server) instance(ctx context.Context) (*instance, error) {
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	defer func() { <-s.turn }()
	return s.ensure(ctx)
}

// ensure starts the server unless it runs. The caller has the turn.
func (s *server) ensure(ctx context.Context) (*instance, error) {
	if s.answered.Swap(false) {
		s.starts = 0
	}
	if s.now != nil {
		if s.now.alive() {
			return s.now, nil
		}
		s.all.opts.Logger.Warn("an MCP server ended and is started again", "server", s.def.Name, "reason", s.now.lastWords())
		s.drop()
	}
	if s.starts >= maxStarts && s.def.Command != "" {
		return nil, s.fault(fault.Permanent, fmt.Sprintf("it was started %d times and answered no call, so it is not started again", s.starts), nil)
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	ctx, cancel := s.limit(ctx, "start")
	defer cancel()
	if s.all.opts.Allow != nil {
		if err := s.all.opts.Allow(ctx, s.def); err != nil {
			return nil, err
		}
	}
	inst, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.look(ctx, inst); err != nil {
		inst.kill()
		inst.close()
		return nil, err
	}
	s.stale.Store(false)
	s.now = inst
	return inst, nil
}

// look reads the server's list of tools.
func (s *server) look(ctx context.Context, inst *instance) error {
	all, err := s.list(ctx, inst.session)
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return s.explain(err, inst)
	}
	known, err := s.catalogue(all)
	if err == nil {
		s.known = known
	}
	return err
}

// drop forgets the instance. The caller has the turn.
func (s *server) drop() {
	if s.now != nil {
		s.now.kill()
		s.now.close()
		s.now = nil
	}
}

// discard drops an instance, unless another took its place already.
func (s *server) discard(ctx context.Context, inst *instance) {
	if s.take(ctx) != nil {
		return
	}
	defer func() { <-s.turn }()
	if s.now == inst {
		s.drop()
	}
}

func (s *server) close() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.closed = true
	if s.now != nil {
		s.now.close()
		s.now = nil
	}
}

// background runs f; Close waits for it.
func (s *server) background(f func()) { s.all.work.Go(f) }

// limit bounds what a server has to do in time. The context ends with the
// servers too.
func (s *server) limit(ctx context.Context, what string) (context.Context, context.CancelFunc) {
	late := s.fault(fault.Timeout, fmt.Sprintf("it did not %s within %v", what, s.timeout), nil)
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, late)
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.all.life, func() { end(s.stopped()) })
	return ctx, func() { stop(); end(nil); cancel() }
}

// call calls a tool. A call that cannot have reached the server, because the
// connection was gone or the server knew the session no more, is made again,
// once, with a new one. Any other failure is told: the call may have had its
// effect.
func (s *server) call(ctx context.Context, name string, args *value.Map) (any, error) {
	if args == nil {
		args = value.NewMap(0)
	}
	src, err := value.EncodeJSON(args)
	if err != nil {
		return nil, fault.New(fault.Permanent, "the arguments are no JSON: "+err.Error(), err)
	}
	for again := false; ; again = true {
		inst, err := s.instance(ctx)
		if err != nil {
			return nil, err
		}
		result, lost, err := s.attempt(ctx, inst, name, src)
		if !lost || again {
			return result, err
		}
		s.discard(ctx, inst)
	}
}

// attempt makes one call. lost says that it did not reach a living session.
func (s *server) attempt(ctx context.Context, inst *instance, name string, args json.RawMessage) (result any, lost bool, err error) {
	ctx, cancel := s.limit(ctx, fmt.Sprintf("answer the call of %q", name))
	defer cancel()
	ex := &exchange{}
	_, err = inst.session.CallTool(ex.in(ctx), &sdk.CallToolParams{Name: name, Arguments: args})
	if raw := ex.answer(); raw != nil {
		s.answered.Store(true)
		result, err := s.result(name, raw)
		return result, false, err
	}
	if ctx.Err() == nil && ex.lost(inst.session.ID(), err) {
		return nil, true, s.explain(s.failure(ctx, ex, "calling "+quote(name), err), inst)
	}
	if asRPC(err) != nil {
		s.answered.Store(true)
	}
	err = s.failure(ctx, ex, "calling "+quote(name), err)
	if ctx.Err() != nil && fault.KindOf(err) == fault.Timeout {
		s.background(func() { s.probe(inst) })
	}
	return nil, false, s.explain(err, inst)
}

// probe kills a server that let a call time out and does not answer a ping
// either: it hangs. One that answers is only slow, and serves others.
func (s *server) probe(inst *instance) {
	ctx, cancel := context.WithTimeout(s.all.life, pingTime)
	defer cancel()
	err := inst.session.Ping(ctx, nil)
	if err != nil && asRPC(err) == nil {
		inst.kill()
	}
}
