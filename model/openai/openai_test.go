package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/openai"
)

func TestConformance(t *testing.T) {
	modeltest.Run(t, modeltest.Vendor{
		Name: "openai",
		New: func(t testing.TB, root, key string) model.Provider {
			return newProvider(t, openai.Config{APIKey: key, BaseURL: root + "/v1"})
		},
		Read:    readRequest,
		Answer:  writeAnswer,
		Failure: writeFailure,
		Empty:   `{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}`,
		FinishReasons: map[string]string{
			"stop":           model.FinishStop,
			"length":         model.FinishLength,
			"tool_calls":     model.FinishToolCalls,
			"function_call":  model.FinishToolCalls,
			"content_filter": model.FinishContentFilter,
			"eos":            "eos",
		},
	})
}

func newProvider(t testing.TB, cfg openai.Config) *openai.Provider {
	t.Helper()
	p, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// wireRequest is the part of Chat Completions that is used; anything else in a
// request fails the test.
type wireRequest struct {
	Model       string        `json:"model"`
	Messages    []wireMessage `json:"messages"`
	Temperature *float64      `json:"temperature"`
	MaxTokens   *int64        `json:"max_tokens"`
}

type wireMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// headers are all the headers of a request, with their values; "" where the
// value depends on the machine, the SDK or the body.
var headers = map[string]string{
	"Accept":                      "application/json",
	"Accept-Encoding":             "gzip",
	"Authorization":               "Bearer " + modeltest.Key,
	"Content-Length":              "",
	"Content-Type":                "application/json",
	"User-Agent":                  "",
	"X-Stainless-Arch":            "",
	"X-Stainless-Lang":            "go",
	"X-Stainless-Os":              "",
	"X-Stainless-Package-Version": "",
	"X-Stainless-Retry-Count":     "0",
	"X-Stainless-Runtime":         "go",
	"X-Stainless-Runtime-Version": "",
}

func readRequest(t testing.TB, r *http.Request, body []byte) modeltest.Sent {
	t.Helper()
	if r.Method != http.MethodPost || r.URL.String() != "/v1/chat/completions" {
		t.Errorf("%s %s, want POST /v1/chat/completions", r.Method, r.URL)
	}
	for name, values := range r.Header {
		want, known := headers[name]
		if !known || len(values) != 1 || want != "" && values[0] != want {
			t.Errorf("header %s: %q, want %q (known: %v)", name, values, want, known)
		}
	}
	for name := range headers {
		if r.Header.Get(name) == "" {
			t.Errorf("header %s is missing", name)
		}
	}
	var wire wireRequest
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&wire); err != nil {
		t.Errorf("body: %v: %s", err, body)
	}
	sent := modeltest.Sent{
		Key:         strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
		Model:       wire.Model,
		Temperature: wire.Temperature,
		MaxTokens:   wire.MaxTokens,
	}
	for i, m := range wire.Messages {
		if i == 0 && m.Role == "system" {
			sent.System = m.Content
			continue
		}
		sent.Messages = append(sent.Messages, model.Message{Role: model.Role(m.Role), Text: m.Content})
	}
	return sent
}

func writeAnswer(a modeltest.Answer) string {
	out := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": a.Model,
		"choices": []any{map[string]any{
			"index": 0, "logprobs": nil, "finish_reason": a.FinishReason,
			"message": map[string]any{"role": "assistant", "content": a.Text, "refusal": nil},
		}},
	}
	if u := a.Usage; u != nil {
		out["usage"] = map[string]any{
			"prompt_tokens": u.PromptTokens, "completion_tokens": u.CompletionTokens, "total_tokens": u.TotalTokens,
			"prompt_tokens_details":     map[string]any{"cached_tokens": u.CachedTokens},
			"completion_tokens_details": map[string]any{"reasoning_tokens": u.ReasoningTokens},
		}
	}
	return mustJSON(out)
}

func writeFailure(message string) string {
	return mustJSON(map[string]any{"error": map[string]any{"message": message, "type": "some_error", "param": nil, "code": nil}})
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// serve answers every request with a body, and passes on what was sent.
func serve(t *testing.T, body string) (root string, sent func() (http.Header, map[string]any)) {
	t.Helper()
	type seen struct {
		header http.Header
		body   map[string]any
	}
	requests := make(chan seen, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := seen{header: r.Header}
		if err := json.NewDecoder(r.Body).Decode(&s.body); err != nil {
			t.Errorf("request: %v", err)
		}
		requests <- s
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL, func() (http.Header, map[string]any) {
		s := <-requests
		return s.header, s.body
	}
}

func ask() *model.Request {
	return &model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Text: "Hello"}}}
}

