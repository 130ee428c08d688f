package google_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/google"
)

func TestConformance(t *testing.T) {
	modeltest.Run(t, modeltest.Vendor{
		Name: "google",
		New: func(t testing.TB, root, key string) model.Provider {
			return newProvider(t, google.Config{APIKey: key, BaseURL: root})
		},
		Read:    readRequest,
		Answer:  writeAnswer,
		Failure: writeFailure,
		Empty:   `{"candidates": [], "modelVersion": "m"}`,
		FinishReasons: map[string]string{
			"STOP":               model.FinishStop,
			"MAX_TOKENS":         model.FinishLength,
			"CONTINUATION":       model.FinishLength,
			"SAFETY":             model.FinishContentFilter,
			"RECITATION":         model.FinishContentFilter,
			"PROHIBITED_CONTENT": model.FinishContentFilter,
			"BLOCKLIST":          model.FinishContentFilter,
			"SPII":               model.FinishContentFilter,
			"IMAGE_SAFETY":       model.FinishContentFilter,
			"LANGUAGE":           "language",
			"OTHER":              "other",
		},
		Stream: &modeltest.Stream{
			Frames:  writeFrames,
			Closing: 1,
			Failure: func(message string) string {
				return "data: " + mustJSON(map[string]any{"error": map[string]any{"code": 503, "message": message, "status": "UNAVAILABLE"}}) + "\r\n\r\n"
			},
			Unknown: []string{
				": a comment\n\n", "event: ping\ndata: {}\n\n", "event: later\r\ndata: half\r\n\r\n", "id: 7\nretry: 5\n\n",
				"data: {\"laterField\": {\"x\": [1]}}\n\n", "data: 5\n\n", "data\n\n", "\n", "data: {\"candidates\": null, \"usageMetadata\": null}\n\n",
			},
		},
		Tools: &modeltest.Tools{OwnIDs: true},
		Attachments: map[model.AttachmentType]modeltest.Attachments{
			model.Image: {MediaTypes: []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}, URL: true},
			model.PDF:   {MediaTypes: []string{"application/pdf"}, URL: true},
			model.Audio: {MediaTypes: []string{"audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"}},
		},
		Schema: true,
		Thinking: &modeltest.Thinking{Shows: true, Controls: []modeltest.Control{
			{Asked: model.Thinking{}, Sent: ""},
			{Asked: model.Thinking{Enabled: ptr(true)}, Sent: `{"includeThoughts":true}`},
			{Asked: model.Thinking{Level: "low"}, Sent: `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
			{Asked: model.Thinking{BudgetTokens: ptr(int64(500))}, Sent: `{"includeThoughts":true,"thinkingBudget":500}`},
			{Asked: model.Thinking{Enabled: ptr(false)}, Sent: `{"thinkingLevel":"LOW"}`},
		}},
		Embeddings: &modeltest.Embeddings{Read: readEmbed, Answer: writeVectors, NoModel: true},
	})
}

func ptr[T any](v T) *T { return &v }

// wireRequest is the part of generateContent that is used; anything else in a
// request fails the test.
type wireRequest struct {
	Contents          []wireContent `json:"contents"`
	SystemInstruction *wireContent  `json:"systemInstruction"`
	GenerationConfig  struct {
		Temperature        *float64        `json:"temperature"`
		MaxOutputTokens    *int64          `json:"maxOutputTokens"`
		ThinkingConfig     json.RawMessage `json:"thinkingConfig"`
		ResponseMIMEType   string          `json:"responseMimeType"`
		ResponseJSONSchema any             `json:"responseJsonSchema"`
	} `json:"generationConfig"`
	Tools []struct {
		FunctionDeclarations []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			Parameters  any    `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	ToolConfig *struct {
		Calling struct {
			Mode    string   `json:"mode"`
			Allowed []string `json:"allowedFunctionNames"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
}

type wireContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text       *string `json:"text"`
		InlineData *struct {
			MIMEType string `json:"mimeType"`
			Data     []byte `json:"data"`
		} `json:"inlineData"`
		FileData *struct {
			MIMEType string `json:"mimeType"`
			FileURI  string `json:"fileUri"`
		} `json:"fileData"`
		FunctionCall *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		FunctionResponse *struct {
			ID       string            `json:"id"`
			Name     string            `json:"name"`
			Response map[string]string `json:"response"`
		} `json:"functionResponse"`
		ThoughtSignature string `json:"thoughtSignature"`
	} `json:"parts"`
}

// headers are all the headers of a request, with their values; "" where the
// value depends on the SDK or the body.
var headers = map[string]string{
	"Accept-Encoding":   "gzip",
	"Content-Length":    "",
	"Content-Type":      "application/json",
	"User-Agent":        "",
	"X-Goog-Api-Client": "",
	"X-Goog-Api-Key":    modeltest.Key,
}

func readHeaders(t testing.TB, r *http.Request) {
	t.Helper()
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
}

func strict(t testing.TB, body []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Errorf("body: %v: %s", err, body)
	}
}

func readRequest(t testing.TB, r *http.Request, body []byte) modeltest.Sent {
	t.Helper()
	readHeaders(t, r)
	sent := modeltest.Sent{Key: r.Header.Get("X-Goog-Api-Key")}
	rest, ok := strings.CutPrefix(r.URL.Path, "/v1beta/models/")
	name, plain := strings.CutSuffix(rest, ":generateContent")
	if !plain {
		name, sent.Stream = strings.CutSuffix(rest, ":streamGenerateContent")
	}
	query := ""
	if sent.Stream {
		query = "alt=sse"
	}
	if r.Method != http.MethodPost || !ok || plain == sent.Stream || r.URL.RawQuery != query {
		t.Errorf("%s %s", r.Method, r.URL)
	}
	sent.Model = name
	var wire wireRequest
	strict(t, body, &wire)
	if s := wire.SystemInstruction; s != nil {
		sent.System = *s.Parts[0].Text
	}
	g := wire.GenerationConfig
	sent.Temperature, sent.MaxTokens, sent.Thinking, sent.Schema = g.Temperature, g.MaxOutputTokens, string(g.ThinkingConfig), g.ResponseJSONSchema
	if (g.ResponseMIMEType == "application/json") != (sent.Schema != nil) {
		t.Errorf("media type %q with the schema %v", g.ResponseMIMEType, sent.Schema)
	}
	for _, tool := range wire.Tools {
		for _, f := range tool.FunctionDeclarations {
			sent.Tools = append(sent.Tools, modeltest.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
		}
	}
	if c := wire.ToolConfig; c != nil {
		sent.ToolChoice = readChoice(t, c.Calling.Mode, c.Calling.Allowed)
	}
	for _, c := range wire.Contents {
		sent.Messages = append(sent.Messages, readContent(t, c)...)
	}
	return sent
}

func readChoice(t testing.TB, mode string, allowed []string) *model.ToolChoice {
	t.Helper()
	switch {
	case mode == "AUTO" && allowed == nil:
		return &model.ToolChoice{Mode: model.AutoTools}
	case mode == "NONE" && allowed == nil:
		return &model.ToolChoice{Mode: model.NoTools}
	case mode == "ANY" && allowed == nil:
		return &model.ToolChoice{Mode: model.RequireTools}
	case mode == "ANY" && len(allowed) == 1:
		return &model.ToolChoice{Mode: model.NamedTool, Name: allowed[0]}
	}
	t.Errorf("mode %q with the names %q", mode, allowed)
	return nil
}

// readContent makes messages of a turn: each tool's result is one.
func readContent(t testing.TB, c wireContent) []model.Message {
	t.Helper()
	m := model.Message{Role: model.User}
	if c.Role == "model" {
		m.Role = model.Assistant
	} else if c.Role != "user" {
		t.Errorf("role %q", c.Role)
	}
	if len(c.Parts) == 0 {
		t.Error("a turn without parts, which the service refuses")
	}
	var results []model.Message
	for _, p := range c.Parts {
		switch {
		case p.Text != nil:
			m.Text += *p.Text
		case p.InlineData != nil:
			m.Attachments = append(m.Attachments, model.Attachment{Type: typeOf(p.InlineData.MIMEType), MediaType: p.InlineData.MIMEType, Data: p.InlineData.Data})
		case p.FileData != nil:
			m.Attachments = append(m.Attachments, model.Attachment{Type: typeOf(p.FileData.MIMEType), MediaType: p.FileData.MIMEType, URL: p.FileData.FileURI})
		case p.FunctionCall != nil:
			m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: string(p.FunctionCall.Args)})
		case p.FunctionResponse != nil:
			result := model.Message{Role: model.ToolRole, CallID: p.FunctionResponse.ID, ToolName: p.FunctionResponse.Name}
			text, ok := p.FunctionResponse.Response["result"]
			if !ok {
				text, result.IsError = p.FunctionResponse.Response["error"]
			}
			if result.Text = text; len(p.FunctionResponse.Response) != 1 {
				t.Errorf("the result %v", p.FunctionResponse.Response)
			}
			results = append(results, result)
		default:
			t.Error("a part that holds nothing")
		}
	}
	if results != nil {
		return results
	}
	return []model.Message{m}
}

func typeOf(mediaType string) model.AttachmentType {
	switch family, _, _ := strings.Cut(mediaType, "/"); family {
	case "image":
		return model.Image
	case "audio":
		return model.Audio
	}
	return model.PDF
}

func writeAnswer(a modeltest.Answer) string {
	return mustJSON(piece(a, a.FinishReason, thought(a.Reasoning), text(a.Text), callParts(a.ToolCalls)))
}

// piece is an answer, or an event of a stream.
func piece(a modeltest.Answer, reason string, parts ...[]any) map[string]any {
	all := []any{}
	for _, p := range parts {
		all = append(all, p...)
	}
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": all}}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	out := map[string]any{"candidates": []any{candidate}, "modelVersion": a.Model, "responseId": "r-1"}
	if u := a.Usage; u != nil {
		out["usageMetadata"] = map[string]any{
			"promptTokenCount": u.PromptTokens, "candidatesTokenCount": u.CompletionTokens - u.ReasoningTokens,
			"thoughtsTokenCount": u.ReasoningTokens, "totalTokenCount": u.TotalTokens, "cachedContentTokenCount": u.CachedTokens,
		}
	}
	return out
}

func text(s string) []any {
	if s == "" {
		return nil
	}
	return []any{map[string]any{"text": s}}
}

func thought(s string) []any {
	if s == "" {
		return nil
	}
	return []any{map[string]any{"text": s, "thought": true}}
}

func callParts(calls []model.ToolCall) (parts []any) {
	for _, c := range calls {
		call := map[string]any{"name": c.Name, "args": json.RawMessage(c.Arguments)}
		if c.ID != "" {
			call["id"] = c.ID
		}
		parts = append(parts, map[string]any{"functionCall": call})
	}
	return parts
}

// writeFrames are the events of a stream: the last has the finish reason.
func writeFrames(reasoning, texts []string, a modeltest.Answer) (frames []string) {
	frame := func(p map[string]any) { frames = append(frames, "data: "+mustJSON(p)+"\r\n\r\n") }
	for _, s := range reasoning {
		frame(piece(a, "", thought(s)))
	}
	for _, s := range texts {
		frame(piece(a, "", text(s)))
	}
	for _, part := range callParts(a.ToolCalls) {
		frame(piece(a, "", []any{part}))
	}
	reason := a.FinishReason
	if reason == "" {
		reason = "STOP"
	}
	frame(piece(a, reason))
	return frames
}

func writeFailure(message string) string {
	return mustJSON(map[string]any{"error": map[string]any{"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})
}

func readEmbed(t testing.TB, r *http.Request, body []byte) modeltest.EmbedSent {
	t.Helper()
	readHeaders(t, r)
	sent := modeltest.EmbedSent{Key: r.Header.Get("X-Goog-Api-Key")}
	name, ok := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, ":batchEmbedContents"), "/v1beta/models/")
	if r.Method != http.MethodPost || !ok || r.URL.RawQuery != "" {
		t.Errorf("%s %s", r.Method, r.URL)
	}
	sent.Model = name
	var wire struct {
		Requests []struct {
			Model                string      `json:"model"`
			Content              wireContent `json:"content"`
			OutputDimensionality *int64      `json:"outputDimensionality"`
		} `json:"requests"`
	}
	strict(t, body, &wire)
	for _, q := range wire.Requests {
		if q.Model != "models/"+name || len(q.Content.Parts) != 1 {
			t.Errorf("a request for %q with %d parts", q.Model, len(q.Content.Parts))
		}
		sent.Inputs, sent.Dimensions = append(sent.Inputs, *q.Content.Parts[0].Text), q.OutputDimensionality
	}
	return sent
}

func writeVectors(a modeltest.EmbedAnswer) string {
	vectors := []any{}
	for _, v := range a.Vectors {
		vectors = append(vectors, map[string]any{"values": v})
	}
	return mustJSON(map[string]any{"embeddings": vectors, "usageMetadata": map[string]any{"promptTokenCount": a.Tokens}})
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
