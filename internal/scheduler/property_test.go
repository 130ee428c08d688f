package scheduler

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
)

// picker draws a number in [0, n).
type picker func(n int) int

func (p picker) oneIn(n int) bool { return p(n) == n-1 }

func TestRunsKeepThePromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		simulate(t, pick, 60)
	})
}

func FuzzApply(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("a workflow and what happens to it"))
	f.Add([]byte{9, 1, 1, 3, 3, 0, 2, 1, 0, 3, 1, 2, 3, 0, 0, 1, 0, 0, 0, 7, 3, 1, 6, 2, 4, 5, 8, 8, 9, 1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1024 {
			return
		}
		pick := func(n int) int {
			if len(data) == 0 {
				return 0
			}
			b := int(data[0])
			data = data[1:]
			return b % n
		}
		simulate(t, pick, len(data))
	})
}

// simulate runs a made-up workflow through made-up inputs, as many as events,
// then answers what is open until the run ends.
func simulate(t failer, pick picker, events int) {
	t.Helper()
	def := makeDefinition(pick)
	a := newAudit(t, def)
	if pick.oneIn(10) {
		a.apply(makeNoise(a, pick)) // before the start
	}
	a.apply(Start{})
	for i := 0; i < events && !a.over; i++ {
		if a.clone == nil && pick.oneIn(10) {
			a.clone, a.cloned = a.s.Clone(), len(a.inputs)
		}
		a.apply(makeInput(a, pick))
	}
	// Each round ends an attempt or a wait, and there are only so many.
	for rounds := 0; !a.over; rounds++ {
		if rounds > 10*len(def.Steps) {
			t.Fatalf("the run does not end")
		}
		if in, ok := answer(a, pick); ok {
			a.apply(in)
		} else if in, ok := endWait(a); ok {
			a.apply(in)
		} else {
			t.Fatalf("nothing runs, nothing waits, and the run does not end")
		}
	}
	a.apply(makeNoise(a, pick)) // after the end
	a.replay()
}

// makeDefinition makes a workflow whose file order is no order of
// dependencies.
func makeDefinition(pick picker) *workflow.Definition {
	n := 1 + pick(14)
	def := &workflow.Definition{Name: "made", Config: workflow.DefaultConfig(), Steps: make([]workflow.Step, n)}
	def.Config.MaxConcurrentSteps = 1 + pick(4)
	if pick.oneIn(2) {
		def.Config.Scheduling = workflow.Eager
	}
	if pick.oneIn(2) {
		def.Config.OnStepFailure = workflow.Continue
	}
	if pick.oneIn(3) {
		runLimit(60)(&def.Config)
	}
	// A step's place in the file is its rank, turned and perhaps mirrored.
	turn, mirror := pick(n), pick.oneIn(2)
	place := func(rank int) int {
		if mirror {
			rank = n - 1 - rank
		}
		return (rank + turn) % n
	}
	for rank := range n {
		s := step(fmt.Sprint("s", rank))
		for before := max(0, rank-6); before < rank; before++ {
			if pick.oneIn(4) {
				s.DependsOn = append(s.DependsOn, fmt.Sprint("s", before))
			}
		}
		if pick.oneIn(4) {
			s.Type, s.Router = workflow.Router, &workflow.RouterFields{}
		}
		s.Retry = workflow.DefaultRetry(pick(3))
		if pick.oneIn(4) {
			s = limited(s, 3)
		}
		def.Steps[place(rank)] = s
	}
	return def
}

func makeInput(a *audit, pick picker) Input {
	switch pick(12) {
	case 0:
		return makeNoise(a, pick)
	case 1, 2, 3:
		if len(a.timers) > 0 {
			return Fired{Timer: a.timers[pick(len(a.timers))]}
		}
	case 4:
		if pick.oneIn(6) {
			return Cancelled{Reason: "enough"}
		}
	case 5:
		if pick.oneIn(6) {
			return OverBudget{Reason: "spent"}
		}
	}
	if in, ok := answer(a, pick); ok {
		return in
	}
	if in, ok := endWait(a); ok {
		return in
	}
	return makeNoise(a, pick)
}

// answer ends one of the running attempts, when there is one.
func answer(a *audit, pick picker) (Input, bool) {
	if a.running == 0 {
		return nil, false
	}
	nth := pick(a.running)
	for i, st := range a.steps {
		if !st.running {
			continue
		}
		if nth == 0 {
			return makeEnd(a, pick, i, st.attempt), true
		}
		nth--
	}
	return nil, false
}

func makeEnd(a *audit, pick picker, step, attempt int) Input {
	if !pick.oneIn(3) {
		return Succeeded{Step: step, Attempt: attempt, Outcome: Outcome{
			Result: "x", HasResult: true, Chosen: fmt.Sprint("s", pick(len(a.steps))),
		}}
	}
	return Failed{Step: step, Attempt: attempt, Failure: Failure{
		Kind:       fault.Kind(pick(9)),
		Message:    []string{"boom", ""}[pick(2)],
		Status:     []int{0, 0, 404, 503}[pick(4)],
		RetryAfter: time.Duration(pick(100)) * time.Second,
		Jitter:     float64(pick(8)) / 8,
	}}
}

func endWait(a *audit) (Input, bool) {
	for _, timer := range a.timers {
		if timer.Kind == RetryWait {
			return Fired{Timer: timer}, true
		}
	}
	return nil, false
}

// makeNoise makes any input, one that fits now and then.
func makeNoise(a *audit, pick picker) Input {
	step, attempt := pick(len(a.steps)+2)-1, pick(5)-1
	switch pick(8) {
	case 0:
		return nil
	case 1:
		return Cancelled{}
	case 2:
		return OverBudget{}
	case 3:
		return makeEnd(a, pick, step, attempt)
	case 4:
		if a.begun {
			return Start{}
		}
	case 5:
		return &Fired{} // a pointer is an input too, by its type
	}
	return Fired{Timer: Timer{Kind: TimerKind(pick(5)), Step: step, Attempt: attempt}}
}
