package google_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/google"
	"github.com/agentloom/agentloom/value"
)

type interaction struct {
	Request struct {
		URL  string
		Body map[string]any
	}
	Response struct {
		ContentType string `json:"content_type"`
		Body        json.RawMessage
	}
}

// served is the answer as it was on the wire: a stream is a JSON string in the
// recording.
func (i interaction) served(t *testing.T) string {
	t.Helper()
	if i.Response.ContentType != sse {
		return string(i.Response.Body)
	}
	var stream string
	if err := json.Unmarshal(i.Response.Body, &stream); err != nil {
		t.Fatal(err)
	}
	return stream
}

func load(t *testing.T, path string) []interaction {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rec struct{ Interactions []interaction }
	if err := json.Unmarshal(src, &rec); err != nil {
		t.Fatal(err)
	}
	return rec.Interactions
}

// recordedPiece is read from a recording without the adapter.
type recordedPiece struct {
	Candidates []struct {
		FinishReason string
		Content      struct {
			Parts []struct {
				Text             string
				Thought          bool
				ThoughtSignature string
				FunctionCall     *struct {
					Name string
					Args map[string]any
				}
			}
		}
	}
	UsageMetadata struct{ PromptTokenCount, CandidatesTokenCount, ThoughtsTokenCount, TotalTokenCount int64 }
	ModelVersion  string
}

// expected is what the adapter must make of a recorded answer.
func expected(t *testing.T, body string) (want *model.Response, signatures []string) {
	t.Helper()
	want = &model.Response{Provider: "google", FinishReason: model.FinishStop}
	for _, line := range strings.Split(body, "\n") {
		if strings.HasPrefix(body, "data:") {
			if line = strings.TrimSpace(strings.TrimPrefix(line, "data:")); line == "" {
				continue
			}
		} else {
			line = body
		}
		var piece recordedPiece
		if err := json.Unmarshal([]byte(line), &piece); err != nil {
			t.Fatal(err)
		}
		u := piece.UsageMetadata
		want.Usage = &model.Usage{
			PromptTokens: u.PromptTokenCount, CompletionTokens: u.CandidatesTokenCount + u.ThoughtsTokenCount,
			TotalTokens: u.TotalTokenCount, ReasoningTokens: u.ThoughtsTokenCount,
		}
		want.Model = piece.ModelVersion
		for _, p := range piece.Candidates[0].Content.Parts {
			switch {
			case p.FunctionCall != nil:
				want.ToolCalls = append(want.ToolCalls, model.ToolCall{Name: p.FunctionCall.Name, Arguments: mustJSON(p.FunctionCall.Args)})
				want.FinishReason = model.FinishToolCalls
			case p.Thought:
				want.Reasoning += p.Text
			default:
				want.Text += p.Text
			}
			if p.ThoughtSignature != "" {
				signatures = append(signatures, p.ThoughtSignature)
			}
		}
		if !strings.HasPrefix(body, "data:") {
			break
		}
	}
	return want, signatures
}

func TestRecordedExchanges(t *testing.T) {
	root := modeltest.Recordings(t)
	replayed := 0
	visit := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		if strings.HasPrefix(path, filepath.Join(root, "images")) && !strings.HasPrefix(d.Name(), "gemini-") {
			return nil
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, root+string(filepath.Separator)), ".json")
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			for _, i := range load(t, path) {
				replay(t, i)
				replayed++
			}
		})
		return nil
	}
	for _, part := range []string{"google", "images"} {
		if err := filepath.WalkDir(filepath.Join(root, part), visit); err != nil {
			t.Fatal(err)
		}
	}
	if replayed < 19 {
		t.Errorf("only %d exchanges were replayed", replayed)
	}
}

func replay(t *testing.T, i interaction) {
	t.Helper()
	body := i.served(t)
	var stream func(model.Delta)
	text, reasoning := "", ""
	if i.Response.ContentType == sse {
		stream = func(d model.Delta) { text, reasoning = text+d.Text, reasoning+d.Reasoning }
	}
	got, err := complete(t, ask(), i.Response.ContentType, body, stream)
	if err != nil {
		t.Fatal(err)
	}
	want, signatures := expected(t, body)
	sameCalls := cmp.Comparer(func(a, b model.ToolCall) bool {
		var x, y any
		return a.Name == b.Name && json.Unmarshal([]byte(a.Arguments), &x) == nil && json.Unmarshal([]byte(b.Arguments), &y) == nil && cmp.Equal(x, y)
	})
	if diff := cmp.Diff(want, got, sameCalls, cmpopts.IgnoreFields(model.Response{}, "Raw", "Native", "FirstToken")); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	if stream != nil && (text != want.Text || reasoning != want.Reasoning) {
		t.Errorf("handed on %q and %q", text, reasoning)
	}
	if (got.Native != nil) != (len(signatures) > 0) {
		t.Errorf("native %+v with %d signatures", got.Native, len(signatures))
	}
	for _, s := range signatures {
		if !bytes.Contains(got.Native.Data, []byte(`"thoughtSignature":"`+s+`"`)) {
			t.Errorf("the signature %s is lost", s)
		}
	}
}

