package openai_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

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
			"model_length":   model.FinishLength,
			"EOS":            "eos",
		},
		Stream: &modeltest.Stream{
			Frames:  writeStream,
			Closing: 2,
			Failure: func(message string) string {
				return frame(map[string]any{"error": map[string]any{"message": message, "type": "server_error", "param": nil, "code": nil}})
			},
			Unknown: []string{": PROCESSING\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n", "id: 5\nretry: 10\n\n", "data: null\n\n", "data: [1]\n\n", "\r\n",
				"data: {\"choices\": [], \"prompt_filter_results\": [{\"prompt_index\": 0}], \"error\": null}\n\n"},
		},
		Tools: &modeltest.Tools{RawArguments: true, OwnIDs: true},
		Attachments: map[model.AttachmentType]modeltest.Attachments{
			model.Image: {MediaTypes: []string{"image/png", "image/jpeg", "image/webp", "image/gif"}, URL: true},
			model.PDF:   {MediaTypes: []string{"application/pdf"}},
			model.Audio: {MediaTypes: []string{"audio/wav", "audio/mpeg"}},
		},
		Schema: true,
		Thinking: &modeltest.Thinking{
			Shows: true,
			Controls: []modeltest.Control{
				{Asked: model.Thinking{}, Sent: ""},
				{Asked: model.Thinking{Enabled: new(true)}, Sent: "medium"},
				{Asked: model.Thinking{Enabled: new(false)}, Sent: "none"},
				{Asked: model.Thinking{Enabled: new(false), Level: "high"}, Sent: "none"},
				{Asked: model.Thinking{BudgetTokens: new(int64(0))}, Sent: "none"},
				{Asked: model.Thinking{Level: "low"}, Sent: "low"},
				{Asked: model.Thinking{Level: "medium"}, Sent: "medium"},
				{Asked: model.Thinking{Level: "high", BudgetTokens: new(int64(10))}, Sent: "high"},
				{Asked: model.Thinking{BudgetTokens: new(int64(1024))}, Sent: "low"},
				{Asked: model.Thinking{BudgetTokens: new(int64(8000))}, Sent: "medium"},
				{Asked: model.Thinking{Enabled: new(true), BudgetTokens: new(int64(32000))}, Sent: "high"},
			},
		},
		Embeddings: &modeltest.Embeddings{Read: readEmbed, Answer: writeVectors},
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
	Model           string          `json:"model"`
	Messages        []wireMessage   `json:"messages"`
	Temperature     *float64        `json:"temperature"`
	MaxTokens       *int64          `json:"max_tokens"`
	Tools           []wireTool      `json:"tools"`
	ToolChoice      json.RawMessage `json:"tool_choice"`
	ReasoningEffort string          `json:"reasoning_effort"`
	ResponseFormat  *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string `json:"name"`
			Schema any    `json:"schema"`
			Strict bool   `json:"strict"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Stream        bool `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type wireMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  []wireCall      `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
	Reasoning  string          `json:"reasoning_content"`
}

type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type wireTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  any    `json:"parameters"`
	} `json:"function"`
}

type wirePart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL *struct {
		URL string `json:"url"`
	} `json:"image_url"`
	File *struct {
		Filename string `json:"filename"`
		FileData string `json:"file_data"`
	} `json:"file"`
	InputAudio *struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
}

// headers are all the headers of a request, with their values; "" where the
// value depends on the SDK or the body. Nothing tells of the machine.
var headers = map[string]string{
	"Accept":          "application/json",
	"Accept-Encoding": "gzip",
	"Authorization":   "Bearer " + modeltest.Key,
	"Content-Length":  "",
	"Content-Type":    "application/json",
	"User-Agent":      "",
}

func readHeaders(t testing.TB, r *http.Request, path string) (key string) {
	t.Helper()
	if r.Method != http.MethodPost || r.URL.String() != path {
		t.Errorf("%s %s, want POST %s", r.Method, r.URL, path)
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
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// decode decodes JSON and fails the test for anything that it does not know.
func decode(t testing.TB, src []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Errorf("%v: %s", err, src)
	}
}

func readRequest(t testing.TB, r *http.Request, body []byte) modeltest.Sent {
	t.Helper()
	sent := modeltest.Sent{Key: readHeaders(t, r, "/v1/chat/completions")}
	var wire wireRequest
	decode(t, body, &wire)
	sent.Model, sent.Temperature, sent.MaxTokens = wire.Model, wire.Temperature, wire.MaxTokens
	sent.Stream, sent.Thinking = wire.Stream, wire.ReasoningEffort
	if wire.Stream != (wire.StreamOptions != nil && wire.StreamOptions.IncludeUsage) {
		t.Errorf("stream %v with the options %v", wire.Stream, wire.StreamOptions)
	}
	for _, tool := range wire.Tools {
		if tool.Type != "function" {
			t.Errorf("a tool of the type %q", tool.Type)
		}
		sent.Tools = append(sent.Tools, modeltest.Tool{Name: tool.Function.Name, Description: tool.Function.Description, Parameters: tool.Function.Parameters})
	}
	sent.ToolChoice = readChoice(t, wire.ToolChoice)
	if f := wire.ResponseFormat; f != nil {
		if f.Type != "json_schema" || f.JSONSchema.Name == "" || !f.JSONSchema.Strict {
			t.Errorf("the response format %+v", f)
		}
		sent.Schema = f.JSONSchema.Schema
	}
	for i, m := range wire.Messages {
		out := readMessage(t, m)
		if i == 0 && m.Role == "system" {
			sent.System = out.Text
			continue
		}
		sent.Messages = append(sent.Messages, out)
	}
	return sent
}

func readChoice(t testing.TB, raw json.RawMessage) *model.ToolChoice {
	t.Helper()
	if len(raw) == 0 {
		return nil
	}
	var mode model.ToolMode
	if json.Unmarshal(raw, &mode) == nil {
		return &model.ToolChoice{Mode: mode}
	}
	var named struct {
		Type     string `json:"type"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	decode(t, raw, &named)
	if named.Type != "function" {
		t.Errorf("a tool choice of the type %q", named.Type)
	}
	return &model.ToolChoice{Mode: model.NamedTool, Name: named.Function.Name}
}

