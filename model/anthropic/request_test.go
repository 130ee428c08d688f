package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/anthropic"
	"github.com/agentloom/agentloom/value"
)

// wireOf makes a call and returns what was sent, and the response.
func wireOf(t *testing.T, req *model.Request) (*wireRequest, http.Header, *model.Response) {
	t.Helper()
	root, sent := serve(t, writeAnswer(modeltest.Answer{Text: "ok", Model: "m"}))
	r, err := newProvider(t, anthropic.Config{APIKey: modeltest.Key, BaseURL: root}).Complete(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	header, body := sent()
	return decodeRequest(t, body), header, r
}

func ptr[T any](v T) *T { return &v }

// TestLimits checks the limit that is sent when the request has none, and that
// a long answer is fetched as a stream.
func TestLimits(t *testing.T) {
	tests := map[string]struct {
		model  string
		limit  *int64
		want   int64
		stream bool
	}{
		"newest":            {"claude-opus-5-5", nil, 16_384, false},
		"Claude 4":          {"claude-sonnet-4-20250514", nil, 16_384, false},
		"Claude 3":          {"claude-3-haiku-20240307", nil, 4096, false},
		"another service's": {"deepseek-chat", nil, 4096, false},
		"its own":           {"claude-opus-5-5", ptr(int64(7)), 7, false},
		"ten minutes":       {"claude-opus-5-5", ptr(int64(21_333)), 21_333, false},
		"long":              {"claude-opus-5-5", ptr(int64(21_334)), 21_334, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			req := ask()
			req.Model, req.MaxTokens = test.model, test.limit
			wire, _, r := wireOf(t, req)
			if wire.MaxTokens != test.want || wire.Stream != test.stream || r.Text != "ok" || r.FirstToken != 0 {
				t.Errorf("sent %d, stream %v; got %+v", wire.MaxTokens, wire.Stream, r)
			}
		})
	}
}

// TestLongAnswerIsStreamed checks the answer of a call that streams unasked.
func TestLongAnswerIsStreamed(t *testing.T) {
	root, _ := serve(t, strings.Join(writeFrames(nil, []string{"one ", "two"}, modeltest.Answer{Model: "m", FinishReason: "end_turn"}), ""))
	req := ask()
	req.MaxTokens = ptr(int64(100_000))
	r, err := newProvider(t, anthropic.Config{BaseURL: root}).Complete(t.Context(), req, nil)
	if err != nil || r.Text != "one two" || r.FirstToken != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestTemperature(t *testing.T) {
	const old, latest = "2023-06-01", "2026-10-21"
	tests := map[string]struct {
		model    string
		thinking *model.Thinking
		sent     bool
	}{
		"Claude 4.6":     {"claude-opus-4-6", nil, true},
		"Claude 4.5":     {"claude-haiku-4-5-20251001", nil, true},
		"Claude 3":       {"claude-3-5-sonnet-latest", nil, true},
		"by a platform":  {"us.anthropic.claude-sonnet-4-20250514-v1:0", nil, true},
		"with a point":   {"anthropic/claude-sonnet-4.6", nil, true},
		"not Claude's":   {"glm-5", nil, true},
		"Claude 4.7":     {"claude-opus-4-7", nil, false},
		"Claude 5":       {"claude-sonnet-5", nil, false},
		"Claude 5.5":     {"claude-haiku-5-5", nil, false},
		"without number": {"claude-mythos-preview", nil, false},
		"thinking":       {"claude-sonnet-4-5", &model.Thinking{Level: "low"}, false},
		"adaptive":       {"claude-sonnet-4-6", &model.Thinking{Level: "low"}, false},
		"not thinking":   {"claude-sonnet-4-5", &model.Thinking{Enabled: ptr(false)}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			req := ask()
			req.Model, req.Thinking, req.Temperature = test.model, test.thinking, ptr(0.2)
			wire, header, r := wireOf(t, req)
			want := latest
			if test.sent {
				want = old
			}
			if (wire.Temperature != nil) != test.sent || header.Get("Anthropic-Version") != want {
				t.Errorf("sent %v by version %s", wire.Temperature, header.Get("Anthropic-Version"))
			}
			if told := strings.Contains(string(r.Raw), `"left_out":["temperature"]`); told == test.sent {
				t.Errorf("raw detail: %s", r.Raw)
			}
		})
	}
}

