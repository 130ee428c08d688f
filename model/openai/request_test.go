package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/openai"
	"github.com/agentloom/agentloom/value"
)

// sentTo is what is sent to a host for a request.
func sentTo(t *testing.T, base string, req *model.Request, stream func(model.Delta)) map[string]any {
	t.Helper()
	root, sent := serve(t, `{"choices": [{"message": {"content": "ok"}}]}`)
	p := newProvider(t, openai.Config{APIKey: "k", BaseURL: base, HTTPClient: &http.Client{Transport: asHost{root}}})
	if _, err := p.Complete(t.Context(), req, stream); err != nil {
		t.Fatal(err)
	}
	_, body := sent()
	return body
}

// TestNoReasoning checks what comes nearest to no reasoning, model by model.
func TestNoReasoning(t *testing.T) {
	tests := map[string]any{
		"gpt-4o-mini":              nil,
		"gpt-3.5-turbo":            nil,
		"chatgpt-4o-latest":        nil,
		"gpt-5-chat-latest":        nil,
		"gpt-5-pro":                nil,
		"o1":                       "low",
		"o3-mini":                  "low",
		"o4-mini-2025-04-16":       "low",
		"gpt-5-codex":              "low",
		"gpt-5":                    "minimal",
		"gpt-5-mini":               "minimal",
		"gpt-5-2025-08-07":         "minimal",
		"openai/gpt-5-nano":        "minimal",
		"gpt-5.1":                  "none",
		"gpt-5.2-2025-12-11":       "none",
		"gpt-6":                    "none",
		"openai/gpt-oss-120b":      "low",
		"qwen/qwen3-32b":           "none",
		"moonshotai/kimi-k2-turbo": "none",
	}
	for name, want := range tests {
		req := ask()
		req.Model, req.Thinking = name, &model.Thinking{Enabled: new(false)}
		if got := sentTo(t, "", req, nil)["reasoning_effort"]; got != want {
			t.Errorf("%s: sent %v, want %v", name, got, want)
		}
	}
}

// TestQuirks checks what is sent to hosts that refuse what others take.
func TestQuirks(t *testing.T) {
	ignore := func(model.Delta) {}
	schema := value.MapOf("type", "object")
	t.Run("Mistral", func(t *testing.T) {
		body := sentTo(t, "https://api.mistral.ai/v1", ask(), ignore)
		if _, ok := body["stream_options"]; ok || body["stream"] != true {
			t.Errorf("sent %v", body)
		}
	})
	t.Run("DeepSeek", func(t *testing.T) {
		const base = "https://api.deepseek.com"
		for enabled, want := range map[bool]string{true: "enabled", false: "disabled"} {
			req := ask()
			req.Schema, req.Thinking = schema, &model.Thinking{Enabled: &enabled}
			body := sentTo(t, base, req, ignore)
			if !cmp.Equal(body["thinking"], any(map[string]any{"type": want})) || (body["reasoning_effort"] == "medium") != enabled ||
				body["response_format"] != nil || body["stream_options"] == nil {
				t.Errorf("enabled %v: sent %v", enabled, body)
			}
		}
		if body := sentTo(t, base, ask(), nil); body["thinking"] != nil {
			t.Errorf("sent %v", body)
		}
	})
	t.Run("by configuration", func(t *testing.T) {
		root, sent := serve(t, `{"choices": [{"message": {"content": "ok"}}]}`)
		req := ask()
		req.Schema = schema
		if _, err := newProvider(t, openai.Config{BaseURL: root, NoSchema: true}).Complete(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if _, body := sent(); body["response_format"] != nil {
			t.Errorf("sent %v", body)
		}
	})
}

// TestSchemas checks which schemas are sent, and which of them as strict ones.
func TestSchemas(t *testing.T) {
	const none = "not sent"
	inner := `{"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"], "additionalProperties": false}`
	with := func(properties, required string) string {
		return `{"type": "object", "properties": {` + properties + `}, "required": [` + required + `], "additionalProperties": false}`
	}
	tests := map[string]struct {
		schema string
		want   any
	}{
		"closed":               {with(`"a": {"type": "integer", "minimum": 1}`, `"a"`), true},
		"nested":               {with(`"a": {"type": "array", "items": `+inner+`}, "c": {"anyOf": [`+inner+`, {"type": "null"}]}`, `"a", "c"`), true},
		"definitions":          {`{"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"], "additionalProperties": false, "$defs": {"a": ` + inner + `}}`, true},
		"nullable":             {with(`"a": {"type": ["string", "null"], "enum": ["x", null]}`, `"a"`), true},
		"no properties":        {`{"type": "object", "additionalProperties": false}`, true},
		"open":                 {`{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}`, false},
		"optional":             {with(`"a": {"type": "integer"}, "b": {}`, `"a"`), false},
		"requires others":      {with(`"a": {"type": "integer"}`, `"a", "b"`), false},
		"open inside":          {with(`"a": {"type": "array", "items": {"type": "object"}}`, `"a"`), false},
		"open choice":          {with(`"a": {"anyOf": [{"type": ["object", "null"]}]}`, `"a"`), false},
		"open definition":      {`{"type": "object", "additionalProperties": false, "$defs": {"a": {"type": "object"}}}`, false},
		"another keyword":      {with(`"a": {"type": "string", "minLength": 1}`, `"a"`), false},
		"additional by schema": {`{"type": "object", "additionalProperties": {"type": "string"}}`, false},
		"choice at the root":   {`{"type": "object", "additionalProperties": false, "anyOf": [` + inner + `]}`, false},
		"odd":                  {`{"type": "object", "additionalProperties": false, "properties": 5, "required": "x"}`, false},
		"schema true":          {with(`"a": true`, `"a"`), false},
		"deep":                 {strings.Repeat(`{"type": "object", "additionalProperties": false, "required": ["a"], "properties": {"a": `, 40) + inner + strings.Repeat("}}", 40), false},
		"no object":            {`{"type": "array", "items": {"type": "integer"}}`, none},
		"no type":              {`{"anyOf": [` + inner + `]}`, none},
		"empty":                {`{}`, none},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			req := ask()
			if err := json.Unmarshal([]byte(test.schema), &req.Schema); err != nil {
				t.Fatal(err)
			}
			body := sentTo(t, "", req, nil)
			format, _ := body["response_format"].(map[string]any)
			if format == nil {
				if test.want != none {
					t.Error("not sent")
				}
				return
			}
			sent := format["json_schema"].(map[string]any)
			var want any
			if err := json.Unmarshal([]byte(test.schema), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, sent["schema"]); diff != "" || sent["strict"] != test.want || format["type"] != "json_schema" {
				t.Errorf("sent %v, want strict %v\n%s", format, test.want, diff)
			}
		})
	}
}

