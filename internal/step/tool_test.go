package step_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/step"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// custom is a tool that is only a Call.
type custom func(context.Context, *value.Map) (any, error)

func (custom) Spec() tool.Spec { return tool.Spec{Name: "custom"} }

func (c custom) Call(ctx context.Context, args *value.Map) (any, error) { return c(ctx, args) }

func fails(err error) custom {
	return func(context.Context, *value.Map) (any, error) { return nil, err }
}

func returns(v any) custom {
	return func(context.Context, *value.Map) (any, error) { return v, nil }
}

// attempt runs one attempt of a step that calls a tool, and returns what it
// told of as "ToolStarted", "ToolFinished" and warnings.
func attempt(ctx context.Context, t *testing.T, call tool.Tool, fields workflow.ToolFields, s state.State) (scheduler.Outcome, []string, error) {
	t.Helper()
	registry := tool.NewRegistry(tool.RegistryOptions{})
	if call != nil {
		if err := registry.Register(call); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	out, err := step.Tool{Tools: registry}.Run(ctx, &step.Call{
		Step: &workflow.Step{ID: "s", Type: workflow.ToolStep, Tool: &fields}, Address: "parent.s", RunID: "run", Attempt: 1, State: s,
		Emit: func(place string, data event.Data) {
			switch d := data.(type) {
			case event.ToolStarted:
				told = append(told, place+"started "+d.Tool)
			case event.ToolFinished:
				told = append(told, place+"finished "+d.Tool+" "+d.Error)
			case event.Warning:
				told = append(told, d.Message)
			}
		},
	})
	return out, told, err
}

func TestToolErrorsAreRetried(t *testing.T) {
	status := fault.New(fault.Transient, "the service said 404", nil)
	status.Status, status.RetryAfter = 404, 7*time.Second
	tests := []struct {
		name string
		tool custom
		kind fault.Kind
		text string
	}{
		{"plain", fails(errors.New("dropped")), fault.Transient, "dropped"},
		{"a refusal of the sandbox", fails(fault.New(fault.Refused, "Sandbox violation (custom): no", nil)), fault.Transient, "Sandbox violation (custom): no"},
		{"invalid input", fails(fault.New(fault.Invalid, "no such order", nil)), fault.Transient, "no such order"},
		{"a spent budget of its own", fails(fault.New(fault.Budget, "the inner run is over budget", nil)), fault.Transient, "the inner run is over budget"},
		{"a time limit of its own", fails(fault.New(fault.Timeout, "the inner call timed out", nil)), fault.Transient, "the inner call timed out"},
		{"an end of its own", fails(fault.New(fault.Cancelled, "the inner run stopped", nil)), fault.Transient, "the inner run stopped"},
		{"a status of its own", fails(fmt.Errorf("asking: %w", status)), fault.Transient, "asking: the service said 404"},
		{"permanent", fails(fmt.Errorf("asking: %w", fault.New(fault.Permanent, "never", nil))), fault.Permanent, "asking: never"},
		{"a panic", func(context.Context, *value.Map) (any, error) { panic("boom") }, fault.Transient, "the tool panicked: boom"},
		{"a channel", returns(make(chan int)), fault.Permanent, "the tool's result is no JSON value: a chan int has no JSON form"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, told, err := attempt(t.Context(), t, tt.tool, workflow.ToolFields{ToolName: "custom"}, state.State{})
			if err == nil || fault.KindOf(err) != tt.kind || !strings.HasPrefix(err.Error(), tt.text) {
				t.Errorf("got %v error %v, want %v %s", fault.KindOf(err), err, tt.kind, tt.text)
			}
			if out.HasResult || out.Write != nil {
				t.Errorf("a failure left %+v", out)
			}
			if d := cmp.Diff([]string{"started custom", "finished custom " + err.Error()}, told); d != "" {
				t.Error(d)
			}
			// The status of what the tool asked does not decide; its wait is kept.
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Status != 0 || f.RetryAfter != 0 != (tt.name == "a status of its own") {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestToolErrorOfAnAttemptThatWasStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	_, _, err := attempt(ctx, t, custom(func(ctx context.Context, _ *value.Map) (any, error) {
		cancel(fault.New(fault.Timeout, "attempt 1 timed out after 1s", nil))
		return nil, ctx.Err()
	}), workflow.ToolFields{ToolName: "custom"}, state.State{})
	if fault.KindOf(err) != fault.Timeout || err.Error() != "attempt 1 timed out after 1s" {
		t.Errorf("got %v error %v", fault.KindOf(err), err)
	}
}

func TestToolStepsThatCannotCall(t *testing.T) {
	s := state.New(value.MapOf("n", int64(5)))
	never := custom(func(context.Context, *value.Map) (any, error) {
		t.Error("the tool was called")
		return nil, nil
	})
	tests := []struct {
		name   string
		tool   tool.Tool
		fields workflow.ToolFields
		kind   fault.Kind
		text   string
	}{
		{"no tool_name", never, workflow.ToolFields{}, fault.Transient, "the step has no tool_name; name a registered tool"},
		{"not registered", never, workflow.ToolFields{ToolName: "other"}, fault.Permanent, `tool "other" is not registered; registered are custom`},
		{"nothing registered", nil, workflow.ToolFields{ToolName: "other"}, fault.Permanent, `tool "other" is not registered; no tool is`},
		{"a missing key", never, workflow.ToolFields{ToolName: "custom", ToolArgs: value.MapOf("a", []any{"state.gone"})},
			fault.Permanent, `tool_args.a[0]: the state has no key "gone"`},
		{"broken braces", never, workflow.ToolFields{ToolName: "custom", ToolArgs: value.MapOf("a", value.MapOf("b", "{state.n"))},
			fault.Transient, "tool_args.a.b: template"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, told, err := attempt(t.Context(), t, tt.tool, tt.fields, s)
			if err == nil || fault.KindOf(err) != tt.kind || !strings.HasPrefix(err.Error(), tt.text) {
				t.Errorf("got %v error %v, want %v %s", fault.KindOf(err), err, tt.kind, tt.text)
			}
			if len(told) != 0 {
				t.Errorf("told of %q", told)
			}
		})
	}
	if _, err := (step.Tool{}).Run(t.Context(), &step.Call{Step: &workflow.Step{Tool: &workflow.ToolFields{ToolName: "x"}}}); fault.KindOf(err) != fault.Permanent {
		t.Errorf("without a registry: %v", err)
	}
}

// A tool that changes its arguments changes nothing else: not the state, and
// not the workflow.
func TestToolsGetACopy(t *testing.T) {
	held := value.MapOf("list", []any{"a"}, "map", value.MapOf("k", "v"))
	written := value.MapOf("plain", []any{"a"}, "whole", "state.held",
		"kept", value.MapOf("value", value.MapOf("k", "{x}"), "template", false))
	const want = `{"held":{"list":["a"],"map":{"k":"v"}}} {"plain":["a"],"whole":"state.held","kept":{"value":{"k":"{x}"},"template":false}}`
	s := state.New(value.MapOf("held", held))
	got := ""
	_, _, err := attempt(t.Context(), t, custom(func(_ context.Context, args *value.Map) (any, error) {
		got = show(t, args)
		vandalise(args)
		return nil, nil
	}), workflow.ToolFields{ToolName: "custom", ToolArgs: written}, s)
	if err != nil || got != `{"plain":["a"],"whole":{"list":["a"],"map":{"k":"v"}},"kept":{"k":"{x}"}}` {
		t.Errorf("the tool got %s, %v", got, err)
	}
	if after := show(t, s.Map()) + " " + show(t, written); after != want {
		t.Errorf("after the call: %s, want %s", after, want)
	}
}

// vandalise changes every container in a value.
func vandalise(v any) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			vandalise(v[i])
			v[i] = "changed"
		}
	case *value.Map:
		for _, k := range v.Keys() {
			e, _ := v.Get(k)
			vandalise(e)
			v.Put(k, "changed")
		}
	}
}