func readMessage(t testing.TB, m wireMessage) model.Message {
	t.Helper()
	out := model.Message{Role: model.Role(m.Role), CallID: m.ToolCallID}
	if len(m.Content) == 0 && (m.Role != "assistant" || len(m.ToolCalls) == 0) {
		t.Errorf("a message of %s without content", m.Role)
	}
	if len(m.Content) > 0 && json.Unmarshal(m.Content, &out.Text) != nil {
		readParts(t, m.Content, &out)
	}
	for _, c := range m.ToolCalls {
		if c.Type != "function" {
			t.Errorf("a call of the type %q", c.Type)
		}
		out.ToolCalls = append(out.ToolCalls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	if out.Role == model.ToolRole {
		out.Text, out.IsError = strings.CutPrefix(out.Text, "Error: ")
	}
	return out
}

func readParts(t testing.TB, raw json.RawMessage, out *model.Message) {
	t.Helper()
	var parts []wirePart
	decode(t, raw, &parts)
	for _, p := range parts {
		switch {
		case p.Type == "text":
			out.Text += p.Text
		case p.Type == "image_url" && p.ImageURL != nil:
			out.Attachments = append(out.Attachments, readURL(t, model.Image, p.ImageURL.URL))
		case p.Type == "file" && p.File != nil && p.File.Filename != "":
			out.Attachments = append(out.Attachments, readURL(t, model.PDF, p.File.FileData))
		case p.Type == "input_audio" && p.InputAudio != nil:
			media := map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg"}[p.InputAudio.Format]
			out.Attachments = append(out.Attachments, model.Attachment{Type: model.Audio, MediaType: media, Data: unbase64(t, p.InputAudio.Data)})
		default:
			t.Errorf("the part %+v", p)
		}
	}
}

func readURL(t testing.TB, kind model.AttachmentType, url string) model.Attachment {
	t.Helper()
	data, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return model.Attachment{Type: kind, URL: url}
	}
	media, data, ok := strings.Cut(data, ";base64,")
	if !ok {
		t.Errorf("the data URL %q", url)
	}
	return model.Attachment{Type: kind, MediaType: media, Data: unbase64(t, data)}
}

func unbase64(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Error(err)
	}
	return data
}

func readEmbed(t testing.TB, r *http.Request, body []byte) modeltest.EmbedSent {
	t.Helper()
	sent := modeltest.EmbedSent{Key: readHeaders(t, r, "/v1/embeddings")}
	var wire struct {
		Model          string   `json:"model"`
		Input          []string `json:"input"`
		EncodingFormat string   `json:"encoding_format"`
		Dimensions     *int64   `json:"dimensions"`
	}
	decode(t, body, &wire)
	if wire.EncodingFormat != "float" {
		t.Errorf("the encoding format %q", wire.EncodingFormat)
	}
	sent.Model, sent.Inputs, sent.Dimensions = wire.Model, wire.Input, wire.Dimensions
	return sent
}
