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
	found, err := t.find(fields.ToolName)
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
		return scheduler.Outcome{}, err
	}
	call.Emit("", event.ToolFinished{Tool: fields.ToolName})
	return scheduler.Outcome{Result: result, HasResult: result != nil, Write: result}, nil
}

// find looks the tool up. That no tool_name is given is retried and that it is
// not registered is not: the reference says so.
func (t Tool) find(name string) (tool.Tool, error) {
	if name == "" {
		return nil, fault.New(fault.Transient, "the step has no tool_name; name a registered tool", nil)
	}
	var names []string
	if t.Tools != nil {
		if found, ok := t.Tools.Get(name); ok {
			return found, nil
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

func renderArgs(call *Call, args *value.Map) (*value.Map, error) {
	if args == nil {
		return value.NewMap(0), nil
	}
	rendered, missing, err := template.RenderArgs("tool_args", args, call.State)
	call.warnMissing("tool_args", missing)
	if _, broken := errors.AsType[*template.Error](err); broken {
		return nil, fault.New(fault.Transient, err.Error(), err)
	}
	return rendered, err
}
