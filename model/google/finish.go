package google

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// response is what has come so far.
func (a *assembly) response(asked string) *model.Response {
	r := &model.Response{
		ToolCalls:    a.calls,
		Native:       a.turn.native(a.service.Name),
		Model:        cmp.Or(a.model, asked),
		Provider:     a.service.Name,
		Usage:        a.usage,
		FinishReason: finish(a.finishReason),
		Raw:          a.raw(),
	}
	httpapi.UniqueIDs(r.ToolCalls)
	a.out.Finish(r)
	switch {
	case a.blockReason != "":
		r.FinishReason = model.FinishContentFilter
	case len(r.ToolCalls) > 0 && r.FinishReason != model.FinishContentFilter:
		r.FinishReason = model.FinishToolCalls
	}
	return r
}

// finish makes the service's reason one of ours.
func finish(reason string) string {
	switch reason {
	case "STOP":
		return model.FinishStop
	case "MAX_TOKENS", "CONTINUATION":
		return model.FinishLength
	case "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return model.FinishContentFilter
	}
	return strings.ToLower(reason)
}

// worthKeeping reports whether a response goes beside an error.
func (a *assembly) worthKeeping(r *model.Response) bool {
	return r.Text != "" || r.Reasoning != "" || len(r.ToolCalls) > 0 || r.Usage != nil || a.blockReason != ""
}

// verdict judges an answer that came without an error.
func (a *assembly) verdict(streamed bool) error {
	name := a.service.Name
	switch {
	case a.blockReason != "":
		return fault.New(fault.Permanent, name+" blocked the prompt"+a.because(a.blockReason, a.blockMessage)+": change the prompt or ask another provider", nil)
	case !a.answered && streamed:
		return a.service.Cut()
	case !a.answered:
		return fault.New(fault.Transient, name+" answered without a candidate, so there is no text", nil)
	}
	switch a.finishReason {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE":
		return fault.New(fault.Transient, name+"'s model wrote a tool call that can't be read"+a.because(a.finishReason, a.finishMessage), nil)
	case "":
		// A stream has no other end marker.
		if streamed {
			return a.service.Cut()
		}
	}
	return nil
}

// because puts the service's words into an error's text.
func (a *assembly) because(reason, words string) string {
	text := " (" + httpapi.Clean(reason, a.service.Key)
	if words = httpapi.Clean(words, a.service.Key); words != "" {
		text += ": " + words
	}
	return text + ")"
}

// raw keeps what helps to find the call at the service.
func (a *assembly) raw() json.RawMessage {
	b, err := json.Marshal(struct {
		ID            string `json:"id,omitempty"`
		FinishReason  string `json:"finish_reason,omitempty"`
		FinishMessage string `json:"finish_message,omitempty"`
	}{a.id, a.finishReason, a.finishMessage})
	if err != nil || string(b) == "{}" {
		return nil
	}
	return b
}
