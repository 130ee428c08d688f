package anthropic_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/anthropic"
)

// thinkingTools is what both forms of that answer say.
var thinkingTools = model.Response{
	Text: "Let me look.", Reasoning: "Two cities, so two calls.\n\nGo.", Model: "claude-opus-5-5", FinishReason: "tool_calls",
	ToolCalls: []model.ToolCall{
		{ID: "toolu_01A", Name: "weather", Arguments: `{"city": "Rome"}`},
		{ID: "toolu_01B", Name: "weather", Arguments: `{"city": "Oslo"}`},
	},
	Usage: &model.Usage{PromptTokens: 400, CompletionTokens: 120, TotalTokens: 520, ReasoningTokens: 48},
}

// TestFixtures serves answers as the public reference documents them, and
// variants that other services send.
func TestFixtures(t *testing.T) {
	tests := map[string]model.Response{
		"default.json": {
			Text: "Hi! I'm Claude.", Model: "claude-haiku-4-5-20251001", FinishReason: "stop",
			Usage: &model.Usage{PromptTokens: 2125, CompletionTokens: 11, TotalTokens: 2136, CachedTokens: 2000},
		},
		"thinking_tools.json": thinkingTools,
		"refusal.json": {
			Model: "claude-sonnet-5", FinishReason: "content_filter",
			Usage: &model.Usage{PromptTokens: 564, CompletionTokens: 1, TotalTokens: 565},
		},
		"odd.json": {Text: "Still fine.", Model: "m", FinishReason: "pause_turn", Usage: &model.Usage{}},
		"stream_text.sse": {
			Text: "Hello!", Model: "claude-opus-4-6", FinishReason: "stop",
			Usage: &model.Usage{PromptTokens: 35, CompletionTokens: 15, TotalTokens: 50, CachedTokens: 10},
		},
		"stream_thinking_tools.sse": thinkingTools,
		"stream_unnamed.sse": {
			Text: "Hello", Model: "some-other", FinishReason: "length",
			Usage: &model.Usage{PromptTokens: 5, CompletionTokens: 2, TotalTokens: 7},
		},
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
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got, back := fixture(t, name)
			if !strings.Contains(string(got.Raw), `"id":"`) {
				t.Errorf("raw detail without the answer's id: %s", got.Raw)
			}
			if name == "refusal.json" && !strings.Contains(string(got.Raw), "This request was declined.") {
				t.Errorf("raw detail without the reason: %s", got.Raw)
			}
			if native := want.Reasoning != "" || name == "odd.json"; (got.Native != nil) != native {
				t.Errorf("native form: %v", got.Native)
			}
			if len(got.ToolCalls) > 0 {
				checkSentBack(t, back)
			}
			got.Raw, got.Native, got.FirstToken, want.Provider = nil, nil, 0, "anthropic"
			for i := range got.ToolCalls {
				got.ToolCalls[i].Arguments = strings.ReplaceAll(got.ToolCalls[i].Arguments, `":"`, `": "`)
			}
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// fixture serves a file, and then sends the turn back with results.
func fixture(t *testing.T, name string) (*model.Response, *wireRequest) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	root, sent := serve(t, string(body))
	p := newProvider(t, anthropic.Config{APIKey: "k", BaseURL: root})
	var sink func(model.Delta)
	if strings.HasSuffix(name, ".sse") {
		sink = func(model.Delta) {}
	}
	req := ask()
	r, err := p.Complete(t.Context(), req, sink)
	if err != nil {
		t.Fatal(err)
	}
	sent()
	req.Messages = append(req.Messages, r.Message())
	for _, c := range r.ToolCalls {
		req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, CallID: c.ID, ToolName: c.Name, Text: "20 °C"})
	}
	if len(r.ToolCalls) == 0 {
		req.Messages = append(req.Messages, model.Message{Role: model.User, Text: "Go on."})
	}
	if _, err := p.Complete(t.Context(), req, sink); err != nil {
		t.Fatal(err)
	}
	_, second := sent()
	var wire wireRequest
	if err := json.Unmarshal(second, &wire); err != nil {
		t.Fatal(err)
	}
	return r, &wire
}

