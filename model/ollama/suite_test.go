package ollama_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/ollama"
)

func newProvider(t testing.TB, cfg ollama.Config) *ollama.Provider {
	t.Helper()
	p, err := ollama.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func ptr[T any](v T) *T { return &v }

// free checks that calls cost nothing, which the suite does not know of.
type free struct {
	t testing.TB
	*ollama.Provider
}

func (f free) cost(usd **float64) {
	if *usd == nil || **usd != 0 {
		f.t.Errorf("cost %v, want 0", *usd)
	}
	*usd = nil
}

func (f free) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	r, err := f.Provider.Complete(ctx, req, stream)
	if r != nil {
		f.cost(&r.CostUSD)
	}
	return r, err
}

func (f free) Embed(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	r, err := f.Provider.Embed(ctx, req)
	if r != nil {
		f.cost(&r.CostUSD)
	}
	return r, err
}

func TestSuite(t *testing.T) {
	modeltest.Run(t, modeltest.Vendor{
		Name: "ollama",
		New: func(t testing.TB, root, key string) model.Provider {
			p, err := ollama.New(ollama.Config{BaseURL: root, APIKey: key})
			if err != nil {
				t.Fatal(err)
			}
			return free{t, p}
		},
		Read:          read,
		Answer:        func(a modeltest.Answer) string { return line(a, a.Text, a.Reasoning, true) },
		Failure:       failure,
		Empty:         `{"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": true}`,
		FinishReasons: map[string]string{"stop": "stop", "length": "length", "load": "load", "tool_calls": "tool_calls"},
		Stream: &modeltest.Stream{
			Frames:      frames,
			Closing:     1,
			ContentType: "application/x-ndjson",
			Failure:     func(m string) string { return failure(m) + "\n" },
			Unknown:     []string{"\n", `{"status": "loading", "progress": {"done": 5}}` + "\n", "\r\n", `{"message": null}` + "\n", "{}\n"},
		},
		Tools:       &modeltest.Tools{NoChoice: true},
		Attachments: map[model.AttachmentType]modeltest.Attachments{model.Image: {MediaTypes: []string{"image/png"}}},
		Schema:      true,
		Thinking: &modeltest.Thinking{Shows: true, Controls: []modeltest.Control{
			{Asked: model.Thinking{}, Sent: ""},
			{Asked: model.Thinking{Enabled: ptr(true)}, Sent: "true"},
			{Asked: model.Thinking{Enabled: ptr(false)}, Sent: "false"},
			{Asked: model.Thinking{Enabled: ptr(false), Level: "high"}, Sent: "false"},
			{Asked: model.Thinking{Level: "low"}, Sent: "true"},
			{Asked: model.Thinking{BudgetTokens: ptr(int64(500))}, Sent: "true"},
			{Asked: model.Thinking{BudgetTokens: ptr(int64(0))}, Sent: "false"},
		}},
		PlainUsage: true,
		Embeddings: &modeltest.Embeddings{Read: readEmbed, Answer: embedAnswer},
	})
}

func failure(message string) string { return encode(map[string]any{"error": message}) }

