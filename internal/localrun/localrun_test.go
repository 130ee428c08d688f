package localrun_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/localrun"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/step"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kind makes a step kind of a function.
type kind func(ctx context.Context, call *step.Call) (scheduler.Outcome, error)

func (k kind) Run(ctx context.Context, call *step.Call) (scheduler.Outcome, error) {
	return k(ctx, call)
}

func ok(v any) (scheduler.Outcome, error) {
	return scheduler.Outcome{Result: v, HasResult: true, Write: v}, nil
}

// definition makes one of lines such as "b: a" (b depends on a).
func definition(lines ...string) *workflow.Definition {
	def := &workflow.Definition{Name: "test", Config: workflow.DefaultConfig()}
	for _, l := range lines {
		id, deps, _ := strings.Cut(l, ":")
		def.Steps = append(def.Steps, workflow.Step{
			ID: id, Type: workflow.ToolStep, DependsOn: strings.Fields(deps), Output: id,
			Retry: workflow.DefaultRetry(3), Tool: &workflow.ToolFields{},
		})
	}
	return def
}

func run(t *testing.T, ctx context.Context, def *workflow.Definition, k kind) (localrun.Ending, []event.Event) {
	t.Helper()
	plan, err := scheduler.NewPlan(def)
	if err != nil {
		t.Fatal(err)
	}
	var events []event.Event
	end := localrun.Run(ctx, localrun.Config{
		Plan: plan, Definition: def, RunID: "r", State: state.New(def.State),
		Kinds:   step.Kinds{workflow.ToolStep: k},
		Observe: func(e event.Event) { events = append(events, e) },
		Jitter:  func() float64 { return 0.5 },
	})
	return end, events
}

