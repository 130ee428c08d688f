// Package event is what happened in a run: one ordered stream of facts, each
// with a stable address. The result, the log lines and whatever else wants to
// know are folds over this stream.
package event

import (
	"time"

	"github.com/agentloom/agentloom/model"
)

// Status is how a step or a run ended.
type Status string

// The statuses of steps and runs. Skipped is a step's only, BudgetExceeded a
// run's only.
const (
	Success        Status = "success"
	Failed         Status = "failed"
	Skipped        Status = "skipped"
	Timeout        Status = "timeout"
	Paused         Status = "paused"
	BudgetExceeded Status = "budget_exceeded"
)

// Event is one thing that happened.
type Event struct {
	Seq   int64 // position in the run, from 1
	Time  time.Time
	RunID string
	// Address is where it happened: "" for the run, a step's qualified id
	// ("draft", "localize_es.review"), or a place in a step
	// ("ask/turn[2]/call[0]").
	Address string
	Data    Data
}

// Data is what happened; one of the types of this package whose name says what.
type Data interface{ kind() string }

// Kind returns the event's name in snake case, such as "step_started".
func (e Event) Kind() string { return e.Data.kind() }

// Observer is told of every event, in order, from one goroutine at a time. It
// must not block for long: the run waits for it.
type Observer interface{ Observe(Event) }

// ObserverFunc makes an Observer of a function.
type ObserverFunc func(Event)

// Observe calls f.
func (f ObserverFunc) Observe(e Event) { f(e) }

// Report is what an attempt says of itself beside its output. Absent values are
// nil or empty.
type Report struct {
	Model        string
	Provider     string
	Usage        *model.Usage
	CostUSD      *float64
	FinishReason string
	// Unpriced says that some of the tokens have no known price, so that
	// CostUSD is only a part.
	Unpriced bool
	// FirstToken is the time to the first piece of a stream; 0: no stream.
	FirstToken time.Duration
	// Attachments counts what was sent beside the prompt; nil for steps that
	// can send none.
	Attachments *int
	// Reasoning is the model's trace, when the step captures it.
	Reasoning string
}

type (
	// RunStarted opens a run.
	RunStarted struct {
		Workflow string
		Steps    int
	}
	// StepStarted is the first attempt's start; later ones are AttemptStarted.
	StepStarted struct{ Type string }
	// AttemptStarted is the start of attempt Attempt, from 2.
	AttemptStarted struct{ Attempt int }
	// AttemptFailed is an attempt that ended without success and is retried:
	// the step's last failure is its StepFinished.
	AttemptFailed struct {
		Attempt int
		Status  Status // Failed or Timeout
		Error   string
		RetryIn time.Duration // the wait before the next attempt
		Report  Report
	}
	// TextDelta is a piece of a streamed answer.
	TextDelta struct{ Text string }
	// ModelTurn is a model call of a step that may make several, from 1.
	ModelTurn struct {
		Turn         int
		Message      model.Message
		Model        string
		Provider     string
		Usage        *model.Usage
		CostUSD      *float64
		FinishReason string
	}
	// ToolStarted is a tool call's start. Arguments is the JSON that a model
	// wrote, "" for a tool step.
	ToolStarted struct{ Tool, Arguments string }
	// ToolFinished is its end; Error is "" on success. Result is what the
	// model is told, "" for a tool step.
	ToolFinished struct{ Tool, Result, Error string }
	// StepFinished is a step's end, as success, failure or timeout.
	StepFinished struct {
		Status   Status
		Output   any  // what steps.<id>.output shows
		HasEntry bool // whether steps has an entry for the step
		Error    string
		Attempts int
		Report   Report // the last attempt's
		// Write and Path are the state change: Write at the dotted Path; no
		// change when Path is "".
		Path  string
		Write any
	}
	// StepSkipped is a step that never runs, with the closest cause.
	StepSkipped struct{ Reason string }
	// Warning is something a person should know that stopped nothing.
	Warning struct{ Message string }
	// RunEnded closes a run.
	RunEnded struct {
		Status Status
		Error  string
	}
)

func (RunStarted) kind() string     { return "run_started" }
func (StepStarted) kind() string    { return "step_started" }
func (AttemptStarted) kind() string { return "attempt_started" }
func (AttemptFailed) kind() string  { return "attempt_failed" }
func (TextDelta) kind() string      { return "text_delta" }
func (ModelTurn) kind() string      { return "model_turn" }
func (ToolStarted) kind() string    { return "tool_started" }
func (ToolFinished) kind() string   { return "tool_finished" }
func (StepFinished) kind() string   { return "step_finished" }
func (StepSkipped) kind() string    { return "step_skipped" }
func (Warning) kind() string        { return "warning" }
func (RunEnded) kind() string       { return "run_ended" }
