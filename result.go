package agentloom

import (
	"errors"
	"iter"
	"time"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
)

// Result is a run that ended. Its JSON form is the one of `agentloom run
// --json`.
type Result struct {
	WorkflowName string
	RunID        string
	Status       event.Status // Success, Failed, Timeout, BudgetExceeded or Paused
	// Error says why the run did not succeed; "" when it did.
	Error string
	// FinalState is the state when the run ended: first the keys it started
	// with, then those that steps wrote, in file order.
	FinalState *value.Map
	// Duration is from the run's start to its end.
	Duration time.Duration
	// TotalTokens adds up what the services reported, failed attempts too; nil
	// when none reported anything and there were model calls.
	TotalTokens *int64
	// TotalCostUSD is nil when the price of any of the calls is not known.
	TotalCostUSD *float64

	steps []StepResult // in file order, without those that never ran
	index map[string]int
}

// StepResult is what became of one step.
type StepResult struct {
	StepID string
	Type   string
	Status event.Status // Success, Failed, Skipped, Timeout or Paused
	// Output is what `steps.<id>.output` shows; nil when the step did not
	// succeed or returned nothing.
	Output any
	// Error is why it failed, or why it was skipped.
	Error    string
	Attempts int // 0 when it was skipped
	// Duration is from the first attempt's start to the last one's end, waits
	// between them included.
	Duration time.Duration
	// Usage and CostUSD add up over all attempts; nil when not known or when
	// the step called no model.
	Usage        *model.Usage
	CostUSD      *float64
	Model        string // the model that answered last; "" when none did
	Provider     string
	FinishReason string
	// Attachments counts what was sent beside the prompt; nil for steps that
	// can send none.
	Attachments *int
	// FirstToken is the time to the first piece of a streamed answer; 0 when
	// nothing was streamed.
	FirstToken time.Duration
	// Reasoning is the model's trace, when the step captures it.
	Reasoning string
}

// Err returns nil for a run that succeeded or paused, else an error with the
// run's own reason.
func (r *Result) Err() error {
	if r.Status == event.Success || r.Status == event.Paused {
		return nil
	}
	return errors.New(r.Error)
}

// Step returns the result of a step; ok is false for one that never ran.
func (r *Result) Step(id string) (res StepResult, ok bool) {
	i, ok := r.index[id]
	if !ok {
		return StepResult{}, false
	}
	return r.steps[i], true
}

// Steps ranges over the step results in file order.
func (r *Result) Steps() iter.Seq[StepResult] {
	return func(yield func(StepResult) bool) {
		for _, s := range r.steps {
			if !yield(s) {
				return
			}
		}
	}
}

// MarshalJSON writes the result as `agentloom run --json` does: durations in
// milliseconds, and null for what is not known.
func (r *Result) MarshalJSON() ([]byte, error) {
	steps := value.NewMap(len(r.steps))
	for i := range r.steps {
		steps.Put(r.steps[i].StepID, r.steps[i].document())
	}
	return value.EncodeJSON(value.MapOf(
		"workflow_name", r.WorkflowName,
		"run_id", r.RunID,
		"status", string(r.Status),
		"step_results", steps,
		"final_state", r.FinalState,
		"total_duration_ms", milliseconds(r.Duration),
		"total_tokens", optional(r.TotalTokens),
		"total_cost_usd", optional(r.TotalCostUSD),
		"error", text(r.Error),
		"annotations", nil,
	))
}

// MarshalJSON writes the step's part of the result.
func (s StepResult) MarshalJSON() ([]byte, error) { return value.EncodeJSON(s.document()) }

func (s *StepResult) document() *value.Map {
	var usage, duration, attachments, firstToken any
	if s.Attempts > 0 {
		duration = milliseconds(s.Duration)
	}
	if s.Attachments != nil {
		attachments = int64(*s.Attachments)
	}
	if s.FirstToken > 0 {
		firstToken = milliseconds(s.FirstToken)
	}
	if s.Usage != nil {
		usage = value.MapOf(
			"prompt_tokens", s.Usage.PromptTokens,
			"completion_tokens", s.Usage.CompletionTokens,
			"total_tokens", s.Usage.TotalTokens,
			"reasoning_tokens", s.Usage.ReasoningTokens,
		)
	}
	doc := value.MapOf(
		"step_id", s.StepID,
		"status", string(s.Status),
		"output", s.Output,
		"error", text(s.Error),
		"attempts", int64(s.Attempts),
		"duration_ms", duration,
		"token_usage", usage,
		"cost_usd", optional(s.CostUSD),
		"model", text(s.Model),
		"provider", text(s.Provider),
		"attachment_count", attachments,
		"time_to_first_token_ms", firstToken,
		"finish_reason", text(s.FinishReason),
	)
	if s.Reasoning != "" {
		doc.Put("reasoning", s.Reasoning)
	}
	return doc
}

func milliseconds(d time.Duration) any { return float64(d.Microseconds()) / 1000 }

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func optional[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
