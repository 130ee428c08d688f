package google_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/google"
)

// TestFixtures serves answers as the public reference documents them.
func TestFixtures(t *testing.T) {
	tests := map[string]model.Response{
		"default.json": {
			Text: "Hello! How can I help?", Model: "gemini-2.5-flash", FinishReason: model.FinishStop,
			Usage: &model.Usage{PromptTokens: 9, CompletionTokens: 31, TotalTokens: 40, ReasoningTokens: 24, CachedTokens: 4},
		},
		"thoughts_only.json": {
			Reasoning: "Counting…", Model: "gemini-2.5-flash", FinishReason: model.FinishLength,
			Usage: &model.Usage{PromptTokens: 12, CompletionTokens: 100, TotalTokens: 112, ReasoningTokens: 100},
		},
		"safety.json": {
			Text: "Once upon a", Model: "gemini-2.5-flash", FinishReason: model.FinishContentFilter,
			Usage: &model.Usage{PromptTokens: 8, CompletionTokens: 4, TotalTokens: 12},
		},
		"code_execution.json": {
			Text: "I run code.\nThe sum is 5117.", Model: "gemini-2.5-flash", FinishReason: model.FinishStop,
			Usage: &model.Usage{PromptTokens: 1000, CompletionTokens: 50, TotalTokens: 1050},
		},
		"stream.sse": {
			Text: "The sky is blue because of scattering. 🌌", Reasoning: "**Recalling**\n\nRayleigh it is.", Model: "gemini-3-flash-preview", FinishReason: model.FinishStop,
			Usage: &model.Usage{PromptTokens: 7, CompletionTokens: 61, TotalTokens: 68, ReasoningTokens: 50},
		},
		"stream_calls.sse": {
			Model: "gemini-3-flash-preview", FinishReason: model.FinishToolCalls,
			ToolCalls: []model.ToolCall{{ID: "8f2b1a3c", Name: "weather", Arguments: `{"city":"Rome"}`}, {ID: "8f2b1a3d", Name: "weather", Arguments: `{"city":"Oslo"}`}},
			Usage:     &model.Usage{PromptTokens: 60, CompletionTokens: 70, TotalTokens: 130, ReasoningTokens: 40},
		},
	}
	native := map[string]bool{"code_execution.json": true, "stream.sse": true, "stream_calls.sse": true}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			contentType, stream := kind, (func(model.Delta))(nil)
			if strings.HasSuffix(name, ".sse") {
				contentType, stream = sse, none
			}
			got, err := complete(t, ask(), contentType, string(body), stream)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(got.Raw), `"id":"`) {
				t.Errorf("raw detail without the answer's id: %s", got.Raw)
			}
			if (got.Native != nil) != native[name] {
				t.Errorf("native %+v", got.Native)
			}
			want.Provider = "google"
			if diff := cmp.Diff(&want, got, cmpopts.IgnoreFields(model.Response{}, "Raw", "Native", "FirstToken")); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, tested := tests[e.Name()]; !tested && !e.IsDir() {
			t.Errorf("testdata/%s is not tested", e.Name())
		}
	}
}

const usage9 = `"usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9}, "modelVersion": "m"`

