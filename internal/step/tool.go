package step

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/template"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

// Tool runs a registered tool with arguments rendered from the state.
type Tool struct {
	Tools *tool.Registry // nil: no tool is registered
}

// Run renders the arguments and calls the tool.
func (t Tool) Run(ctx context.Context, call *Call) (scheduler.Outcome, error) {
	fields := call.Step.Tool
	found, err := t.find(ctx, fields.ToolName)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	args, err := renderArgs(call, fields.ToolArgs)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	ctx = tool.WithIdempotencyKey(ctx, call.RunID+"/"+call.Address)
	call.Emit("", event.ToolStarted{Tool: fields.ToolName})
	result, err := tool.Invoke(ctx, found, args)
	if err != nil {
		call.Emit("", event.ToolFinished{Tool: fields.ToolName, Error: err.Error()})
		return scheduler.Outcome{}, toolFailure(ctx, err)
	}
	call.Emit("", event.ToolFinished{Tool: fields.ToolName})
	return scheduler.Outcome{Result: result, HasResult: result != nil, Write: result}, nil
}

// toolFailure is what a tool's error means for its step: another attempt, be it
// a refusal of the sandbox, unless the tool itself says Permanent. A tool may
// hand on the error of a run or a service of its own, so a spent budget, a time
// limit or an HTTP status in it are not this step's.
func toolFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err // the run told it to stop
	}
	kind := fault.Transient
	if fault.KindOf(err) == fault.Permanent {
		kind = fault.Permanent
	}
	failure := fault.New(kind, err.Error(), err)
	if own, ok := errors.AsType[*fault.Error](err); ok {
		failure.RetryAfter = own.RetryAfter
	}
	return failure
}

// find looks the tool up. That no tool_name is given is retried and that it is
// not registered is not: the reference says so.
func (t Tool) find(ctx context.Context, name string) (tool.Tool, error) {
	if name == "" {
		return nil, fault.New(fault.Transient, "the step has no tool_name; name a registered tool", nil)
	}
	var names []string
	if t.Tools != nil {
		if found, ok, err := t.Tools.Find(ctx, name); ok || err != nil {
			return found, err
		}
		for _, other := range t.Tools.All() {
			names = append(names, other.Spec().Name)
		}
	}
	have := "no tool is"
	if len(names) > 0 {
		have = "registered are " + strings.Join(names, ", ")
	}
	return nil, fault.New(fault.Permanent, fmt.Sprintf("tool %q is not registered; %s", name, have), nil)
}

// renderArgs returns the tool's own copy of its arguments.
func renderArgs(call *Call, args *value.Map) (*value.Map, error) {
	if args == nil {
		return value.NewMap(0), nil
	}
	rendered, missing, err := template.RenderArgs("tool_args", args, call.State)
	call.warnMissing("tool_args", missing)
	if _, broken := errors.AsType[*template.Error](err); broken {
		return nil, fault.New(fault.Transient, err.Error(), err)
	}
	if err != nil {
		return nil, err
	}
	own, err := value.From(rendered) // the tool must not reach into the state
	if err != nil {
		return nil, fault.New(fault.Permanent, "tool_args: "+err.Error(), err)
	}
	return own.(*value.Map), nil
}
