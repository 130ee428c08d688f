package attachment_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentloom/agentloom/attachment"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/workflow"
	"github.com/google/go-cmp/cmp"
)

// hosts is a resolver's knowledge.
type hosts map[string]string

func (h hosts) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	text, ok := h[name]
	if !ok {
		return nil, errors.New("no such host")
	}
	return []netip.Addr{netip.MustParseAddr(text)}, nil
}

func names() hosts {
	return hosts{"example.com": "93.184.216.34", "cdn.example.com": "1.1.1.1", "inside.example.com": "10.0.0.7"}
}

// web serves on this host what the loader takes for public addresses.
func web(t *testing.T, h http.HandlerFunc, change func(*attachment.Config)) *attachment.Loader {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	cfg := attachment.Config{
		Network: sandbox.AttachmentNetwork(nil),
		Options: sandbox.Options{Resolver: names(), Connect: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", s.Listener.Addr().String())
		}},
		UserAgent: "loom/1",
	}
	if change != nil {
		change(&cfg)
	}
	return attachment.New(cfg)
}

func TestDownload(t *testing.T) {
	l := web(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Host != "example.com" || r.UserAgent() != "loom/1" || r.URL.RawQuery != "size=1" {
			http.Error(w, "an odd request", http.StatusBadRequest)
		}
		w.Header().Set("Content-Type", "text/plain") // what servers say is not asked for
		io.WriteString(w, png)
	}, nil)
	got, err := load(t, l, "image", "HTTP://example.com/cat?size=1")
	want := model.Attachment{Type: model.Image, MediaType: "image/png", Data: []byte(png)}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestRefusals: what the sandbox refuses is tried again, under its own words.
