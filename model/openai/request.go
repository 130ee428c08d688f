package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
)

// request makes the service's request of ours.
func (p *Provider) request(req *model.Request) (*request, error) {
	if req.Model == "" || len(req.Messages) == 0 {
		return nil, fault.New(fault.Permanent, fmt.Sprintf("a call to %s needs a model and at least one message", p.Name()), nil)
	}
	out := &request{Model: req.Model, Messages: make([]message, 0, 1+len(req.Messages)), Temperature: req.Temperature}
	if req.System != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: req.System})
	}
	for i := range req.Messages {
		m, err := p.message(&req.Messages[i])
		if err != nil {
			return nil, err
		}
		out.Messages = append(out.Messages, m)
	}
	// OpenAI has given up max_tokens, and its newer models refuse it. Other
	// services all know it, and not all the newer name.
	if p.openAI {
		out.MaxCompletionTokens = req.MaxTokens
	} else {
		out.MaxTokens = req.MaxTokens
	}
	if len(req.Tools) > 0 {
		out.Tools = tools(req.Tools)
		out.ToolChoice = toolChoice(req.ToolChoice)
	}
	p.think(out, req.Thinking)
	p.format(out, req.Schema)
	return out, nil
}

func (p *Provider) message(m *model.Message) (message, error) {
	switch m.Role {
	case model.User:
		if len(m.Attachments) == 0 {
			return message{Role: "user", Content: m.Text}, nil
		}
		parts, err := p.parts(m)
		return message{Role: "user", Content: parts}, err
	case model.Assistant:
		return p.turn(m), nil
	case model.ToolRole:
		text := m.Text
		if m.IsError && !strings.HasPrefix(strings.ToLower(text), "error") {
			text = "Error: " + text // there is no field that says so
		}
		return message{Role: "tool", Content: text, ToolCallID: &m.CallID}, nil
	}
	return message{}, fault.New(fault.Permanent, fmt.Sprintf("a message to %s has the unknown role %q", p.Name(), m.Role), nil)
}

// turn makes a message of the model's own.
func (p *Provider) turn(m *model.Message) message {
	out := message{Role: "assistant", Content: m.Text}
	if len(m.ToolCalls) == 0 {
		return out
	}
	if m.Text == "" {
		out.Content = nil
	}
	out.ToolCalls = make([]sentCall, len(m.ToolCalls))
	for i, c := range m.ToolCalls {
		out.ToolCalls[i] = sentCall{ID: c.ID, Type: "function", Function: sentFunction{c.Name, p.arguments(c.Arguments)}}
	}
	out.ownFields = p.toSend(m.Native)
	return out
}

// arguments is a call's arguments as the service takes them. OpenAI takes back
// whatever its model wrote; others parse it, and fail when it is no object.
func (p *Provider) arguments(raw string) string {
	if raw == "" {
		return "{}"
	}
	if object := map[string]json.RawMessage(nil); p.openAI || json.Unmarshal([]byte(raw), &object) == nil && object != nil {
		return raw
	}
	wrapped, err := json.Marshal(map[string]string{"invalid_arguments": raw})
	if err != nil { // a string has a JSON form
		return "{}"
	}
	return string(wrapped)
}

func tools(specs []model.ToolSpec) []toolSpec {
	out := make([]toolSpec, len(specs))
	for i, s := range specs {
		f := functionSpec{Name: s.Name, Description: s.Description, Parameters: s.Parameters}
		if f.Parameters == nil {
			f.Parameters = value.MapOf("type", "object", "properties", value.NewMap(0))
		}
		out[i] = toolSpec{Type: "function", Function: f}
	}
	return out
}

// toolChoice is nil, a word or a tool's name in its form.
func toolChoice(c *model.ToolChoice) any {
	switch {
	case c == nil || c.Mode == "":
		return nil
	case c.Mode == model.NamedTool:
		return namedTool{Type: "function", Function: functionName{c.Name}}
	}
	return string(c.Mode) // the service's words are the same
}
