package test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// fakeOpenAI is a Chat Completions service that says what a script tells it to.
type fakeOpenAI struct {
	answers []fakeAnswer

	mu    sync.Mutex
	asked []map[string]any
}

// fakeAnswer is one answer: a text, or a status with a body.
type fakeAnswer struct {
	Text       string `json:"text"`
	Status     int    `json:"status"`
	Body       string `json:"body"`
	RetryAfter string `json:"retry_after"`
}

// openai FILE starts a service that gives the file's answers in order, the last
// again and again, and sets OPENAI_BASE_URL and OPENAI_API_KEY.
func openAI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: openai FILE")
	}
	f := ts.Value(service{}).(*fakeOpenAI)
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &f.answers))
	server := httptest.NewServer(f)
	ts.Defer(server.Close)
	ts.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	ts.Setenv("OPENAI_API_KEY", "sk-canary-0123456789")
}

// service is the key under which a script finds its fakeOpenAI.
type service struct{}

// asked PATH writes the requests that the service got to a file, as a JSON list
// of {path, authorization, body}.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: asked FILE")
	}
	f := ts.Value(service{}).(*fakeOpenAI)
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := json.Marshal(f.asked)
	ts.Check(err)
	writeFile(ts, args[0], text)
}

func (f *fakeOpenAI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	src, _ := io.ReadAll(r.Body)
	var body any
	_ = json.Unmarshal(src, &body)
	f.mu.Lock()
	a := f.answers[min(len(f.asked), len(f.answers)-1)]
	f.asked = append(f.asked, map[string]any{
		"path": r.URL.Path, "authorization": r.Header.Get("Authorization"), "body": body,
	})
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if a.RetryAfter != "" {
		w.Header().Set("Retry-After", a.RetryAfter)
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
		_, _ = io.WriteString(w, a.Body)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "1", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini-2024-07-18",
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": a.Text},
		}},
		"usage": map[string]any{"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30},
	})
}
