package scheduler

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
)

func TestPlanLayers(t *testing.T) {
	plan := mustPlan(t, nil,
		step("e", "d", "a"), step("a"), step("d", "b", "c"), step("c", "a"), step("b"))
	want := [][]int{{1, 4}, {3}, {2}, {0}}
	if diff := cmp.Diff(want, plan.layers); diff != "" {
		t.Errorf("layers (-want +got):\n%s", diff)
	}
	if i, ok := plan.Index("d"); !ok || i != 2 || plan.ID(i) != "d" || plan.Len() != 5 {
		t.Errorf("Index(d) = %d, %v", i, ok)
	}
	if _, ok := plan.Index("x"); ok {
		t.Error("Index finds a step that is not there")
	}
}

func TestNewPlanErrors(t *testing.T) {
	lost := router("r")
	lost.Router = &workflow.RouterFields{Conditions: []workflow.Condition{{Target: "gone"}}}
	stray := router("r")
	stray.Router = &workflow.RouterFields{Default: "gone"}
	long := make([]workflow.Step, 50)
	for i := range long {
		long[i] = step(fmt.Sprint("s", i), fmt.Sprint("s", (i+1)%50))
	}
	tests := []struct {
		name   string
		config func(*workflow.Config)
		steps  []workflow.Step
		want   string
	}{
		{"no id", nil, []workflow.Step{step("a"), step("")}, `steps[1] has no id`},
		{"doubled id", nil, []workflow.Step{step("a"), step("a")}, `two steps have the id "a"`},
		{"unknown dependency", nil, []workflow.Step{step("a", "x")}, `step "a" depends on "x", which is no step`},
		{"unknown target", nil, []workflow.Step{lost}, `router "r" has the target "gone", which is no step`},
		{"unknown default", nil, []workflow.Step{stray}, `router "r" has the target "gone", which is no step`},
		{"itself", nil, []workflow.Step{step("a", "a")}, `in a cycle: "a" needs "a"`},
		{
			"cycle behind others", nil,
			[]workflow.Step{step("z", "c"), step("free"), step("a", "free", "c"), step("b", "a"), step("c", "b")},
			`in a cycle: "c" needs "b" needs "a" needs "c"`,
		},
		{"long cycle", nil, long, `"s8" needs "s9" needs …`},
		{"step timeout 0", nil, []workflow.Step{limited(step("a"), 0)}, `step "a": timeout is 0: use a number of seconds above 0`},
		{"step timeout NaN", nil, []workflow.Step{limited(step("a"), math.NaN())}, `step "a": timeout is NaN`},
		{"run timeout", runLimit(-1), nil, `config.timeout is -1: use`},
		{"no room", atMost(0), nil, `config.max_concurrent_steps is 0`},
		{"scheduling", func(c *workflow.Config) { c.Scheduling = "lazy" }, nil, `config.scheduling is "lazy": use "layers" or "eager"`},
		{"failure policy", func(c *workflow.Config) { c.OnStepFailure = "stop" }, nil, `config.on_step_failure is "stop"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			def := &workflow.Definition{Config: workflow.DefaultConfig(), Steps: tt.steps}
			if tt.config != nil {
				tt.config(&def.Config)
			}
			_, err := NewPlan(def)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that holds %s", err, tt.want)
			}
		})
	}
}

func TestDuration(t *testing.T) {
	tests := []struct {
		seconds float64
		want    time.Duration
	}{
		{1.5, 1500 * time.Millisecond},
		{0, 0},
		{-1, 0},
		{math.NaN(), 0},
		{math.Inf(1), math.MaxInt64},
		{1e300, math.MaxInt64},
	}
	for _, tt := range tests {
		if got := duration(tt.seconds); got != tt.want {
			t.Errorf("duration(%v) = %v, want %v", tt.seconds, got, tt.want)
		}
	}
	tiny := 1e-300
	if got, err := timeout(&tiny); got != 1 || err != nil {
		t.Errorf("timeout(%v) = %v, %v: a timeout must not become none", tiny, got, err)
	}
}

// TestStepFinished checks what scripts do not show: the data that goes with a
// step's end.
func TestStepFinished(t *testing.T) {
	cost := 0.5
	report := event.Report{Model: "m", CostUSD: &cost}
	writing := step("a")
	writing.Output = "user.name"
	tests := []struct {
		name string
		step workflow.Step
		in   Input
		want event.StepFinished
	}{
		{
			"a success writes its output", writing,
			Succeeded{Attempt: 1, Outcome: Outcome{Result: "shown", HasResult: true, Write: "written", Report: report}},
			event.StepFinished{
				Status: event.Success, Output: "shown", HasEntry: true, Attempts: 1,
				Report: report, Path: "user.name", Write: "written",
			},
		},
		{
			"without an output key nothing is written", step("a"),
			Succeeded{Attempt: 1, Outcome: Outcome{Result: "shown", HasResult: true, Write: "written"}},
			event.StepFinished{Status: event.Success, Output: "shown", HasEntry: true, Attempts: 1},
		},
		{
			"no result leaves no entry, and writes None", writing,
			Succeeded{Attempt: 1, Outcome: Outcome{Result: "stray"}},
			event.StepFinished{Status: event.Success, Attempts: 1, Path: "user.name"},
		},
		{
			"a failure writes nothing and keeps its report", writing,
			Failed{Attempt: 1, Failure: Failure{Message: "boom", Report: report}},
			event.StepFinished{Status: event.Failed, Error: "boom", Attempts: 1, Report: report},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := New(mustPlan(t, nil, tt.step))
			s.Apply(Start{})
			_, events := s.Apply(tt.in)
			if diff := cmp.Diff(event.Data(tt.want), events[0].Data); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAttemptFailedReport checks that what a retried attempt cost is told once:
// when it failed, and not again when its retry is dropped.
func TestAttemptFailedReport(t *testing.T) {
	s := New(mustPlan(t, nil, retrying(step("a"), 1)))
	s.Apply(Start{})
	cost := 0.5
	_, events := s.Apply(Failed{Attempt: 1, Failure: Failure{Message: "boom", Report: event.Report{CostUSD: &cost}}})
	if got := events[0].Data.(event.AttemptFailed).Report.CostUSD; got != &cost {
		t.Errorf("cost of the failed attempt = %v", got)
	}
	_, events = s.Apply(Cancelled{})
	if diff := cmp.Diff(event.Report{}, events[0].Data.(event.StepFinished).Report); diff != "" {
		t.Errorf("report of the dropped retry (-want +got):\n%s", diff)
	}
}

// TestCloneIsIndependent checks that two runs that were one go their own ways.
func TestCloneIsIndependent(t *testing.T) {
	var steps []workflow.Step
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		steps = append(steps, step(id))
	}
	one := New(mustPlan(t, nil, steps...))
	fail := func(s *State, i int) []Command {
		commands, _ := s.Apply(Failed{Step: i, Attempt: 1, Failure: Failure{Kind: fault.Permanent, Message: "boom"}})
		return commands
	}
	one.Apply(Start{})
	for i := range 3 {
		fail(one, i)
	}
	two := one.Clone()
	fail(one, 3)
	fail(two, 4)
	want := []Command{Finish{
		Status: event.Failed,
		Error:  `5 steps failed ("a", "b", "c", "d", "e"); the first: step "a" failed: boom`,
	}}
	if diff := cmp.Diff(want, fail(one, 4)); diff != "" {
		t.Errorf("the original (-want +got):\n%s", diff)
	}
	want = []Command{Finish{
		Status: event.Failed,
		Error:  `5 steps failed ("a", "b", "c", "e", "d"); the first: step "a" failed: boom`,
	}}
	if diff := cmp.Diff(want, fail(two, 3)); diff != "" {
		t.Errorf("the clone (-want +got):\n%s", diff)
	}
}