func TestRefusals(t *testing.T) {
	var requests atomic.Int32
	serve := func(http.ResponseWriter, *http.Request) { requests.Add(1) }
	for _, c := range []struct {
		name, url, want string
		sandbox         *workflow.Sandbox
	}{
		{"an internal address", "http://127.0.0.1:8080/x.png", `Sandbox violation (attachment): host "127.0.0.1" is an internal address`, nil},
		{"in another spelling", "http://0x7f000001/x.png", "is an internal address", nil},
		{"the clouds' metadata", "http://169.254.169.254/latest/meta-data", "is an internal address", nil},
		{"a name of this host", "https://localhost/x.png", "is an internal address", nil},
		{"a name that resolves to one", "http://inside.example.com/x.png", `Sandbox violation (attachment): host "inside.example.com" is or resolves to an internal address`, nil},
		{"a name that does not resolve", "http://no.such.host/x.png", `host "no.such.host" does not resolve`, nil},
		{"the network is off, in a disabled sandbox too", "https://example.com/x.png", "the network is off (allow_network: false)", &workflow.Sandbox{}},
		{"a host that is not listed, in a disabled sandbox too", "https://example.com/x.png", `host "example.com" is not in allowed_domains`,
			&workflow.Sandbox{AllowNetwork: true, AllowedDomains: []string{"cdn.example.com"}}},
		{"an internal host that is listed", "http://inside.example.com/x.png", "internal address",
			&workflow.Sandbox{Enabled: true, AllowNetwork: true, AllowedDomains: []string{"inside.example.com"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := web(t, serve, func(cfg *attachment.Config) { cfg.Network = sandbox.AttachmentNetwork(c.sandbox) })
			_, err := load(t, l, "image", c.url)
			mustFail(t, err, fault.Transient, c.want)
			if !strings.HasPrefix(err.Error(), "Sandbox violation (attachment): ") {
				t.Errorf("the refusal's words come later: %v", err)
			}
			var refusal *fault.Error
			if !errors.As(errors.Unwrap(err), &refusal) || refusal.Kind != fault.Refused {
				t.Errorf("the cause is no refusal: %v", errors.Unwrap(err))
			}
		})
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests came through", n)
	}
}

func TestRedirects(t *testing.T) {
	var seen []string
	serve := func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Host+r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("Referer")+r.Header.Get("Cookie"))
		w.Header().Set("Set-Cookie", "session=1")
		to := map[string]string{
			"/moved": "http://cdn.example.com/cat.png", "/relative": "cat.png", "/user": "http://user:pass@cdn.example.com/cat.png",
			"/loop": "/loop", "/inside": "http://inside.example.com/cat.png", "/loopback": "http://127.1/cat.png", "/file": "file:///etc/passwd",
			"/chain0": "/chain1", "/chain1": "/chain2", "/chain2": "/chain3", "/chain3": "/chain4", "/chain4": "/cat.png", "/broken": "http://[", "/unlisted": "http://other.example.com/",
		}[r.URL.Path]
		switch {
		case r.URL.Path == "/nowhere":
			w.WriteHeader(http.StatusFound)
		case to != "":
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			io.WriteString(w, png)
		}
	}
	l := web(t, serve, nil)
	for path, want := range map[string][]string{
		"http://example.com/moved":    {"example.com/moved ", "cdn.example.com/cat.png "},
		"http://example.com/relative": {"example.com/relative ", "example.com/cat.png "},
		// The user goes to the host that the workflow names, and no further.
		"http://me:pw@example.com/moved":    {"example.com/moved Basic bWU6cHc=", "cdn.example.com/cat.png "},
		"http://me:pw@example.com/relative": {"example.com/relative Basic bWU6cHc=", "example.com/cat.png "},
		"http://example.com/user":           {"example.com/user ", "cdn.example.com/cat.png "},
	} {
		seen = nil
		if _, err := load(t, l, "image", path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if _, err := load(t, l, "image", "http://example.com/chain0"); err != nil {
		t.Errorf("five redirects: %v", err)
	}
	for path, want := range map[string]string{
		"inside":   `Sandbox violation (attachment): host "inside.example.com" is or resolves to an internal address`,
		"loopback": `Sandbox violation (attachment): host "127.1" is an internal address`,
		"file":     `Sandbox violation (attachment): scheme "file" is not in allowed_schemes (http, https)`,
	} {
		seen = nil
		_, err := load(t, l, "image", "http://example.com/"+path)
		mustFail(t, err, fault.Transient, want)
		if len(seen) != 1 {
			t.Errorf("%s: requests %v", path, seen)
		}
	}
	_, err := load(t, l, "image", "http://example.com/loop")
	mustFail(t, err, fault.Permanent, "comes after more than 5 redirects")
	for _, path := range []string{"nowhere", "broken"} {
		_, err := load(t, l, "image", "http://example.com/"+path)
		mustFail(t, err, fault.Permanent, "is a redirect (")
	}
	listed := web(t, serve, func(cfg *attachment.Config) { cfg.Network.AllowedDomains = []string{"example.com"} })
	_, err = load(t, listed, "image", "http://example.com/unlisted")
	mustFail(t, err, fault.Transient, `host "other.example.com" is not in allowed_domains`)
}

func TestStatuses(t *testing.T) {
	status := 0
	l := web(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); io.WriteString(w, png) }, nil)
	for code, kind := range map[int]fault.Kind{
		400: fault.Permanent, 401: fault.Permanent, 403: fault.Permanent, 404: fault.Permanent, 410: fault.Permanent, 300: fault.Permanent, 206: fault.Permanent,
		408: fault.Transient, 409: fault.Transient, 425: fault.Transient, 429: fault.Transient, 500: fault.Transient, 502: fault.Transient, 503: fault.Transient, 599: fault.Transient,
	} {
		status = code
		_, err := load(t, l, "image", "http://me:canary@example.com/cat.png?key=canary#canary")
		mustFail(t, err, kind, fmt.Sprintf(`attachment "http://example.com/cat.png" could not be downloaded: the server answered %d`, code))
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Status != code || strings.Contains(err.Error(), "canary") {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	zeros := make([]byte, 1<<20)
	l := web(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/empty":
		case "/page":
			w.Header().Set("Content-Type", "image/png")
			io.WriteString(w, html)
		case "/announced":
			w.Header().Set("Content-Length", "99999999999")
			io.WriteString(w, png)
		case "/endless":
			for w.Header().Set("X", "y"); ; {
				if _, err := w.Write(zeros); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for {
				if _, err := z.Write(zeros); err != nil {
					return
				}
			}
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, png)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, png)
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.WriteString(z, png)
			z.Close()
		}
	}, func(cfg *attachment.Config) { cfg.MaxBytes = 4 << 20 })
	large := `is larger than 4 MiB, the most that an attachment may have`
	for _, c := range []struct {
		path string
		kind fault.Kind
		want string
	}{
		{"empty", fault.Permanent, `attachment "http://example.com/empty" is empty`},
		{"page", fault.Permanent, `attachment "http://example.com/page" is not an image: its content is text/html`},
		{"announced", fault.Permanent, large},
		{"endless", fault.Permanent, large},
		{"bomb", fault.Permanent, large},
		{"brotli", fault.Permanent, `comes in the encoding "br", which nobody asked for`},
		{"cut", fault.Transient, `attachment "http://example.com/cut" could not be downloaded: unexpected EOF`},
	} {
		_, err := load(t, l, "image", "http://example.com/"+c.path)
		mustFail(t, err, c.kind, c.want)
	}
	if a, err := load(t, l, "image", "http://example.com/gzip"); err != nil || string(a.Data) != png {
		t.Errorf("a compressed answer: %q, %v", a.Data, err)
	}
}

