package step_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/localrun"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/step"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// ended is how a run ended.
type ended struct {
	localrun.Ending
	steps map[string]event.StepFinished
}

// run runs a workflow file of tools and routers.
func run(t *testing.T, src string, tools ...tool.Tool) ended {
	t.Helper()
	def, diagnostics := wfyaml.Load("test.yaml", []byte(src))
	if err := diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	plan, err := scheduler.NewPlan(def)
	if err != nil {
		t.Fatal(err)
	}
	var registry *tool.Registry // without tools, there is none
	for _, x := range tools {
		if registry == nil {
			registry = tool.NewRegistry(tool.RegistryOptions{})
		}
		if err := registry.Register(x); err != nil {
			t.Fatal(err)
		}
	}
	res := ended{steps: map[string]event.StepFinished{}}
	res.Ending = localrun.Run(t.Context(), localrun.Config{
		Plan: plan, Definition: def, RunID: "run", State: state.New(def.State),
		Kinds:  step.Kinds{workflow.ToolStep: step.Tool{Tools: registry}, workflow.Router: step.Router{}},
		Jitter: func() float64 { return 0.5 },
		Observe: func(e event.Event) {
			if f, ok := e.Data.(event.StepFinished); ok {
				res.steps[e.Address] = f
			}
		},
	})
	return res
}

func none(name string, result any, err error) tool.Tool {
	return tool.Func(name, "", func(context.Context, struct{}) (any, error) { return result, err })
}

// A tool that returns nothing writes None to output and leaves no entry.
func TestNothingLeavesNoEntry(t *testing.T) {
	res := run(t, `
name: none
state: {out: before}
steps:
  - {id: silent, type: tool, tool_name: silent, output: out}
  - {id: speaks, type: tool, tool_name: speaks}
  - id: route
    type: router
    depends_on: [silent, speaks]
    conditions:
      - {expression: "state.out is None and steps.silent is None and steps.speaks.output == ''", target: yes_}
    default: no_
    output: way
  - {id: yes_, type: tool, tool_name: speaks, depends_on: [route]}
  - {id: no_, type: tool, tool_name: speaks, depends_on: [route]}
`, none("silent", nil, nil), none("speaks", "", nil))
	if got := show(t, res.State.Map()); got != `{"out":null,"way":"yes_"}` || res.Status != event.Success {
		t.Errorf("%v %s: %s", res.Status, res.Error, got)
	}
}

func TestAttemptsOfToolsThatFail(t *testing.T) {
	inner := fault.New(fault.Transient, "the inner service said 404", nil)
	inner.Status = 404
	tests := []struct {
		name     string
		tool     tool.Tool
		attempts int
	}{
		{"plain", none("x", nil, errors.New("dropped")), 3},
		{"refused", none("x", nil, fault.New(fault.Refused, "Sandbox violation (x): no", nil)), 3},
		{"over its own budget", none("x", nil, fault.New(fault.Budget, "spent", nil)), 3},
		{"a status", none("x", nil, inner), 3},
		{"a panic", tool.Func("x", "", func(context.Context, struct{}) (any, error) { panic("boom") }), 3},
		{"permanent", none("x", nil, fault.New(fault.Permanent, "never", nil)), 1},
		{"a channel", none("x", make(chan int), nil), 1},
		{"no registry", nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var tools []tool.Tool
			if tt.tool != nil {
				tools = append(tools, tt.tool)
			}
			res := run(t, `
name: fails
steps:
  - {id: s, type: tool, tool_name: x, output: out, retry: {max_retries: 2, backoff_max: 0.001}}
`, tools...)
			s := res.steps["s"]
			if s.Status != event.Failed || s.Attempts != tt.attempts || res.Status != event.Failed || res.State.Len() != 0 {
				t.Errorf("%v after %d attempts (%s), run %v, state %s; want %d attempts",
					s.Status, s.Attempts, s.Error, res.Status, show(t, res.State.Map()), tt.attempts)
			}
		})
	}
}

// A tool that blocks holds up nobody: the two wait for each other.
func TestToolsRunAtTheSameTime(t *testing.T) {
	meet := make(chan struct{})
	wait := func(name string) tool.Tool {
		return tool.Func(name, "", func(ctx context.Context, _ struct{}) (any, error) {
			select {
			case meet <- struct{}{}:
			case <-meet:
			case <-time.After(time.Minute):
				return nil, errors.New("alone")
			}
			return name, nil
		})
	}
	res := run(t, `
name: meet
config: {max_concurrent_steps: 2, max_retries: 0}
steps:
  - {id: a, type: tool, tool_name: a, output: a}
  - {id: b, type: tool, tool_name: b, output: b}
`, wait("a"), wait("b"))
	for _, id := range []string{"a", "b"} {
		if got, _ := res.State.Get(id); got != id {
			t.Errorf("%s is %v: %s", id, got, res.Error)
		}
	}
}

// What tools do to their arguments does not reach the state or other tools.
func TestToolsCannotReachTheState(t *testing.T) {
	res := run(t, `
name: vandal
state: {m: {list: [a], inner: {k: v}}}
steps:
  - {id: one, type: tool, tool_name: custom, tool_args: {m: state.m, all: state.m.list}}
  - {id: two, type: tool, depends_on: [one], tool_name: custom, tool_args: {m: state.m}, output: seen}
`, custom(func(_ context.Context, args *value.Map) (any, error) {
		m, _ := args.Get("m")
		before, err := value.EncodeJSON(m)
		vandalise(args)
		return string(before), err
	}))
	const want = `{"m":{"list":["a"],"inner":{"k":"v"}},"seen":"{\"list\":[\"a\"],\"inner\":{\"k\":\"v\"}}"}`
	if got := show(t, res.State.Map()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A result of 100 MB arrives whole, for the state and for templates.
func TestHugeResults(t *testing.T) {
	const size = 100 << 20
	res := run(t, `
name: huge
steps:
  - {id: big, type: tool, tool_name: big, output: big}
  - {id: seen, type: tool, depends_on: [big], tool_name: custom, tool_args: {text: state.big}, output: size}
`, none("big", strings.Repeat("x", size), nil), custom(func(_ context.Context, args *value.Map) (any, error) {
		text, _ := args.Get("text")
		return len(text.(string)), nil
	}))
	if n, _ := res.State.Get("size"); n != int64(size) {
		t.Errorf("got %v: %s", n, res.Error)
	}
}
