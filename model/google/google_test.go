package google_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/google"
)

func newProvider(t testing.TB, cfg google.Config) *google.Provider {
	t.Helper()
	p, err := google.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

type sent struct {
	url    string
	header http.Header
	body   map[string]any
}

// serve answers every request with a body of a content type, and passes on
// what was sent.
func serve(t *testing.T, status int, contentType, body string) (root string, requests chan sent) {
	t.Helper()
	requests = make(chan sent, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := sent{url: r.URL.String(), header: r.Header}
		if err := json.NewDecoder(r.Body).Decode(&s.body); err != nil {
			t.Errorf("request: %v", err)
		}
		requests <- s
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// complete makes a call that is answered with a body.
func complete(t *testing.T, req *model.Request, contentType, body string, stream func(model.Delta)) (*model.Response, error) {
	t.Helper()
	root, _ := serve(t, 200, contentType, body)
	return newProvider(t, google.Config{APIKey: "k", BaseURL: root}).Complete(t.Context(), req, stream)
}

// request returns what is sent for a request.
func request(t *testing.T, req *model.Request) map[string]any {
	t.Helper()
	root, requests := serve(t, 200, "application/json", ok)
	if _, err := newProvider(t, google.Config{APIKey: "k", BaseURL: root}).Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	return (<-requests).body
}

const (
	ok   = `{"candidates": [{"content": {"parts": [{"text": "ok"}], "role": "model"}, "finishReason": "STOP"}]}`
	kind = "application/json; charset=UTF-8"
	sse  = "text/event-stream"
)

func ask() *model.Request {
	return &model.Request{Model: "gemini-2.5-flash", Messages: []model.Message{{Role: model.User, Text: "Hello"}}}
}

func none(model.Delta) {}