func TestThinkingControls(t *testing.T) {
	on, off := &model.Thinking{Enabled: ptr(true)}, &model.Thinking{Enabled: ptr(false)}
	budget := func(n int64) *model.Thinking { return &model.Thinking{BudgetTokens: &n} }
	level := func(l string) *model.Thinking { return &model.Thinking{Level: l} }
	tests := map[string]struct {
		model    string
		thinking *model.Thinking
		limit    *int64
		want     string
		wantMax  int64
	}{
		"4.5 on":                      {"claude-sonnet-4-5", on, nil, "enabled 8192", 16_384},
		"4.5 high":                    {"claude-sonnet-4-5", level("high"), nil, "enabled 24576", 24_576 + 4096},
		"4.5 own budget":              {"claude-sonnet-4-5", budget(30_000), nil, "enabled 30000", 34_096},
		"4.5 too small a budget":      {"claude-sonnet-4-5", budget(1), nil, "enabled 1024", 16_384},
		"4.5 no room":                 {"claude-sonnet-4-5", level("high"), ptr(int64(10_000)), "enabled 5000", 10_000},
		"4.5 little room":             {"claude-sonnet-4-5", level("high"), ptr(int64(1100)), "enabled 1024", 1100},
		"4.5 hardly any":              {"claude-sonnet-4-5", level("high"), ptr(int64(1024)), "", 1024},
		"4.5 off":                     {"claude-sonnet-4-5", off, nil, "disabled", 16_384},
		"4.5 budget 0":                {"claude-sonnet-4-5", budget(0), nil, "disabled", 16_384},
		"4.6 on":                      {"claude-opus-4-6", on, nil, "adaptive summarized", 16_384},
		"4.6 low":                     {"claude-opus-4-6", level("low"), nil, "adaptive summarized effort low", 16_384},
		"4.6 off":                     {"claude-opus-4-6", off, nil, "disabled", 16_384},
		"5.5 high":                    {"claude-opus-5-5", level("high"), ptr(int64(50)), "adaptive summarized effort high", 50},
		"5.5 small budget":            {"claude-opus-5-5", budget(2048), nil, "adaptive summarized effort low", 16_384},
		"5.5 middle budget":           {"claude-opus-5-5", budget(16_384), nil, "adaptive summarized effort medium", 16_384},
		"5.5 big budget":              {"claude-opus-5-5", budget(16_385), nil, "adaptive summarized effort high", 16_384},
		"Opus 5.5 off":                {"claude-opus-5-5", off, nil, "effort low", 16_384},
		"Opus 5 off":                  {"claude-opus-5", off, nil, "disabled", 16_384},
		"Sonnet 5.5 off":              {"claude-sonnet-5-5", off, nil, "between_tools", 16_384},
		"Haiku 5.5 off":               {"claude-haiku-5-5", off, nil, "disabled", 16_384},
		"Fable off":                   {"claude-fable-5", off, nil, "effort low", 16_384},
		"a later one off":             {"claude-opus-7", off, nil, "effort low", 16_384},
		"a budget below 0 with level": {"claude-sonnet-4-5", &model.Thinking{BudgetTokens: ptr(int64(-1)), Level: "low"}, nil, "enabled 1024", 16_384},
		"nothing set":                 {"claude-sonnet-4-5", &model.Thinking{}, nil, "", 16_384},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			req := ask()
			req.Model, req.Thinking, req.MaxTokens = test.model, test.thinking, test.limit
			wire, _, _ := wireOf(t, req)
			if got := thinkingSent(wire); got != test.want || wire.MaxTokens != test.wantMax {
				t.Errorf("sent %q and a limit of %d, want %q and %d", got, wire.MaxTokens, test.want, test.wantMax)
			}
		})
	}
}

// TestForcedTool checks that thinking gives way to a tool that must be called.
func TestForcedTool(t *testing.T) {
	for _, mode := range []model.ToolMode{model.RequireTools, model.NamedTool, model.AutoTools, model.NoTools} {
		req := ask()
		req.Thinking = &model.Thinking{Level: "low"}
		req.Tools = []model.ToolSpec{{Name: "add"}}
		req.ToolChoice = &model.ToolChoice{Mode: mode, Name: "add"}
		wire, _, r := wireOf(t, req)
		forced := mode == model.RequireTools || mode == model.NamedTool
		if (wire.Thinking == nil) != forced || strings.Contains(string(r.Raw), `["thinking"]`) != forced {
			t.Errorf("%s: sent %+v, raw detail %s", mode, wire.Thinking, r.Raw)
		}
		if diff := cmp.Diff(any(map[string]any{"type": "object"}), wire.Tools[0].InputSchema); diff != "" {
			t.Errorf("schema of a tool without parameters (-want +got):\n%s", diff)
		}
	}
}

