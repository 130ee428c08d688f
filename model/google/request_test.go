package google_test

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/google"
	"github.com/agentloom/agentloom/value"
)

func TestThinking(t *testing.T) {
	on, off := ptr(true), ptr(false)
	tokens := func(n int64) *int64 { return &n }
	tests := []struct {
		model string
		asked model.Thinking
		want  string
	}{
		{"gemini-2.5-flash", model.Thinking{}, "null"},
		{"gemini-2.5-flash", model.Thinking{Enabled: on}, `{"includeThoughts":true,"thinkingBudget":-1}`},
		{"gemini-2.5-flash", model.Thinking{Enabled: off}, `{"thinkingBudget":0}`},
		{"gemini-2.5-flash", model.Thinking{Enabled: off, Level: "high"}, `{"thinkingBudget":0}`},
		{"gemini-2.5-flash", model.Thinking{BudgetTokens: tokens(0)}, `{"thinkingBudget":0}`},
		{"gemini-2.5-flash", model.Thinking{BudgetTokens: tokens(500)}, `{"includeThoughts":true,"thinkingBudget":500}`},
		{"gemini-2.5-flash", model.Thinking{Level: "low"}, `{"includeThoughts":true,"thinkingBudget":1024}`},
		{"gemini-2.5-flash", model.Thinking{Level: "medium"}, `{"includeThoughts":true,"thinkingBudget":8192}`},
		{"gemini-2.5-flash", model.Thinking{Level: "high"}, `{"includeThoughts":true,"thinkingBudget":24576}`},
		{"gemini-2.5-flash", model.Thinking{Level: "high", BudgetTokens: tokens(500)}, `{"includeThoughts":true,"thinkingBudget":500}`},
		{"gemini-2.5-flash", model.Thinking{BudgetTokens: tokens(math.MaxInt64)}, `{"includeThoughts":true,"thinkingBudget":2147483647}`},
		{"models/gemini-2.5-pro", model.Thinking{Enabled: off}, `{"thinkingBudget":128}`},
		{"gemini-2.0-flash", model.Thinking{Enabled: off}, "null"},
		{"gemini-3-flash-preview", model.Thinking{Enabled: on}, `{"includeThoughts":true}`},
		{"gemini-3-flash-preview", model.Thinking{Enabled: off}, `{"thinkingLevel":"LOW"}`},
		{"gemini-3-flash-preview", model.Thinking{Level: "medium"}, `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-3-flash-preview", model.Thinking{Level: "low", BudgetTokens: tokens(500)}, `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-3-flash-preview", model.Thinking{BudgetTokens: tokens(500)}, `{"includeThoughts":true,"thinkingBudget":500}`},
		{"gemini-3-pro-preview", model.Thinking{Level: "medium"}, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3.1-pro-preview", model.Thinking{Level: "medium"}, `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-flash-latest", model.Thinking{Level: "high"}, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
	}
	for _, test := range tests {
		req := ask()
		req.Model, req.Thinking = test.model, &test.asked
		generation, _ := request(t, req)["generationConfig"].(map[string]any)
		if got := mustJSON(generation["thinkingConfig"]); got != test.want {
			t.Errorf("%s, %+v: sent %s, want %s", test.model, test.asked, got, test.want)
		}
	}
}

// rawRequest returns the body of a request as it was sent.
func rawRequest(t *testing.T, req *model.Request) string {
	t.Helper()
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, ok)
	}))
	defer server.Close()
	if _, err := newProvider(t, google.Config{APIKey: "k", BaseURL: server.URL}).Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestSchemasPassUnchanged checks that schemas keep the order of their keys,
