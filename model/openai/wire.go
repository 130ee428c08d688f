package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// params makes the SDK's request of ours.
func (p *Provider) params(req *model.Request) (sdk.ChatCompletionNewParams, error) {
	out := sdk.ChatCompletionNewParams{Model: req.Model}
	if req.Model == "" || len(req.Messages) == 0 {
		return out, fault.New(fault.Permanent, fmt.Sprintf("a call to %s needs a model and at least one message", p.Name()), nil)
	}
	if req.System != "" {
		out.Messages = append(out.Messages, sdk.SystemMessage(req.System))
	}
	for _, m := range req.Messages {
		switch m.Role {
		case model.User:
			out.Messages = append(out.Messages, sdk.UserMessage(m.Text))
		case model.Assistant:
			out.Messages = append(out.Messages, sdk.AssistantMessage(m.Text))
		default:
			return out, fault.New(fault.Permanent, fmt.Sprintf("a message to %s has the unknown role %q", p.Name(), m.Role), nil)
		}
	}
	if req.Temperature != nil {
		out.Temperature = sdk.Float(*req.Temperature)
	}
	if req.MaxTokens != nil {
		// OpenAI has given up max_tokens, and its newer models refuse it. Other
		// services all know it, and not all the newer name.
		if p.openAI {
			out.MaxCompletionTokens = sdk.Int(*req.MaxTokens)
		} else {
			out.MaxTokens = sdk.Int(*req.MaxTokens)
		}
	}
	return out, nil
}

// response makes our answer of the SDK's.
func (p *Provider) response(c *sdk.ChatCompletion) (*model.Response, error) {
	if c == nil { // the answer was "null"
		return nil, fault.New(fault.Transient, p.Name()+" answered nothing", nil)
	}
	r := &model.Response{Model: c.Model, Provider: p.Name(), Usage: usage(c), Raw: raw(c)}
	if len(c.Choices) == 0 {
		err := p.noChoice(c)
		if r.Usage == nil {
			return nil, err
		}
		return r, err
	}
	choice := c.Choices[0]
	r.Text = text(&choice.Message)
	r.FinishReason = finish(choice.FinishReason)
	if choice.Message.Refusal != "" {
		r.FinishReason = model.FinishContentFilter
		if r.Text == "" {
			r.Text = choice.Message.Refusal
		}
	}
	return r, nil
}

// noChoice is the error for an answer without choices. Some routers report the
// trouble of the service behind them that way, under status 200.
func (p *Provider) noChoice(c *sdk.ChatCompletion) error {
	var failed struct {
		Error struct {
			Message string          `json:"message"`
			Code    json.RawMessage `json:"code"`
		} `json:"error"`
	}
	// What does not fit this form is no report of trouble.
	if json.Unmarshal([]byte(c.RawJSON()), &failed) == nil && failed.Error.Message != "" {
		status := 0
		if json.Unmarshal(failed.Error.Code, &status) != nil || status < 400 || status > 599 {
			status = 502
		}
		return p.service.Status(status, failed.Error.Message)
	}
	return fault.New(fault.Transient, p.Name()+" answered without a choice, so there is no text", nil)
}

// text is a message's text. OpenAI sends a string or null; some services send
// a list of parts, of which the ones of type "text" count.
func text(m *sdk.ChatCompletionMessage) string {
	raw := m.JSON.Content.Raw()
	if !strings.HasPrefix(raw, "[") {
		return m.Content
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(raw), &parts) != nil {
		return m.Content
	}
	var b strings.Builder
	for _, part := range parts {
		if part.Type == "text" {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

func finish(reason string) string {
	if reason == "function_call" { // the old name
		return model.FinishToolCalls
	}
	return reason
}

// usage is nil when the service reported no tokens.
func usage(c *sdk.ChatCompletion) *model.Usage {
	if !c.JSON.Usage.Valid() {
		return nil
	}
	u := model.Usage{
		PromptTokens:     max(0, c.Usage.PromptTokens),
		CompletionTokens: max(0, c.Usage.CompletionTokens),
		TotalTokens:      max(0, c.Usage.TotalTokens),
		ReasoningTokens:  max(0, c.Usage.CompletionTokensDetails.ReasoningTokens),
		CachedTokens:     max(0, c.Usage.PromptTokensDetails.CachedTokens),
	}
	if u.TotalTokens == 0 {
		u.TotalTokens = u.PromptTokens + u.CompletionTokens
	}
	return &u
}

// raw keeps what helps to find the call at the service.
func raw(c *sdk.ChatCompletion) json.RawMessage {
	b, err := json.Marshal(struct {
		ID                string `json:"id,omitempty"`
		SystemFingerprint string `json:"system_fingerprint,omitempty"`
		ServiceTier       string `json:"service_tier,omitempty"`
	}{c.ID, c.SystemFingerprint, string(c.ServiceTier)})
	if err != nil || string(b) == "{}" {
		return nil
	}
	return b
}
