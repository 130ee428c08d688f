package test

import (
	"cmp"
	"encoding/json"
	"fmt"
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

// fakeAnswer is one answer: a text, tool calls, vectors, or a status with a
// body.
type fakeAnswer struct {
	Text       string      `json:"text"`
	Model      string      `json:"model"` // the one that answers; default gpt-4o-mini-2024-07-18
	Calls      []fakeCall  `json:"calls"`
	Vectors    [][]float64 `json:"vectors"`
	Break      bool        `json:"break"` // of a stream: the connection drops after the text
	Status     int         `json:"status"`
	Body       string      `json:"body"`
	RetryAfter string      `json:"retry_after"`
}

// fakeCall is a model's wish to run a tool; Arguments is the text it wrote.
type fakeCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// openai FILE starts a service that gives the file's answers in order, the last
// again and again, and sets OPENAI_BASE_URL and OPENAI_API_KEY.
func openAI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: openai FILE")
	}
	f := ts.Value(service{}).(*fakeOpenAI)
	f.answers = nil
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
	var body map[string]any
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
	switch {
	case a.Vectors != nil:
		a.embeddings(w)
	case body["stream"] == true:
		a.stream(w)
	default:
		_ = json.NewEncoder(w).Encode(a.document("chat.completion", "message", a.message()))
	}
}

func (a fakeAnswer) message() map[string]any {
	m := map[string]any{"role": "assistant", "content": a.Text}
	var calls []any
	for i, c := range a.Calls {
		calls = append(calls, map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d", i+1), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": c.Arguments},
		})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return m
}

// document is an answer, or a part of a stream, with what both have.
func (a fakeAnswer) document(object, key string, message map[string]any) map[string]any {
	finish := "stop"
	if len(a.Calls) > 0 {
		finish = "tool_calls"
	}
	return map[string]any{
		"id": "1", "object": object, "created": 1, "model": cmp.Or(a.Model, "gpt-4o-mini-2024-07-18"),
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, key: message}},
		"usage":   fakeUsage(),
	}
}

func fakeUsage() map[string]any {
	return map[string]any{"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
}

// stream sends the text character by character, then the rest.
func (a fakeAnswer) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(doc map[string]any) {
		text, _ := json.Marshal(doc)
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
		_ = http.NewResponseController(w).Flush()
	}
	part := func(delta map[string]any, finish any) map[string]any {
		return map[string]any{
			"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-mini-2024-07-18",
			"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "delta": delta}},
		}
	}
	for _, c := range a.Text {
		send(part(map[string]any{"content": string(c)}, nil))
	}
	if a.Break {
		panic(http.ErrAbortHandler)
	}
	rest := a.message()
	delete(rest, "content")
	last := a.document("chat.completion.chunk", "delta", rest)
	delete(last, "usage")
	send(last)
	send(map[string]any{
		"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-mini-2024-07-18",
		"choices": []any{}, "usage": fakeUsage(),
	})
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func (a fakeAnswer) embeddings(w http.ResponseWriter) {
	var data []any
	for i, v := range a.Vectors {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"object": "list", "data": data, "model": "text-embedding-3-small",
		"usage": map[string]any{"prompt_tokens": 8, "total_tokens": 8},
	})
}
