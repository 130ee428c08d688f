package anthropic

import (
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
)

// temperatureVersion is the last version of the API that knows a temperature;
// the later one refuses every request that has one.
const temperatureVersion = "2023-06-01"

// call is a request in the SDK's form.
type call struct {
	params  sdk.MessageNewParams
	options []option.RequestOption
	leftOut []string // what the model could not be asked for
}

// newCall makes the SDK's request of ours.
func (p *Provider) newCall(req *model.Request) (*call, error) {
	if req.Model == "" || len(req.Messages) == 0 {
		return nil, p.permanent("a call to %s needs a model and at least one message", p.Name())
	}
	t := traitsOf(req.Model)
	c := &call{params: sdk.MessageNewParams{Model: req.Model, MaxTokens: t.maxTokens}}
	if req.MaxTokens != nil {
		c.params.MaxTokens = *req.MaxTokens
	}
	if req.System != "" {
		c.params.System = []sdk.TextBlockParam{{Text: req.System}}
	}
	var err error
	if c.params.Messages, err = p.messageParams(req.Messages); err != nil {
		return nil, err
	}
	if err := p.addTools(c, req); err != nil {
		return nil, err
	}
	c.think(req, t)
	c.addTemperature(req, t)
	if req.Schema != nil && t.schema {
		if schema, ok := nativeSchema(req.Schema); ok {
			c.params.OutputConfig.Format = schema
		}
	}
	return c, nil
}

func (p *Provider) permanent(format string, args ...any) error {
	return fault.New(fault.Permanent, fmt.Sprintf(format, args...), nil)
}

func (c *call) addTemperature(req *model.Request, t traits) {
	switch {
	case req.Temperature == nil:
	case !t.temperature || c.params.Thinking.OfEnabled != nil || c.params.Thinking.OfAdaptive != nil:
		c.leftOut = append(c.leftOut, "temperature")
	default:
		c.params.SetExtraFields(map[string]any{"temperature": *req.Temperature})
		c.options = append(c.options, option.WithHeader("anthropic-version", temperatureVersion))
	}
}

func (p *Provider) addTools(c *call, req *model.Request) error {
	for _, t := range req.Tools {
		schema, err := inputSchema(t.Parameters)
		if err != nil {
			return p.permanent("the parameters of tool %q can't be sent to %s: %v", t.Name, p.Name(), err)
		}
		tool := &sdk.ToolParam{Name: t.Name, InputSchema: schema}
		if t.Description != "" {
			tool.Description = sdk.String(t.Description)
		}
		c.params.Tools = append(c.params.Tools, sdk.ToolUnionParam{OfTool: tool})
	}
	if len(req.Tools) == 0 {
		return c.addUsedTools(req)
	}
	if req.ToolChoice == nil {
		return nil
	}
	choice := &c.params.ToolChoice
	switch req.ToolChoice.Mode {
	case model.AutoTools:
		choice.OfAuto = &sdk.ToolChoiceAutoParam{}
	case model.RequireTools:
		choice.OfAny = &sdk.ToolChoiceAnyParam{}
	case model.NoTools:
		choice.OfNone = &sdk.ToolChoiceNoneParam{}
	case model.NamedTool:
		choice.OfTool = &sdk.ToolChoiceToolParam{Name: req.ToolChoice.Name}
	default:
		return p.permanent("a call to %s has the unknown tool choice %q", p.Name(), req.ToolChoice.Mode)
	}
	return nil
}

// addUsedTools declares the tools that the conversation has used when the
// request has none: the service refuses calls and results of tools that it was
// not told of. The model may not call them again.
func (c *call) addUsedTools(req *model.Request) error {
	seen := map[string]bool{}
	for _, m := range req.Messages {
		for _, t := range m.ToolCalls {
			name := identifier(t.Name)
			if m.Role != model.Assistant || seen[name] {
				continue
			}
			seen[name] = true
			schema, err := inputSchema(nil)
			if err != nil {
				return err
			}
			c.params.Tools = append(c.params.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{Name: name, InputSchema: schema}})
			c.params.ToolChoice.OfNone = &sdk.ToolChoiceNoneParam{}
		}
	}
	return nil
}

// inputSchema sends a tool's schema as it is, its keys in their order. The
// service demands the type that an object schema may leave out.
func inputSchema(parameters *value.Map) (sdk.ToolInputSchemaParam, error) {
	if parameters == nil {
		parameters = value.NewMap(1)
	}
	if _, ok := parameters.Get("type"); !ok {
		parameters = parameters.With("type", "object")
	}
	raw, err := parameters.MarshalJSON()
	if err != nil {
		return sdk.ToolInputSchemaParam{}, err
	}
	return param.Override[sdk.ToolInputSchemaParam](json.RawMessage(raw)), nil
}

// forced reports whether the model must call a tool.
func forced(req *model.Request) bool {
	if len(req.Tools) == 0 || req.ToolChoice == nil {
		return false
	}
	return req.ToolChoice.Mode == model.RequireTools || req.ToolChoice.Mode == model.NamedTool
}
