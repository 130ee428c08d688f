package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// response makes our answer of the service's, which is src.
func (p *Provider) response(ctx context.Context, src []byte) (*model.Response, error) {
	var a answer
	if err := decode(src, &a); err != nil {
		return nil, p.service.Failure(ctx, err)
	}
	if isNull(src) {
		return nil, p.nothing()
	}
	r := &model.Response{Model: a.Model, Provider: p.Name(), Raw: raw(a.ID, a.SystemFingerprint, a.ServiceTier), Usage: a.Usage.neutral()}
	choice := a.Choices[0]
	var err error
	switch {
	case choice == nil:
		err = p.noChoice(a.Error, src)
	case choice.Message.ToolCalls.tooMany:
		err = p.tooMany()
	}
	if err != nil && r.Usage == nil {
		return nil, err
	}
	if err != nil {
		return r, err
	}
	m := &choice.Message
	inline, text := httpapi.SplitThink(m.Content.text)
	r.Text, r.Reasoning = text, cmp.Or(m.trace(), m.Content.reasoning)+inline
	if r.Text == "" {
		r.Text = m.Refusal
	}
	for _, call := range m.ToolCalls.calls {
		if call.Type == "custom" {
			continue // never asked for
		}
		r.ToolCalls = append(r.ToolCalls, model.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: string(call.Function.Arguments)})
	}
	httpapi.UniqueIDs(r.ToolCalls)
	r.Native = p.native(r.ToolCalls, m.ownFields)
	r.FinishReason = finish(choice.FinishReason, m.Refusal != "", len(r.ToolCalls) > 0)
	return r, nil
}

func isNull(src []byte) bool { return string(bytes.TrimSpace(src)) == "null" }

func (p *Provider) nothing() error {
	return fault.New(fault.Transient, p.Name()+" answered nothing", nil)
}

func (p *Provider) tooMany() error {
	return fault.New(fault.Permanent, fmt.Sprintf("%s asked for more than %d tool calls in one answer, which is more than is read of one", p.Name(), maxCalls), nil)
}

// noChoice is the error for an answer without choices.
func (p *Provider) noChoice(failure json.RawMessage, src []byte) error {
	if err := p.reported(failure, src); err != nil {
		return err
	}
	return fault.New(fault.Transient, p.Name()+" answered without a choice, so there is no text", nil)
}

// reported is the error that a service reports in JSON under status 200: some
// routers do that for trouble of the service behind them, and all in a stream.
// It stands in the field "error" of src. nil when there is none.
func (p *Provider) reported(failure json.RawMessage, src []byte) error {
	if len(failure) == 0 || string(failure) == "null" {
		return nil
	}
	var failed struct {
		Code json.RawMessage `json:"code"`
		Type json.RawMessage `json:"type"`
	}
	// What does not fit this form has no status to go by.
	_ = json.Unmarshal(failure, &failed)
	status, kind := 0, ""
	if json.Unmarshal(failed.Code, &status) != nil || status < 400 || status > 599 {
		status = 500
		for _, field := range []json.RawMessage{failed.Code, failed.Type} {
			if json.Unmarshal(field, &kind) == nil && status == 500 {
				status = httpapi.StatusOfType(kind)
			}
		}
	}
	return p.service.Status(status, httpapi.Message(src))
}

// finish is the neutral finish reason.
func finish(reason string, refused, calls bool) string {
	reason = strings.ToLower(reason)
	switch {
	case refused:
		return model.FinishContentFilter
	case reason == "function_call": // the old name
		return model.FinishToolCalls
	case reason == "model_length": // the context is full
		return model.FinishLength
	case calls && reason != model.FinishLength && reason != model.FinishContentFilter:
		return model.FinishToolCalls // some say "stop"
	}
	return reason
}

// neutral makes our counts of the service's; nil when there are none.
func (c *counts) neutral() *model.Usage {
	if c == nil {
		return nil
	}
	out := model.Usage{
		PromptTokens:     int64(c.Prompt),
		CompletionTokens: int64(c.Completion),
		TotalTokens:      int64(c.Total),
		ReasoningTokens:  int64(c.CompletionDetails.Reasoning),
		CachedTokens:     int64(cmp.Or(c.PromptDetails.Cached, c.CacheHit)),
	}
	if out.ReasoningTokens > 0 && out.TotalTokens-out.ReasoningTokens == out.PromptTokens+out.CompletionTokens {
		out.CompletionTokens += out.ReasoningTokens // xAI counts them beside
	}
	return httpapi.CleanUsage(out)
}

// raw keeps what helps to find the call at the service.
func raw(id, fingerprint, tier string) json.RawMessage {
	b, err := json.Marshal(struct {
		ID                string `json:"id,omitempty"`
		SystemFingerprint string `json:"system_fingerprint,omitempty"`
		ServiceTier       string `json:"service_tier,omitempty"`
	}{id, fingerprint, tier})
	if err != nil || string(b) == "{}" {
		return nil
	}
	return b
}
