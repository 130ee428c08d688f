package scheduler

import (
	"slices"

	"github.com/agentloom/agentloom/event"
)

// State is how far one run has come. Its owner alone may touch it, from one
// goroutine at a time.
type State struct {
	plan    *Plan
	steps   []stepState
	ready   queue // what may start: a retry as its index, a new step as Len + its index
	running int   // attempts that have started and not ended
	ended   int   // steps that have ended

	layer     int   // the first layer with steps that have not ended; it may start
	layerLeft []int // by layer: its steps that have not ended

	life     life
	runTimer bool // the run's timer is set
	stop     stop
	failures failures

	commands []Command // of the Apply under way
	events   []Event
}

// life is where a run stands as a whole.
type life uint8

const (
	unstarted life = iota
	going
	closing // no attempt starts any more; the run ends with the last running one
	over
)

// stepState is how far one step has come.
type stepState struct {
	phase   phase
	stopped stopCause // why the running attempt was told to stop
	unmet   int       // dependencies that have not ended
	attempt int       // the last one started, from 1; 0 before the first
	chosen  string    // of a router that succeeded: the chosen step's id
	// Of a step between two attempts: how the last one ended.
	lastStatus event.Status
	lastError  string
}

// phase is what a step is doing.
type phase uint8

const (
	pending   phase = iota // its dependencies have not all ended
	held                   // they have; its layer's turn has not come
	ready                  // in the queue, for its first attempt or another
	running                // an attempt is running
	waiting                // between two attempts: its retry's timer is set
	succeeded              // this and the following are ends
	failed
	timedOut
	skipped
)

// Event is something that happened, without what the driver knows better: its
// number, time, run and address.
type Event struct {
	Step int // index into the plan; -1 for the run
	Data event.Data
}

// New returns the state of a run that has not started.
func New(plan *Plan) *State {
	s := &State{plan: plan, steps: make([]stepState, plan.Len())}
	for i := range s.steps {
		s.steps[i].unmet = len(plan.steps[i].deps)
	}
	s.layerLeft = make([]int, len(plan.layers))
	for l, steps := range plan.layers {
		s.layerLeft[l] = len(steps)
	}
	return s
}

// Clone returns a copy that shares nothing changeable with s.
func (s *State) Clone() *State {
	c := *s
	c.steps = slices.Clone(s.steps)
	c.ready = slices.Clone(s.ready)
	c.layerLeft = slices.Clone(s.layerLeft)
	c.failures.first = slices.Clone(s.failures.first)
	return &c
}

// Apply takes one input and returns what the driver must do and what has
// happened, both in order. It changes s and depends on nothing but s and the
// input: two equal states that get the same inputs return the same. The
// returned slices are the caller's.
//
// An input that does not fit the state is ignored: anything before Start or
// after Finish, a second Start or Cancelled, the end of an attempt that is not
// running, a timer that was cleared. Apply never panics on one.
//
// When one thing is the cause of another, it must come first: OverBudget before
// the end of the attempt that spent the money, which may be the run's last, and
// Cancelled before the failures of the attempts that it stopped.
//
// The first Start gives RunStarted, the last input RunEnded and, as its last
// command, Finish; that comes once every attempt that started has ended. What
// an input costs is in proportion to what it changes, except that stopping a
// run looks at every step once.
func (s *State) Apply(in Input) ([]Command, []Event) {
	if _, ok := in.(Start); ok && s.life == unstarted {
		s.start()
	} else if s.life == going || s.life == closing {
		s.dispatch(in)
	}
	commands, events := s.commands, s.events
	s.commands, s.events = nil, nil
	return commands, events
}

// dispatch applies an input to a run that is under way.
func (s *State) dispatch(in Input) {
	switch in := in.(type) {
	case Succeeded:
		s.attemptSucceeded(in)
	case Failed:
		s.attemptFailed(in)
	case Fired:
		s.fired(in.Timer)
	case Cancelled:
		s.cancel(in.Reason)
	case OverBudget:
		s.overBudget(in.Reason)
	}
	s.advance()
}

func (s *State) start() {
	s.life = going
	s.emit(-1, event.RunStarted{Workflow: s.plan.name, Steps: s.plan.Len()})
	if s.plan.timeout > 0 {
		s.runTimer = true
		s.do(SetTimer{Timer: runTimer(), After: s.plan.timeout})
	}
	for i := range s.steps {
		if s.steps[i].unmet == 0 {
			s.push(i)
		}
	}
	s.advance()
}

// advance starts what may start and ends the run when nothing is left to do.
func (s *State) advance() {
	for s.life == going && s.running < s.plan.maxParallel && len(s.ready) > 0 {
		next := s.ready.pop()
		if next >= s.plan.Len() {
			next -= s.plan.Len()
		}
		s.startAttempt(next)
	}
	allEnded := s.ended == s.plan.Len()
	if allEnded || s.life == closing && s.running == 0 {
		s.finish()
	}
}

// push queues a step: retries before new steps, each in file order.
func (s *State) push(i int) {
	s.steps[i].phase = ready
	if s.steps[i].attempt == 0 {
		i += s.plan.Len()
	}
	s.ready.push(i)
}

// at returns a step's state, or nil when the index is no step's.
func (s *State) at(i int) *stepState {
	if i < 0 || i >= len(s.steps) {
		return nil
	}
	return &s.steps[i]
}

func (s *State) do(c Command) { s.commands = append(s.commands, c) }

func (s *State) emit(step int, data event.Data) {
	s.events = append(s.events, Event{Step: step, Data: data})
}
