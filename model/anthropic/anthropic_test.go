package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/anthropic"
)

func TestConformance(t *testing.T) {
	yes, no := true, false
	budget := int64(5000)
	modeltest.Run(t, modeltest.Vendor{
		Name: "anthropic",
		New: func(t testing.TB, root, key string) model.Provider {
			return newProvider(t, anthropic.Config{APIKey: key, BaseURL: root})
		},
		Read:    readRequest,
		Answer:  writeAnswer,
		Failure: writeFailure,
		Empty:   `{"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}`,
		FinishReasons: map[string]string{
			"end_turn":                      model.FinishStop,
			"stop_sequence":                 model.FinishStop,
			"max_tokens":                    model.FinishLength,
			"model_context_window_exceeded": model.FinishLength,
			"tool_use":                      model.FinishToolCalls,
			"refusal":                       model.FinishContentFilter,
			"pause_turn":                    "pause_turn",
		},
		Stream: &modeltest.Stream{
			Frames:  writeFrames,
			Closing: 1,
			Failure: func(message string) string {
				return event("error", map[string]any{"type": "error", "error": map[string]any{"type": "overloaded_error", "message": message}})
			},
			Unknown: []string{
				": a comment\n\n",
				event("ping", map[string]any{"type": "ping"}),
				event("content_block_shimmer", map[string]any{"type": "content_block_shimmer", "index": "x", "delta": "odd", "usage": []int{1}}),
				event("content_block_delta", map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "odd_delta", "odd": 1}}),
				event("content_block_delta", map[string]any{"type": "content_block_delta", "index": 99, "delta": map[string]any{"type": "text_delta", "text": "lost"}}),
			},
		},
		Tools: &modeltest.Tools{OwnIDs: true},
		Attachments: map[model.AttachmentType]modeltest.Attachments{
			model.Image: {MediaTypes: []string{"image/png", "image/jpeg", "image/gif", "image/webp"}, URL: true},
			model.PDF:   {MediaTypes: []string{"application/pdf"}, URL: true},
		},
		Schema: true,
		Thinking: &modeltest.Thinking{Shows: true, Controls: []modeltest.Control{
			{Asked: model.Thinking{}, Sent: ""},
			{Asked: model.Thinking{Enabled: &yes}, Sent: "enabled 8192"},
			{Asked: model.Thinking{Enabled: &no}, Sent: "disabled"},
			{Asked: model.Thinking{Level: "low"}, Sent: "enabled 1024"},
			{Asked: model.Thinking{Level: "high"}, Sent: "enabled 24576"},
			{Asked: model.Thinking{BudgetTokens: &budget, Level: "high"}, Sent: "enabled 5000"},
		}},
	})
}

