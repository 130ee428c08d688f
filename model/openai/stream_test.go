package openai_test

import (
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

// streamFrom makes one streamed call to a service that answers with a body.
func streamFrom(t testing.TB, contentType, body string) (*model.Response, model.Delta, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	var got model.Delta
	r, err := newProvider(t, openai.Config{APIKey: "k", BaseURL: server.URL}).Complete(t.Context(), ask(), func(d model.Delta) {
		got.Text += d.Text
		got.Reasoning += d.Reasoning
	})
	return r, got, err
}

// TestStreamFixtures serves streams as the public reference documents them, and
// variants that compatible services send.
func TestStreamFixtures(t *testing.T) {
	usage := &model.Usage{PromptTokens: 19, CompletionTokens: 12, TotalTokens: 31, ReasoningTokens: 5, CachedTokens: 4}
	call := func(id, name, args string) model.ToolCall { return model.ToolCall{ID: id, Name: name, Arguments: args} }
	tests := map[string]model.Response{
		"text": {Text: "Grüße, 世界 🧵", Model: "gpt-5-2025-08-07", FinishReason: "stop", Usage: usage},
		"tools": {
			ToolCalls: []model.ToolCall{call("call_a", "add", `{"a":1}`), call("call_b", "multiply", `{"b":2}`)},
			Model:     "gpt-5-2025-08-07", FinishReason: "tool_calls", Usage: usage,
		},
		"refusal": {Text: "I'm sorry, I can't.", Model: "gpt-5-2025-08-07", FinishReason: "content_filter"},
		"reasoning_field": {
			Reasoning: "Two and two.", ToolCalls: []model.ToolCall{call("call_1", "add", `{"a":2}`)}, Model: "qwen3-32b", FinishReason: "tool_calls",
			Usage: &model.Usage{PromptTokens: 5, CompletionTokens: 9, TotalTokens: 14},
			Native: &model.Native{Provider: "openai", Data: json.RawMessage(`{"reasoning": "Two and two.", "reasoning_details": [
				{"type": "reasoning.text", "text": "Two and two.", "signature": "c2ln"}, {"type": "reasoning.encrypted", "data": "eA=="}]}`)},
		},
		"content_parts": {
			Text: "The answer is 4.", Reasoning: "2 + 2 is 4.", Model: "magistral-medium-latest", FinishReason: "stop",
			Usage: &model.Usage{PromptTokens: 10, CompletionTokens: 40, TotalTokens: 50},
		},
		"counted_beside": {
			Text: "4", Model: "grok-4", FinishReason: "stop",
			Usage: &model.Usage{PromptTokens: 10, CompletionTokens: 102, TotalTokens: 112, ReasoningTokens: 100},
		},
		"index_always_0": {
			ToolCalls: []model.ToolCall{call("f-1", "add", `{"a":1}`), call("f-2", "add", `{"a":2}`)}, Model: "gemini-2.5-flash", FinishReason: "tool_calls",
		},
		"no_index": {
			ToolCalls: []model.ToolCall{call("f-1", "add", `{"a":1}`), call("f-2", "add", `{"a":2}`)}, Model: "gemini-2.5-flash", FinishReason: "tool_calls",
		},
		"carriage_returns": {Text: "ab", Model: "m", FinishReason: "stop"},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
			if err != nil {
				t.Fatal(err)
			}
			got, pieces, err := streamFrom(t, "text/event-stream", string(body))
			if err != nil {
				t.Fatal(err)
			}
			if pieces.Text != want.Text || pieces.Reasoning != want.Reasoning {
				t.Errorf("pieces %+v", pieces)
			}
			if !strings.Contains(string(got.Raw), `"id":"`) {
				t.Errorf("raw detail without the answer's id: %s", got.Raw)
			}
			got.Raw, got.FirstToken, want.Provider = nil, 0, "openai"
			if diff := gocmp.Diff(&want, got, sameJSON); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil || len(files) != len(tests) {
		t.Errorf("%d fixtures and %d tests, %v", len(files), len(tests), err)
	}
}

// TestStreamThatIsNone checks services that answer a call for a stream at once.
func TestStreamThatIsNone(t *testing.T) {
	body, err := os.ReadFile("testdata/content_parts.json")
	if err != nil {
		t.Fatal(err)
	}
	r, pieces, err := streamFrom(t, "application/json; charset=utf-8", string(body))
	if err != nil || r.Text != "The answer is 4." || r.Reasoning != "2 + 2 is 4." || r.FirstToken <= 0 || r.Usage.TotalTokens != 50 ||
		pieces != (model.Delta{Text: r.Text, Reasoning: r.Reasoning}) {
		t.Errorf("got %+v, pieces %+v, %v", r, pieces, err)
	}
	for _, bad := range []string{"", "{", "null", `{"choices": []}`} {
		if r, _, err := streamFrom(t, "application/json", bad); fault.KindOf(err) != fault.Transient || r != nil {
			t.Errorf("%q: got %+v, %v", bad, r, err)
		}
	}
}

// TestStreamEnds checks where a stream is whole.
func TestStreamEnds(t *testing.T) {
	const (
		text   = `data: {"model": "m", "choices": [{"index": 0, "delta": {"content": "hi"}}]}` + "\n\n"
		stop   = `data: {"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}` + "\n\n"
		tokens = `data: {"model": "m", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}` + "\n\n"
		fail   = `data: {"error": {"message": "slow down", "code": 429}}` + "\n\n"
		second = `data: {"model": "m", "choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}` + "\n\n"
		done   = "data: [DONE]\n\n"
	)
	tests := map[string]struct {
		body   string
		kind   fault.Kind // 0: whole
		text   string
		tokens int64
	}{
		"by the book":             {text + stop + tokens + done, 0, "hi", 7},
		"no marker":               {text + stop + tokens, 0, "hi", 7},
		"no marker and no usage":  {text + stop, 0, "hi", 0},
		"no reason":               {text + tokens + done, 0, "hi", 7},
		"after the marker":        {text + stop + done + text + fail, 0, "hi", 0},
		"another choice":          {text + second + stop + done, 0, "hi", 0},
		"only another choice":     {text + second, fault.Transient, "hi", 0},
		"cut, with usage":         {tokens + text, fault.Transient, "hi", 7},
		"an error, with usage":    {text + tokens + fail, fault.Transient, "hi", 7},
		"usage only":              {tokens + done, fault.Transient, "", 7},
		"nothing":                 {done, fault.Transient, "", 0},
		"an error after a reason": {text + stop + fail, fault.Transient, "hi", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, pieces, err := streamFrom(t, "text/event-stream", test.body)
			if fault.KindOf(err) != test.kind || pieces.Text != test.text {
				t.Errorf("got %v with %q, want kind %v with %q", err, pieces.Text, test.kind, test.text)
			}
			switch {
			case test.text == "" && test.tokens == 0:
				if r != nil {
					t.Errorf("got %+v", r)
				}
			case r == nil || r.Text != test.text:
				t.Errorf("got %+v, want the text %q", r, test.text)
			case test.tokens > 0 && (r.Usage == nil || r.Usage.TotalTokens != test.tokens) || test.tokens == 0 && r.Usage != nil:
				t.Errorf("usage %+v, want %d tokens", r.Usage, test.tokens)
			}
		})
	}
}

// TestStreamErrors checks how an error in a stream is classified.
func TestStreamErrors(t *testing.T) {
	tests := map[string]struct {
		event  string
		status int
		kind   fault.Kind
	}{
		"a type":         {`{"error": {"message": "slow down", "type": "server_error", "code": null}}`, 500, fault.Transient},
		"a code":         {`{"error": {"message": "slow down", "type": "invalid_request_error", "code": "rate_limit_exceeded"}}`, 429, fault.Transient},
		"a bad request":  {`{"error": {"message": "slow down", "type": "invalid_request_error", "code": "unknown"}}`, 400, fault.Permanent},
		"a status":       {`{"error": {"message": "slow down", "code": 502}, "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]}`, 502, fault.Transient},
		"an odd status":  {`{"error": {"message": "slow down", "code": 7}}`, 500, fault.Transient},
		"a text":         {`{"error": "slow down"}`, 500, fault.Transient},
		"a list":         {`{"error": ["slow down"], "message": "slow down"}`, 500, fault.Transient},
		"a named event":  {`{"error": {"message": "slow down", "code": "overloaded"}}`, 529, fault.Transient},
		"authentication": {`{"error": {"message": "slow down", "type": "authentication_error"}}`, 401, fault.Permanent},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := streamFrom(t, "text/event-stream", "event: error\ndata: "+test.event+"\n\n")
			f, ok := err.(*fault.Error)
			if !ok || f.Kind != test.kind || f.Status != test.status || !strings.Contains(f.Message, "slow down") {
				t.Errorf("got %#v, want kind %v and status %d", err, test.kind, test.status)
			}
		})
	}
}