// which the model follows, their numbers, and parameters without a type.
func TestSchemasPassUnchanged(t *testing.T) {
	schema := value.MapOf(
		"type", "object",
		"properties", value.MapOf("zebra", value.MapOf("description", "anything"), "ant", value.MapOf("type", []any{"string", "null"}, "maxLength", int64(9007199254740993))),
		"required", []any{"zebra"},
		"$defs", value.MapOf("b", true, "a", value.NewMap(0)),
		"additionalProperties", false,
	)
	want, err := value.EncodeJSON(schema)
	if err != nil {
		t.Fatal(err)
	}
	req := ask()
	req.Schema = schema
	if body := rawRequest(t, req); !strings.Contains(body, `"responseJsonSchema":`+string(want)) || !strings.Contains(body, `"responseMimeType":"application/json"`) {
		t.Errorf("sent %s", body)
	}
	req.Tools = []model.ToolSpec{{Name: "t", Parameters: schema}, {Name: "bare"}}
	body := rawRequest(t, req)
	if !strings.Contains(body, `{"functionDeclarations":[{"name":"t","parametersJsonSchema":`+string(want)+`},{"name":"bare"}]}`) {
		t.Errorf("sent %s", body)
	}
	if strings.Contains(body, "responseJsonSchema") || strings.Contains(body, "responseMimeType") {
		t.Errorf("a model that takes no schema with tools got both: %s", body)
	}
	req.Model = "gemini-3-flash-preview"
	if body := rawRequest(t, req); !strings.Contains(body, "responseJsonSchema") {
		t.Errorf("a model that takes a schema with tools did not get it: %s", body)
	}
}

// TestArgumentsPassUnchanged checks that neither an answer nor a request
// changes what the model wrote.
func TestArgumentsPassUnchanged(t *testing.T) {
	const args = `{"z":12345678901234567890,"a":1.10,"m":{"y":"\u003c","b":[1e3]}}`
	body := `{"candidates": [{"content": {"parts": [
		{"functionCall": {"name": "f", "args": ` + strings.ReplaceAll(args, ",", " ,\n ") + `}},
		{"functionCall": {"name": "g"}}, {"functionCall": {"name": "h", "args": null}}, {"functionCall": {"name": "i", "args": [1]}}
	]}, "finishReason": "STOP"}]}`
	for stream, contentType := range map[string]string{body: kind, "data: " + strings.ReplaceAll(body, "\n", "") + "\n\n": sse} {
		r, err := complete(t, ask(), contentType, stream, none)
		if err != nil {
			t.Fatal(err)
		}
		want := []model.ToolCall{
			{ID: "call_1", Name: "f", Arguments: args}, {ID: "call_2", Name: "g"}, {ID: "call_3", Name: "h"}, {ID: "call_4", Name: "i", Arguments: "[1]"},
		}
		if diff := cmp.Diff(want, r.ToolCalls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if r.FinishReason != model.FinishToolCalls || r.Native != nil {
			t.Errorf("finish reason %q, native %+v", r.FinishReason, r.Native)
		}
		req := ask()
		req.Messages = append(req.Messages, r.Message())
		for _, c := range r.ToolCalls {
			req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, CallID: c.ID, Text: "done"})
		}
		sent := rawRequest(t, req)
		for _, part := range []string{
			`{"functionCall":{"id":"call_1","name":"f","args":` + args + `}}`, `{"id":"call_2","name":"g","args":{}}`, `{"id":"call_4","name":"i","args":{"arguments":"[1]"}}`,
			`{"functionResponse":{"id":"call_1","name":"f","response":{"result":"done"}}}`,
		} {
			if !strings.Contains(sent, part) {
				t.Errorf("the request lacks %s: %s", part, sent)
			}
		}
	}
}

// signedAnswer is a turn of a model that signs: its thoughts, its text and the
// first of its calls, of which only the second has an id.
const signedAnswer = `{"candidates": [{"content": {"role": "model", "parts": [
	{"text": "let me see", "thought": true},
	{"text": "I ask "}, {"text": "two."},
	{"functionCall": {"name": "f", "args": {"b": 12345678901234567890, "a": 1}}, "thoughtSignature": "c2ln_-+/bmF0dXJl"},
	{"functionCall": {"id": "own", "name": "f", "args": {}}},
	{"laterKind": {"x": [1]}},
	{"text": "", "thoughtSignature": "ZW5k"}
]}, "finishReason": "STOP"}]}`

