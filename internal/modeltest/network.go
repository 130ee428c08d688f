package modeltest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agentloom/agentloom/fault"
)

// network checks connections and bodies that break.
func network(t *testing.T, v Vendor) {
	whole := v.Answer(Answer{Text: "a text that is long enough to be cut in the middle", Model: "m"})
	half := whole[:len(whole)/2]
	tests := map[string]struct {
		serve http.HandlerFunc
		kind  fault.Kind
	}{
		"reset before an answer": {func(w http.ResponseWriter, _ *http.Request) { reset(t, w, "") }, fault.Transient},
		"reset in the answer": {func(w http.ResponseWriter, _ *http.Request) {
			reset(t, w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"+half)
		}, fault.Transient},
		"end in the answer": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5000")
			reply(200, half)(w, r)
		}, fault.Transient},
		"half a JSON document": {reply(200, half), fault.Transient},
		"no body":              {reply(200, ""), fault.Transient},
		"a web page":           {reply(200, "<html></html>", "Content-Type", "text/html; charset=utf-8"), fault.Permanent},
		"no HTTP": {func(w http.ResponseWriter, _ *http.Request) {
			reset(t, w, "what?\r\n\r\n")
		}, fault.Transient},
		"more than is read": {bomb, fault.Permanent},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				test.serve(w, r)
			})
			_, err := p.Complete(t.Context(), ask(), nil)
			if f := fails(t, err, test.kind); f.Status != 0 {
				t.Errorf("status %d, want none", f.Status)
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		server, p := v.start(t, reply(200, whole))
		server.Close()
		_, err := p.Complete(t.Context(), ask(), nil)
		if f := fails(t, err, fault.Transient); !strings.Contains(f.Message, server.Listener.Addr().String()) {
			t.Errorf("the message does not say where: %s", f.Message)
		}
	})
	t.Run("a redirect", func(t *testing.T) { redirect(t, v) })
}

// reset sends raw bytes and resets the connection.
func reset(t *testing.T, w http.ResponseWriter, raw string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Error(err)
	}
	if raw == "" {
		err = conn.(*net.TCPConn).SetLinger(0)
	}
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Error(err)
	}
}

// bomb is a small answer that unpacks to 70 MiB: one packed MiB, 70 times.
func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(bytes.Repeat([]byte(" "), 1<<20)) // into memory: it can't fail
	_ = z.Close()
	for range 70 {
		if _, err := w.Write(packed.Bytes()); err != nil {
			return // the client has seen enough
		}
	}
}

// redirect checks that a key never follows a redirect.
func redirect(t *testing.T, v Vendor) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		_, p := v.start(t, reply(status, "", "Location", other.URL+"/steal"))
		_, err := p.Complete(t.Context(), ask(), nil)
		if f := fails(t, err, fault.Permanent); f.Status != status {
			t.Errorf("status %d, want %d", f.Status, status)
		}
	}
}

// contexts checks that a call ends with its context, as the cause says.
func contexts(t *testing.T, v Vendor) {
	hang := func(w http.ResponseWriter, r *http.Request) {
		// The body must be read for the server to notice that the client left.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	hangInBody := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reply(200, "{")(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	for name, h := range map[string]http.HandlerFunc{"hang": hang, "hang in the body": hangInBody} {
		t.Run(name+" until the deadline", func(t *testing.T) {
			_, p := v.start(t, h)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := p.Complete(ctx, ask(), nil)
			fails(t, err, fault.Timeout)
		})
		t.Run(name+" until cancelled", func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
				go cancel(errors.New("ctrl-c"))
				h(w, r)
			})
			_, err := p.Complete(ctx, ask(), nil)
			if f := fails(t, err, fault.Cancelled); !strings.Contains(f.Message, "ctrl-c") {
				t.Errorf("the message lacks the cause: %s", f.Message)
			}
		})
	}
	t.Run("the cause's kind", func(t *testing.T) {
		_, p := v.start(t, hang)
		cause := fault.New(fault.Timeout, "the step's timeout of 50 ms ran out", nil)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
		defer cancel()
		_, err := p.Complete(ctx, ask(), nil)
		if f := fails(t, err, fault.Timeout); !strings.Contains(f.Message, cause.Message) || !errors.Is(err, cause) {
			t.Errorf("the cause is lost: %s", f.Message)
		}
	})
	t.Run("cancelled before", func(t *testing.T) {
		_, p := v.start(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := p.Complete(ctx, ask(), nil)
		fails(t, err, fault.Cancelled)
	})
}

// parallel checks that 200 calls are in flight at once, and that their
// connections are kept for the next 200.
func parallel(t *testing.T, v Vendor) {
	const n = 200
	var connections sync.Map // by the client's address
	var gate sync.WaitGroup
	_, p := v.start(t, func(w http.ResponseWriter, r *http.Request) {
		connections.Store(r.RemoteAddr, true)
		gate.Done()
		gate.Wait() // nobody is answered before all have asked
		reply(200, v.Answer(Answer{Text: "ok", Model: "m"}))(w, r)
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for round := range 2 {
		gate.Add(n)
		var g errgroup.Group
		for range n {
			g.Go(func() error {
				_, err := p.Complete(ctx, ask(), nil)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		opened := 0
		connections.Range(func(any, any) bool { opened++; return true })
		if opened < n || opened > n+n/10 {
			t.Errorf("%d connections after round %d, want %d in the first and (nearly) none in the second", opened, round+1, n)
		}
	}
}
