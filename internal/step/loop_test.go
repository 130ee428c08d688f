package step_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/step"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// script answers with one turn after another, the last again and again, and
// keeps what it was asked.
type script struct {
	mu       sync.Mutex
	turns    []any // *model.Response or error
	asked    []model.Request
	budgets  []float64
	selected []step.Selection
	vectors  func(*model.EmbedRequest) (*model.EmbedResponse, error)
}

func (s *script) Complete(ctx context.Context, sel step.Selection, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.selected = append(s.asked, *req), append(s.selected, sel)
	turn := s.turns[min(len(s.asked), len(s.turns))-1]
	if err, ok := turn.(error); ok {
		return nil, err
	}
	resp := *turn.(*model.Response)
	if stream != nil {
		for word := range strings.SplitAfterSeq(resp.Text, " ") {
			stream(model.Delta{Text: word})
		}
	}
	return &resp, nil
}

func (s *script) Embed(_ context.Context, _ step.Selection, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	return s.vectors(req)
}

func (s *script) Within(usd float64) step.Models {
	s.budgets = append(s.budgets, usd)
	return s
}

// says is a turn of text, calls one of tool calls (name, arguments, …). Each
// costs ten tokens and one cent.
func says(text string) *model.Response {
	cost := 0.01
	return &model.Response{
		Text: text, Model: "m", Provider: "fake", FinishReason: model.FinishStop, CostUSD: &cost,
		Usage: &model.Usage{PromptTokens: 7, CompletionTokens: 3, TotalTokens: 10},
	}
}

func calls(pairs ...string) *model.Response {
	r := says("")
	r.FinishReason = model.FinishToolCalls
	for i := 0; i < len(pairs); i += 2 {
		r.ToolCalls = append(r.ToolCalls, model.ToolCall{
			ID: fmt.Sprintf("c%d", i/2), Name: pairs[i], Arguments: pairs[i+1],
		})
	}
	return r
}

// runner runs one step and collects its events.
type runner struct {
	state  state.State
	events []event.Event
	mu     sync.Mutex
}

func (r *runner) run(ctx context.Context, k step.Kind, s workflow.Step) (scheduler.Outcome, error) {
	return k.Run(ctx, &step.Call{
		Step: &s, Address: s.ID, RunID: "r", Attempt: 1, State: r.state,
		Emit: func(place string, data event.Data) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, event.Event{Address: s.ID + place, Data: data})
		},
	})
}

func llmStep(fields workflow.LLMCallFields) workflow.Step {
	if fields.Prompt == "" {
		fields.Prompt = "go"
	}
	return workflow.Step{ID: "ask", Type: workflow.LLMCall, LLM: &fields}
}

func adder() tool.Tool {
	return tool.Func("add", "Add two numbers.", func(_ context.Context, in struct{ A, B int }) (any, error) {
		if in.A == 13 {
			return nil, errors.New("thirteen is refused")
		}
		return map[string]int{"sum": in.A + in.B}, nil
	})
}