// FuzzStream checks that no stream, however odd, does more than fail, and that
// what was handed on is in the response.
func FuzzStream(f *testing.F) {
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
		f.Add(body[:len(body)/2])
	}
	for _, body := range []string{
		"data: {}\n\n", "data: null\n\n", "data:\n\n", "data: [DONE]\n\n", "data\n\n", ":\n\n", "data: {\"choices\":[null]}\n\n",
		"data: {\"choices\":[{\"delta\":null,\"finish_reason\":5}],\"usage\":[]}\n\n", "data: {\"error\":null}\n\n", "data: {\"error\":[]}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":[{}],\"reasoning\":{},\"tool_calls\":[null,{\"index\":-1},{\"index\":9e18,\"function\":{\"arguments\":{}}}]}}]}\n\n",
	} {
		f.Add([]byte(body))
	}
	transport := &canned{contentType: "text/event-stream"}
	p := newProvider(f, openai.Config{BaseURL: "http://service.test", HTTPClient: &http.Client{Transport: transport}})
	f.Fuzz(func(t *testing.T, body []byte) {
		transport.body = body
		var pieces model.Delta
		r, err := p.Complete(t.Context(), ask(), func(d model.Delta) {
			pieces.Text += d.Text
			pieces.Reasoning += d.Reasoning
		})
		switch {
		case err == nil && r == nil:
			t.Error("neither an answer nor an error")
		case err != nil && fault.KindOf(err) == 0:
			t.Errorf("an error without a kind: %v", err)
		case r == nil && pieces != model.Delta{} || r != nil && (r.Text != pieces.Text || r.Reasoning != pieces.Reasoning):
			t.Errorf("pieces %+v of the response %+v", pieces, r)
		case r != nil && r.Native != nil && !json.Valid(r.Native.Data):
			t.Errorf("no JSON: %s", r.Native.Data)
		}
	})
}
