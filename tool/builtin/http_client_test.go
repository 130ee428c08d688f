package builtin_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/value"
)

// listen starts a raw TCP server; handle gets each connection, and the test
// ends when all have returned.
func listen(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			done.Go(func() {
				defer conn.Close()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		done.Wait()
	})
	return l.Addr().String()
}

// ask reads a request with a short or no body.
func ask(conn net.Conn) { _, _ = http.ReadRequest(bufio.NewReader(conn)) }

// drain waits for the client to go away.
func drain(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// drip sends a text in single bytes, each well within the client's timeout, all
// of them together well beyond it.
func drip(conn net.Conn, text string) {
	for i := range len(text) {
		if _, err := conn.Write([]byte{text[i]}); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// answer waits for the request and answers it.
func answer(text string) func(net.Conn) {
	return func(c net.Conn) {
		ask(c)
		_, _ = io.WriteString(c, text)
		drain(c)
	}
}

// endless answers without end, until the client leaves.
func endless(start, again string) func(net.Conn) {
	return func(c net.Conn) {
		ask(c)
		_, _ = io.WriteString(c, start)
		for chunk := strings.Repeat(again, 1000); ; {
			if _, err := io.WriteString(c, chunk); err != nil {
				return
			}
		}
	}
}

func TestHTTPRequestPhases(t *testing.T) {
	big := strings.Repeat("x", 8<<20) // more than the sockets' buffers hold
	tests := []struct {
		name   string
		scheme string
		handle func(net.Conn)
		args   []any
		want   string // of the error, after the URL
	}{
		{"TLS stalls", "https", drain, nil, "connecting timed out after 0.3s"},
		{"nobody takes the body", "http", func(c net.Conn) {
			_ = c.(*net.TCPConn).SetReadBuffer(64 << 10)
			ask(c)
			_, _ = c.Read(make([]byte, 1000))
			time.Sleep(600 * time.Millisecond) // then the client has left
		}, []any{"method", "POST", "body", big}, "sending timed out after 0.3s"},
		{"no answer", "http", drain, nil, "reading timed out after 0.3s"},
		{"half a head", "http", func(c net.Conn) {
			ask(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-")
			drain(c)
		}, nil, "reading timed out after 0.3s"},
		{"half a body", "http", func(c net.Conn) {
			ask(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
			drain(c)
		}, nil, "reading timed out after 0.3s"},
		{"closed at once", "http", func(c net.Conn) { ask(c) }, nil,
			"reading failed: the server closed the connection too early"},
		{"closed in the body", "http", func(c net.Conn) {
			ask(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
		}, nil, "reading failed: the server closed the connection too early"},
		{"closed in a chunk", "http", func(c net.Conn) {
			ask(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha")
		}, nil, "reading failed: the server closed the connection too early"},
		{"reset", "http", func(c net.Conn) {
			ask(c)
			_ = c.(*net.TCPConn).SetLinger(0)
		}, nil, "reading failed: the server reset the connection"},
		{"no TLS", "https", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			drain(c)
		}, nil, "connecting failed: the server does not speak TLS"},
		{"no HTTP", "http", func(c net.Conn) {
			ask(c)
			_, _ = io.WriteString(c, "canary.example.com "+strings.Repeat("x", 500_000)+"\r\n")
			drain(c)
		}, nil, "reading failed: the answer is no valid HTTP: malformed HTTP status code"},
		{"a single word", "http", func(c net.Conn) {
			ask(c)
			_, _ = io.WriteString(c, "canary\r\n")
		}, nil, "reading failed: the server does not speak HTTP; is it an https:// URL?"},
		{"a broken header", "http", answer("HTTP/1.1 200 OK\r\nSet-Cookie: canary\x00\r\n\r\n"), nil,
			"reading failed: the answer is no valid HTTP: malformed MIME header line"},
		{"two lengths", "http", answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), nil,
			"reading failed: the answer is no valid HTTP: message cannot contain multiple Content-Length headers"},
		{"a broken trailer", "http", answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nSet-Cookie: canary\x00\r\n\r\n"), nil,
			"reading failed: the answer is no valid HTTP: malformed MIME header line"},
		{"a broken chunk", "http", answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ncanary\r\n"), nil,
			"reading failed: invalid byte in chunk length"},
		{"endless headers", "http", endless("HTTP/1.1 200 OK\r\n", "X-Canary: canary\r\n"), nil,
			"reading failed: the answer has more than 1048576 bytes of headers"},
		{"an endless line", "http", endless("HTTP/1.1 200 ", "canary"), nil,
			"reading failed: the answer has more than 1048576 bytes of headers"},
		{"endless early hints", "http", endless("", "HTTP/1.1 103 Early Hints\r\nLink: </canary>\r\n\r\n"), nil,
			"reading failed: the answer has more than 1048576 bytes of headers"},
		{"an endless chunk extension", "http", endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", "canary"), nil,
			"reading failed: header line too long"},
		{"endless trailers", "http", endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-Canary: canary\r\n"), nil,
			"reading failed: http: suspiciously long trailer after chunked body"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := tt.scheme + "://" + listen(t, tt.handle) + "/path"
			withSecrets := strings.Replace(target, "//", "//me:canary@", 1) + "?key=canary"
			args := append([]any{"url", withSecrets, "timeout", 0.3}, tt.args...)
			_, err := call(t, tools(t, builtin.Options{}), "http_request", args...)
			method := "GET "
			if tt.args != nil {
				method = "POST "
			}
			if want := method + target + ": " + tt.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got error %v, want %s", err, want)
			}
			if err != nil && (strings.Contains(err.Error(), "canary") || len(err.Error()) > 300) {
				t.Errorf("the error gives a secret away, or goes on and on: %.500s", err)
			}
		})
	}
}

func TestHTTPRequestTimeoutIsNotForTheWhole(t *testing.T) {
	addr := listen(t, func(c net.Conn) {
		ask(c)
		drip(c, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n01234567890123456789") // 58 bytes
	})
	got, err := call(t, tools(t, builtin.Options{}), "http_request", "url", "http://"+addr, "timeout", 0.9)
	if err != nil || field(t, got, "body") != "01234567890123456789" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestHTTPRequestSlowUploadIsNotStalled(t *testing.T) {
	const size = 8 << 20
	addr := listen(t, func(c net.Conn) {
		_ = c.(*net.TCPConn).SetReadBuffer(64 << 10) // else the buffers take nearly all at once
		buf := make([]byte, size/64)
		for range 64 {
			if _, err := io.ReadFull(c, buf); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
		drain(c)
	})
	got, err := call(t, tools(t, builtin.Options{}), "http_request", "url", "http://"+addr, "timeout", 0.9,
		"method", "PUT", "body", strings.Repeat("x", size))
	if err != nil || field(t, got, "body") != "ok" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestHTTPRequestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	r := tools(t, builtin.Options{})
	for target, want := range map[string]string{
		"http://" + closed + "/":       "connecting failed: the connection was refused",
		"http://127.0.0.1:99999/":      "connecting failed: ",
		"http://no-such-host.invalid/": `connecting failed: the host name "no-such-host.invalid" `,
	} {
		_, err := call(t, r, "http_request", "url", target, "timeout", int64(5))
		if err == nil || !strings.HasPrefix(err.Error(), "GET "+target+": "+want) {
			// Without a network, a look-up may run out of time instead.
			if err == nil || !strings.Contains(target, "invalid") || !strings.Contains(err.Error(), "connecting") {
				t.Errorf("got error %v, want %s", err, want)
			}
		}
	}
}

func TestHTTPRequestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	trusting := tools(t, builtin.Options{TLS: s.Client().Transport.(*http.Transport).TLSClientConfig})
	for range 2 { // the second on the kept connection
		got, err := call(t, trusting, "http_request", "url", s.URL)
		if err != nil || field(t, got, "body") != "HTTP/1.1" {
			t.Errorf("got %v, %v", got, err)
		}
	}
	_, err := call(t, tools(t, builtin.Options{}), "http_request", "url", s.URL)
	if err == nil || !strings.Contains(err.Error(), "connecting failed: tls: failed to verify certificate") {
		t.Errorf("an unknown certificate: got error %v", err)
	}
	named := tools(t, builtin.Options{TLS: &tls.Config{
		RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com"}})
	if _, err := call(t, named, "http_request", "url", s.URL); err != nil {
		t.Errorf("a server name of one's own: %v", err)
	}
}

func TestHTTPRequestKeepsConnections(t *testing.T) {
	opened := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened++ // one call at a time
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	r := tools(t, builtin.Options{})
	for range 5 {
		if _, err := call(t, r, "http_request", "url", s.URL, "method", "POST", "body", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if opened != 1 {
		t.Errorf("%d connections for 5 requests", opened)
	}
}

// A kept connection must not inherit the time limit of the request before.
func TestHTTPRequestTimeoutsDoNotMix(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(700 * time.Millisecond)
		}
		_, _ = io.WriteString(w, "done")
	})
	r := tools(t, builtin.Options{})
	if _, err := call(t, r, "http_request", "url", s.URL+"/fast", "timeout", 0.5); err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, r, "http_request", "url", s.URL+"/slow", "timeout", int64(30)); err != nil {
		t.Error(err)
	}
	if _, err := call(t, r, "http_request", "url", s.URL+"/slow", "timeout", 0.1); err == nil {
		t.Error("no timeout on a kept connection")
	}
}

func TestHTTPRequestCancelled(t *testing.T) {
	why := errors.New("somebody pressed stop")
	for _, scheme := range []string{"http", "https"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		addr := listen(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1))
			cancel(why)
			drain(c)
		})
		tl, _ := tools(t, builtin.Options{}).Get("http_request")
		_, err := tl.Call(ctx, value.MapOf("url", scheme+"://"+addr+"/"))
		if !errors.Is(err, why) || !strings.Contains(err.Error(), "stopped while") {
			t.Errorf("%s: got error %v", scheme, err)
		}
	}
}

func TestHTTPRequestProxy(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "proxied "+r.RequestURI) })
	through, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := tools(t, builtin.Options{Proxy: http.ProxyURL(through)})
	got, err := call(t, r, "http_request", "url", "http://example.com/x")
	if err != nil || field(t, got, "body") != "proxied http://example.com/x" {
		t.Errorf("got %v, %v", got, err)
	}
	s.Close()
	_, err = call(t, r, "http_request", "url", "http://example.com/x")
	if want := "GET http://example.com/x: connecting to the proxy failed: the connection was refused"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	broken := tools(t, builtin.Options{Proxy: func(*http.Request) (*url.URL, error) {
		return nil, errors.New(`invalid proxy address "http://me:canary@"`)
	}})
	_, err = call(t, broken, "http_request", "url", "http://example.com/x")
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("got error %v", err)
	}
}

func TestHTTPRequestsAtOnce(t *testing.T) {
	s := serve(t, echo)
	r := tools(t, builtin.Options{})
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := call(t, r, "http_request", "url", s.URL, "method", "POST", "body", "x"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A bomb of bombs expands for long after its last byte has come.
func TestHTTPRequestCancelledWhileDecompressing(t *testing.T) {
	zip := func(text string) string {
		return packed(t, text, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestSpeed) })
	}
	bomb := zip(zip(strings.Repeat("\x00", 200<<20)))
	why := errors.New("somebody pressed stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip, gzip")
		_, _ = io.WriteString(w, bomb)
		time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
	})
	tl, _ := tools(t, builtin.Options{}).Get("http_request")
	if _, err := tl.Call(ctx, value.MapOf("url", s.URL)); !errors.Is(err, why) {
		t.Errorf("got error %v", err)
	}
}