func toolsOf(t *testing.T, tools ...tool.Tool) *tool.Registry {
	t.Helper()
	r := tool.NewRegistry(tool.RegistryOptions{})
	for _, x := range tools {
		if err := r.Register(x); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestToolLoop(t *testing.T) {
	m := &script{turns: []any{
		calls("add", `{"A":1,"B":2}`, "add", `{"A":3,"B":4}`),
		says("3 and 7"),
	}}
	var r runner
	out, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, adder())}, llmStep(workflow.LLMCallFields{
		SystemPrompt: "be brief", Tools: []workflow.ToolDeclaration{{Name: "add"}}, ToolChoice: "required",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if out.Write != "3 and 7" || out.Result != "3 and 7" {
		t.Errorf("output %v, result %v", out.Write, out.Result)
	}
	if out.Report.Usage.TotalTokens != 20 || *out.Report.CostUSD != 0.02 {
		t.Errorf("two turns cost %+v, %v", out.Report.Usage, *out.Report.CostUSD)
	}
	second := m.asked[1].Messages
	want := []model.Message{
		{Role: model.User, Text: "go"},
		calls("add", `{"A":1,"B":2}`, "add", `{"A":3,"B":4}`).Message(),
		{Role: model.ToolRole, CallID: "c0", ToolName: "add", Text: `{"sum":3}`},
		{Role: model.ToolRole, CallID: "c1", ToolName: "add", Text: `{"sum":7}`},
	}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("the second turn's messages (-want +got):\n%s", diff)
	}
	if m.asked[0].ToolChoice.Mode != model.RequireTools || m.asked[1].ToolChoice.Mode != model.AutoTools {
		t.Errorf("tool choices %v, %v: a model that must call tools in every turn never answers",
			m.asked[0].ToolChoice, m.asked[1].ToolChoice)
	}
	spec := m.asked[0].Tools[0]
	if _, ok := spec.Parameters.Get("properties"); !ok || spec.Description != "Add two numbers." {
		t.Errorf("a tool declared by name only goes out as %+v", spec)
	}
}

func TestWhatGoesWrongWithAToolGoesBackToTheModel(t *testing.T) {
	for name, tc := range map[string]struct{ tool, args, want string }{
		"unknown tool":        {"subtract", `{}`, `there is no tool "subtract"; the tools are: add, ghost`},
		"not registered":      {"ghost", `{}`, "declared but not registered"},
		"no JSON":             {"add", `{"A":`, "no JSON"},
		"no object":           {"add", `[1]`, "must be a JSON object"},
		"the tool's error":    {"add", `{"A":13,"B":1}`, "thirteen is refused"},
		"a missing argument":  {"add", `{}`, "A"},
		"empty is no JSON {}": {"add", ``, "A"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &script{turns: []any{calls(tc.tool, tc.args), says("sorry")}}
			var r runner
			out, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, adder())}, llmStep(workflow.LLMCallFields{
				Tools: []workflow.ToolDeclaration{{Name: "add"}, {Name: "ghost"}},
			}))
			if err != nil || out.Write != "sorry" {
				t.Fatalf("%v, %v", out.Write, err)
			}
			got := m.asked[1].Messages[2]
			if !got.IsError || !strings.Contains(got.Text, tc.want) {
				t.Errorf("the model is told %q (error: %t), want %q", got.Text, got.IsError, tc.want)
			}
		})
	}
}

func TestMaxToolIterations(t *testing.T) {
	talk := calls("add", `{"A":1,"B":1}`)
	talk.Text = "let me count"
	three := 3
	m := &script{turns: []any{talk}}
	ran := 0
	count := tool.Func("add", "", func(context.Context, struct{ A, B int }) (any, error) { ran++; return 2, nil })
	var r runner
	out, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, count)}, llmStep(workflow.LLMCallFields{
		Tools: []workflow.ToolDeclaration{{Name: "add"}}, MaxToolIterations: &three,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.asked) != 3 || ran != 2 {
		t.Errorf("%d turns and %d tool calls, want 3 and 2: the last turn's calls are not run", len(m.asked), ran)
	}
	if out.Write != "let me count" || out.Report.FinishReason != step.FinishMaxIterations {
		t.Errorf("output %v, finish reason %q", out.Write, out.Report.FinishReason)
	}
}

func TestAThousandToolCallsRunAFewAtATime(t *testing.T) {
	var pairs []string
	for range 1000 {
		pairs = append(pairs, "slow", "{}")
	}
	m := &script{turns: []any{calls(pairs...), says("done")}}
	var now, most atomic.Int64
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		slow := tool.Func("slow", "", func(context.Context, struct{}) (any, error) {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			<-gate
			now.Add(-1)
			return "ok", nil
		})
		go func() {
			synctest.Wait() // as many as may run are running
			close(gate)
		}()
		var r runner
		_, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, slow)}, llmStep(workflow.LLMCallFields{
			Tools: []workflow.ToolDeclaration{{Name: "slow"}},
		}))
		if err != nil {
			t.Error(err)
		}
	})
	if len(m.asked[1].Messages) != 1002 || most.Load() != 16 {
		t.Errorf("%d messages, at most %d calls at once, want 16", len(m.asked[1].Messages), most.Load())
	}
}

func TestWhatWasSpentBeforeAFailureCounts(t *testing.T) {
	m := &script{turns: []any{calls("add", `{"A":1,"B":1}`), fault.New(fault.Transient, "gone", nil)}}
	var r runner
	out, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, adder())}, llmStep(workflow.LLMCallFields{
		Tools: []workflow.ToolDeclaration{{Name: "add"}},
	}))
	if fault.KindOf(err) != fault.Transient {
		t.Fatal(err)
	}
	if out.Report.Usage == nil || out.Report.Usage.TotalTokens != 10 || *out.Report.CostUSD != 0.01 {
		t.Errorf("the first turn's spend is lost: %+v", out.Report)
	}
}

