// Package modeltest is the suite that every adapter of a model service must
// pass. It plays the service: well, badly and not at all.
//
// An adapter's test fills in a Vendor, which translates between the suite and
// the vendor's wire format, and calls Run.
package modeltest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// Key is the key that the suite gives the adapter and looks for in everything
// that comes out of it.
const Key = "sk-canary-0123456789abcdefXYZ"

// Sent is what an adapter sent, read back from the wire.
type Sent struct {
	Key         string
	Model       string
	System      string
	Messages    []model.Message
	Temperature *float64
	MaxTokens   *int64

	Stream     bool // the answer is to come as a stream
	Tools      []Tool
	ToolChoice *model.ToolChoice
	Schema     any    // the JSON Schema for the answer, as encoding/json decodes it
	Thinking   string // the vendor's reasoning controls as they were sent; "" without any
}

// Tool is a tool as it was sent.
type Tool struct {
	Name, Description string
	Parameters        any // as encoding/json decodes it
}

// Answer is what the service is to answer.
type Answer struct {
	Text         string
	Reasoning    string // only for a vendor whose Thinking shows it
	ToolCalls    []model.ToolCall
	Model        string
	FinishReason string // in the vendor's words
	Usage        *model.Usage
}

// Vendor is one wire format. The first block is required. Of the second, nil
// says that the vendor does not have it.
type Vendor struct {
	Name string
	// New makes the adapter for a service at root (such as
	// http://127.0.0.1:1234), without any retry of its own. When the adapter is
	// an io.Closer, the suite closes it.
	New func(t testing.TB, root, key string) model.Provider
	// Read reads a request, and fails the test when any of it is not as the
	// vendor documents it.
	Read func(t testing.TB, r *http.Request, body []byte) Sent
	// Answer is the body of a successful answer, JSON.
	Answer func(Answer) string
	// Failure is the body of an error with the service's own message, JSON.
	Failure func(message string) string
	// Empty is a successful answer that holds no text and no place for one.
	Empty string
	// FinishReasons maps the vendor's finish reasons to the neutral ones.
	FinishReasons map[string]string

	Stream *Stream
	Tools  *Tools
	// Attachments are the types that the vendor takes. For any other the
	// adapter must give a permanent error.
	Attachments map[model.AttachmentType]Attachments
	Schema      bool // the vendor has structured output; Sent.Schema is read
	Thinking    *Thinking
	Embeddings  *Embeddings
	// PlainUsage says that the service does not count reasoning and cached
	// tokens apart.
	PlainUsage bool
}

// usage is what the service is to report of a call.
func (v Vendor) usage() *model.Usage {
	u := &model.Usage{PromptTokens: 21, CompletionTokens: 34, TotalTokens: 55}
	if !v.PlainUsage {
		u.ReasoningTokens, u.CachedTokens = 13, 8
	}
	return u
}

// Run runs the suite.
func Run(t *testing.T, v Vendor) {
	parts := []struct {
		name string
		run  func(*testing.T, Vendor)
	}{
		{"requests", requests},
		{"answers", answers},
		{"statuses", statuses},
		{"waits", waits},
		{"messages", messages},
		{"network", network},
		{"contexts", contexts},
		{"parallel", parallel},
		{"streams", streams},
		{"broken streams", brokenStreams},
		{"tools", tools},
		{"attachments", attachments},
		{"schemas", schemas},
		{"thinking", thinking},
		{"embeddings", embeddings},
	}
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) { part.run(t, v) })
	}
}

// start serves one subtest, and checks at its end that no goroutine is left.
func (v Vendor) start(t *testing.T, h http.HandlerFunc) (*httptest.Server, model.Provider) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	server := httptest.NewServer(h)
	p := v.New(t, server.URL, Key)
	t.Cleanup(func() {
		if c, ok := p.(io.Closer); ok {
			if err := c.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		server.Close()
		goleak.VerifyNone(t, before)
	})
	return server, p
}

// reply answers every request with one status and body.
func reply(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// ask is a plain request.
func ask() *model.Request {
	return &model.Request{Model: "some-model", Messages: []model.Message{{Role: model.User, Text: "Hello"}}}
}

// fails checks what holds for every error, and returns it classified.
func fails(t *testing.T, err error, want fault.Kind) *fault.Error {
	t.Helper()
	if err == nil {
		t.Fatal("the call succeeded, want an error")
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if text := fmt.Sprintf("%v %+v", e, e); strings.Contains(text, Key) {
			t.Errorf("the error holds the key: %s", text)
		}
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatalf("the error has no kind: %v", err)
	}
	if f.Kind != want {
		t.Errorf("kind %v, want %v: %v", f.Kind, want, err)
	}
	if len(f.Message) > 2500 || strings.ContainsAny(f.Message, "\n\r\x1b") {
		t.Errorf("not one clean line: %q", f.Message)
	}
	return f
}

func ptr[T any](v T) *T { return &v }
