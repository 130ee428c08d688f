// Package scheduler decides what happens next in a run, and nothing else: it
// maps a run's state and one input to commands and events. It reads no clock,
// no randomness, no map order and no context; drivers hand it time and jitter
// as inputs and carry out its commands. The local driver and any other drive
// the very same code, which is what makes a run the same everywhere.
package scheduler

import (
	"time"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// Input is something that happened outside.
type Input interface{ input() }

// Outcome is what a successful attempt left.
type Outcome struct {
	Result    any    // what steps.<id>.output shows
	HasResult bool   // false: steps gets no entry
	Write     any    // what the step's `output` key receives
	Chosen    string // routers: the chosen step's id
	// Conversation is what the step's conversation has come to; nil for none.
	Conversation *Conversation
	Report       event.Report
}

// Conversation is the history that steps of one conversation share.
type Conversation struct {
	Name     string
	Messages []model.Message
}

// Failure is why an attempt did not succeed.
type Failure struct {
	Kind       fault.Kind
	Message    string
	Status     int // HTTP status, 0 for none
	RetryAfter time.Duration
	Report     event.Report
	// Jitter is a number in [0, 1) that the driver drew; the scheduler spreads
	// the wait with it.
	Jitter float64
}

// The inputs.
type (
	// Start begins the run; it is the first input and comes once.
	Start struct{}
	// Succeeded is an attempt's success. Its state write has been made: a
	// write that can't be made is a Failed.
	Succeeded struct {
		Step, Attempt int
		Outcome       Outcome
	}
	// Failed is an attempt's end without success, also of one that was told to
	// stop by CancelAttempt.
	Failed struct {
		Step, Attempt int
		Failure       Failure
	}
	// Fired is a timer that ran out.
	Fired struct{ Timer Timer }
	// Cancelled is somebody stopping the run: no new steps, running ones are
	// cancelled, the run ends when they have ended.
	Cancelled struct{ Reason string }
	// OverBudget is the run's money being spent: like Cancelled, but running
	// attempts finish, and the run ends budget_exceeded.
	OverBudget struct{ Reason string }
)

func (Start) input()      {}
func (Succeeded) input()  {}
func (Failed) input()     {}
func (Fired) input()      {}
func (Cancelled) input()  {}
func (OverBudget) input() {}

// Timer names a timer; equal values name the same one.
type Timer struct {
	Kind    TimerKind
	Step    int // index into the plan; -1 for the run
	Attempt int // the attempt it limits, or the failed one before the wait; 0 for the run
}

// TimerKind says what a timer is for.
type TimerKind uint8

// The timers.
const (
	RunTimeout TimerKind = iota + 1
	AttemptTimeout
	RetryWait
)

// Command is something the driver must do.
type Command interface{ command() }

// The commands.
type (
	// StartAttempt runs one attempt of a step, from 1. The driver answers with
	// exactly one Succeeded or Failed for it.
	StartAttempt struct{ Step, Attempt int }
	// CancelAttempt stops a running attempt; its Failed (or, when it had just
	// finished, its Succeeded) still comes. Kind is what its failure is: Timeout
	// or Cancelled.
	CancelAttempt struct {
		Step, Attempt int
		Kind          fault.Kind
		Reason        string
	}
	// SetTimer asks for Fired after a while.
	SetTimer struct {
		Timer Timer
		After time.Duration
	}
	// ClearTimer takes a timer back; a Fired that was already on its way is
	// ignored.
	ClearTimer struct{ Timer Timer }
	// Finish ends the run; it is the last command.
	Finish struct {
		Status event.Status
		Error  string
	}
)

func (StartAttempt) command()  {}
func (CancelAttempt) command() {}
func (SetTimer) command()      {}
func (ClearTimer) command()    {}
func (Finish) command()        {}
