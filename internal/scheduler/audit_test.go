package scheduler

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/workflow"
)

// failer is what an audit reports to.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// audit drives a run and checks every promise of the protocol as it goes, from
// the definition and from what went in and came out: never from the State.
type audit struct {
	t    failer
	def  *workflow.Definition
	plan *Plan
	s    *State

	inputs  []Input
	outputs [][]any
	clone   *State // taken before inputs[cloned]
	cloned  int

	steps                          []audited
	timers                         []Timer // that are set
	running                        int
	begun, over                    bool
	cancelled, timedOut, overSpent bool
}

// audited is what is known of a step.
type audited struct {
	deps  []int
	depth int // the longest way to a step without dependencies

	attempt  int // the last one that was started
	running  bool
	stopped  bool // told to stop
	retry    bool // its wait is over, it has not started
	announce bool // an event told of the start that must come now
	end      event.Status
	chosen   string
}

func newAudit(t failer, def *workflow.Definition) *audit {
	t.Helper()
	plan, err := NewPlan(def)
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	a := &audit{t: t, def: def, plan: plan, s: New(plan), steps: make([]audited, len(def.Steps))}
	for i, step := range def.Steps {
		for _, id := range step.DependsOn {
			a.steps[i].deps = append(a.steps[i].deps, slices.IndexFunc(def.Steps, func(s workflow.Step) bool { return s.ID == id }))
		}
	}
	for range a.steps { // no depth is greater than their number
		for i := range a.steps {
			for _, d := range a.steps[i].deps {
				a.steps[i].depth = max(a.steps[i].depth, a.steps[d].depth+1)
			}
		}
	}
	return a
}

func (a *audit) stopping() bool { return a.cancelled || a.timedOut || a.overSpent }

// apply gives the run an input and checks what it does.
func (a *audit) apply(in Input) {
	a.t.Helper()
	fits := a.note(in)
	commands, events := a.s.Apply(in)
	a.inputs = append(a.inputs, in)
	a.outputs = append(a.outputs, outputs(commands, events))
	if !fits {
		if len(commands)+len(events) > 0 {
			a.t.Fatalf("stale input %#v had an effect: %#v", in, a.outputs[len(a.outputs)-1])
		}
		return
	}
	for _, e := range events {
		a.event(e)
	}
	for i, c := range commands {
		if _, ok := c.(Finish); ok && i != len(commands)-1 {
			a.t.Fatalf("commands after Finish: %#v", commands)
		}
		a.command(c)
	}
	a.settled()
}

func outputs(commands []Command, events []Event) []any {
	var out []any
	for _, e := range events {
		out = append(out, e)
	}
	for _, c := range commands {
		out = append(out, c)
	}
	return out
}

// note takes note of an input and reports whether it fits the run.
func (a *audit) note(in Input) bool {
	if _, ok := in.(Start); ok && !a.begun {
		a.begun = true
		return true
	}
	if !a.begun || a.over {
		return false
	}
	switch in := in.(type) {
	case Succeeded:
		if !a.attemptEnds(in.Step, in.Attempt) {
			return false
		}
		a.steps[in.Step].chosen = in.Outcome.Chosen
		return true
	case Failed:
		return a.attemptEnds(in.Step, in.Attempt)
	case Fired:
		i := slices.Index(a.timers, in.Timer)
		if i < 0 {
			return false
		}
		a.timers = slices.Delete(a.timers, i, i+1)
		switch in.Timer.Kind {
		case RetryWait:
			a.steps[in.Timer.Step].retry = true
		case RunTimeout:
			a.timedOut = true
		}
		return true
	case Cancelled:
		fits := !a.cancelled && !a.timedOut
		a.cancelled = a.cancelled || fits
		return fits
	case OverBudget:
		fits := !a.overSpent
		a.overSpent = true
		return fits
	}
	return false
}