// TestPropertyOrder checks that schemas keep the order of their properties: the
// model writes them in that order.
func TestPropertyOrder(t *testing.T) {
	const properties = `{"zeta":{"type":"string"},"alpha":{"type":"string"},"mid":{"type":"string"}}`
	req := ask()
	if err := json.Unmarshal([]byte(`{"type": "object", "properties": `+properties+`}`), &req.Schema); err != nil {
		t.Fatal(err)
	}
	req.Tools = []model.ToolSpec{{Name: "f", Parameters: req.Schema}, {Name: "no_parameters"}}
	keep := &keeper{}
	p := newProvider(t, openai.Config{APIKey: "k", HTTPClient: &http.Client{Transport: keep}})
	if _, err := p.Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(keep.body, `"properties":`+properties); n != 2 {
		t.Errorf("%d times in order in %s", n, keep.body)
	}
	if !strings.Contains(keep.body, `"parameters":{"type":"object","properties":{}}`) {
		t.Errorf("a tool without parameters is none of an empty object: %s", keep.body)
	}
}

// keeper keeps a request's body.
type keeper struct{ body string }

func (k *keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	var b strings.Builder
	if r.Body != nil {
		if _, err := io.Copy(&b, r.Body); err != nil {
			return nil, err
		}
	}
	k.body = b.String()
	return (&canned{contentType: "application/json", body: []byte(`{"choices": [{"message": {"content": "ok"}}]}`)}).RoundTrip(r)
}

