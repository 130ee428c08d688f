package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloom/agentloom/fault"
)

// maxAsked is how many requests of its own a server may have open.
const maxAsked = 64

// exchange is what is known of one request to a server beside what the SDK
// says of it: the result as it was sent, with the order of its keys and its
// whole numbers, and how HTTP went.
type exchange struct {
	mu       sync.Mutex
	result   json.RawMessage
	sent     bool // the request may have reached the server
	status   int  // of the HTTP answer, when it was not a success
	after    time.Duration
	tooLarge bool
}

type exchangeKey struct{}

// in returns a context whose request tells the exchange.
func (e *exchange) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, e)
}

// exchangeOf returns the exchange of a request, one that nobody reads when the
// request has none.
func exchangeOf(ctx context.Context) *exchange {
	if e, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return e
	}
	return &exchange{}
}

func (e *exchange) answer() json.RawMessage {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.result
}

func (e *exchange) note(f func(*exchange)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f(e)
}

func (e *exchange) http() (status int, after time.Duration, tooLarge bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.status, e.after, e.tooLarge
}

// lost says that a failed request did not reach a living session. A server
// that knows a session no more answers 404; some answer 400.
func (e *exchange) lost(session string, err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if errors.Is(err, sdk.ErrSessionMissing) {
		return true
	}
	if session != "" && (e.status == http.StatusNotFound || e.status == http.StatusBadRequest) {
		return true
	}
	return !e.sent && errors.Is(err, sdk.ErrConnectionClosed)
}

// link stands between the SDK and a connection. It keeps results as they were
// sent, hears of changed tools, and keeps everything else that a server says
// unasked away from the SDK's queue, which has no bound.
type link struct {
	sdk.Connection
	hooks

	mu       sync.Mutex
	calls    map[jsonrpc.ID]*exchange
	greeting jsonrpc.ID // of the request that agrees on the version
	asked    int        // requests of the server that are not answered
}

// hooks are told what a link hears.
type hooks struct {
	changed func()               // the server's tools changed
	agreed  func(version string) // on the protocol's version
}

// linked is a transport whose connection has a link in front.
type linked struct {
	sdk.Transport
	hooks
}

func (t linked) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &link{Connection: conn, hooks: t.hooks, calls: map[jsonrpc.ID]*exchange{}}, nil
}

func (l *link) Write(ctx context.Context, msg jsonrpc.Message) error {
	switch msg := msg.(type) {
	case *jsonrpc.Request:
		if e, ok := ctx.Value(exchangeKey{}).(*exchange); ok && msg.IsCall() {
			l.mu.Lock()
			l.calls[msg.ID] = e
			l.mu.Unlock()
			context.AfterFunc(ctx, func() { l.take(msg.ID) })
		}
		if msg.Method == "initialize" {
			l.mu.Lock()
			l.greeting = msg.ID
			l.mu.Unlock()
		}
	case *jsonrpc.Response:
		l.mu.Lock()
		l.asked--
		l.mu.Unlock()
	}
	return l.Connection.Write(ctx, msg)
}

// take returns the exchange of a request and forgets it.
func (l *link) take(id jsonrpc.ID) *exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.calls[id]
	delete(l.calls, id)
	return e
}

func (l *link) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := l.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		switch msg := msg.(type) {
		case *jsonrpc.Response:
			l.answered(msg)
			return msg, nil
		case *jsonrpc.Request:
			if !msg.IsCall() {
				if msg.Method == "notifications/tools/list_changed" {
					l.changed()
				}
				continue // progress, log lines and the like
			}
			if err := l.ask(msg); err != nil {
				return nil, err
			}
			return msg, nil
		}
	}
}

// answered keeps the result of a request. The version must be known before the
// SDK hears that it was agreed on, since what it sends then names it.
func (l *link) answered(msg *jsonrpc.Response) {
	e := l.take(msg.ID)
	if e == nil || msg.Error != nil {
		return
	}
	e.note(func(e *exchange) { e.result = msg.Result })
	l.mu.Lock()
	greeted := l.greeting.IsValid() && l.greeting == msg.ID
	l.mu.Unlock()
	var greeting struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if greeted && json.Unmarshal(msg.Result, &greeting) == nil {
		l.agreed(greeting.ProtocolVersion)
	}
}

// ask lets a request of the server pass: a ping, which the SDK answers.
// Whatever else it asks for was not offered to it, so the request gets a
// method that nobody has, which is the answer.
func (l *link) ask(msg *jsonrpc.Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked++; l.asked > maxAsked {
		return fault.New(fault.Permanent, "it asks too much: it sends requests and does not read the answers", nil)
	}
	if msg.Method == "roots/list" { // the one that the SDK would answer
		msg.Method = "roots/none"
	}
	return nil
}