func (a *audit) attemptEnds(i, attempt int) bool {
	if i < 0 || i >= len(a.steps) || !a.steps[i].running || a.steps[i].attempt != attempt {
		return false
	}
	a.steps[i].running, a.steps[i].stopped = false, false
	a.running--
	return true
}

func (a *audit) event(e Event) {
	a.t.Helper()
	switch d := e.Data.(type) {
	case event.RunStarted, event.AttemptFailed:
		return
	case event.RunEnded:
		a.over = true
		return
	case event.StepStarted:
		if a.steps[e.Step].attempt != 0 {
			a.t.Fatalf("step %d starts twice", e.Step)
		}
		a.steps[e.Step].announce = true
	case event.AttemptStarted:
		if d.Attempt < 2 || a.steps[e.Step].attempt != d.Attempt-1 {
			a.t.Fatalf("step %d: %#v after attempt %d", e.Step, d, a.steps[e.Step].attempt)
		}
		a.steps[e.Step].announce = true
	case event.StepFinished:
		st := &a.steps[e.Step]
		if st.end != "" || st.attempt == 0 || st.running || d.Attempts != st.attempt {
			a.t.Fatalf("step %d ends as %#v, was %#v", e.Step, d, *st)
		}
		st.end, st.retry = d.Status, false
	case event.StepSkipped:
		a.skip(e.Step, d.Reason)
	default:
		a.t.Fatalf("unexpected event %#v", e)
	}
}

func (a *audit) skip(i int, reason string) {
	a.t.Helper()
	st := &a.steps[i]
	blockers := a.blockers(i)
	if st.end != "" || st.attempt > 0 || !a.dependenciesEnded(i) || len(blockers) == 0 || a.stopping() {
		a.t.Fatalf("step %d skipped (%s), was %#v", i, reason, *st)
	}
	close := slices.ContainsFunc(blockers, func(d int) bool { return a.steps[d].end != event.Skipped })
	named := slices.ContainsFunc(blockers, func(d int) bool {
		return strings.Contains(reason, strconv.Quote(a.def.Steps[d].ID))
	})
	if !named || close == strings.HasSuffix(reason, "was skipped") {
		a.t.Fatalf("step %d skipped for %q, blocked by %v", i, reason, blockers)
	}
	st.end = event.Skipped
}

func (a *audit) command(c Command) {
	a.t.Helper()
	switch c := c.(type) {
	case StartAttempt:
		a.start(c)
	case CancelAttempt:
		st := &a.steps[c.Step]
		if !st.running || st.stopped || st.attempt != c.Attempt || c.Reason == "" {
			a.t.Fatalf("%#v of %#v", c, *st)
		}
		st.stopped = true
	case SetTimer:
		if c.After < 0 || slices.Contains(a.timers, c.Timer) {
			a.t.Fatalf("%#v, set are %v", c, a.timers)
		}
		a.timers = append(a.timers, c.Timer)
	case ClearTimer:
		i := slices.Index(a.timers, c.Timer)
		if i < 0 {
			a.t.Fatalf("%#v, set are %v", c, a.timers)
		}
		a.timers = slices.Delete(a.timers, i, i+1)
	case Finish:
		a.finish(c)
	}
}

func (a *audit) start(c StartAttempt) {
	a.t.Helper()
	st, step := &a.steps[c.Step], &a.def.Steps[c.Step]
	limit := 1 + step.Retry.MaxRetries
	if step.Type == workflow.Router {
		limit = 1
	}
	switch {
	case st.running || st.end != "" || c.Attempt != st.attempt+1 || c.Attempt > limit || !st.announce:
		a.t.Fatalf("%#v of %#v", c, *st)
	case c.Attempt > 1 && !st.retry:
		a.t.Fatalf("%#v before its wait is over", c)
	case c.Attempt == 1 && (!a.open(c.Step) || len(a.blockers(c.Step)) > 0):
		a.t.Fatalf("%#v too early, or of a step to skip", c)
	case a.stopping():
		a.t.Fatalf("%#v in a run that is stopping", c)
	}
	st.attempt, st.running, st.retry, st.announce = c.Attempt, true, false, false
	if a.running++; a.running > a.def.Config.MaxConcurrentSteps {
		a.t.Fatalf("%d attempts at once", a.running)
	}
}