func TestNetworkFaultsAreTransient(t *testing.T) {
	down := func(context.Context, netip.AddrPort) (net.Conn, error) { return nil, errors.New("connection refused") }
	l := web(t, nil, func(cfg *attachment.Config) { cfg.Options.Connect = down })
	_, err := load(t, l, "image", "https://me:canary@example.com/cat.png?canary")
	mustFail(t, err, fault.Transient, `attachment "https://example.com/cat.png" could not be downloaded: connection refused`)
	if strings.Contains(err.Error(), "canary") {
		t.Error(err)
	}
}

// dripping serves a byte of an endless body every 20 seconds, in a bubble.
func dripping(context.Context, netip.AddrPort) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		server.Read(make([]byte, 4096))
		io.WriteString(server, "HTTP/1.1 200 OK\r\n\r\n")
		for {
			if _, err := io.WriteString(server, "x"); err != nil {
				return
			}
			time.Sleep(20 * time.Second)
		}
	}()
	return client, nil
}

func TestSlowServer(t *testing.T) {
	ends := []struct {
		name string
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		kind fault.Kind
		want string
		took time.Duration
	}{
		{"the download's own time", func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
			fault.Transient, "the download took longer than 5 minutes", 5 * time.Minute},
		{"the step's time", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		},
			fault.Timeout, `downloading attachment "http://example.com/x" was stopped`, time.Minute},
		{"the step's time, with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, time.Minute, fault.New(fault.Cancelled, "somebody said stop", nil))
		},
			fault.Cancelled, "somebody said stop", time.Minute},
	}
	for _, c := range ends {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := attachment.New(attachment.Config{Network: sandbox.AttachmentNetwork(nil), Options: sandbox.Options{
					Resolver: names(), Connect: dripping, Interfaces: func() ([]net.Addr, error) { return nil, nil },
				}})
				ctx, cancel := c.ctx(t.Context())
				defer cancel()
				start := time.Now()
				_, err := l.Load(ctx, workflow.Attachment{Type: "image", Source: "http://example.com/x"})
				mustFail(t, err, c.kind, c.want)
				if took := time.Since(start); took != c.took {
					t.Errorf("it took %v", took)
				}
				time.Sleep(time.Minute) // the server notices
			})
		})
	}
}
