package ollama_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/ollama"
	"github.com/agentloom/agentloom/value"
)

// serve answers every request with one body, and keeps what was sent.
func serve(t testing.TB, status int, body string) (p *ollama.Provider, sent func() map[string]any) {
	t.Helper()
	var last []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if last, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return newProvider(t, ollama.Config{BaseURL: server.URL + "/v1"}), func() map[string]any {
		out := map[string]any{}
		if err := json.Unmarshal(last, &out); err != nil {
			t.Error(err)
		}
		return out
	}
}

func ask() *model.Request {
	return &model.Request{Model: "some-model", Messages: []model.Message{{Role: model.User, Text: "Hello"}}}
}

func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const ok = `{"model": "m", "message": {"role": "assistant", "content": "ok"}, "done": true}`

// TestFixtures checks answers written by hand from the API's reference.
func TestFixtures(t *testing.T) {
	tests := map[string]struct {
		stream bool
		want   model.Response
	}{
		"tools_stream.ndjson": {true, model.Response{
			Model: "qwen3:8b", Reasoning: "The user wants two cities.", FinishReason: "tool_calls",
			ToolCalls: []model.ToolCall{
				{ID: "call_1", Name: "get_weather", Arguments: `{"city":"Tokyo","days":12345678901234567890}`},
				{ID: "call_zx81", Name: "get_weather", Arguments: `{"city":"Zürich"}`},
			},
			Usage:  &model.Usage{PromptTokens: 169, CompletionTokens: 15, TotalTokens: 184},
			Native: &model.Native{Provider: "ollama", Data: []byte(`{"thinking":"The user wants two cities."}`)},
			Raw:    []byte(`{"created_at":"2025-07-07T20:22:19.19314Z","load_duration":41295167}`),
		}},
		"no_reason_stream.ndjson": {true, model.Response{
			Model: "llama3.2", Text: "The sky", FinishReason: "stop",
			Usage: &model.Usage{CompletionTokens: 282, TotalTokens: 282},
			Raw:   []byte(`{"created_at":"2023-08-04T19:22:45.499127Z","load_duration":1334875}`),
		}},
		"answer.json": {false, model.Response{
			Model: "gpt-oss:20b-cloud", Text: `{"age": 22}`, Reasoning: "Easy.", FinishReason: "length",
			Usage:  &model.Usage{PromptTokens: 34, CompletionTokens: 12, TotalTokens: 46},
			Native: &model.Native{Provider: "ollama", Data: []byte(`{"thinking":"Easy."}`)},
			Raw:    []byte(`{"created_at":"2025-09-26T18:01:22.3Z","remote_model":"gpt-oss:20b","remote_host":"https://ollama.com:443"}`),
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, 200, fixture(t, name))
			var sink func(model.Delta)
			var got strings.Builder
			if test.stream {
				sink = func(d model.Delta) { got.WriteString(d.Reasoning + d.Text) }
			}
			r, err := p.Complete(t.Context(), ask(), sink)
			if err != nil {
				t.Fatal(err)
			}
			if test.stream != (r.FirstToken > 0) || test.stream && got.String() != r.Reasoning+r.Text {
				t.Errorf("first token after %v, pieces %q", r.FirstToken, got.String())
			}
			r.FirstToken = 0
			test.want.Provider, test.want.CostUSD = "ollama", ptr(0.0)
			if diff := cmp.Diff(&test.want, r); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSent checks what the suite can't know of the request.
func TestSent(t *testing.T) {
	schema := value.MapOf("type", "object")
	tools := []model.ToolSpec{{Name: "f", Parameters: value.MapOf("type", "object", "additionalProperties", false, "x-odd", []any{int64(1), nil})}}
	tests := map[string]struct {
		change func(*model.Request)
		key    string
		want   any
	}{
		"a level":              {func(r *model.Request) { r.Model, r.Thinking = "gpt-oss:20b", &model.Thinking{Level: "low"} }, "think", "low"},
		"a level of another's": {func(r *model.Request) { r.Model, r.Thinking = "me/GPT-OSS", &model.Thinking{Level: "high"} }, "think", "high"},
		"on, without a level":  {func(r *model.Request) { r.Model, r.Thinking = "gpt-oss", &model.Thinking{Enabled: ptr(true)} }, "think", true},
		"no options":           {func(*model.Request) {}, "options", nil},
		"schema":               {func(r *model.Request) { r.Schema = schema }, "format", map[string]any{"type": "object"}},
		"schema with tools":    {func(r *model.Request) { r.Schema, r.Tools = schema, tools }, "format", nil},
		"schema, tools not offered": {func(r *model.Request) {
			r.Schema, r.Tools, r.ToolChoice = schema, tools, &model.ToolChoice{Mode: model.NoTools}
		}, "format", map[string]any{"type": "object"}},
		"all of a tool's schema": {func(r *model.Request) { r.Tools = tools }, "tools", []any{map[string]any{"type": "function", "function": map[string]any{
			"name": "f", "description": "", "parameters": map[string]any{"type": "object", "additionalProperties": false, "x-odd": []any{1.0, nil}}}}}},
		"thinking goes back": {func(r *model.Request) {
			r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Native: &model.Native{Provider: "ollama", Data: []byte(`{"thinking": "hm"}`)}}, r.Messages[0])
		}, "messages", []any{
			map[string]any{"role": "user", "content": "Hello"},
			map[string]any{"role": "assistant", "content": "", "thinking": "hm"},
			map[string]any{"role": "user", "content": "Hello"},
		}},
		"odd arguments": {func(r *model.Request) {
			r.Messages = append(r.Messages, model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"x": `}}},
				model.Message{Role: model.ToolRole, CallID: "a", ToolName: "f", Text: "no JSON", IsError: true})
		}, "messages", []any{
			map[string]any{"role": "user", "content": "Hello"},
			map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": "a", "function": map[string]any{
				"name": "f", "arguments": map[string]any{"invalid_arguments": `{"x": `}}}}},
			map[string]any{"role": "tool", "content": "Error: no JSON", "tool_name": "f", "tool_call_id": "a"},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, sent := serve(t, 200, ok)
			req := ask()
			test.change(req)
			if _, err := p.Complete(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, sent()[test.key]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.key, diff)
			}
		})
	}
}

func TestImages(t *testing.T) {
	for _, kind := range []string{"image/png", "image/jpeg", "image/webp"} {
		p, sent := serve(t, 200, ok)
		req := ask()
		req.Messages[0].Attachments = []model.Attachment{{Type: model.Image, MediaType: kind, Data: []byte{1, 2, 255}}}
		if _, err := p.Complete(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if got := sent()["messages"].([]any)[0].(map[string]any)["images"]; !cmp.Equal(got, []any{"AQL/"}) {
			t.Errorf("%s: sent %v", kind, got)
		}
	}
	for want, a := range map[string]model.Attachment{
		"fetch: local":  {Type: model.Image, MediaType: "image/png", URL: "https://example.com/a.png"},
		"no pdf":        {Type: model.PDF, MediaType: "application/pdf", Data: []byte("%PDF")},
		"no audio":      {Type: model.Audio, MediaType: "audio/wav", Data: []byte("RIFF")},
		`not "image/x"`: {Type: model.Image, MediaType: "image/x", Data: []byte("x")},
	} {
		p, _ := serve(t, 200, ok)
		req := ask()
		req.Messages[0].Attachments = []model.Attachment{a}
		_, err := p.Complete(t.Context(), req, nil)
		if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "ollama") {
			t.Errorf("%+v: got %v, want a permanent error with %q", a, err, want)
		}
	}
}

// TestOddAnswers checks answers of servers that only resemble Ollama.
func TestOddAnswers(t *testing.T) {
	tests := map[string]struct {
		body string
		want model.Response
	}{
		"nulls":               {`{"model": null, "message": {"content": null, "thinking": null, "tool_calls": null}, "done": true, "error": null, "eval_count": null}`, model.Response{FinishReason: "stop"}},
		"nonsense counts":     {`{"message": {"content": "x"}, "done": true, "prompt_eval_count": 1e400, "eval_count": "7"}`, model.Response{Text: "x", FinishReason: "stop", Usage: &model.Usage{}}},
		"a count of 10^30":    {`{"message": {"content": "x"}, "done": true, "prompt_eval_count": 1000000000000000000000000000000, "eval_count": 7}`, model.Response{Text: "x", FinishReason: "stop", Usage: &model.Usage{CompletionTokens: 7, TotalTokens: 7}}},
		"a reason in capital": {`{"message": {"content": "x"}, "done": true, "done_reason": "UNLOAD"}`, model.Response{Text: "x", FinishReason: "unload"}},
		"arguments as text": {`{"message": {"tool_calls": [{"function": {"name": "f", "arguments": "{\"a\": 1"}}, {"function": {"name": "g"}}, {"function": {"name": "h", "arguments": [1]}}]}, "done": true}`,
			model.Response{FinishReason: "tool_calls", ToolCalls: []model.ToolCall{
				{ID: "call_1", Name: "f", Arguments: `{"a": 1`}, {ID: "call_2", Name: "g"}, {ID: "call_3", Name: "h", Arguments: "[1]"}}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, sink := range []func(model.Delta){nil, func(model.Delta) {}} {
				p, _ := serve(t, 200, test.body)
				r, err := p.Complete(t.Context(), ask(), sink)
				if err != nil {
					t.Fatal(err)
				}
				r.FirstToken = 0
				test.want.Provider, test.want.CostUSD = "ollama", ptr(0.0)
				if diff := cmp.Diff(&test.want, r); diff != "" {
					t.Errorf("response (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestErrors(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		kind   fault.Kind
		want   string
		absent string
	}{
		"no such model":    {404, `{"error": "model 'some-model' not found"}`, fault.Permanent, "model 'some-model' not found (get it with `ollama pull some-model`)", ""},
		"another words":    {404, `{"error": "model \"some-model\" not found, try pulling it first"}`, fault.Permanent, "`ollama pull some-model`", ""},
		"no such path":     {404, "404 page not found", fault.Permanent, "404 page not found", "pull"},
		"queue":            {503, `{"error": "server busy, please try again.  maximum pending requests exceeded"}`, fault.Transient, "server busy", "pull"},
		"no thinking":      {400, `{"error": "\"some-model\" does not support thinking"}`, fault.Permanent, "does not support thinking", "pull"},
		"in a good answer": {200, `{"error": "an error was encountered while running the model: CUDA error\n"}`, fault.Transient, "while running the model: CUDA error", "200"},
		"an object":        {200, `{"error": {"message": "odd"}}`, fault.Transient, "odd", ""},
		"of another type":  {200, `{"message": {"content": 5}, "done": true}`, fault.Transient, "no whole JSON document of its kind", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, sink := range []func(model.Delta){nil, func(model.Delta) {}} {
				p, _ := serve(t, test.status, test.body+"\n")
				r, err := p.Complete(t.Context(), ask(), sink)
				if fault.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) || test.absent != "" && strings.Contains(err.Error(), test.absent) {
					t.Errorf("got %v, want %v with %q and without %q", err, test.kind, test.want, test.absent)
				}
				if r != nil {
					t.Errorf("a response: %+v", r)
				}
			}
		})
	}
	t.Run("embeddings of no model", func(t *testing.T) {
		p, _ := serve(t, 404, `{"error": "model 'nomic' not found"}`)
		_, err := p.Embed(t.Context(), &model.EmbedRequest{Model: "nomic", Inputs: []string{"a"}})
		if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "`ollama pull nomic`") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("not running", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		_, err := newProvider(t, ollama.Config{BaseURL: server.URL}).Complete(t.Context(), ask(), nil)
		if fault.KindOf(err) != fault.Transient || !strings.Contains(err.Error(), "ollama serve") {
			t.Errorf("got %v", err)
		}
	})
}

// TestBrokenStreamKeepsWhatCame checks that calls and tokens of a stream that
// breaks are not lost.
func TestBrokenStreamKeepsWhatCame(t *testing.T) {
	p, _ := serve(t, 200, `{"model": "m", "message": {"content": "a", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, "eval_count": 3}`+"\n"+
		`{"error": "gone"}`+"\n")
	r, err := p.Complete(t.Context(), ask(), func(model.Delta) {})
	if fault.KindOf(err) != fault.Transient || !strings.Contains(err.Error(), "gone") {
		t.Errorf("got %v", err)
	}
	if r == nil || r.Text != "a" || len(r.ToolCalls) != 1 || r.Usage == nil || r.Usage.CompletionTokens != 3 {
		t.Errorf("got %+v", r)
	}
}

func TestBadKey(t *testing.T) {
	_, err := ollama.New(ollama.Config{APIKey: "secret\nkey"})
	if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

// fixed answers each request with the same bytes, without a network.
type fixed string

func (f fixed) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(f)))}, nil
}

func fuzzed(t *testing.T, body string) *ollama.Provider {
	return newProvider(t, ollama.Config{HTTPClient: &http.Client{Transport: fixed(body)}})
}

func classified(t *testing.T, err error) {
	if err != nil && fault.KindOf(err) == 0 {
		t.Errorf("no kind: %v", err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(fixture(f, "answer.json"))
	f.Add(ok)
	f.Add(`{"embeddings": [[1, 2]], "model": "m", "prompt_eval_count": 4}`)
	f.Fuzz(func(t *testing.T, body string) {
		p := fuzzed(t, body)
		r, err := p.Complete(t.Context(), ask(), nil)
		classified(t, err)
		if (r == nil) && (err == nil) {
			t.Error("nothing")
		}
		e, err := p.Embed(t.Context(), &model.EmbedRequest{Model: "m", Inputs: []string{"a"}})
		classified(t, err)
		if err == nil && len(e.Vectors) != 1 {
			t.Errorf("%d vectors", len(e.Vectors))
		}
	})
}

func FuzzStream(f *testing.F) {
	f.Add(fixture(f, "tools_stream.ndjson"))
	f.Add(fixture(f, "no_reason_stream.ndjson"))
	f.Add("{\"message\": {\"content\": \"<think>x</thi\"}}\n\n{\"error\": \"x\"}")
	f.Fuzz(func(t *testing.T, body string) {
		var text, reasoning strings.Builder
		r, err := fuzzed(t, body).Complete(t.Context(), ask(), func(d model.Delta) {
			text.WriteString(d.Text)
			reasoning.WriteString(d.Reasoning)
		})
		classified(t, err)
		switch {
		case r == nil && (err == nil || text.Len()+reasoning.Len() > 0):
			t.Errorf("no response beside %v, though pieces came", err)
		case r != nil && (r.Text != text.String() || r.Reasoning != reasoning.String()):
			t.Errorf("the pieces are %q and %q, the response %q and %q", &reasoning, &text, r.Reasoning, r.Text)
		}
	})
}
