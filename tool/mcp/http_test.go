package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/mcp"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// web is an HTTP server whose tools/call requests a test answers; all others
// are answered as a small server would.
type web struct {
	call func(w http.ResponseWriter, r *http.Request, m message)

	mu       sync.Mutex
	sessions int
	current  string
	headers  []http.Header
	ended    []string // sessions that were deleted
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.headers = append(s.headers, r.Header.Clone())
	current, answer := s.current, s.call
	if r.Method == http.MethodDelete {
		s.ended = append(s.ended, r.Header.Get("Mcp-Session-Id"))
	}
	s.mu.Unlock()
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	src, _ := io.ReadAll(r.Body)
	var m message
	_ = json.Unmarshal(src, &m)
	switch {
	case m.Method == "initialize":
		s.mu.Lock()
		s.sessions++
		s.current = fmt.Sprint("session-", s.sessions)
		w.Header().Set("Mcp-Session-Id", s.current)
		s.mu.Unlock()
		reply(w, m, object{"protocolVersion": "2025-06-18", "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "web", "version": "1"}})
	case r.Header.Get("Mcp-Session-Id") != current:
		http.Error(w, "no such session", http.StatusNotFound)
	case m.Method == "tools/list":
		reply(w, m, object{"tools": []any{object{"name": "go", "inputSchema": object{"type": "object"}}}})
	case m.Method == "tools/call":
		answer(w, r, m)
	case m.Method == "ping":
		reply(w, m, object{})
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func reply(w http.ResponseWriter, m message, result any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

func says(text string) object {
	return object{"content": []any{object{"type": "text", "text": text}}}
}

func (s *web) start(t *testing.T) workflow.MCPServer {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return workflow.MCPServer{Name: "web", URL: server.URL + "/mcp?key=canary-secret", Headers: value.MapOf("Authorization", "Bearer canary-secret")}
}

func TestHTTPCalls(t *testing.T) {
	s := &web{call: func(w http.ResponseWriter, r *http.Request, m message) {
		reply(w, m, says(r.URL.Query().Get("key")+" "+string(m.Params.Arguments)))
	}}
	servers := open(t, mcp.Options{}, s.start(t))
	if got, err := call(t, servers, "web__go", "n", int64(1)); err != nil || got != `canary-secret {"n":1}` {
		t.Fatalf("the call: %v, %v", got, err)
	}
	servers.Close()
	for i, h := range s.headers {
		if h.Get("Authorization") != "Bearer canary-secret" {
			t.Errorf("request %d has no header of the definition", i)
		}
		if v := h.Get("Mcp-Protocol-Version"); i > 0 && v != "2025-06-18" {
			t.Errorf("request %d names version %q", i, v)
		}
	}
	if len(s.ended) != 1 || s.ended[0] != "session-1" {
		t.Errorf("the ended sessions are %q", s.ended)
	}
}

func TestAForgottenSessionIsMadeAgain(t *testing.T) {
	calls := 0
	s := &web{call: func(w http.ResponseWriter, _ *http.Request, m message) { calls++; reply(w, m, says("here")) }}
	servers := open(t, mcp.Options{}, s.start(t))
	one := resolve(t, servers, "web__go")
	for range 5 {
		s.mu.Lock()
		s.current = "of a server that was started again"
		s.mu.Unlock()
		if got, err := tool.Invoke(t.Context(), one, nil); err != nil || got != "here" {
			t.Fatalf("the call: %v, %v", got, err)
		}
	}
	if calls != 5 || s.sessions != 6 {
		t.Errorf("%d calls in %d sessions, not 5 in 6", calls, s.sessions)
	}
}

func TestHTTPFailures(t *testing.T) {
	status := func(code int) func(http.ResponseWriter, *http.Request, message) {
		return func(w http.ResponseWriter, _ *http.Request, _ message) {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
			http.Error(w, "no: canary-secret", code)
		}
	}
	tests := []struct {
		name string
		call func(http.ResponseWriter, *http.Request, message)
		kind fault.Kind
		text string
	}{
		{"busy", status(503), fault.Transient, "status 503"},
		{"too often", status(429), fault.Transient, "status 429"},
		{"not allowed", status(403), fault.Permanent, "status 403"},
		{"moved", status(307), fault.Permanent, "status 307"},
		{"hangs", func(_ http.ResponseWriter, r *http.Request, _ message) { <-r.Context().Done() }, fault.Timeout, "within 500ms"},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request, _ message) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{]")
		}, fault.Transient, "decode"},
		{"a page", func(w http.ResponseWriter, _ *http.Request, _ message) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		}, fault.Transient, "text/html"},
		{"without end", func(w http.ResponseWriter, _ *http.Request, _ message) {
			w.Header().Set("Content-Type", "application/json")
			forever(w)
		}, fault.Permanent, "larger than"},
		{"an event without end", func(w http.ResponseWriter, _ *http.Request, _ message) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: ")
			forever(w)
		}, fault.Permanent, "larger than"},
		{"a stream that ends", func(w http.ResponseWriter, _ *http.Request, _ message) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": nothing\n\n")
		}, fault.Transient, "without response"},
		{"cut", func(w http.ResponseWriter, _ *http.Request, _ message) { panic(http.ErrAbortHandler) }, fault.Transient, "the connection ended"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &web{call: tt.call}
			servers := open(t, mcp.Options{MaxResult: 1 << 16}, within(s.start(t), 500*time.Millisecond))
			one := resolve(t, servers, "web__go")
			_, err := tool.Invoke(t.Context(), one, nil)
			wantError(t, err, tt.kind, `MCP server "web": `, tt.text)
			if f, _ := errors.AsType[*fault.Error](err); f.Status != 0 && f.RetryAfter != 7*time.Second {
				t.Errorf("status %d asks to wait %v", f.Status, f.RetryAfter)
			}
			s.mu.Lock()
			s.call = func(w http.ResponseWriter, _ *http.Request, m message) { reply(w, m, says("well")) }
			s.mu.Unlock()
			if tt.name == "hangs" {
				return // whether it is still asked the same server is the ping's to say
			}
			if got, err := tool.Invoke(t.Context(), one, nil); err != nil || got != "well" {
				t.Errorf("the next call: %v, %v", got, err)
			}
		})
	}
}