const signedTurn = `{"role":"model","parts":[{"text":"I ask two."},` +
	`{"functionCall":{"name":"f","args":{"b":12345678901234567890,"a":1}},"thoughtSignature":"c2ln_-+/bmF0dXJl"},` +
	`{"functionCall":{"id":"own","name":"f","args":{}}},{"laterKind":{"x":[1]}},{"text":"","thoughtSignature":"ZW5k"}]}`

func TestSignaturesGoBack(t *testing.T) {
	r, err := complete(t, ask(), kind, signedAnswer, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &model.Response{
		Text: "I ask two.", Reasoning: "let me see", Model: "gemini-2.5-flash", Provider: "google", FinishReason: model.FinishToolCalls,
		ToolCalls: []model.ToolCall{{ID: "call_1", Name: "f", Arguments: `{"b":12345678901234567890,"a":1}`}, {ID: "own", Name: "f", Arguments: "{}"}},
		Native:    &model.Native{Provider: "google", Data: json.RawMessage(signedTurn)},
		Raw:       json.RawMessage(`{"finish_reason":"STOP"}`),
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	req := ask()
	req.Messages = append(req.Messages, r.Message(),
		model.Message{Role: model.ToolRole, CallID: "call_1", Text: "1"},
		model.Message{Role: model.ToolRole, CallID: "own", Text: "no", IsError: true},
		model.Message{Role: model.User, Text: "Go on"})
	sent := rawRequest(t, req)
	// The service knows no id for the first call.
	const rest = `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"1"}}},` +
		`{"functionResponse":{"id":"own","name":"f","response":{"error":"no"}}}]},{"role":"user","parts":[{"text":"Go on"}]}]`
	if !strings.Contains(sent, signedTurn+rest) {
		t.Errorf("sent %s", sent)
	}
}

// TestForeignTurns checks that a turn of another provider goes to a model that
// wants signatures with the word for none.
func TestForeignTurns(t *testing.T) {
	calls := []model.ToolCall{{ID: "a", Name: "f", Arguments: "{}"}, {ID: "b", Name: "f", Arguments: "{}"}}
	for name, native := range map[string]*model.Native{
		"none":      nil,
		"another's": {Provider: "openai", Data: json.RawMessage(signedTurn)},
		"no turn":   {Provider: "google", Data: json.RawMessage(`{"role":5}`)},
		"no parts":  {Provider: "google", Data: json.RawMessage(`{}`)},
		"no JSON":   {Provider: "google", Data: json.RawMessage(`{`)},
	} {
		req := ask()
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, ToolCalls: calls, Native: native},
			model.Message{Role: model.ToolRole, CallID: "a", Text: "1"}, model.Message{Role: model.ToolRole, CallID: "b", Text: "2"})
		for modelName, want := range map[string]string{
			"gemini-2.5-flash":       `[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"id":"b","name":"f","args":{}}}]`,
			"gemini-3-flash-preview": `[{"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"b","name":"f","args":{}}}]`,
			"gemma-3-27b-it":         `[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"id":"b","name":"f","args":{}}}]`,
		} {
			req.Model = modelName
			if sent := rawRequest(t, req); !strings.Contains(sent, want) {
				t.Errorf("%s, %s: sent %s", name, modelName, sent)
			}
		}
	}
}

// TestEmptyTurns checks that a turn that says nothing is left out, as the
// service refuses it, and that an empty prompt is sent for it to judge.
func TestEmptyTurns(t *testing.T) {
	req := ask()
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant}, model.Message{Role: model.User})
	const want = `"contents":[{"role":"user","parts":[{"text":"Hello"}]},{"role":"user","parts":[{"text":""}]}]`
	if sent := rawRequest(t, req); !strings.Contains(sent, want) {
		t.Errorf("sent %s", sent)
	}
}

