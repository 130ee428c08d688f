package ollama

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
)

type chatRequest struct {
	Model    string     `json:"model"`
	Messages []message  `json:"messages"`
	Stream   bool       `json:"stream"`
	Tools    []toolSpec `json:"tools,omitempty"`
	Format   *value.Map `json:"format,omitempty"`
	Think    any        `json:"think,omitempty"` // true, false or a level
	Options  *options   `json:"options,omitempty"`
}

type options struct {
	Temperature *float64 `json:"temperature,omitempty"`
	NumPredict  *int64   `json:"num_predict,omitempty"`
}

type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	Images     [][]byte   `json:"images,omitempty"` // base64 on the wire
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type toolSpec struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Parameters  *value.Map `json:"parameters"`
}

type embedRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions *int64   `json:"dimensions,omitempty"`
}

// native is what a turn has beside its neutral fields.
type native struct {
	Thinking string `json:"thinking"`
}

// errorMark begins the result of a tool that failed and does not say so itself:
// Ollama has no field for that.
const errorMark = "Error: "

// request makes Ollama's request of ours.
func (p *Provider) request(req *model.Request, stream bool) (*chatRequest, error) {
	if req.Model == "" || len(req.Messages) == 0 {
		return nil, p.refuse("a call needs a model and at least one message")
	}
	out := &chatRequest{Model: req.Model, Stream: stream, Think: think(req)}
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
	if req.ToolChoice == nil || req.ToolChoice.Mode != model.NoTools {
		for _, t := range req.Tools {
			out.Tools = append(out.Tools, toolSpec{"function", toolFunction{t.Name, t.Description, t.Parameters}})
		}
	}
	if len(out.Tools) == 0 {
		out.Format = req.Schema
	}
	if req.Temperature != nil || req.MaxTokens != nil {
		out.Options = &options{Temperature: req.Temperature, NumPredict: req.MaxTokens}
	}
	return out, nil
}

// think is true, false, a level, or nil for the model's default.
func think(req *model.Request) any {
	t := req.Thinking
	switch {
	case t == nil:
		return nil
	case t.Enabled == nil && t.BudgetTokens == nil && t.Level == "":
		return nil
	case !t.On():
		return false
	case t.Level != "" && hasLevels(req.Model):
		return t.Level
	}
	return true
}

// hasLevels reports whether a model takes a level; Ollama refuses one for any
// other.
func hasLevels(name string) bool {
	base := name[strings.LastIndexByte(name, '/')+1:]
	return strings.HasPrefix(strings.ToLower(base), "gpt-oss")
}

func (p *Provider) message(m *model.Message) (message, error) {
	out := message{Role: string(m.Role), Content: m.Text}
	switch m.Role {
	case model.User:
		for i := range m.Attachments {
			data, err := p.image(&m.Attachments[i])
			if err != nil {
				return out, err
			}
			out.Images = append(out.Images, data)
		}
	case model.Assistant:
		for _, c := range m.ToolCalls {
			call := toolCall{ID: c.ID}
			call.Function.Name = c.Name
			call.Function.Arguments = object(c.Arguments)
			out.ToolCalls = append(out.ToolCalls, call)
		}
		if m.Native != nil && m.Native.Provider == p.Name() {
			var n native
			if json.Unmarshal(m.Native.Data, &n) == nil { // what is not ours says nothing
				out.Thinking = n.Thinking
			}
		}
	case model.ToolRole:
		out.ToolName, out.ToolCallID = m.ToolName, m.CallID
		if m.IsError && !strings.HasPrefix(strings.ToLower(m.Text), "error") {
			out.Content = errorMark + m.Text
		}
	default:
		return out, p.refuse("a message has the unknown role %q", m.Role)
	}
	return out, nil
}

// object is a call's arguments as Ollama takes them back, an object; of a text
// that is none, one that holds it, so that the model sees what it wrote.
func object(arguments string) json.RawMessage {
	text := strings.TrimSpace(cmp.Or(arguments, "{}"))
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	b, _ := json.Marshal(map[string]string{"invalid_arguments": arguments}) // texts always have a form
	return b
}

// image is an attachment's data, if it is one that Ollama takes.
func (p *Provider) image(a *model.Attachment) ([]byte, error) {
	types := []string{"image/png", "image/jpeg", "image/webp"}
	switch {
	case a.Type != model.Image:
		return nil, p.refuse("Ollama takes no %s attachments, only images", a.Type)
	case a.URL != "":
		return nil, p.refuse("Ollama fetches no image from a URL: set the attachment's `fetch: local`")
	case len(a.Data) == 0:
		return nil, p.refuse("an image attachment holds no data")
	case !slices.Contains(types, a.MediaType):
		return nil, p.refuse("Ollama takes images of the types %s, not %q", strings.Join(types, ", "), a.MediaType)
	}
	return a.Data, nil
}
