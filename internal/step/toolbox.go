package step

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	text, err := b.result(ctx, call, place, c)
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

func (b *toolbox) result(ctx context.Context, call *Call, place string, c model.ToolCall) (string, error) {
	args, err := arguments(c.Arguments)
	if err != nil {
		return "", err
	}
	found, err := b.find(ctx, c.Name)
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
	ctx = tool.WithIdempotencyKey(ctx, callKey(call, place, c))
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
			call.warn(fmt.Sprintf("tool call of %q not recorded: %v", c.Name, rec))
		}
	}
	if err != nil {
		return "", err
	}
	return resultText(v)
}

// callKey is the idempotency key of a model's call: the same in each attempt of
// the step in which the model asks for the same thing at the same place. The
// service's own id is no part of it: it is another in each attempt, and some
// services give one id to several calls.
func callKey(call *Call, place string, c model.ToolCall) string {
	sum := sha256.Sum256([]byte(c.Name + "\x00" + c.Arguments))
	return call.RunID + "/" + call.Address + place + "/" + hex.EncodeToString(sum[:8])
}

// find looks a tool up among those that were sent to the model: one that the
// step did not declare is unknown, whether registered or not.
func (b *toolbox) find(ctx context.Context, name string) (tool.Tool, error) {
	var names []string
	for _, s := range b.specs {
		if s.Name == name {
			if t, ok, err := b.registry.Find(ctx, name); ok || err != nil {
				return t, err
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
