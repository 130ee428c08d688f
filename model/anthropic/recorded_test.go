package anthropic_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/anthropic"
	"github.com/agentloom/agentloom/value"
)

type recording struct {
	Interactions []struct {
		Request struct {
			URL  string
			Body map[string]any
		}
		Response struct {
			Status      int
			ContentType string `json:"content_type"`
			Body        json.RawMessage
		}
	}
}

// recordedAnswer is read from a recording without the adapter.
type recordedAnswer struct {
	Model      string
	StopReason string `json:"stop_reason"`
	Content    []map[string]any
	Usage      map[string]any
}

func TestRecordedExchanges(t *testing.T) {
	root := modeltest.Recordings(t)
	replayed := 0
	for _, part := range []string{"anthropic", "images"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") || part == "images" && !strings.HasPrefix(d.Name(), "anthropic-") {
				return err
			}
			name := strings.TrimSuffix(strings.TrimPrefix(path, root+string(filepath.Separator)), ".json")
			t.Run(filepath.ToSlash(name), func(t *testing.T) { replayed += replay(t, path) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if replayed < 20 {
		t.Errorf("only %d exchanges were replayed", replayed)
	}
}

// replay makes the recorded requests with the adapter, serves the recorded
// answers and compares both. It returns how many there were.
func replay(t *testing.T, path string) int {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rec recording
	if err := json.Unmarshal(src, &rec); err != nil {
		t.Fatal(err)
	}
	var turn *model.Response // the answer before
	for _, i := range rec.Interactions {
		body, raw := string(i.Response.Body), recordedAnswer{}
		streamed := strings.HasPrefix(body, `"`)
		if streamed {
			if err := json.Unmarshal(i.Response.Body, &body); err != nil {
				t.Fatal(err)
			}
			raw = assemble(t, body)
		} else if err := json.Unmarshal(i.Response.Body, &raw); err != nil {
			t.Fatal(err)
		}
		root, sent := serve(t, body)
		req := requestOf(t, i.Request.Body, turn)
		var pieces model.Response
		var sink func(model.Delta)
		if streamed {
			sink = func(d model.Delta) { pieces.Text += d.Text; pieces.Reasoning += d.Reasoning }
		}
		got, err := newProvider(t, anthropic.Config{APIKey: "k", BaseURL: root}).Complete(t.Context(), req, sink)
		if err != nil {
			t.Fatal(err)
		}
		if streamed && (pieces.Text != got.Text || pieces.Reasoning != got.Reasoning) {
			t.Errorf("the pieces are %q and %q, the response %q and %q", pieces.Text, pieces.Reasoning, got.Text, got.Reasoning)
		}
		compareAnswer(t, raw, *got)
		_, ours := sent()
		compareRequest(t, i.Request.Body, ours)
		turn = got
	}
	return len(rec.Interactions)
}

// assemble puts a recorded stream together, in the plainest way.
func assemble(t *testing.T, stream string) (out recordedAnswer) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(stream))
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type    string
			Message recordedAnswer
			Block   map[string]any `json:"content_block"`
			Delta   map[string]any
			Usage   map[string]any
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "message_start":
			out = e.Message
		case "content_block_start":
			if e.Block["type"] == "tool_use" {
				e.Block["input"] = ""
			}
			out.Content = append(out.Content, e.Block)
		case "content_block_delta":
			b := out.Content[len(out.Content)-1]
			for delta, field := range map[string]string{"text": "text", "thinking": "thinking", "signature": "signature", "partial_json": "input"} {
				if piece, ok := e.Delta[delta].(string); ok {
					b[field] = b[field].(string) + piece
				}
			}
		case "message_delta":
			out.StopReason = e.Delta["stop_reason"].(string)
			for k, v := range e.Usage {
				out.Usage[k] = v
			}
		}
	}
	for _, b := range out.Content {
		if text, ok := b["input"].(string); ok && text != "" {
			var input any
			if err := json.Unmarshal([]byte(text), &input); err != nil {
				t.Fatal(err)
			}
			b["input"] = input
		} else if ok {
			b["input"] = map[string]any{}
		}
	}
	return out
}

