package scheduler

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
)

// A scenario is a workflow and a script: lines that start with "> " are inputs,
// those below them the events and then the commands that must follow.
type scenario struct {
	name   string
	config func(*workflow.Config)
	steps  []workflow.Step
	script string
}

func runScenarios(t *testing.T, scenarios []scenario) {
	t.Helper()
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			plan := mustPlan(t, sc.config, sc.steps...)
			s := New(plan)
			var got, want []string
			for line := range strings.Lines(sc.script) {
				line = strings.TrimSpace(line)
				if line == "" {
					continue
				}
				want = append(want, line)
				if in, ok := strings.CutPrefix(line, "> "); ok {
					got = append(got, line)
					got = append(got, show(plan)(s.Apply(parseInput(t, plan, in)))...)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("script (-want +got):\n%s", diff)
			}
		})
	}
}

// mustPlan plans a workflow of steps under the default configuration, changed
// by config, which may be nil.
func mustPlan(t testing.TB, config func(*workflow.Config), steps ...workflow.Step) *Plan {
	t.Helper()
	def := &workflow.Definition{Name: "test", Config: workflow.DefaultConfig(), Steps: steps}
	if config != nil {
		config(&def.Config)
	}
	plan, err := NewPlan(def)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// step is a step of type tool that is not retried.
func step(id string, deps ...string) workflow.Step {
	return workflow.Step{ID: id, Type: workflow.ToolStep, DependsOn: deps, Retry: workflow.DefaultRetry(0)}
}

func router(id string, deps ...string) workflow.Step {
	s := step(id, deps...)
	s.Type, s.Router = workflow.Router, &workflow.RouterFields{}
	return s
}

// retrying gives a step attempts after the first, at steady waits.
func retrying(s workflow.Step, more int) workflow.Step {
	s.Retry = workflow.DefaultRetry(more)
	s.Retry.Jitter = false
	return s
}

func limited(s workflow.Step, seconds float64) workflow.Step {
	s.Timeout = &seconds
	return s
}

func eager(c *workflow.Config)      { c.Scheduling = workflow.Eager }
func continuing(c *workflow.Config) { c.OnStepFailure = workflow.Continue }

func atMost(n int) func(*workflow.Config) {
	return func(c *workflow.Config) { c.MaxConcurrentSteps = n }
}

func runLimit(seconds float64) func(*workflow.Config) {
	return func(c *workflow.Config) { c.Timeout = &seconds }
}

// parseInput reads an input:
//
//	start | cancel REASON | overbudget REASON
//	ok STEP#N [-> CHOSEN]
//	fail STEP#N KIND [status=N] [after=DURATION] MESSAGE
//	fire run | fire attempt STEP#N | fire retry STEP#N
func parseInput(t *testing.T, p *Plan, line string) Input {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "start":
		return Start{}
	case "cancel":
		return Cancelled{Reason: rest}
	case "overbudget":
		return OverBudget{Reason: rest}
	case "ok":
		name, chosen, _ := strings.Cut(rest, " -> ")
		i, n := parseAttempt(t, p, name)
		return Succeeded{Step: i, Attempt: n, Outcome: Outcome{Chosen: chosen}}
	case "fail":
		name, rest, _ := strings.Cut(rest, " ")
		i, n := parseAttempt(t, p, name)
		return Failed{Step: i, Attempt: n, Failure: parseFailure(t, rest)}
	case "fire":
		kind, name, _ := strings.Cut(rest, " ")
		if kind == "run" {
			return Fired{Timer: Timer{Kind: RunTimeout, Step: -1}}
		}
		i, n := parseAttempt(t, p, name)
		kinds := map[string]TimerKind{"attempt": AttemptTimeout, "retry": RetryWait}
		return Fired{Timer: Timer{Kind: kinds[kind], Step: i, Attempt: n}}
	}
	t.Fatalf("no such input: %s", line)
	return nil
}

