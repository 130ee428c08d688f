package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

// toolbox is what one step's model may call.
type toolbox struct {
	registry *tool.Registry
	specs    []model.ToolSpec
	tape     Tape // nil: nothing is recorded or replayed
}

// anyObject is the schema of a tool that declares no parameters.
func anyObject() *value.Map {
	return value.MapOf("type", "object", "properties", value.NewMap(0))
}

// run runs one tool call of a model. Whatever goes wrong is a result that the
// model sees: an unknown tool, arguments that are no JSON, the tool's error.
func (b *toolbox) run(ctx context.Context, call *Call, place string, c model.ToolCall) model.Message {
	call.Emit(place, event.ToolStarted{Tool: c.Name, Arguments: c.Arguments})
	text, err := b.result(ctx, call, c)
	if err != nil {
		text = err.Error() // adapters say that it is an error
	}
	msg := toolMessage(c, text, err != nil)
	done := event.ToolFinished{Tool: c.Name, Result: text}
	if err != nil {
		done.Error = err.Error()
	}
	call.Emit(place, done)
	return msg
}

func toolMessage(c model.ToolCall, text string, failed bool) model.Message {
	return model.Message{Role: model.ToolRole, CallID: c.ID, ToolName: c.Name, Text: text, IsError: failed}
}

func (b *toolbox) result(ctx context.Context, call *Call, c model.ToolCall) (string, error) {
	args, err := arguments(c.Arguments)
	if err != nil {
		return "", err
	}
	found, err := b.find(c.Name)
	if err != nil {
		return "", err
	}
	if b.tape != nil {
		if v, failure, ok := b.tape.Replay(call.Address, c.Name, args); ok {
			if failure != "" {
				return "", errors.New(failure)
			}
			return resultText(v)
		}
	}
	ctx = tool.WithIdempotencyKey(ctx, call.RunID+"/"+call.Address+"/"+c.ID)
	own, err := arguments(c.Arguments) // the tool may keep and change them
	if err != nil {
		return "", err
	}
	v, err := tool.Invoke(ctx, found, own)
	if b.tape != nil && ctx.Err() == nil {
		failure := ""
		if err != nil {
			failure = err.Error()
		}
		if rec := b.tape.Record(call.Address, c.Name, args, v, failure); rec != nil {
			call.Emit("", event.Warning{Message: fmt.Sprintf("tool call of %q not recorded: %v", c.Name, rec)})
		}
	}
	if err != nil {
		return "", err
	}
	return resultText(v)
}

// find looks a tool up among those that were sent to the model: one that the
// step did not declare is unknown, whether registered or not.
func (b *toolbox) find(name string) (tool.Tool, error) {
	var names []string
	for _, s := range b.specs {
		if s.Name == name {
			if t, ok := b.registry.Get(name); ok {
				return t, nil
			}
			return nil, fmt.Errorf("tool %q is declared but not registered", name)
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("there is no tool %q; the tools are: %s", name, strings.Join(names, ", "))
}

// arguments reads what the model wrote.
func arguments(text string) (*value.Map, error) {
	if strings.TrimSpace(text) == "" {
		return value.NewMap(0), nil
	}
	v, err := value.DecodeJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the arguments are no JSON: %w", err)
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, errors.New("the arguments must be a JSON object")
	}
	return m, nil
}

// resultText is what the model sees of a tool's result: a string as it is,
// anything else as JSON.
func resultText(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	b, err := value.EncodeJSON(v)
	return string(b), err
}

// nativeCopy is a value as encoding/json would have decoded it, numbers and
// all, which is what schema validation wants to see.
func nativeCopy(v any) (any, error) {
	b, err := value.EncodeJSON(v)
	if err != nil {
		return nil, err
	}
	var out any
	return out, json.Unmarshal(b, &out)
}