// TestFixtures serves answers as the public reference documents them, and
// variants that compatible services send.
func TestFixtures(t *testing.T) {
	n := func(v int64) int64 { return v }
	tests := map[string]model.Response{
		"default": {
			Text: "Hello! How can I help?", Model: "gpt-4o-mini-2024-07-18", FinishReason: "stop",
			Usage: &model.Usage{PromptTokens: n(19), CompletionTokens: n(10), TotalTokens: n(29)},
		},
		"reasoning": {
			Text: "42", Model: "gpt-5-2025-08-07", FinishReason: "stop",
			Usage: &model.Usage{PromptTokens: 1117, CompletionTokens: 331, TotalTokens: 1448, ReasoningTokens: 320, CachedTokens: 1024},
		},
		"refusal": {
			Text: "I'm sorry, I can't help with that.", Model: "gpt-4o-2024-08-06", FinishReason: "content_filter",
			Usage: &model.Usage{PromptTokens: 81, CompletionTokens: 11, TotalTokens: 92},
		},
		"null_content": {
			Text: "", Model: "gpt-5-mini", FinishReason: "length",
			Usage: &model.Usage{PromptTokens: 12, CompletionTokens: 100, TotalTokens: 112, ReasoningTokens: 100},
		},
		"content_parts": {
			Text: "The answer is 4.", Model: "magistral-medium-latest", FinishReason: "stop",
			Usage: &model.Usage{PromptTokens: 10, CompletionTokens: 40, TotalTokens: 50},
		},
		"no_total": {
			Text: "hi", Model: "tiny", FinishReason: "stop",
			Usage: &model.Usage{PromptTokens: 5, CompletionTokens: 2, TotalTokens: 7},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			root, _ := serve(t, string(body))
			got, err := newProvider(t, openai.Config{APIKey: "k", BaseURL: root}).Complete(t.Context(), ask(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(got.Raw), `"id":"`) {
				t.Errorf("raw detail without the answer's id: %s", got.Raw)
			}
			got.Raw, want.Provider = nil, "openai"
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			if _, tested := tests[name]; !tested {
				t.Errorf("testdata/%s is not tested", e.Name())
			}
		}
	}
}

func TestErrorUnderStatus200(t *testing.T) {
	tests := map[string]struct {
		body   string
		status int
		kind   fault.Kind
	}{
		"with a status":    {`{"error": {"code": 429, "message": "slow down"}}`, 429, fault.Transient},
		"a bad request":    {`{"error": {"code": 400, "message": "slow down"}}`, 400, fault.Permanent},
		"without a status": {`{"error": {"code": "overloaded", "message": "slow down"}, "choices": []}`, 502, fault.Transient},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root, _ := serve(t, test.body)
			_, err := newProvider(t, openai.Config{APIKey: "k", BaseURL: root}).Complete(t.Context(), ask(), nil)
			f, ok := err.(*fault.Error)
			if !ok || f.Kind != test.kind || f.Status != test.status || !strings.Contains(f.Message, "slow down") {
				t.Errorf("got %#v, want kind %v and status %d", err, test.kind, test.status)
			}
		})
	}
}

// TestNoChoiceIsBilled checks that the tokens of an answer without choices are
// not lost.
func TestNoChoiceIsBilled(t *testing.T) {
	root, _ := serve(t, `{"model": "m", "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 9}}`)
	r, err := newProvider(t, openai.Config{APIKey: "k", BaseURL: root}).Complete(t.Context(), ask(), nil)
	if fault.KindOf(err) != fault.Transient || r == nil || r.Usage == nil || r.Usage.TotalTokens != 9 {
		t.Errorf("response %+v and error %v, want the usage and a transient error", r, err)
	}
}

// FuzzAnswer checks that no answer, however odd, does more than fail.
func FuzzAnswer(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, body := range []string{``, `null`, `[]`, `"x"`, `{}`, `{"choices":null}`, `{"choices":[null]}`, `{"choices":[{"message":null}]}`,
		`{"choices":[{"message":{"content":{}}}]}`, `{"choices":"x"}`, `{"choices":[{"message":[]}],"usage":[]}`, `{"error":null}`, `{"usage":{"prompt_tokens":"x"}}`} {
		f.Add([]byte(body))
	}
	transport := &canned{}
	p := newProvider(f, openai.Config{BaseURL: "http://service.test", HTTPClient: &http.Client{Transport: transport}})
	f.Fuzz(func(t *testing.T, body []byte) {
		transport.body = body
		r, err := p.Complete(t.Context(), ask(), nil)
		if err == nil && r == nil {
			t.Error("neither an answer nor an error")
		}
		if err != nil && fault.KindOf(err) == 0 {
			t.Errorf("an error without a kind: %v", err)
		}
	})
}

// canned answers with a body, without any network.
type canned struct{ body []byte }

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(c.body)
	return w.Result(), nil
}