// TestUsedTools checks that tools of the conversation are declared when the
// request has none.
func TestUsedTools(t *testing.T) {
	req := ask()
	req.Messages = append(req.Messages,
		model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "a.b:1", Name: "add"}, {ID: "c", Name: "add"}, {ID: "d", Name: "no such tool!"}}},
		model.Message{Role: model.ToolRole, CallID: "a.b:1", Text: "1"}, model.Message{Role: model.ToolRole, CallID: "c", Text: "2"},
		model.Message{Role: model.ToolRole, CallID: "d", Text: "3", IsError: true},
	)
	wire, _, _ := wireOf(t, req)
	if len(wire.Tools) != 2 || wire.Tools[0].Name != "add" || wire.Tools[1].Name != "no_such_tool_" || wire.ToolChoice.Type != "none" {
		t.Errorf("sent the tools %+v and the choice %+v", wire.Tools, wire.ToolChoice)
	}
	results := wire.Messages[2].Content
	if len(wire.Messages) != 3 || len(results) != 3 || results[0].ToolUseID != "a_b_1" || wire.Messages[1].Content[0].ID != "a_b_1" || !results[2].IsError {
		t.Errorf("sent %+v", wire.Messages)
	}
}

// TestOddTurns checks turns that the service would refuse as they are.
func TestOddTurns(t *testing.T) {
	req := ask()
	req.Messages = []model.Message{
		{Role: model.User, Text: "one"},
		{Role: model.Assistant, Text: " \n"},
		{Role: model.User, Text: "two"},
		{Role: model.Assistant, Text: "x", Native: &model.Native{Provider: "anthropic", Data: json.RawMessage(`{"role":"odd"}`)}},
		{Role: model.User, Text: "three"},
		{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "a", Name: "add", Arguments: "[1, 2"}}},
		{Role: model.ToolRole, CallID: "a"},
	}
	wire, _, _ := wireOf(t, req)
	var got []string
	for _, m := range wire.Messages {
		for _, b := range m.Content {
			got = append(got, m.Role+" "+b.Type+" "+b.Text+string(b.Input))
		}
	}
	want := []string{"user text one", "user text two", "assistant text x", "user text three", `assistant tool_use {"INVALID_JSON":"[1, 2"}`, "user tool_result "}
	if diff := cmp.Diff(want, got); diff != "" || len(wire.Messages) != 5 {
		t.Errorf("sent %d messages (-want +got):\n%s", len(wire.Messages), diff)
	}
}

func TestRefusedRequests(t *testing.T) {
	tests := map[string]func(*model.Request){
		"role": func(r *model.Request) { r.Messages[0].Role = "system" },
		"tool choice": func(r *model.Request) {
			r.Tools, r.ToolChoice = []model.ToolSpec{{Name: "x"}}, &model.ToolChoice{Mode: "maybe"}
		},
		"parameters": func(r *model.Request) {
			r.Tools = []model.ToolSpec{{Name: "x", Parameters: value.MapOf("a", make(chan int))}}
		},
	}
	p := newProvider(t, anthropic.Config{BaseURL: "http://127.0.0.1:1"})
	for name, spoil := range tests {
		req := ask()
		spoil(req)
		if _, err := p.Complete(t.Context(), req, nil); fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "anthropic") {
			t.Errorf("%s: got %v, want a permanent error", name, err)
		}
	}
}

// TestKeyOrder checks that the keys of schemas keep their order: models write
// what comes first first.
func TestKeyOrder(t *testing.T) {
	schema, err := value.DecodeJSON([]byte(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}},"required":["z","a"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	root, sent := serve(t, writeAnswer(modeltest.Answer{Text: "ok"}))
	req := ask()
	req.Schema = schema.(*value.Map)
	req.Tools = []model.ToolSpec{{Name: "x", Parameters: req.Schema}}
	if _, err := newProvider(t, anthropic.Config{BaseURL: root}).Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if _, body := sent(); strings.Count(string(body), `"properties":{"z":{"type":"string"},"a":{"type":"string"}}`) != 2 {
		t.Errorf("sent %s", body)
	}
}
