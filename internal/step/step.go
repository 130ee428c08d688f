// Package step holds what one attempt of a step does, a file for each kind of
// step. An attempt reads a snapshot of the state, may take long, and leaves an
// outcome or an error; when it starts, whether it is tried again and what its
// end means for other steps is the scheduler's business.
package step

import (
	"context"
	"fmt"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/template"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// Call is one attempt of one step.
type Call struct {
	Step    *workflow.Step
	Address string // the step's qualified id, such as "localize_es.review"
	RunID   string
	Attempt int // from 1
	State   state.State
	// Emit tells of something that happens in the attempt, at the call's
	// address followed by place ("" or "/turn[1]/call[0]"). It may be called
	// from any goroutine of the attempt.
	Emit func(place string, data event.Data)
}

// Kind runs the attempts of one type of step. Implementations are safe for
// concurrent use. An error carries a fault.Kind where it matters whether the
// attempt is retried; the outcome's Report counts even then.
type Kind interface {
	Run(ctx context.Context, call *Call) (scheduler.Outcome, error)
}

// Kinds are the step types that can run.
type Kinds map[workflow.StepType]Kind

// Selection is what a step says of who is to answer. Empty fields leave the
// choice to the workflow.
type Selection struct {
	Provider string
	Model    string
	// Warn is told what a person should know of the call although it went on;
	// may be nil.
	Warn func(message string)
}

// Models makes model calls for the steps of one run: it finds the provider,
// keeps the budget and counts the cost. The request's Model is filled in there.
type Models interface {
	// Complete makes one model call; see model.Provider.
	Complete(ctx context.Context, sel Selection, req *model.Request, stream func(model.Delta)) (*model.Response, error)
	// Embed makes one embedding call.
	Embed(ctx context.Context, sel Selection, req *model.EmbedRequest) (*model.EmbedResponse, error)
	// Within returns Models whose calls also keep a budget of their own, in US
	// dollars, together.
	Within(budgetUSD float64) Models
}

// Tape records the tool calls that models make, or replays recorded ones.
type Tape interface {
	// Replay returns what a recorded call returned, without running the tool.
	Replay(stepID, tool string, args *value.Map) (result any, failure string, found bool)
	// Record keeps a call's result, or its failure where that is not "".
	Record(stepID, tool string, args *value.Map, result any, failure string) error
}

// warn tells of something that a person should know and that stops nothing.
func (c *Call) warn(message string) { c.Emit("", event.Warning{Message: message}) }

// warnMissing tells of template fields that the state does not have. The
// field is named where a template's own place (tool_args.url) is not.
func (c *Call) warnMissing(field string, missing []template.Missing) {
	for _, m := range missing {
		where := m.Where
		if where == "" {
			where = field
		}
		c.Emit("", event.Warning{Message: fmt.Sprintf(
			"step %q: %s uses %s, which the state does not have; it prints as nothing", c.Step.ID, where, m.Field)})
	}
}