// TestAnswersThatFail checks answers under status 200 that are none. What they
// cost is not lost.
func TestAnswersThatFail(t *testing.T) {
	tests := map[string]struct {
		body   string
		kind   fault.Kind
		status int
		want   string // in the error
		reason string // the response's
	}{
		"blocked prompt": {
			`{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "no\u001bway"}, ` + usage9 + `}`,
			fault.Permanent, 0, `blocked the prompt (PROHIBITED_CONTENT: no\x1bway)`, model.FinishContentFilter,
		},
		"malformed call": {
			`{"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(f("}], ` + usage9 + `}`,
			fault.Transient, 0, "a tool call that can't be read (MALFORMED_FUNCTION_CALL: print(f()", "malformed_function_call",
		},
		"unexpected call": {
			`{"candidates": [{"finishReason": "UNEXPECTED_TOOL_CALL"}], ` + usage9 + `}`,
			fault.Transient, 0, "UNEXPECTED_TOOL_CALL", "unexpected_tool_call",
		},
		"no candidate":  {`{` + usage9 + `}`, fault.Transient, 0, "without a candidate", ""},
		"an error":      {`{"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}, ` + usage9 + `}`, fault.Transient, 429, "slow down", ""},
		"a bad request": {`{"error": {"code": 400, "message": "no such", "status": "INVALID_ARGUMENT"}, ` + usage9 + `}`, fault.Permanent, 400, "no such", ""},
		"only a status": {`{"error": {"message": "later", "status": "UNAVAILABLE"}, ` + usage9 + `}`, fault.Transient, 503, "later", ""},
		"only words":    {`{"error": "oh no", ` + usage9 + `}`, fault.Transient, 500, "oh no", ""},
		"odd parts":     {`{` + usage9 + `, "candidates": [{"content": {"parts": [{"text": 5}]}}]}`, fault.Transient, 0, "unknown form", ""},
	}
	for name, test := range tests {
		for how, contentType := range map[string]string{"": kind, " streamed": sse} {
			t.Run(name+how, func(t *testing.T) {
				body, stream, want := test.body, (func(model.Delta))(nil), test.want
				if how != "" {
					body, stream = "data: "+body+"\n\n", none
					want = strings.Replace(want, "without a candidate", "before the answer was whole", 1)
				}
				r, err := complete(t, ask(), contentType, body, stream)
				f, ok := err.(*fault.Error)
				if !ok || f.Kind != test.kind || f.Status != test.status || !strings.Contains(f.Message, want) {
					t.Errorf("got %#v, want %v, status %d and %q", err, test.kind, test.status, want)
				}
				if r == nil || r.Usage == nil || r.Usage.TotalTokens != 9 || r.FinishReason != test.reason {
					t.Errorf("response %+v, want the usage and the reason %q", r, test.reason)
				}
			})
		}
	}
}

// TestErrorBodies checks what only the body of an error says.
func TestErrorBodies(t *testing.T) {
	const quota = `{"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [
		{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
		{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "%s"}]}}`
	const badKey = `{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [
		{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]}}`
	tests := map[string]struct {
		status int
		body   string
		wait   time.Duration
		want   string
	}{
		"wait":         {429, fmt.Sprintf(quota, "34.5s"), 34500 * time.Millisecond, "quota"},
		"long wait":    {429, fmt.Sprintf(quota, "9999999s"), 24 * time.Hour, "quota"},
		"no wait":      {429, fmt.Sprintf(quota, "-5s"), 0, "quota"},
		"odd wait":     {429, fmt.Sprintf(quota, "soon"), 0, "quota"},
		"in a list":    {429, "[" + fmt.Sprintf(quota, "7s") + "\n]", 7 * time.Second, "Too Many Requests: quota"},
		"unknown key":  {400, badKey, 0, "API key not valid. (check the key in GOOGLE_API_KEY)"},
		"odd details":  {400, `{"error": {"message": "x", "details": 5}}`, 0, "Bad Request: x"},
		"rejected key": {403, badKey, 0, "API key not valid. (check the key in GOOGLE_API_KEY)"},
	}
	for name, test := range tests {
		for _, stream := range []func(model.Delta){nil, none} {
			root, _ := serve(t, test.status, kind, test.body)
			_, err := newProvider(t, google.Config{APIKey: modeltest.Key, BaseURL: root}).Complete(t.Context(), ask(), stream)
			f, ok := err.(*fault.Error)
			if !ok || f.Status != test.status || f.RetryAfter != test.wait || !strings.HasSuffix(f.Message, test.want) {
				t.Errorf("%s: got %#v, want the wait %v and %q", name, err, test.wait, test.want)
			}
		}
	}
}