func parseFailure(t *testing.T, text string) Failure {
	t.Helper()
	kinds := map[string]fault.Kind{}
	for k := fault.Kind(0); k <= fault.Budget; k++ {
		kinds[k.String()] = k
	}
	name, text, _ := strings.Cut(text, " ")
	kind, ok := kinds[name]
	if !ok {
		t.Fatalf("no such kind: %s", name)
	}
	f := Failure{Kind: kind}
	var err error
	if rest, ok := strings.CutPrefix(text, "status="); ok {
		name, text, _ = strings.Cut(rest, " ")
		if f.Status, err = strconv.Atoi(name); err != nil {
			t.Fatal(err)
		}
	}
	if rest, ok := strings.CutPrefix(text, "after="); ok {
		name, text, _ = strings.Cut(rest, " ")
		if f.RetryAfter, err = time.ParseDuration(name); err != nil {
			t.Fatal(err)
		}
	}
	f.Message = text
	return f
}

func parseAttempt(t *testing.T, p *Plan, name string) (step, attempt int) {
	t.Helper()
	id, number, _ := strings.Cut(name, "#")
	step, ok := p.Index(id)
	attempt, err := strconv.Atoi(number)
	if !ok || err != nil {
		t.Fatalf("no attempt: %q", name)
	}
	return step, attempt
}

// show returns a function that prints what Apply returned.
func show(p *Plan) func([]Command, []Event) []string {
	return func(commands []Command, events []Event) []string {
		var out []string
		for _, e := range events {
			out = append(out, showEvent(p, e))
		}
		for _, c := range commands {
			out = append(out, showCommand(p, c))
		}
		return out
	}
}

func showEvent(p *Plan, e Event) string {
	where := "run"
	if e.Step >= 0 {
		where = p.ID(e.Step)
	}
	switch d := e.Data.(type) {
	case event.RunStarted:
		return fmt.Sprintf("run started: %s, %d steps", d.Workflow, d.Steps)
	case event.StepStarted:
		return fmt.Sprintf("%s started", where)
	case event.AttemptStarted:
		return fmt.Sprintf("%s started attempt %d", where, d.Attempt)
	case event.AttemptFailed:
		return fmt.Sprintf("%s attempt %d %s: %s; again in %v", where, d.Attempt, d.Status, d.Error, d.RetryIn)
	case event.StepFinished:
		return strings.TrimSuffix(fmt.Sprintf("%s ended %s after %d: %s", where, d.Status, d.Attempts, d.Error), ": ")
	case event.StepSkipped:
		return fmt.Sprintf("%s skipped: %s", where, d.Reason)
	case event.RunEnded:
		return strings.TrimSuffix(fmt.Sprintf("run ended %s: %s", d.Status, d.Error), ": ")
	}
	return fmt.Sprintf("%s: %#v", where, e.Data)
}

func showCommand(p *Plan, c Command) string {
	switch c := c.(type) {
	case StartAttempt:
		return fmt.Sprintf("! start %s#%d", p.ID(c.Step), c.Attempt)
	case CancelAttempt:
		return fmt.Sprintf("! cancel %s#%d (%v): %s", p.ID(c.Step), c.Attempt, c.Kind, c.Reason)
	case SetTimer:
		return fmt.Sprintf("! set %s %v", showTimer(p, c.Timer), c.After)
	case ClearTimer:
		return "! clear " + showTimer(p, c.Timer)
	case Finish:
		return strings.TrimSuffix(fmt.Sprintf("! finish %s: %s", c.Status, c.Error), ": ")
	}
	return fmt.Sprintf("%#v", c)
}

func showTimer(p *Plan, t Timer) string {
	switch {
	case t == runTimer():
		return "run"
	case t.Kind == AttemptTimeout:
		return fmt.Sprintf("attempt %s#%d", p.ID(t.Step), t.Attempt)
	case t.Kind == RetryWait:
		return fmt.Sprintf("retry %s#%d", p.ID(t.Step), t.Attempt)
	}
	return fmt.Sprintf("%#v", t)
}