func newProvider(t testing.TB, cfg anthropic.Config) *anthropic.Provider {
	t.Helper()
	p, err := anthropic.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// wireRequest is the part of the Messages API that is used; anything else in a
// request fails the test.
type wireRequest struct {
	Model       string        `json:"model"`
	System      []wireBlock   `json:"system"`
	Messages    []wireMessage `json:"messages"`
	MaxTokens   int64         `json:"max_tokens"`
	Temperature *float64      `json:"temperature"`
	Stream      bool          `json:"stream"`
	Tools       []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		InputSchema any    `json:"input_schema"`
	} `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	Thinking *struct {
		Type         string `json:"type"`
		BudgetTokens int64  `json:"budget_tokens"`
		Display      string `json:"display"`
	} `json:"thinking"`
	OutputConfig struct {
		Effort string `json:"effort"`
		Format *struct {
			Type   string `json:"type"`
			Schema any    `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

type wireMessage struct {
	Role    string      `json:"role"`
	Content []wireBlock `json:"content"`
}

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   []wireBlock     `json:"content"`
	IsError   bool            `json:"is_error"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	Citations any             `json:"citations"`
	Caller    any             `json:"caller"`
	Source    *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
}

// headers are all the headers of a request, with their values; "" where the
// value depends on the machine, the SDK, the body or the request.
var headers = map[string]string{
	"Accept":                      "application/json",
	"Accept-Encoding":             "gzip",
	"Anthropic-Version":           "",
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
	"X-Stainless-Timeout":         "",
}

func readRequest(t testing.TB, r *http.Request, body []byte) modeltest.Sent {
	t.Helper()
	if r.Method != http.MethodPost || r.URL.String() != "/v1/messages" {
		t.Errorf("%s %s, want POST /v1/messages", r.Method, r.URL)
	}
	for name, values := range r.Header {
		want, known := headers[name]
		if !known || len(values) != 1 || want != "" && values[0] != want {
			t.Errorf("header %s: %q, want %q (known: %v)", name, values, want, known)
		}
	}
	wire := decodeRequest(t, body)
	// The latest version refuses a temperature, and all that has one goes by
	// the version before.
	if version := r.Header.Get("Anthropic-Version"); (version == "2023-06-01") != (wire.Temperature != nil) || version == "" {
		t.Errorf("version %q with the temperature %v", version, wire.Temperature)
	}
	sent := modeltest.Sent{
		Key:         strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
		Model:       wire.Model,
		Temperature: wire.Temperature,
		Stream:      wire.Stream,
	}
	for _, b := range wire.System {
		sent.System += b.Text
	}
	for _, m := range wire.Messages {
		sent.Messages = append(sent.Messages, readMessage(t, m)...)
	}
	readControls(t, wire, &sent)
	return sent
}

func decodeRequest(t testing.TB, body []byte) *wireRequest {
	t.Helper()
	var wire wireRequest
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&wire); err != nil {
		t.Errorf("body: %v: %s", err, body)
	}
	return &wire
}

// readMessage reads a message; one of the user's may hold several results.
func readMessage(t testing.TB, m wireMessage) (out []model.Message) {
	t.Helper()
	msg := model.Message{Role: model.Role(m.Role)}
	if len(m.Content) == 0 {
		t.Errorf("a message of %s without content", m.Role)
	}
	any := false
	for _, b := range m.Content {
		if b.Type == "tool_result" {
			text := ""
			for _, c := range b.Content {
				if c.Text == "" {
					t.Error("an empty text in a tool's result")
				}
				text += c.Text
			}
			if any {
				t.Error("a tool's result after other content")
			}
			out = append(out, model.Message{Role: model.ToolRole, CallID: b.ToolUseID, Text: text, IsError: b.IsError})
			continue
		}
		any = true
		switch b.Type {
		case "text":
			if b.Text == "" {
				t.Error("an empty text")
			}
			msg.Text += b.Text
		case "image", "document":
			a := model.Attachment{Type: model.Image, MediaType: b.Source.MediaType, Data: b.Source.Data, URL: b.Source.URL}
			if b.Type == "document" {
				a.Type = model.PDF
			}
			if (b.Source.Type == "url") != (a.URL != "") || (b.Source.Type == "base64") != (a.Data != nil) {
				t.Errorf("a source of type %q: %+v", b.Source.Type, a)
			}
			msg.Attachments = append(msg.Attachments, a)
		case "tool_use":
			msg.ToolCalls = append(msg.ToolCalls, model.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
			if !strings.HasPrefix(string(b.Input), "{") {
				t.Errorf("the input of a call is no object: %s", b.Input)
			}
		case "thinking":
			if b.Signature == "" {
				t.Error("thinking without its signature")
			}
		case "redacted_thinking":
		default:
			t.Errorf("a block of type %q", b.Type)
		}
	}
	if any {
		out = append(out, msg)
	}
	return out
}

// defaultLimits are those that a request without one is sent with.
var defaultLimits = []int64{4096, 8192 + 4096, 24_576 + 4096, 5000 + 4096, 1024 + 4096}

func readControls(t testing.TB, wire *wireRequest, sent *modeltest.Sent) {
	if wire.MaxTokens <= 0 {
		t.Errorf("max_tokens %d", wire.MaxTokens)
	}
	if !slices.Contains(defaultLimits, wire.MaxTokens) {
		sent.MaxTokens = &wire.MaxTokens
	}
	for _, tool := range wire.Tools {
		sent.Tools = append(sent.Tools, modeltest.Tool{Name: tool.Name, Description: tool.Description, Parameters: tool.InputSchema})
	}
	if c := wire.ToolChoice; c != nil {
		modes := map[string]model.ToolMode{"auto": model.AutoTools, "any": model.RequireTools, "none": model.NoTools, "tool": model.NamedTool}
		sent.ToolChoice = &model.ToolChoice{Mode: modes[c.Type], Name: c.Name}
	}
	if f := wire.OutputConfig.Format; f != nil {
		if f.Type != "json_schema" {
			t.Errorf("a format of type %q", f.Type)
		}
		sent.Schema = f.Schema
	}
	sent.Thinking = thinkingSent(wire)
}

// thinkingSent writes the reasoning controls in short.
func thinkingSent(wire *wireRequest) string {
	var parts []string
	if th := wire.Thinking; th != nil {
		parts = append(parts, th.Type)
		if th.BudgetTokens != 0 {
			parts = append(parts, fmt.Sprint(th.BudgetTokens))
		}
		if th.Display != "" {
			parts = append(parts, th.Display)
		}
	}
	if e := wire.OutputConfig.Effort; e != "" {
		parts = append(parts, "effort "+e)
	}
	return strings.Join(parts, " ")
}

func writeUsage(u *model.Usage) map[string]any {
	return map[string]any{
		"input_tokens":            u.PromptTokens - u.CachedTokens - 1,
		"cache_read_input_tokens": u.CachedTokens, "cache_creation_input_tokens": 1,
		"output_tokens":         u.CompletionTokens,
		"output_tokens_details": map[string]any{"thinking_tokens": u.ReasoningTokens},
		"service_tier":          "standard",
	}
}

func writeAnswer(a modeltest.Answer) string {
	content := []any{}
	if a.Reasoning != "" {
		content = append(content, map[string]any{"type": "thinking", "thinking": a.Reasoning, "signature": "c2lnbmVk+/=="})
	}
	if a.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": a.Text, "citations": nil})
	}
	for _, c := range a.ToolCalls {
		content = append(content, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Arguments)})
	}
	out := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": a.Model, "content": content,
		"stop_reason": nil, "stop_sequence": nil, "stop_details": nil,
	}
	if a.FinishReason != "" {
		out["stop_reason"] = a.FinishReason
	}
	if a.Usage != nil {
		out["usage"] = writeUsage(a.Usage)
	}
	return mustJSON(out)
}

func writeFailure(message string) string {
	return mustJSON(map[string]any{"type": "error", "error": map[string]any{"type": "some_error", "message": message}, "request_id": "req_1"})
}

func event(name string, data any) string {
	return "event: " + name + "\ndata: " + mustJSON(data) + "\n\n"
}

func writeFrames(reasoning, text []string, a modeltest.Answer) (out []string) {
	message := map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": a.Model, "content": []any{}, "stop_reason": nil}
	last := map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": a.FinishReason, "stop_sequence": nil}}
	if a.Usage != nil {
		first := writeUsage(a.Usage)
		first["output_tokens"], first["output_tokens_details"] = 1, nil
		message["usage"] = first
		last["usage"] = map[string]any{"output_tokens": a.Usage.CompletionTokens, "output_tokens_details": map[string]any{"thinking_tokens": a.Usage.ReasoningTokens}}
	}
	out = append(out, event("message_start", map[string]any{"type": "message_start", "message": message}))
	index := 0
	block := func(start map[string]any, deltas ...map[string]any) {
		out = append(out, event("content_block_start", map[string]any{"type": "content_block_start", "index": index, "content_block": start}))
		for _, d := range deltas {
			out = append(out, event("content_block_delta", map[string]any{"type": "content_block_delta", "index": index, "delta": d}))
		}
		out = append(out, event("content_block_stop", map[string]any{"type": "content_block_stop", "index": index}))
		index++
	}
	if reasoning != nil {
		var deltas []map[string]any
		for _, piece := range reasoning {
			deltas = append(deltas, map[string]any{"type": "thinking_delta", "thinking": piece})
		}
		deltas = append(deltas, map[string]any{"type": "signature_delta", "signature": "c2lnbmVk+/=="})
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""}, deltas...)
	}
	if text != nil {
		var deltas []map[string]any
		for _, piece := range text {
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": piece})
		}
		block(map[string]any{"type": "text", "text": ""}, deltas...)
	}
	for _, c := range a.ToolCalls {
		deltas := []map[string]any{{"type": "input_json_delta", "partial_json": ""}}
		for piece := range slices.Chunk([]byte(c.Arguments), 5) {
			if len(c.Arguments) > 5 && strings.ToValidUTF8(string(piece), "") != string(piece) {
				deltas = []map[string]any{{"type": "input_json_delta", "partial_json": c.Arguments}} // the pieces are whole letters
				break
			}
			deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": string(piece)})
		}
		block(map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}}, deltas...)
	}
	return append(out, event("message_delta", last), event("message_stop", map[string]any{"type": "message_stop"}))
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