// checkSentBack checks that signed and redacted thinking goes back as it came,
// in its place.
func checkSentBack(t *testing.T, wire *wireRequest) {
	t.Helper()
	var got []string
	for _, b := range wire.Messages[1].Content {
		got = append(got, fmt.Sprintf("%s %s%s%s%s %s%s", b.Type, b.Thinking, b.Text, b.ID, b.Data, b.Signature, strings.ReplaceAll(string(b.Input), " ", "")))
	}
	want := []string{
		"thinking Two cities, so two calls. EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk",
		"redacted_thinking EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIw ",
		"text Let me look. ",
		"thinking Go. Er4CCkYIBxgCKkA",
		`tool_use toolu_01A {"city":"Rome"}`,
		`tool_use toolu_01B {"city":"Oslo"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the turn sent back (-want +got):\n%s", diff)
	}
	if n := len(wire.Messages); n != 3 || len(wire.Messages[2].Content) != 2 {
		t.Errorf("%d messages, the last %+v; want both results in the third", n, wire.Messages[n-1])
	}
}

// TestNativeIsOnlyForItsProvider checks that another provider of the same
// language does not get what this one signed.
func TestNativeIsOnlyForItsProvider(t *testing.T) {
	r, _ := fixture(t, "thinking_tools.json")
	root, sent := serve(t, writeAnswer(modeltest.Answer{Text: "ok"}))
	req := ask()
	req.Messages = append(req.Messages, r.Message(), model.Message{Role: model.ToolRole, CallID: "toolu_01A", Text: "x"}, model.Message{Role: model.ToolRole, CallID: "toolu_01B", Text: "y"})
	if _, err := newProvider(t, anthropic.Config{Name: "other", BaseURL: root}).Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	_, body := sent()
	if wire := decodeRequest(t, body); len(wire.Messages[1].Content) != 3 || strings.Contains(string(body), "EqQBCgIYAhIM1") {
		t.Errorf("sent %+v", wire.Messages[1])
	}
}

// TestReportedErrors checks errors that come under status 200, whole and in a
// stream.
func TestReportedErrors(t *testing.T) {
	tests := map[string]struct {
		status int
		kind   fault.Kind
	}{
		"overloaded_error":      {529, fault.Transient},
		"rate_limit_error":      {429, fault.Transient},
		"api_error":             {500, fault.Transient},
		"timeout_error":         {504, fault.Transient},
		"an_error_of_next_year": {500, fault.Transient},
		"invalid_request_error": {400, fault.Permanent},
		"authentication_error":  {401, fault.Permanent},
		"permission_error":      {403, fault.Permanent},
		"billing_error":         {402, fault.Permanent},
		"not_found_error":       {404, fault.Permanent},
		"request_too_large":     {413, fault.Permanent},
	}
	for kind, test := range tests {
		body := mustJSON(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": "the moon is full"}})
		start := strings.Join(writeFrames(nil, []string{"Hi"}, modeltest.Answer{Model: "m", Usage: &model.Usage{PromptTokens: 9}})[:3], "")
		for name, served := range map[string]string{"whole": body, "streamed": start + "event: error\ndata: " + body + "\n\n"} {
			t.Run(kind+" "+name, func(t *testing.T) {
				root, _ := serve(t, served)
				r, err := newProvider(t, anthropic.Config{BaseURL: root}).Complete(t.Context(), ask(), func(model.Delta) {})
				f, ok := err.(*fault.Error)
				if !ok || f.Kind != test.kind || f.Status != test.status || !strings.Contains(f.Message, "the moon is full") {
					t.Errorf("got %#v, want kind %v and status %d", err, test.kind, test.status)
				}
				if name == "streamed" && (r == nil || r.Text != "Hi" || r.Usage == nil || r.Usage.PromptTokens != 9) {
					t.Errorf("what had come is lost: %+v", r)
				}
			})
		}
	}
}

// TestBilledFailures checks that the tokens of an answer that is no use are not
// lost.
func TestBilledFailures(t *testing.T) {
	whole := `{"type": "message", "model": "m", "content": null, "usage": {"input_tokens": 9, "output_tokens": 2}}`
	cut := strings.Join(writeFrames(nil, []string{"Hi"}, modeltest.Answer{Model: "m", Usage: &model.Usage{PromptTokens: 10, CompletionTokens: 5}})[:4], "")
	for name, body := range map[string]string{"no content": whole, "cut": cut} {
		root, _ := serve(t, body)
		r, err := newProvider(t, anthropic.Config{BaseURL: root}).Complete(t.Context(), ask(), func(model.Delta) {})
		if fault.KindOf(err) != fault.Transient || r == nil || r.Usage == nil || r.Usage.TotalTokens != 11 {
			t.Errorf("%s: response %+v and error %v, want the usage and a transient error", name, r, err)
		}
	}
}

// TestBrokenArguments checks that the arguments of a streamed call stay what
// the model wrote, and can be sent back.
func TestBrokenArguments(t *testing.T) {
	for _, args := range []string{`{"a": 1, "b": `, `[1,2]`, `null`, `add 1 and 2`, ``, `{"a":1}`} {
		call := model.ToolCall{ID: "a", Name: "add", Arguments: args}
		frames := writeFrames([]string{"hm"}, nil, modeltest.Answer{Model: "m", FinishReason: "max_tokens", ToolCalls: []model.ToolCall{call}})
		root, sent := serve(t, strings.Join(frames, ""))
		p := newProvider(t, anthropic.Config{BaseURL: root})
		r, err := p.Complete(t.Context(), ask(), func(model.Delta) {})
		if err != nil {
			t.Fatal(err)
		}
		got := r.ToolCalls[0].Arguments
		if got != args && (args != "" || got != "{}") || r.FinishReason != model.FinishLength {
			t.Errorf("arguments %q, want %q; finish reason %q", got, args, r.FinishReason)
		}
		sent()
		req := ask()
		req.Messages = append(req.Messages, r.Message(), model.Message{Role: model.ToolRole, CallID: "a", Text: "no JSON", IsError: true})
		if _, err := p.Complete(t.Context(), req, nil); err != nil && fault.KindOf(err) != fault.Transient {
			t.Fatal(err) // the fixture is a stream
		}
		_, body := sent()
		readMessage(t, decodeRequest(t, body).Messages[1]) // checks that the input is an object
	}
}

// TestTooManyBlocks checks that an answer of very many blocks costs no more
// than its size.
func TestTooManyBlocks(t *testing.T) {
	whole := `{"type":"message","content":[` + strings.Repeat(`{"type":"x"},`, 20_000) + `{}]}`
	start := event("content_block_start", map[string]any{"index": 0, "content_block": map[string]any{"type": "x"}})
	for name, body := range map[string]string{"whole": whole, "streamed": strings.Repeat(start, 10_001)} {
		root, _ := serve(t, body)
		_, err := newProvider(t, anthropic.Config{BaseURL: root}).Complete(t.Context(), ask(), func(model.Delta) {})
		if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "10000 pieces") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