func (a *audit) finish(c Finish) {
	a.t.Helper()
	if !a.over || a.running > 0 || len(a.timers) > 0 {
		a.t.Fatalf("%#v with %d running, timers %v", c, a.running, a.timers)
	}
	want := event.Success
	for i, st := range a.steps {
		if st.attempt > 0 && st.end == "" || st.end == "" && !a.stopping() {
			a.t.Fatalf("the run ended before step %d: %#v", i, st)
		}
		if st.end == event.Failed || st.end == event.Timeout {
			want = event.Failed
		}
	}
	switch {
	case a.overSpent:
		want = event.BudgetExceeded
	case a.timedOut:
		want = event.Timeout
	case a.cancelled:
		want = event.Failed
	}
	if c.Status != want || (c.Error == "") != (want == event.Success) {
		a.t.Fatalf("%#v, want status %s", c, want)
	}
}

// settled checks that an input left nothing undone.
func (a *audit) settled() {
	a.t.Helper()
	if a.over {
		return
	}
	if a.stopping() {
		if a.running == 0 {
			a.t.Fatalf("a run that was stopped goes on with nothing running")
		}
		return
	}
	for i, st := range a.steps {
		fresh := st.attempt == 0 && st.end == ""
		if fresh && a.dependenciesEnded(i) && len(a.blockers(i)) > 0 {
			a.t.Fatalf("step %d should have been skipped", i)
		}
		if a.running < a.def.Config.MaxConcurrentSteps && (st.retry || fresh && a.open(i)) {
			a.t.Fatalf("step %d could run, and a slot is free", i)
		}
		if st.announce {
			a.t.Fatalf("step %d was announced and did not start", i)
		}
	}
}

// open reports whether a step's turn has come.
func (a *audit) open(i int) bool {
	if !a.dependenciesEnded(i) {
		return false
	}
	if a.def.Config.Scheduling == workflow.Eager {
		return true
	}
	for j := range a.steps {
		if a.steps[j].end == "" && a.steps[j].depth < a.steps[i].depth {
			return false
		}
	}
	return true
}

func (a *audit) dependenciesEnded(i int) bool {
	return !slices.ContainsFunc(a.steps[i].deps, func(d int) bool { return a.steps[d].end == "" })
}

// blockers are the dependencies that keep a step from running.
func (a *audit) blockers(i int) []int {
	return slices.DeleteFunc(slices.Clone(a.steps[i].deps), func(d int) bool {
		st := a.steps[d]
		switch {
		case st.end == event.Skipped:
			return false
		case a.def.Steps[d].Type == workflow.Router:
			return st.end == event.Success && st.chosen == a.def.Steps[i].ID
		}
		return st.end == event.Success || a.def.Config.OnStepFailure == workflow.Continue
	})
}

// replay checks that the same inputs give the same outputs, from the start and
// from where the run was cloned.
func (a *audit) replay() {
	a.t.Helper()
	fresh := New(a.plan)
	for i, in := range a.inputs {
		if got := outputs(fresh.Apply(in)); !cmp.Equal(got, a.outputs[i]) {
			a.t.Fatalf("input %d: replay differs:\n%s", i, cmp.Diff(a.outputs[i], got))
		}
		if a.clone != nil && i >= a.cloned {
			if got := outputs(a.clone.Apply(in)); !cmp.Equal(got, a.outputs[i]) {
				a.t.Fatalf("input %d: clone differs:\n%s", i, cmp.Diff(a.outputs[i], got))
			}
		}
	}
}
