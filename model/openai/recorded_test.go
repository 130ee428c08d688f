package openai_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/openai"
	"github.com/agentloom/agentloom/value"
)

type recording struct {
	Interactions []struct {
		Request struct {
			URL  string
			Body json.RawMessage
		}
		Response struct {
			Status      int
			ContentType string `json:"content_type"`
			Body        json.RawMessage
		}
	}
}

func load(t *testing.T, path string) recording {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rec recording
	if err := json.Unmarshal(src, &rec); err != nil {
		t.Fatal(err)
	}
	return rec
}

// eachRecording runs a subtest for each recorded conversation with a service
// that speaks this language.
func eachRecording(t *testing.T, test func(*testing.T, recording)) {
	root := modeltest.Recordings(t)
	n := 0
	for _, part := range []string{"openai", "compatible", "images"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
				return err
			}
			if part == "images" && !strings.HasPrefix(filepath.Base(path), "openai-") {
				return nil
			}
			n++
			name := strings.TrimSuffix(strings.TrimPrefix(path, root+string(filepath.Separator)), ".json")
			t.Run(filepath.ToSlash(name), func(t *testing.T) { test(t, load(t, path)) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 20 {
		t.Errorf("only %d recordings", n)
	}
}

// recordedMessage is an answer's message, or a piece of one.
type recordedMessage struct {
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content"`
	ToolCalls []struct {
		Index    int
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// recordedAnswer is read from a recording without the adapter.
type recordedAnswer struct {
	Model   string
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      recordedMessage
		Delta        recordedMessage
	}
	Usage *struct {
		Prompt        int64 `json:"prompt_tokens"`
		Completion    int64 `json:"completion_tokens"`
		Total         int64 `json:"total_tokens"`
		PromptDetails struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
}

// add adds an answer, or a piece of one, to a response.
func (a *recordedAnswer) add(r *model.Response) {
	r.Model, r.Provider = a.Model, "openai"
	for _, c := range a.Choices {
		for _, m := range []recordedMessage{c.Message, c.Delta} {
			r.Text += m.Content
			r.Reasoning += m.Reasoning
			for i, call := range m.ToolCalls {
				at := max(i, call.Index)
				for at >= len(r.ToolCalls) {
					r.ToolCalls = append(r.ToolCalls, model.ToolCall{})
				}
				r.ToolCalls[at].ID += call.ID
				r.ToolCalls[at].Name += call.Function.Name
				r.ToolCalls[at].Arguments += call.Function.Arguments
			}
		}
		if c.FinishReason != "" {
			r.FinishReason = c.FinishReason
		}
	}
	if u := a.Usage; u != nil {
		r.Usage = &model.Usage{
			PromptTokens: u.Prompt, CompletionTokens: u.Completion, TotalTokens: u.Total,
			ReasoningTokens: u.CompletionDetails.Reasoning, CachedTokens: u.PromptDetails.Cached,
		}
	}
}

func recorded(t *testing.T, body string) *model.Response {
	t.Helper()
	r := &model.Response{}
	docs := []string{body}
	if !strings.HasPrefix(body, "{") {
		docs = strings.Split(body, "data: ")[1:]
	}
	for _, doc := range docs {
		if strings.HasPrefix(doc, "[DONE]") {
			break
		}
		var a recordedAnswer
		if err := json.Unmarshal([]byte(doc), &a); err != nil {
			t.Fatalf("%v: %s", err, doc)
		}
		a.add(r)
	}
	if r.Reasoning != "" && len(r.ToolCalls) > 0 {
		r.Native = &model.Native{Provider: "openai", Data: json.RawMessage(mustJSON(map[string]string{"reasoning_content": r.Reasoning}))}
	}
	return r
}

func TestRecordedAnswers(t *testing.T) {
	eachRecording(t, func(t *testing.T, rec recording) {
		for _, i := range rec.Interactions {
			body, text := string(i.Response.Body), ""
			streamed := json.Unmarshal(i.Response.Body, &text) == nil
			var sink func(model.Delta)
			var pieces model.Delta
			if streamed {
				body = text
				sink = func(d model.Delta) {
					pieces.Text += d.Text
					pieces.Reasoning += d.Reasoning
				}
			}
			root, _ := serveAs(t, i.Response.ContentType, body)
			got, err := newProvider(t, openai.Config{APIKey: "k", BaseURL: root}).Complete(t.Context(), ask(), sink)
			if err != nil {
				t.Fatal(err)
			}
			want := recorded(t, body)
			if streamed && (pieces.Text != want.Text || pieces.Reasoning != want.Reasoning) {
				t.Errorf("pieces %+v, want %q and %q", pieces, want.Text, want.Reasoning)
			}
			if (got.FirstToken > 0) != (pieces != model.Delta{}) {
				t.Errorf("the first piece after %v", got.FirstToken)
			}
			got.Raw, got.FirstToken = nil, 0
			if diff := cmp.Diff(want, got, sameJSON); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		}
	})
}

// sameJSON compares raw JSON by its meaning.
var sameJSON = cmp.Transformer("JSON", func(raw json.RawMessage) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return v
})

// TestRecordedRequests asks for the same as each recorded request, and checks
// that what is sent is the same, but for what the other client words
// differently: the token limit's name is the host's, tools are strict only
// where that is asked for, and a schema has a name and a description.
func TestRecordedRequests(t *testing.T) {
	eachRecording(t, func(t *testing.T, rec recording) {
		for _, i := range rec.Interactions {
			var want map[string]any
			if err := json.Unmarshal(i.Request.Body, &want); err != nil {
				t.Fatal(err)
			}
			req := requestOf(t, i.Request.Body)
			for _, field := range []string{"max_tokens", "max_completion_tokens"} {
				if limit, ok := want[field]; ok {
					delete(want, field)
					want["max_tokens"] = limit
				}
			}
			list, _ := want["tools"].([]any)
			for _, tool := range list {
				delete(tool.(map[string]any)["function"].(map[string]any), "strict")
			}
			if f, ok := want["response_format"].(map[string]any); ok {
				schema := f["json_schema"].(map[string]any)
				delete(schema, "description")
				schema["name"] = "answer"
			}
			var sink func(model.Delta)
			body := `{"choices": [{"message": {"content": "ok"}}]}`
			if want["stream"] == true {
				sink = func(model.Delta) {}
				body = "data: " + `{"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}` + "\n\n"
			}
			server, sent := serveAs(t, "", body)
			if _, err := newProvider(t, openai.Config{APIKey: "k", BaseURL: server}).Complete(t.Context(), req, sink); err != nil {
				t.Fatal(err)
			}
			if _, got := sent(); !cmp.Equal(want, got) {
				t.Errorf("request (-recorded +ours):\n%s", cmp.Diff(want, got))
			}
		}
	})
}

// requestOf is our request that asks for what a recorded one does.
func requestOf(t *testing.T, body json.RawMessage) *model.Request {
	t.Helper()
	var wire struct {
		wireRequest
		MaxCompletionTokens *int64 `json:"max_completion_tokens"`
		Tools               []struct {
			Function struct {
				Name, Description string
				Parameters        *value.Map
			}
		} `json:"tools"`
		ResponseFormat struct {
			JSONSchema struct {
				Schema *value.Map
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		t.Fatal(err)
	}
	req := &model.Request{Model: wire.Model, Temperature: wire.Temperature, MaxTokens: wire.MaxTokens, Schema: wire.ResponseFormat.JSONSchema.Schema}
	if req.MaxTokens == nil {
		req.MaxTokens = wire.MaxCompletionTokens
	}
	if wire.ReasoningEffort != "" {
		req.Thinking = &model.Thinking{Level: wire.ReasoningEffort}
	}
	for _, tool := range wire.Tools {
		f := tool.Function
		req.Tools = append(req.Tools, model.ToolSpec{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
	}
	req.ToolChoice = readChoice(t, bytes.TrimSpace(wire.ToolChoice))
	for _, m := range wire.Messages {
		out := readMessage(t, m)
		if m.Role == "system" {
			req.System = out.Text
			continue
		}
		if m.Reasoning != "" {
			out.Native = &model.Native{Provider: "openai", Data: json.RawMessage(mustJSON(map[string]string{"reasoning_content": m.Reasoning}))}
		}
		req.Messages = append(req.Messages, out)
	}
	return req
}