func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// line is an answer, whole or one line of a stream, as the API's reference has
// it.
func line(a modeltest.Answer, text, thinking string, done bool) string {
	message := map[string]any{"role": "assistant", "content": text}
	if thinking != "" {
		message["thinking"] = thinking
	}
	var calls []any
	for i, c := range a.ToolCalls {
		calls = append(calls, map[string]any{"function": map[string]any{
			"index": i, "name": c.Name, "arguments": json.RawMessage(c.Arguments),
		}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	out := map[string]any{"model": a.Model, "created_at": "2026-01-01T00:00:00.5Z", "message": message, "done": done}
	if done {
		finish(out, a)
	}
	return encode(out)
}

func finish(out map[string]any, a modeltest.Answer) {
	out["total_duration"], out["load_duration"] = 5191566416, 2154458
	if a.FinishReason != "" {
		out["done_reason"] = a.FinishReason
	}
	if a.Usage != nil {
		out["prompt_eval_count"], out["eval_count"] = a.Usage.PromptTokens, a.Usage.CompletionTokens
	}
}

func frames(reasoning, text []string, a modeltest.Answer) []string {
	plain := modeltest.Answer{Model: a.Model}
	var out []string
	for _, piece := range reasoning {
		out = append(out, line(plain, "", piece, false)+"\n")
	}
	for _, piece := range text {
		out = append(out, line(plain, piece, "", false)+"\n")
	}
	for _, c := range a.ToolCalls {
		out = append(out, line(modeltest.Answer{Model: a.Model, ToolCalls: []model.ToolCall{c}}, "", "", false)+"\n")
	}
	last := map[string]any{"model": a.Model, "created_at": "2026-01-01T00:00:01Z", "done": true, "message": map[string]any{"role": "assistant", "content": ""}}
	finish(last, a)
	return append(out, encode(last)+"\n")
}

// sentChat is a request as the API's reference has it; other keys are errors.
type sentChat struct {
	Model    string
	Messages []struct {
		Role, Content, Thinking string
		Images                  [][]byte
		ToolCalls               []struct {
			ID       string
			Function struct {
				Name      string
				Arguments map[string]any
			}
		} `json:"tool_calls"`
		ToolName   string `json:"tool_name"`
		ToolCallID string `json:"tool_call_id"`
	}
	Stream *bool
	Tools  []struct {
		Type     string
		Function struct {
			Name, Description string
			Parameters        any
		}
	}
	Format  any
	Think   json.RawMessage
	Options struct {
		Temperature *float64
		NumPredict  *int64 `json:"num_predict"`
	}
}

func key(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") }

func decodeStrictly(t testing.TB, r *http.Request, path string, body []byte, into any) {
	t.Helper()
	if r.Method != http.MethodPost || r.URL.Path != path || r.URL.RawQuery != "" || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s of type %q", r.Method, r.URL, r.Header.Get("Content-Type"))
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Errorf("%v in %s", err, body)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Error("something follows the request")
	}
}

func read(t testing.TB, r *http.Request, body []byte) modeltest.Sent {
	var in sentChat
	decodeStrictly(t, r, "/api/chat", body, &in)
	if in.Stream == nil {
		t.Fatal("stream is not said, and its default is true")
	}
	out := modeltest.Sent{
		Key: key(r), Model: in.Model, Temperature: in.Options.Temperature, MaxTokens: in.Options.NumPredict,
		Stream: *in.Stream, Schema: in.Format, Thinking: string(in.Think),
	}
	for i, m := range in.Messages {
		if m.Role == "system" && i == 0 {
			out.System = m.Content
			continue
		}
		msg := model.Message{Role: model.Role(m.Role), Text: m.Content, ToolName: m.ToolName, CallID: m.ToolCallID}
		if m.Role == "tool" {
			msg.Text, msg.IsError = strings.CutPrefix(m.Content, "Error: ")
		}
		for _, data := range m.Images {
			// Ollama looks at the data for its type.
			msg.Attachments = append(msg.Attachments, model.Attachment{Type: model.Image, MediaType: "image/png", Data: data})
		}
		for _, c := range m.ToolCalls {
			msg.ToolCalls = append(msg.ToolCalls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: encode(c.Function.Arguments)})
		}
		out.Messages = append(out.Messages, msg)
	}
	for _, tool := range in.Tools {
		if tool.Type != "function" {
			t.Errorf("a tool of the type %q", tool.Type)
		}
		out.Tools = append(out.Tools, modeltest.Tool{Name: tool.Function.Name, Description: tool.Function.Description, Parameters: tool.Function.Parameters})
	}
	return out
}

func readEmbed(t testing.TB, r *http.Request, body []byte) modeltest.EmbedSent {
	var in struct {
		Model      string
		Input      []string
		Dimensions *int64
	}
	decodeStrictly(t, r, "/api/embed", body, &in)
	return modeltest.EmbedSent{Key: key(r), Model: in.Model, Inputs: in.Input, Dimensions: in.Dimensions}
}

func embedAnswer(a modeltest.EmbedAnswer) string {
	return encode(map[string]any{"model": a.Model, "embeddings": a.Vectors, "total_duration": 14143917, "prompt_eval_count": a.Tokens})
}
