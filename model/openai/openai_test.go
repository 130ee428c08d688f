package openai_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/openai"
)

// serve answers every request with a body, and passes on what was sent.
func serve(t *testing.T, body string) (root string, sent func() (http.Header, map[string]any)) {
	t.Helper()
	return serveAs(t, "application/json", body)
}

// serveAs does so with a content type; "" is one that says nothing.
func serveAs(t *testing.T, contentType, body string) (root string, sent func() (http.Header, map[string]any)) {
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
		w.Header().Set("Content-Type", cmp.Or(contentType, "application/octet-stream"))
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
			Text: "The answer is 4.", Reasoning: "2 + 2 is 4.", Model: "magistral-medium-latest", FinishReason: "stop",
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
			if diff := gocmp.Diff(&want, got); diff != "" {
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
		"with a status":   {`{"error": {"code": 429, "message": "slow down"}}`, 429, fault.Transient},
		"a bad request":   {`{"error": {"code": 400, "message": "slow down"}}`, 400, fault.Permanent},
		"a code":          {`{"error": {"code": "overloaded", "message": "slow down"}, "choices": []}`, 529, fault.Transient},
		"a type":          {`{"error": {"code": null, "type": "invalid_request_error", "message": "slow down"}}`, 400, fault.Permanent},
		"an unknown code": {`{"error": {"code": "x", "message": "slow down"}, "choices": []}`, 500, fault.Transient},
		"a text":          {`{"error": "slow down"}`, 500, fault.Transient},
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
	transport := &canned{contentType: "application/json"}
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
type canned struct {
	contentType string
	body        []byte
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", c.contentType)
	_, _ = w.Write(c.body)
	return w.Result(), nil
}