func TestStepsSeeWhatEarlierOnesWrote(t *testing.T) {
	def := definition("a", "b: a", "c: a b")
	def.State = value.MapOf("seed", "s")
	end, _ := run(t, t.Context(), def, func(_ context.Context, c *step.Call) (scheduler.Outcome, error) {
		return ok(fmt.Sprintf("%s(%s)", c.Step.ID, strings.Join(c.State.Map().Keys(), " ")))
	})
	if end.Status != event.Success {
		t.Fatalf("the run ended %s: %s", end.Status, end.Error)
	}
	got, _ := value.EncodeJSON(end.State.Map())
	want := `{"seed":"s","a":"a(seed)","b":"b(seed a)","c":"c(seed a b)"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEventsAreNumberedAndTimed(t *testing.T) {
	_, events := run(t, t.Context(), definition("a"), func(_ context.Context, c *step.Call) (scheduler.Outcome, error) {
		c.Emit("/call[0]", event.Warning{Message: "careful"})
		return ok(1)
	})
	var lines []string
	for i, e := range events {
		if e.Seq != int64(i+1) || e.RunID != "r" || e.Time.IsZero() {
			t.Errorf("event %d is stamped %d %q %s", i, e.Seq, e.RunID, e.Time)
		}
		lines = append(lines, e.Kind()+" "+e.Address)
	}
	want := []string{"run_started ", "step_started a", "warning a/call[0]", "step_finished a", "run_ended "}
	if !slices.Equal(lines, want) {
		t.Errorf("got  %q\nwant %q", lines, want)
	}
}

func TestRetriesWaitAndThenSucceed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		end, _ := run(t, t.Context(), definition("a"), func(_ context.Context, c *step.Call) (scheduler.Outcome, error) {
			at = append(at, time.Since(start))
			if c.Attempt < 4 {
				return scheduler.Outcome{}, fault.New(fault.Transient, "not yet", nil)
			}
			return ok(c.Attempt)
		})
		if end.Status != event.Success {
			t.Fatalf("ended %s: %s", end.Status, end.Error)
		}
		// 1, 2 and 4 seconds apart: jitter 0.5 is the middle.
		want := []time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second}
		if !slices.Equal(at, want) {
			t.Errorf("attempts at %v, want %v", at, want)
		}
	})
}

func TestAnAttemptThatOverstaysIsCancelledAndRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		def := definition("a")
		limit := 2.0
		def.Steps[0].Timeout = &limit
		end, events := run(t, t.Context(), def, func(ctx context.Context, c *step.Call) (scheduler.Outcome, error) {
			if c.Attempt == 1 {
				<-ctx.Done()
				return scheduler.Outcome{}, context.Cause(ctx)
			}
			return ok("second")
		})
		if end.Status != event.Success {
			t.Fatalf("ended %s: %s", end.Status, end.Error)
		}
		failed, found := find[event.AttemptFailed](events)
		if !found || failed.Status != event.Timeout {
			t.Errorf("the first attempt ended %+v, want a timeout", failed)
		}
	})
}

func TestAnAttemptThatIgnoresItsEndIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		def := definition("a")
		limit := 1.0
		def.Steps[0].Timeout = &limit
		def.Steps[0].Retry.MaxRetries = 0
		release := make(chan struct{})
		end, events := run(t, t.Context(), def, func(context.Context, *step.Call) (scheduler.Outcome, error) {
			<-release
			return ok("too late")
		})
		close(release)
		if end.Status != event.Failed {
			t.Errorf("ended %s", end.Status)
		}
		if _, wrote := end.State.Get("a"); wrote {
			t.Error("an abandoned attempt wrote to the state")
		}
		if w, found := find[event.Warning](events); !found || !strings.Contains(w.Message, "did not stop") {
			t.Errorf("no warning of it: %+v", w)
		}
	})
}

func TestCancellingEndsTheRunWithItsReason(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	end, events := run(t, ctx, definition("a", "b: a"), func(ctx context.Context, _ *step.Call) (scheduler.Outcome, error) {
		cancel(errors.New("interrupted"))
		<-ctx.Done()
		return scheduler.Outcome{}, context.Cause(ctx)
	})
	if end.Status != event.Failed || !strings.Contains(end.Error, "interrupted") {
		t.Errorf("ended %s: %s", end.Status, end.Error)
	}
	for _, e := range events {
		if e.Address == "b" {
			t.Errorf("b never ran but has the event %s", e.Kind())
		}
	}
}

func TestSuccessInTheRaceWithCancellationCounts(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	end, _ := run(t, ctx, definition("a"), func(ctx context.Context, _ *step.Call) (scheduler.Outcome, error) {
		cancel(errors.New("interrupted"))
		<-ctx.Done()
		return ok("paid for")
	})
	if v, _ := end.State.Get("a"); v != "paid for" {
		t.Errorf("the paid answer is lost; a is %v", v)
	}
}

func TestAPanicFailsItsStepOnly(t *testing.T) {
	end, events := run(t, t.Context(), definition("a", "b"), func(_ context.Context, c *step.Call) (scheduler.Outcome, error) {
		if c.Step.ID == "a" {
			panic("out of paper")
		}
		return ok("fine")
	})
	if end.Status != event.Failed {
		t.Errorf("ended %s", end.Status)
	}
	if v, _ := end.State.Get("b"); v != "fine" {
		t.Errorf("b did not run: %v", v)
	}
	events = slices.DeleteFunc(events, func(e event.Event) bool { return e.Address != "a" })
	f, _ := find[event.StepFinished](events)
	if f.Attempts != 1 || !strings.Contains(f.Error, "out of paper") || strings.Contains(f.Error, "goroutine") {
		t.Errorf("a finished as %+v", f)
	}
}

func TestAWriteThroughAScalarFailsTheStep(t *testing.T) {
	def := definition("a")
	def.State = value.MapOf("user", "Ada")
	def.Steps[0].Output = "user.name"
	calls := 0
	end, _ := run(t, t.Context(), def, func(context.Context, *step.Call) (scheduler.Outcome, error) {
		calls++
		return ok("x")
	})
	if end.Status != event.Failed || !strings.Contains(end.Error, "state.user is a string") {
		t.Errorf("ended %s: %s", end.Status, end.Error)
	}
	if calls != 1 {
		t.Errorf("the step ran %d times; the same write fails again", calls)
	}
	if _, has := end.State.Step("a"); has {
		t.Error("a failed step has an entry in steps")
	}
}

func TestNoMoreThanMaxConcurrentStepsRunAtOnce(t *testing.T) {
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("s%d", i))
	}
	def := definition(lines...)
	def.Config.MaxConcurrentSteps = 4
	synctest.Test(t, func(t *testing.T) { // in fake time, all that may run have started before one ends
		var now, most atomic.Int64
		end, _ := run(t, t.Context(), def, func(context.Context, *step.Call) (scheduler.Outcome, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return ok(1)
		})
		if end.Status != event.Success || most.Load() != 4 {
			t.Errorf("ended %s with at most %d at once, want 4", end.Status, most.Load())
		}
	})
}

func find[T event.Data](events []event.Event) (T, bool) {
	for _, e := range events {
		if d, ok := e.Data.(T); ok {
			return d, true
		}
	}
	var none T
	return none, false
}