func TestAttachments(t *testing.T) {
	data := []byte{1, 2, 3}
	tests := map[string]struct {
		a    model.Attachment
		want string
	}{
		"mp3":           {model.Attachment{Type: model.Audio, MediaType: "audio/mpeg", Data: data}, `{"inlineData":{"data":"AQID","mimeType":"audio/mp3"}}`},
		"wav":           {model.Attachment{Type: model.Audio, MediaType: "audio/x-wav; codecs=1", Data: data}, `{"inlineData":{"data":"AQID","mimeType":"audio/wav"}}`},
		"jpg":           {model.Attachment{Type: model.Image, MediaType: "image/JPG", Data: data}, `{"inlineData":{"data":"AQID","mimeType":"image/jpeg"}}`},
		"URL":           {model.Attachment{Type: model.Image, URL: "https://a.test/x.PNG?y"}, `{"fileData":{"fileUri":"https://a.test/x.PNG?y","mimeType":"image/png"}}`},
		"URL of a PDF":  {model.Attachment{Type: model.PDF, URL: "http://a.test/x"}, `{"fileData":{"fileUri":"http://a.test/x","mimeType":"application/pdf"}}`},
		"URL of no end": {model.Attachment{Type: model.Image, URL: "https://a.test/x"}, `{"fileData":{"fileUri":"https://a.test/x"}}`},
	}
	for name, test := range tests {
		req := ask()
		req.Messages[0].Attachments = []model.Attachment{test.a}
		parts := request(t, req)["contents"].([]any)[0].(map[string]any)["parts"].([]any)
		if len(parts) != 2 || mustJSON(parts[0]) != test.want || mustJSON(parts[1]) != `{"text":"Hello"}` {
			t.Errorf("%s: sent %s", name, mustJSON(parts))
		}
	}
	p := newProvider(t, google.Config{BaseURL: "http://127.0.0.1:1"})
	for name, test := range map[string]struct {
		a    model.Attachment
		want string
	}{
		"audio by URL": {model.Attachment{Type: model.Audio, MediaType: "audio/wav", URL: "https://a.test/x.wav"}, "fetch: local"},
		"file":         {model.Attachment{Type: model.Image, MediaType: "image/png", URL: "file:///etc/passwd"}, "fetch: local"},
		"no URL":       {model.Attachment{Type: model.Image, MediaType: "image/png", URL: "http://[x"}, "fetch: local"},
		"no type":      {model.Attachment{Type: model.Image, Data: data}, "set media_type"},
		"wrong type":   {model.Attachment{Type: model.PDF, MediaType: "image/png", Data: data}, `can't have the media type "image/png"`},
	} {
		req := ask()
		req.Messages[0].Attachments = []model.Attachment{test.a}
		_, err := p.Complete(t.Context(), req, nil)
		if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "google") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBadRequests checks calls that can't be made. Their errors hold nothing
// of the prompt.
func TestBadRequests(t *testing.T) {
	p := newProvider(t, google.Config{BaseURL: "http://127.0.0.1:1"})
	odd := value.MapOf("minimum", make(chan int))
	for name, change := range map[string]func(*model.Request){
		"role":        func(r *model.Request) { r.Messages = append(r.Messages, model.Message{Role: "system"}) },
		"temperature": func(r *model.Request) { r.Temperature = ptr(math.NaN()) },
		"schema":      func(r *model.Request) { r.Schema = odd },
		"parameters":  func(r *model.Request) { r.Tools = []model.ToolSpec{{Name: "t", Parameters: odd}} },
	} {
		req := ask()
		req.Messages[0].Text = "a secret prompt"
		change(req)
		_, err := p.Complete(t.Context(), req, nil)
		if fault.KindOf(err) != fault.Permanent || strings.Contains(err.Error(), "secret prompt") {
			t.Errorf("%s: %v", name, err)
		}
	}
	req := ask()
	req.MaxTokens = ptr(int64(math.MaxInt64))
	if body := rawRequest(t, req); !strings.Contains(body, `"maxOutputTokens":2147483647`) {
		t.Errorf("sent %s", body)
	}
}
