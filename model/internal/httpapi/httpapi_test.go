package httpapi_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

func TestMessage(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"OpenAI":           {`{"error": {"message": "no such model", "type": "x", "code": null}}`, "no such model"},
		"a plain error":    {`{"error": "model 'x' not found"}`, "model 'x' not found"},
		"message":          {`{"object": "error", "message": "too long", "code": 400}`, "too long"},
		"detail":           {`{"detail": "Not Found"}`, "Not Found"},
		"a list of detail": {`{"detail": [{"loc": ["body", "model"], "msg": "field required"}]}`, `[{"loc": ["body", "model"], "msg": "field required"}]`},
		"text":             {" upstream connect error \n", "upstream connect error"},
		"a page":           {"<!DOCTYPE html><h1>502</h1>", ""},
		"broken":           {`{"error": {"mess`, ""},
		"odd types":        {`{"error": {"message": 5}, "message": ["x"]}`, ""},
		"nothing":          {"", ""},
	}
	for name, test := range tests {
		if got := httpapi.Message([]byte(test.body)); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestClean(t *testing.T) {
	const key = "sk-0123456789"
	tests := map[string]struct{ text, want string }{
		"as it is":       {"Grüße, 世界 🧵", "Grüße, 世界 🧵"},
		"key":            {"bad sk-0123456789, sk-0123456789!", "bad [key], [key]!"},
		"lines":          {"\n a\r\n\tb ", `a\r\n\tb`},
		"escape":         {"\x1b[2J\x00\x7f", `\x1b[2J\x00\x7f`},
		"right to left":  {"a\u202eb\u2066\u200b", `a\u202eb\u2066\u200b`},
		"no UTF-8":       {"a\xff\xfeb", "a\ufffdb"},
		"exactly 500":    {strings.Repeat("ü", 500), strings.Repeat("ü", 500)},
		"more than 500":  {strings.Repeat("ü", 501), strings.Repeat("ü", 500) + "…"},
		"key at the cut": {strings.Repeat("x", 495) + key, strings.Repeat("x", 495) + "[key]"},
	}
	for name, test := range tests {
		if got := httpapi.Clean(test.text, key); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	if got := httpapi.Clean("model none not found", "none"); got != "model none not found" {
		t.Errorf("a placeholder for a key was blotted out: %q", got)
	}
}

func TestEnded(t *testing.T) {
	tests := map[string]struct {
		cause error
		kind  fault.Kind
		text  string
	}{
		"cancelled":     {nil, fault.Cancelled, "the call to x was cancelled"},
		"with a reason": {errors.New("ctrl-c"), fault.Cancelled, "the call to x was cancelled: ctrl-c"},
		"deadline":      {context.DeadlineExceeded, fault.Timeout, "the call to x timed out"},
		"of a kind":     {fault.New(fault.Timeout, "step a took over 5 s", nil), fault.Timeout, "the call to x timed out: step a took over 5 s"},
		"budget":        {fault.New(fault.Budget, "spent", nil), fault.Budget, "the call to x was cancelled: spent"},
	}
	for name, test := range tests {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(test.cause)
		got := httpapi.Ended(ctx, "x")
		if got.Kind != test.kind || got.Message != test.text {
			t.Errorf("%s: got %v %q, want %v %q", name, got.Kind, got.Message, test.kind, test.text)
		}
	}
}

func TestGuard(t *testing.T) {
	for _, test := range []struct {
		length, limit int
		ok            bool
	}{{0, 10, true}, {9, 10, true}, {10, 10, true}, {11, 10, false}, {5000, 10, false}} {
		res := &http.Response{Body: io.NopCloser(strings.NewReader(strings.Repeat("x", test.length)))}
		httpapi.Service{Name: "x"}.Guard(res, int64(test.limit))
		got, err := io.ReadAll(res.Body)
		if test.ok && (err != nil || len(got) != test.length) || !test.ok && (fault.KindOf(err) != fault.Permanent || len(got) > test.limit) {
			t.Errorf("%d of %d: read %d, %v", test.length, test.limit, len(got), err)
		}
	}
}

// TestTransportSpeaksHTTP2 checks that the tuning did not turn it off.
func TestTransportSpeaksHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	transport := httpapi.NewTransport(nil)
	transport.TLSClientConfig = &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.ProtoMajor != 2 {
		t.Errorf("spoke %s", res.Proto)
	}
}

func TestRetryAfterPrefersMilliseconds(t *testing.T) {
	h := http.Header{}
	h.Set("Retry-After", "9")
	h.Set("Retry-After-Ms", "1500")
	if got := httpapi.RetryAfter(h, time.Now()); got != 1500*time.Millisecond {
		t.Errorf("got %v", got)
	}
}

// TestCloseDrains checks that what is left of an answer is read, but not for
// long and not without end.
func TestCloseDrains(t *testing.T) {
	for name, rest := range map[string]string{"left open": "left", "endless": strings.Repeat("x", 1<<20)} {
		r, w := io.Pipe()
		res := &http.Response{Body: r}
		httpapi.Service{Name: "x"}.Guard(res, 1<<30)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = res.Body.Close()
		}()
		n, err := w.Write([]byte(rest))
		if name == "left open" && err != nil || name == "endless" && (err == nil || n > 100<<10) {
			t.Errorf("%s: %d bytes were read, %v", name, n, err)
		}
		<-done // though w stays open
		if _, err := w.Write([]byte("more")); err == nil {
			t.Errorf("%s: the body was not closed", name)
		}
	}
}