func TestStreamedTextIsEmittedInOrder(t *testing.T) {
	m := &script{turns: []any{says("one two three")}}
	var r runner
	if _, err := r.run(t.Context(), step.LLM{Models: m, Stream: true}, llmStep(workflow.LLMCallFields{})); err != nil {
		t.Fatal(err)
	}
	var text string
	for _, e := range r.events {
		if d, ok := e.Data.(event.TextDelta); ok && e.Address == "ask/turn[1]" {
			text += d.Text
		}
	}
	if text != "one two three" {
		t.Errorf("the pieces make %q", text)
	}
	no := false
	quiet := runner{}
	if _, err := quiet.run(t.Context(), step.LLM{Models: m, Stream: true}, llmStep(workflow.LLMCallFields{Stream: &no})); err != nil {
		t.Fatal(err)
	}
	for _, e := range quiet.events {
		if _, ok := e.Data.(event.TextDelta); ok {
			t.Error("a step that says stream: false was streamed")
		}
	}
}

func TestReasoningIsKeptOnlyWhenCaptured(t *testing.T) {
	thought := says("42")
	thought.Reasoning = "hm"
	yes := true
	for _, capture := range []bool{true, false} {
		m := &script{turns: []any{thought}}
		var r runner
		out, err := r.run(t.Context(), step.LLM{Models: m}, llmStep(workflow.LLMCallFields{
			Thinking: &workflow.Thinking{Enabled: &yes, Level: "high", CaptureReasoning: capture},
		}))
		if err != nil {
			t.Fatal(err)
		}
		if out.Write != "42" || (out.Report.Reasoning == "hm") != capture {
			t.Errorf("capture %t: output %v, reasoning %q", capture, out.Write, out.Report.Reasoning)
		}
		if th := m.asked[0].Thinking; th == nil || !*th.Enabled || th.Level != "high" {
			t.Errorf("the request's thinking is %+v", th)
		}
	}
}

// tape is a recording in memory.
type tape struct {
	recorded []string
	replays  map[string]any
}

func (p *tape) Replay(id, name string, _ *value.Map) (any, string, bool) {
	v, ok := p.replays[id+"/"+name]
	if err, failed := v.(error); failed {
		return nil, err.Error(), true
	}
	return v, "", ok
}

func (p *tape) Record(id, name string, args *value.Map, result any, failure string) error {
	a, _ := value.EncodeJSON(args)
	v, _ := value.EncodeJSON(result)
	p.recorded = append(p.recorded, fmt.Sprintf("%s/%s%s=%s%s", id, name, a, v, failure))
	return nil
}

func TestToolCallsAreRecordedAndReplayed(t *testing.T) {
	declared := []workflow.ToolDeclaration{{Name: "add"}}
	rec := &tape{}
	m := &script{turns: []any{calls("add", `{"A":1,"B":2}`), calls("add", `{"A":13,"B":0}`), says("ok")}}
	var r runner
	if _, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, adder()), Tape: rec},
		llmStep(workflow.LLMCallFields{Tools: declared})); err != nil {
		t.Fatal(err)
	}
	want := []string{`ask/add{"A":1,"B":2}={"sum":3}`, `ask/add{"A":13,"B":0}=nullthirteen is refused`}
	if diff := cmp.Diff(want, rec.recorded); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	back := &tape{replays: map[string]any{"ask/add": "from tape"}}
	m = &script{turns: []any{calls("add", `{"A":1,"B":2}`), says("ok")}}
	never := tool.Func("add", "", func(context.Context, struct{ A, B int }) (any, error) {
		t.Error("a replayed tool ran")
		return nil, nil
	})
	if _, err := r.run(t.Context(), step.LLM{Models: m, Tools: toolsOf(t, never), Tape: back},
		llmStep(workflow.LLMCallFields{Tools: declared})); err != nil {
		t.Fatal(err)
	}
	if got := m.asked[1].Messages[2].Text; got != "from tape" {
		t.Errorf("the model was told %q", got)
	}
	if len(back.recorded) != 0 {
		t.Error("a replayed call was recorded")
	}
}