// TestHugeLists checks that a small answer can't grow in memory.
func TestHugeLists(t *testing.T) {
	for name, body := range map[string]string{
		"parts":      `{"candidates": [{"content": {"parts": [` + strings.Repeat(`{"a":1},`, 100_001) + `{}]}}]}`,
		"candidates": `{"candidates": [` + strings.Repeat(`{},`, 300_000) + `{}]}`,
		"strings":    `{"a": [` + strings.Repeat(`"\\","",`, 150_000) + `""]}`,
	} {
		_, err := complete(t, ask(), kind, body, nil)
		if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "more items than are read") {
			t.Errorf("%s: %v", name, err)
		}
	}
	commas := strings.Repeat(`,\",`, 200_000)
	r, err := complete(t, ask(), kind, strings.Replace(ok, `"ok"`, `"`+commas+`"`, 1), nil)
	if err != nil || r.Text != strings.ReplaceAll(commas, `\`, "") {
		t.Errorf("a text of commas: %v", err)
	}
}

// TestStreamForms checks what services make of a stream.
func TestStreamForms(t *testing.T) {
	const a, b = `{"candidates": [{"content": {"parts": [{"text": "Hel"}]}}]}`, `{"candidates": [{"content": {"parts": [{"text": "lo"}]}, "finishReason": "STOP"}]}`
	whole := map[string][2]string{
		"events":             {sse, "data: " + a + "\n\ndata: " + b + "\n\n"},
		"no last line end":   {sse, "data: " + a + "\n\ndata: " + b},
		"no space":           {sse, "data:" + a + "\n\ndata:" + b + "\n\n"},
		"lines":              {sse, "data: {\ndata: \"candidates\":\ndata: [{\"content\": {\"parts\": [{\"text\": \"Hello\"}]}, \"finishReason\": \"STOP\"}]}\n\n"},
		"end mark":           {sse, "data: " + a + "\n\ndata: " + b + "\n\ndata: [DONE]\n\n"},
		"each with a reason": {sse, "data: " + strings.Replace(b, "lo", "Hel", 1) + "\n\ndata: " + b + "\n\n"},
		"no type":            {"", "data: " + a + "\n\ndata: " + b + "\n\n"},
		"a list":             {kind, "[" + a + "\n,\n" + b + "]\n"},
		"one answer":         {kind, strings.Replace(b, "lo", "Hello", 1)},
		"another candidate":  {sse, `data: {"candidates": [{"index": 1, "content": {"parts": [{"text": "x"}]}}]}` + "\n\ndata: " + a + "\n\ndata: " + b + "\n\n"},
	}
	for name, form := range whole {
		var text string
		r, err := complete(t, ask(), form[0], form[1], func(d model.Delta) { text += d.Text })
		if err != nil || r.Text != "Hello" || text != "Hello" || r.FinishReason != model.FinishStop || r.FirstToken <= 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	broken := map[string]string{
		"no reason":   "data: " + a + "\n\n",
		"unspecified": "data: " + strings.Replace(b, "STOP", "FINISH_REASON_UNSPECIFIED", 1) + "\n\n",
		"no JSON":     "data: " + a + "\n\ndata: oops\n\ndata: " + b + "\n\n",
		"half of it":  "data: " + a + "\n\ndata: " + b[:len(b)-1],
		"odd":         "data: " + a + "\n\ndata: {\"candidates\": 5}\n\ndata: " + b + "\n\n",
	}
	for name, body := range broken {
		r, err := complete(t, ask(), sse, body, none)
		if fault.KindOf(err) != fault.Transient || r == nil || !strings.HasPrefix(r.Text, "Hel") && name != "unspecified" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestUsageSoFar checks that the tokens of a stream that breaks off are
// counted.
func TestUsageSoFar(t *testing.T) {
	body := "data: " + `{"usageMetadata": {"promptTokenCount": 5, "thoughtsTokenCount": 3, "totalTokenCount": 8}}` + "\n\n" +
		"data: " + `{"usageMetadata": {"promptTokenCount": 5, "thoughtsTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 10}}` + "\n\n" +
		"data: " + `{"usageMetadata": {}}` + "\n\ndata: {\"half"
	r, err := complete(t, ask(), sse, body, none)
	want := &model.Usage{PromptTokens: 5, CompletionTokens: 5, TotalTokens: 10, ReasoningTokens: 3}
	if fault.KindOf(err) != fault.Transient || r == nil || cmp.Diff(want, r.Usage) != "" {
		t.Errorf("got %+v, %v, want the usage %+v", r, err, want)
	}
}

func TestOddCounts(t *testing.T) {
	tests := map[string]*model.Usage{
		`{"promptTokenCount": "12", "candidatesTokenCount": 3.0, "totalTokenCount": 15}`:                       {PromptTokens: 12, CompletionTokens: 3, TotalTokens: 15},
		`{"promptTokenCount": {}, "candidatesTokenCount": null, "totalTokenCount": []}`:                        {},
		`{"promptTokenCount": 5, "toolUsePromptTokenCount": 4, "totalTokenCount": 9}`:                          {PromptTokens: 9, TotalTokens: 9},
		`{"promptTokenCount": 5, "toolUsePromptTokenCount": 1e300, "candidatesTokenCount": -9}`:                {PromptTokens: 5, TotalTokens: 5},
		`{"candidatesTokenCount": 7, "thoughtsTokenCount": 9000000000, "cachedContentTokenCount": 3}`:          {CompletionTokens: 7, TotalTokens: 7},
		`{"promptTokenCount": 7, "thoughtsTokenCount": 9, "cachedContentTokenCount": 30, "later": {"x": [1]}}`: {PromptTokens: 7, CompletionTokens: 9, TotalTokens: 16, ReasoningTokens: 9, CachedTokens: 7},
	}
	for metadata, want := range tests {
		r, err := complete(t, ask(), kind, strings.Replace(ok, `{"candidates"`, `{"usageMetadata": `+metadata+`, "candidates"`, 1), nil)
		if err != nil {
			t.Errorf("%s: %v", metadata, err)
		} else if diff := cmp.Diff(want, r.Usage); diff != "" {
			t.Errorf("%s (-want +got):\n%s", metadata, diff)
		}
	}
}

// canned answers every request without a network.
type canned struct {
	kind string
	body []byte
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {c.kind}}, Body: readCloser{strings.NewReader(string(c.body))},
	}, nil
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// fuzz checks that no answer, however odd, does more than fail, and that what
// is handed on is what is returned.
func fuzz(f *testing.F, contentType string) {
	transport := &canned{kind: contentType}
	p := newProvider(f, google.Config{BaseURL: "http://service.test", HTTPClient: &http.Client{Transport: transport}})
	f.Fuzz(func(t *testing.T, body []byte) {
		transport.body = body
		var stream func(model.Delta)
		text, reasoning := "", ""
		if contentType == sse {
			stream = func(d model.Delta) { text, reasoning = text+d.Text, reasoning+d.Reasoning }
		}
		r, err := p.Complete(t.Context(), ask(), stream)
		if err != nil && fault.KindOf(err) == 0 {
			t.Errorf("an error without a kind: %v", err)
		}
		if r == nil {
			if err == nil || text+reasoning != "" {
				t.Errorf("no response, error %v, after %q and %q", err, text, reasoning)
			}
			return
		}
		if stream != nil && (r.Text != text || r.Reasoning != reasoning) {
			t.Errorf("handed on %q and %q, returned %q and %q", text, reasoning, r.Text, r.Reasoning)
		}
		if u := r.Usage; u != nil && (u.PromptTokens < 0 || u.CompletionTokens < 0 || u.CachedTokens > u.PromptTokens || u.ReasoningTokens > u.CompletionTokens) {
			t.Errorf("usage %+v", u)
		}
		ids := map[string]bool{}
		for _, c := range r.ToolCalls {
			if c.ID == "" || ids[c.ID] {
				t.Errorf("the id %q", c.ID)
			}
			ids[c.ID] = true
		}
		// Whatever came can be sent back.
		again := ask()
		again.Messages = append(again.Messages, r.Message())
		transport.body = []byte(ok)
		if contentType == sse {
			transport.body = []byte("data: " + ok)
		}
		if _, err := p.Complete(t.Context(), again, stream); err != nil {
			t.Errorf("sending it back: %v", err)
		}
	})
}

var odd = []string{
	``, `null`, `[]`, `"x"`, `{}`, `{"candidates":null}`, `{"candidates":[null]}`, `{"candidates":[{"content":null}]}`, `{"candidates":[{"content":{"parts":[null,5,{}]}}]}`,
	`{"candidates":[{"content":{"parts":[{"text":"<think>a</think>b","thoughtSignature":"x"}]}}]}`, `{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}`,
	`{"error":null}`, `{"error":5}`, `{"usageMetadata":{"promptTokenCount":"x"}}`, `{"promptFeedback":{"blockReason":"SAFETY"}}`, signedAnswer,
}

func FuzzAnswer(f *testing.F) {
	seed(f, "*.json", func(s string) string { return s })
	fuzz(f, kind)
}

func FuzzStream(f *testing.F) {
	seed(f, "*.sse", func(s string) string { return "data: " + strings.ReplaceAll(s, "\n", "") + "\n\n" })
	fuzz(f, sse)
}

func seed(f *testing.F, pattern string, frame func(string) string) {
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
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
	for _, body := range odd {
		f.Add([]byte(frame(body)))
	}
}