func compareAnswer(t *testing.T, raw recordedAnswer, got model.Response) {
	t.Helper()
	n := func(field string) int64 { f, _ := raw.Usage[field].(float64); return int64(f) }
	prompt := n("input_tokens") + n("cache_creation_input_tokens") + n("cache_read_input_tokens")
	reasons := map[string]string{"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
	want := model.Response{
		Model: raw.Model, Provider: "anthropic", FinishReason: reasons[raw.StopReason],
		Usage: &model.Usage{PromptTokens: prompt, CompletionTokens: n("output_tokens"), TotalTokens: prompt + n("output_tokens"), CachedTokens: n("cache_read_input_tokens")},
	}
	var inputs []any
	for _, b := range raw.Content {
		switch b["type"] {
		case "text":
			want.Text += b["text"].(string)
		case "thinking":
			want.Reasoning += b["thinking"].(string)
		case "tool_use":
			want.ToolCalls = append(want.ToolCalls, model.ToolCall{ID: b["id"].(string), Name: b["name"].(string)})
			inputs = append(inputs, b["input"])
		}
	}
	calls := got.ToolCalls
	got.ToolCalls = nil
	for i, c := range calls {
		var input any
		if err := json.Unmarshal([]byte(c.Arguments), &input); err != nil || !cmp.Equal(input, inputs[i]) {
			t.Errorf("call %d: arguments %s, want %v", i, c.Arguments, inputs[i])
		}
		got.ToolCalls = append(got.ToolCalls, model.ToolCall{ID: c.ID, Name: c.Name})
	}
	if (got.Native != nil) != (want.Reasoning != "") {
		t.Errorf("native form: %v", got.Native)
	}
	got.Raw, got.Native, got.FirstToken = nil, nil, 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}

// requestOf is the request that a recorded body stands for. The model's last
// turn is the adapter's own, so that what it keeps of it is sent back.
func requestOf(t *testing.T, body map[string]any, turn *model.Response) *model.Request {
	t.Helper()
	src, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var wire wireRequest
	if err := json.Unmarshal(src, &wire); err != nil {
		t.Fatal(err)
	}
	req := &model.Request{Model: wire.Model, MaxTokens: &wire.MaxTokens}
	for _, b := range wire.System {
		req.System += b.Text
	}
	for _, m := range wire.Messages {
		if m.Role == "assistant" && turn != nil {
			req.Messages = append(req.Messages, turn.Message())
			continue
		}
		req.Messages = append(req.Messages, readMessage(t, m)...)
	}
	for _, tool := range wire.Tools {
		schema, err := value.From(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		req.Tools = append(req.Tools, model.ToolSpec{Name: tool.Name, Description: tool.Description, Parameters: schema.(*value.Map)})
	}
	if c := wire.ToolChoice; c != nil {
		mode := map[string]model.ToolMode{"auto": model.AutoTools, "any": model.RequireTools, "tool": model.NamedTool}[c.Type]
		req.ToolChoice = &model.ToolChoice{Mode: mode, Name: c.Name}
	}
	if th := wire.Thinking; th != nil {
		req.Thinking = &model.Thinking{BudgetTokens: &th.BudgetTokens}
	}
	return req
}

// compareRequest compares our body with the recorded one, but for what says the
// same: parallel calls that are not disabled, the service's own default, and a
// block's fields that only answers have.
func compareRequest(t *testing.T, want map[string]any, ours []byte) {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal(ours, &got); err != nil {
		t.Fatal(err)
	}
	if c, ok := want["tool_choice"].(map[string]any); ok {
		delete(c, "disable_parallel_tool_use")
	}
	for _, body := range []map[string]any{want, got} {
		for _, m := range body["messages"].([]any) {
			content := m.(map[string]any)["content"].([]any)
			for _, b := range content {
				delete(b.(map[string]any), "caller")
			}
			// The other client put the text before the image.
			if first := content[0].(map[string]any); len(content) == 2 && first["type"] == "image" {
				content[0], content[1] = content[1], content[0]
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-recorded +ours):\n%s", diff)
	}
}