// TestRequestShape checks that our request for a recorded one is the same, but
// for what may differ: where the other client gives schemas in the service's
// older form, made up ids, and said that the model decides on tools.
func TestRequestShape(t *testing.T) {
	root := modeltest.Recordings(t)
	for _, name := range []string{"simple", "simple_streaming", "tool", "multi_tool", "multi_tool_streaming"} {
		t.Run(name, func(t *testing.T) {
			exchanges := load(t, filepath.Join(root, "google", "gemini-2.5-flash", name+".json"))
			first := exchanges[0].Request.Body
			req := &model.Request{
				Model: "gemini-2.5-flash", MaxTokens: ptr(int64(4000)),
				System:   first["systemInstruction"].(map[string]any)["parts"].([]any)[0].(map[string]any)["text"].(string),
				Messages: []model.Message{{Role: model.User, Text: first["contents"].([]any)[0].(map[string]any)["parts"].([]any)[0].(map[string]any)["text"].(string)}},
			}
			if first["tools"] != nil {
				req.Tools, req.ToolChoice = recordedTools(t, first), &model.ToolChoice{Mode: model.AutoTools}
			}
			for n, i := range exchanges {
				if diff := cmp.Diff(neutral(i.Request.Body), neutral(request(t, req))); diff != "" {
					t.Errorf("request %d (-recorded +ours):\n%s", n+1, diff)
				}
				var stream func(model.Delta)
				if i.Response.ContentType == sse {
					stream = none
				}
				r, err := complete(t, req, i.Response.ContentType, i.served(t), stream)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.ToolCalls) == 0 {
					continue
				}
				req.Messages = append(req.Messages, r.Message())
				for k, c := range r.ToolCalls {
					recorded := exchanges[n+1].Request.Body["contents"].([]any)[2].(map[string]any)["parts"].([]any)[k].(map[string]any)
					result := recorded["functionResponse"].(map[string]any)["response"].(map[string]any)["result"].(string)
					req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, CallID: c.ID, ToolName: c.Name, Text: result})
				}
			}
		})
	}
}

// recordedTools makes tools of the recorded request's.
func recordedTools(t *testing.T, body map[string]any) (tools []model.ToolSpec) {
	t.Helper()
	for _, f := range body["tools"].([]any)[0].(map[string]any)["functionDeclarations"].([]any) {
		f := lower(f).(map[string]any)
		parameters := value.NewMap(0)
		if err := json.Unmarshal([]byte(mustJSON(f["parameters"])), parameters); err != nil {
			t.Fatal(err)
		}
		tools = append(tools, model.ToolSpec{Name: f["name"].(string), Description: f["description"].(string), Parameters: parameters})
	}
	return tools
}

// lower writes the older form's types, such as OBJECT, as JSON Schema does.
func lower(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if s, ok := item.(string); ok && key == "type" {
				v[key] = strings.ToLower(s)
				continue
			}
			v[key] = lower(item)
		}
	case []any:
		for i := range v {
			v[i] = lower(v[i])
		}
	}
	return v
}

// neutral drops from a request what may differ.
func neutral(body map[string]any) any {
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if p, ok := v["parameters"]; ok {
				v["parametersJsonSchema"] = lower(p)
				delete(v, "parameters")
			}
			for _, key := range []string{"functionCall", "functionResponse"} {
				if inner, ok := v[key].(map[string]any); ok {
					delete(inner, "id")
				}
			}
			for _, item := range v {
				walk(item)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(body)
	return body
}

// TestRecordedSchema checks that a schema is sent in the form of the recorded
// requests.
func TestRecordedSchema(t *testing.T) {
	root := modeltest.Recordings(t)
	recorded := load(t, filepath.Join(root, "google", "objects", "complex_object.json"))[0].Request.Body["generationConfig"].(map[string]any)
	schema := value.NewMap(0)
	if err := json.Unmarshal([]byte(mustJSON(recorded["responseJsonSchema"])), schema); err != nil {
		t.Fatal(err)
	}
	req := ask()
	req.MaxTokens, req.Schema = ptr(int64(4000)), schema
	if diff := cmp.Diff(recorded, request(t, req)["generationConfig"]); diff != "" {
		t.Errorf("generationConfig (-recorded +ours):\n%s", diff)
	}
}

// TestRecordedImage checks that the recorded image goes as it went.
func TestRecordedImage(t *testing.T) {
	root := modeltest.Recordings(t)
	i := load(t, filepath.Join(root, "images", "gemini-2.5-pro.json"))[0]
	parts := i.Request.Body["contents"].([]any)[0].(map[string]any)["parts"].([]any)
	inline := parts[1].(map[string]any)["inlineData"].(map[string]any)
	var data []byte
	if err := json.Unmarshal([]byte(mustJSON(inline["data"])), &data); err != nil {
		t.Fatal(err)
	}
	req := ask()
	req.Messages = []model.Message{{Role: model.User, Text: parts[0].(map[string]any)["text"].(string),
		Attachments: []model.Attachment{{Type: model.Image, MediaType: inline["mimeType"].(string), Data: data}}}}
	ours := request(t, req)["contents"].([]any)[0].(map[string]any)["parts"].([]any)
	if diff := cmp.Diff([]any{parts[1], parts[0]}, ours); diff != "" { // the image first, as the service advises
		t.Errorf("parts (-recorded +ours):\n%s", diff)
	}
}

var _ model.Provider = (*google.Provider)(nil)