// TestImages checks what the host decides about images, and URLs.
func TestImages(t *testing.T) {
	with := func(a model.Attachment) *model.Request {
		req := ask()
		req.Messages[0].Attachments = []model.Attachment{a}
		return req
	}
	url := func(t *testing.T, base string, a model.Attachment) string {
		body := sentTo(t, base, with(a), nil)
		parts := body["messages"].([]any)[0].(map[string]any)["content"].([]any)
		if len(parts) != 2 || parts[0].(map[string]any)["text"] != "Hello" {
			t.Errorf("the parts %v", parts)
		}
		return parts[1].(map[string]any)["image_url"].(map[string]any)["url"].(string)
	}
	const other = "http://localhost:8080/v1"
	bmp := model.Attachment{Type: model.Image, MediaType: "image/bmp", Data: []byte("BM")}
	if got := url(t, other, bmp); got != "data:image/bmp;base64,Qk0=" {
		t.Errorf("sent %s", got)
	}
	if got := url(t, "", model.Attachment{Type: model.Image, MediaType: "IMAGE/JPG; x=y", Data: []byte("BM")}); got != "data:image/jpeg;base64,Qk0=" {
		t.Errorf("sent %s", got)
	}
	for _, u := range []string{"https://example.com/a.png", "http://example.com/a.png", "data:image/png;base64,Qk0="} {
		if got := url(t, "", model.Attachment{Type: model.Image, URL: u}); got != u {
			t.Errorf("sent %s for %s", got, u)
		}
	}
	bad := map[string]model.Attachment{
		"for OpenAI":      bmp,
		"a file's URL":    {Type: model.Image, URL: "file:///etc/passwd"},
		"no URL":          {Type: model.Image, URL: "https://[x"},
		"data and URL":    {Type: model.Image, MediaType: "image/png", Data: []byte("x"), URL: "https://example.com"},
		"another's type":  {Type: model.PDF, MediaType: "image/png", Data: []byte("x")},
		"no known format": {Type: model.Audio, MediaType: "audio/flac", Data: []byte("x")},
	}
	for name, a := range bad {
		p := newProvider(t, openai.Config{APIKey: "k", HTTPClient: &http.Client{Transport: &keeper{}}})
		if _, err := p.Complete(t.Context(), with(a), nil); fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), string(a.Type)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestArgumentsSentBack checks what becomes of arguments that are no object.
func TestArgumentsSentBack(t *testing.T) {
	req := ask()
	req.Messages = append(req.Messages,
		model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "1", Name: "f", Arguments: `{"a": `}, {ID: "2", Name: "f", Arguments: "null"}, {ID: "3", Name: "f"}}},
		model.Message{Role: model.ToolRole, CallID: "1", Text: "error: bad", IsError: true})
	args := func(base string) (out []any) {
		for _, c := range sentTo(t, base, req, nil)["messages"].([]any)[1].(map[string]any)["tool_calls"].([]any) {
			out = append(out, c.(map[string]any)["function"].(map[string]any)["arguments"])
		}
		return out
	}
	if diff := cmp.Diff([]any{`{"a": `, "null", "{}"}, args("")); diff != "" {
		t.Errorf("to OpenAI (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{`{"invalid_arguments":"{\"a\": "}`, `{"invalid_arguments":"null"}`, "{}"}, args("http://localhost/v1")); diff != "" {
		t.Errorf("to others (-want +got):\n%s", diff)
	}
	if got := sentTo(t, "", req, nil)["messages"].([]any)[2].(map[string]any)["content"]; got != "error: bad" {
		t.Errorf("an error that says so became %q", got)
	}
}

// TestOwnFields checks which of a turn's own fields go back, and to whom.
func TestOwnFields(t *testing.T) {
	calls := []model.ToolCall{{ID: "1", Name: "f", Arguments: "{}"}}
	tests := map[string]struct {
		m    model.Message
		want map[string]any
	}{
		"with calls":    {model.Message{ToolCalls: calls, Native: &model.Native{Provider: "openai", Data: json.RawMessage(`{"reasoning_content": "", "role": "system"}`)}}, map[string]any{"reasoning_content": ""}},
		"another's":     {model.Message{ToolCalls: calls, Native: &model.Native{Provider: "groq", Data: json.RawMessage(`{"reasoning_content": "x"}`)}}, map[string]any{}},
		"no JSON":       {model.Message{ToolCalls: calls, Native: &model.Native{Provider: "openai", Data: json.RawMessage(`{"reasoning`)}}, map[string]any{}},
		"without calls": {model.Message{Text: "x", Native: &model.Native{Provider: "openai", Data: json.RawMessage(`{"reasoning_content": "x"}`)}}, map[string]any{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			req := ask()
			test.m.Role = model.Assistant
			req.Messages = append(req.Messages, test.m, model.Message{Role: model.User, Text: "?"})
			got := sentTo(t, "", req, nil)["messages"].([]any)[1].(map[string]any)
			for _, known := range []string{"role", "content", "tool_calls"} {
				delete(got, known)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("own fields (-want +got):\n%s", diff)
			}
		})
	}
}
