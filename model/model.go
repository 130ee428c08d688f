// Package model is the seam to model services: what a step asks of one, what
// comes back, and the interface that every provider's adapter implements.
// Nothing here belongs to one vendor.
package model

import (
	"context"
	"encoding/json"
)

// Role says who speaks in a message.
type Role string

// The roles of a conversation. The system prompt is no message: it stands in
// Request.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
}

// Request is one model call.
type Request struct {
	// StepID is the qualified id of the step that asks (`parent.child`). It is
	// no part of what is sent; the mock provider finds its responses by it.
	StepID string `json:"-"`

	Model       string    `json:"model"` // as the service names it
	System      string    `json:"system,omitempty"`
	Messages    []Message `json:"messages"` // at least one; the last is the user's
	Temperature *float64  `json:"temperature,omitempty"`
	MaxTokens   *int64    `json:"max_tokens,omitempty"` // of the answer
}

// Usage counts tokens, as the service reported them. Reasoning tokens are part
// of the completion tokens and cached tokens part of the prompt tokens.
type Usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
	ReasoningTokens  int64 `json:"reasoning_tokens"`
	CachedTokens     int64 `json:"cached_tokens,omitempty"`
}

// Add returns the sum of two usages.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		PromptTokens:     u.PromptTokens + o.PromptTokens,
		CompletionTokens: u.CompletionTokens + o.CompletionTokens,
		TotalTokens:      u.TotalTokens + o.TotalTokens,
		ReasoningTokens:  u.ReasoningTokens + o.ReasoningTokens,
		CachedTokens:     u.CachedTokens + o.CachedTokens,
	}
}

// Finish reasons, the same for all vendors. A reason that none of these covers
// is passed on as the vendor wrote it.
const (
	FinishStop          = "stop"
	FinishLength        = "length"
	FinishToolCalls     = "tool_calls"
	FinishContentFilter = "content_filter"
)

// Response is a model's answer.
type Response struct {
	Text         string
	Model        string   // the model that answered, as the service names it
	Provider     string   // the provider's name in this program
	Usage        *Usage   // nil when the service reported none
	CostUSD      *float64 // nil when the price is not known
	FinishReason string
	// Raw is provider-specific detail worth keeping for debugging; may be nil.
	Raw json.RawMessage
}

// Provider is one model service. Implementations are safe for concurrent use,
// stop when ctx ends, make no retries of their own, and return errors that
// carry a fault.Kind: a status the service answered, a network fault, a
// timeout. An error's text never holds a key or a request's body. A call that
// the service has billed may return both a Response, for its Usage, and an
// error.
type Provider interface {
	// Name is the provider's name in workflow files and results, such as
	// "openai".
	Name() string
	// Complete makes one model call.
	Complete(ctx context.Context, req *Request) (*Response, error)
}