// forever writes until nobody reads.
func forever(w io.Writer) {
	for part := []byte(strings.Repeat("x", 1<<16)); ; {
		if _, err := w.Write(part); err != nil {
			return
		}
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL
	server.Close()
	d := workflow.MCPServer{Name: "web", URL: address + "/?key=canary-secret"}
	s := open(t, mcp.Options{}, d)
	for range 5 { // a server that others start is not given up
		_, err := s.Tools(t.Context())
		wantError(t, err, fault.Transient, "can't be reached")
	}
}

type refuser struct{ err error }

func (r refuser) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

func TestTheTransportMayRefuse(t *testing.T) {
	no := fault.New(fault.Refused, "Sandbox violation (mcp): host is not allowed", nil)
	s := open(t, mcp.Options{Transport: refuser{no}}, workflow.MCPServer{Name: "web", URL: "http://example.invalid/"})
	_, err := s.Tools(t.Context())
	wantError(t, err, fault.Refused, no.Message)
}

func TestProxy(t *testing.T) {
	s := &web{call: func(w http.ResponseWriter, _ *http.Request, m message) { reply(w, m, says("through the proxy")) }}
	proxy, err := url.Parse(s.start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy.Path, proxy.RawQuery = "", ""
	servers := open(t, mcp.Options{Proxy: http.ProxyURL(proxy)}, workflow.MCPServer{Name: "web", URL: "http://nowhere.invalid/mcp"})
	if got, err := call(t, servers, "web__go"); err != nil || got != "through the proxy" {
		t.Errorf("the call: %v, %v", got, err)
	}
}

// TestTheSDKsServer speaks to a server of the SDK's own in both of its ways:
// with sessions and streams of events, and without.
func TestTheSDKsServer(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		t.Run(fmt.Sprint("stateless ", stateless), func(t *testing.T) {
			server := sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, nil)
			sdk.AddTool(server, &sdk.Tool{Name: "add", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
				func(_ context.Context, _ *sdk.CallToolRequest, in struct{ A, B int }) (*sdk.CallToolResult, map[string]int, error) {
					return nil, map[string]int{"sum": in.A + in.B}, nil
				})
			handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: stateless})
			web := httptest.NewServer(handler)
			t.Cleanup(web.Close)
			s := open(t, mcp.Options{}, workflow.MCPServer{Name: "sums", URL: web.URL})
			got, err := call(t, s, "sums__add", "A", int64(1), "B", int64(2))
			if err != nil {
				t.Fatal(err)
			}
			if src, _ := value.EncodeJSON(got); string(src) != `{"sum":3}` {
				t.Errorf("the sum is %s", src)
			}
			_, err = call(t, s, "sums__add", "A", "one")
			if err == nil {
				t.Error("bad arguments are no error")
			}
		})
	}
}