// What a tool does to its result later changes nothing either.
func TestToolResultsAreACopy(t *testing.T) {
	result := value.MapOf("list", []any{"a"})
	out, _, err := attempt(t.Context(), t, returns(result), workflow.ToolFields{ToolName: "custom"}, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	vandalise(result)
	if got := show(t, out.Write); got != `{"list":["a"]}` {
		t.Errorf("got %s", got)
	}
}

func TestToolOutcomes(t *testing.T) {
	var none *value.Map
	for _, tt := range []struct {
		result   any
		want     string
		hasEntry bool
	}{
		{nil, "null", false},
		{none, "null", false},
		{"", `""`, true},
		{false, "false", true},
		{int64(0), "0", true},
		{[]any{}, "[]", true},
		{value.MapOf(), "{}", true},
		{map[string]int{"a": 1}, `{"a":1}`, true},
	} {
		out, told, err := attempt(t.Context(), t, returns(tt.result), workflow.ToolFields{ToolName: "custom"}, state.State{})
		if err != nil || out.HasResult != tt.hasEntry || show(t, out.Write) != tt.want || show(t, out.Result) != tt.want {
			t.Errorf("%v: got %+v, %v", tt.result, out, err)
		}
		if d := cmp.Diff([]string{"started custom", "finished custom "}, told); d != "" {
			t.Error(d)
		}
	}
}

func TestToolsFindTheSameKeyInEachAttempt(t *testing.T) {
	key := custom(func(ctx context.Context, _ *value.Map) (any, error) { return tool.IdempotencyKey(ctx), nil })
	for range 2 {
		out, _, err := attempt(t.Context(), t, key, workflow.ToolFields{ToolName: "custom"}, state.State{})
		if err != nil || out.Result != "run/parent.s" {
			t.Errorf("got %v, %v", out.Result, err)
		}
	}
}

func show(t *testing.T, v any) string {
	t.Helper()
	b, err := value.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
