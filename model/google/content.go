package google

import (
	"encoding/json"
	"strings"

	"google.golang.org/genai"

	"github.com/agentloom/agentloom/model"
)

// content is one turn on the wire.
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// part is a part of a turn. It differs from the SDK's in that an empty text is
// sent, and that arguments and signatures are sent as they are.
type part struct {
	Text             *string                 `json:"text,omitempty"`
	InlineData       *genai.Blob             `json:"inlineData,omitempty"`
	FileData         *genai.FileData         `json:"fileData,omitempty"`
	FunctionCall     *functionCall           `json:"functionCall,omitempty"`
	FunctionResponse *genai.FunctionResponse `json:"functionResponse,omitempty"`
	ThoughtSignature string                  `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// unsigned stands for the signature of a turn that another provider wrote. The
// service knows the word and takes the turn without.
const unsigned = "skip_thought_signature_validator"

// contents makes the wire's turns of the messages. Tool results that follow
// each other are one turn.
func (p *Provider) contents(messages []model.Message, k kind) ([]any, error) {
	var out []any
	var asked turn // the calls of the last assistant's message
	var results *content
	for _, m := range messages {
		if m.Role != model.ToolRole {
			results = nil
		}
		switch m.Role {
		case model.User:
			c, err := p.userContent(m)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		case model.Assistant:
			asked = p.assistantTurn(m, k)
			if asked.content != nil {
				out = append(out, asked.content)
			}
		case model.ToolRole:
			if results == nil {
				results = &content{Role: genai.RoleUser}
				out = append(out, results)
			}
			results.Parts = append(results.Parts, part{FunctionResponse: asked.result(m)})
		default:
			return nil, p.refuse("a message to %s has the unknown role %q", p.Name(), m.Role)
		}
	}
	return out, nil
}

func (p *Provider) userContent(m model.Message) (*content, error) {
	c := &content{Role: genai.RoleUser}
	for _, a := range m.Attachments {
		part, err := p.attachment(a)
		if err != nil {
			return nil, err
		}
		c.Parts = append(c.Parts, part)
	}
	if m.Text != "" || len(c.Parts) == 0 {
		c.Parts = append(c.Parts, part{Text: &m.Text})
	}
	return c, nil
}

// turn is an assistant's message on the wire.
type turn struct {
	content any                // nil when it says nothing
	calls   map[string]wireIDs // by the neutral id
}

// wireIDs is what the service knows a call by. It knows no id that was made up
// here for a turn that goes back as it came.
type wireIDs struct{ id, name string }

// assistantTurn repeats an assistant's message: as the service wrote it, where
// it did, else from the neutral fields.
func (p *Provider) assistantTurn(m model.Message, k kind) turn {
	t := turn{calls: make(map[string]wireIDs, len(m.ToolCalls))}
	if own, ok := p.nativeCalls(m); ok {
		t.content = m.Native.Data
		for i, c := range m.ToolCalls {
			ids := wireIDs{name: c.Name}
			if i < len(own) && own[i].ID == c.ID {
				ids.id = c.ID
			}
			t.calls[c.ID] = ids
		}
		return t
	}
	c := &content{Role: genai.RoleModel}
	if m.Text != "" {
		c.Parts = append(c.Parts, part{Text: &m.Text})
	}
	for i, call := range m.ToolCalls {
		t.calls[call.ID] = wireIDs{id: call.ID, name: call.Name}
		out := part{FunctionCall: &functionCall{ID: call.ID, Name: call.Name, Args: arguments(call.Arguments)}}
		if i == 0 && k.signed {
			out.ThoughtSignature = unsigned
		}
		c.Parts = append(c.Parts, out)
	}
	if len(c.Parts) > 0 {
		t.content = c
	}
	return t
}

// nativeCalls returns the calls of a turn that this provider made, and whether
// it made it.
func (p *Provider) nativeCalls(m model.Message) (calls []functionCall, ok bool) {
	if m.Native == nil || m.Native.Provider != p.Name() {
		return nil, false
	}
	var c content
	if json.Unmarshal(m.Native.Data, &c) != nil || len(c.Parts) == 0 {
		return nil, false
	}
	for _, part := range c.Parts {
		if part.FunctionCall != nil {
			calls = append(calls, *part.FunctionCall)
		}
	}
	return calls, true
}

// arguments returns what the model wrote when it is a JSON object, which is
// all that the service takes, and else an object that holds it.
func arguments(text string) json.RawMessage {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		return json.RawMessage("{}")
	case trimmed[0] == '{' && json.Valid([]byte(trimmed)):
		return json.RawMessage(trimmed)
	}
	b, err := json.Marshal(map[string]string{"arguments": text})
	if err != nil { // a map of strings can't fail
		return json.RawMessage("{}")
	}
	return b
}

// result is a tool's message on the wire.
func (t turn) result(m model.Message) *genai.FunctionResponse {
	ids, ok := t.calls[m.CallID]
	if !ok {
		ids = wireIDs{id: m.CallID}
	}
	if m.ToolName != "" {
		ids.name = m.ToolName
	}
	key := "result"
	if m.IsError {
		key = "error"
	}
	return &genai.FunctionResponse{ID: ids.id, Name: ids.name, Response: map[string]any{key: m.Text}}
}
