// Package model is the seam to model services: what a step asks of one, what
// comes back, and the interface that every provider's adapter implements.
// Nothing here belongs to one vendor.
package model

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agentloom/agentloom/value"
)

// Request is one model call.
type Request struct {
	// StepID is the qualified id of the step that asks (`parent.child`). It is
	// no part of what is sent; the mock provider and recordings find their
	// responses by it.
	StepID string `json:"-"`
	// Attempt is the step's, from 1; 0 where there are no attempts. It is no
	// part of what is sent either: of a step that was tried again, a recording
	// keeps the last attempt.
	Attempt int `json:"-"`

	Model       string    `json:"model"` // as the service names it
	System      string    `json:"system,omitempty"`
	Messages    []Message `json:"messages"` // at least one; the last is the user's or a tool's
	Temperature *float64  `json:"temperature,omitempty"`
	MaxTokens   *int64    `json:"max_tokens,omitempty"` // of the answer, reasoning included

	Tools      []ToolSpec  `json:"tools,omitempty"`
	ToolChoice *ToolChoice `json:"tool_choice,omitempty"` // nil: the service's default; only with Tools
	Thinking   *Thinking   `json:"thinking,omitempty"`    // nil: the model's default
	// Schema is the JSON Schema (2020-12, an object schema or any other) that
	// the answer's text must fit. An adapter uses the service's structured
	// output where it has one that takes the schema, and otherwise leaves it
	// to the caller, who put the schema into the prompt and checks the answer.
	Schema *value.Map `json:"schema,omitempty"`
}

// ToolSpec is a tool that the model may call.
type ToolSpec struct {
	Name        string     `json:"name"` // letters, digits, _ and -; at most 64
	Description string     `json:"description,omitempty"`
	Parameters  *value.Map `json:"parameters"` // JSON Schema, an object schema
}

// ToolChoice says whether the model must call tools.
type ToolChoice struct {
	Mode ToolMode `json:"mode"`
	Name string   `json:"name,omitempty"` // with NamedTool
}

// ToolMode is a ToolChoice's kind.
type ToolMode string

// The tool modes.
const (
	AutoTools    ToolMode = "auto"     // the model decides
	RequireTools ToolMode = "required" // it must call at least one
	NoTools      ToolMode = "none"     // it must not call any
	NamedTool    ToolMode = "tool"     // it must call the one that is named
)

// Thinking are the reasoning controls. Fields that are not set leave the
// model's default; an adapter maps each to the nearest thing its service has.
type Thinking struct {
	Enabled      *bool  `json:"enabled,omitempty"`
	BudgetTokens *int64 `json:"budget_tokens,omitempty"`
	Level        string `json:"level,omitempty"` // "", low, medium or high
}

// On reports whether reasoning is asked for: explicitly, or by naming a level
// or a budget above 0.
func (t *Thinking) On() bool {
	switch {
	case t == nil:
		return false
	case t.Enabled != nil:
		return *t.Enabled
	}
	return t.Level != "" || t.BudgetTokens != nil && *t.BudgetTokens > 0
}

// Usage counts tokens, as the service reported them; never negative. Reasoning
// tokens are part of the completion tokens and cached tokens part of the prompt
// tokens, whatever the service's own way to count.
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
// is passed on as the vendor wrote it, in lower case.
const (
	FinishStop          = "stop"
	FinishLength        = "length"
	FinishToolCalls     = "tool_calls"
	FinishContentFilter = "content_filter"
)

// Response is a model's answer.
type Response struct {
	Text string
	// Reasoning is the trace of the model's thinking, where the service shows
	// one; inline <think> text at the answer's start is moved here by the
	// adapter. It is never part of Text.
	Reasoning string
	ToolCalls []ToolCall // in the model's order
	// Native is the turn as the service wants it back in a following request,
	// such as signed reasoning blocks; nil when the neutral fields say it all.
	// It goes into the Message that repeats the turn.
	Native *Native

	Model        string   // the model that answered, as the service names it
	Provider     string   // the provider's name in this program
	Usage        *Usage   // nil when the service reported none
	CostUSD      *float64 // nil when the price is not known
	FinishReason string
	// FirstToken is the time from the call to the first text or reasoning of a
	// stream; 0 when the call did not stream.
	FirstToken time.Duration
	// Raw is provider-specific detail worth keeping for debugging; may be nil.
	Raw json.RawMessage
}

// Message repeats the response as a turn of the conversation.
func (r *Response) Message() Message {
	return Message{Role: Assistant, Text: r.Text, ToolCalls: r.ToolCalls, Native: r.Native}
}

// Delta is a piece of an answer as it comes. Exactly one field is set.
type Delta struct {
	Text      string
	Reasoning string
}

// EmbedRequest asks for vectors.
type EmbedRequest struct {
	StepID     string   `json:"-"` // as in Request
	Attempt    int      `json:"-"` // as in Request
	Model      string   `json:"model"`
	Inputs     []string `json:"inputs"`               // at least one
	Dimensions *int64   `json:"dimensions,omitempty"` // nil: the model's own
}

// EmbedResponse are the vectors, one for each input, in order, all of one
// length.
type EmbedResponse struct {
	Vectors  [][]float64
	Model    string
	Provider string
	Usage    *Usage
	CostUSD  *float64
}

// Provider is one model service. Implementations are safe for concurrent use,
// stop when ctx ends, make no retries of their own, and return errors that
// carry a fault.Kind: a status the service answered, a network fault, a
// timeout. An error's text never holds a key or a request's body. A call that
// the service has billed may return both a response, for its Usage, and an
// error.
type Provider interface {
	// Name is the provider's name in workflow files and results, such as
	// "openai".
	Name() string
	// Complete makes one model call. With a stream function the answer is
	// asked for as a stream, and each piece is handed to the function, in
	// order and from one goroutine, before Complete returns the whole; nil asks
	// for the answer at once. A stream that breaks off is a transient error
	// beside what had come.
	Complete(ctx context.Context, req *Request, stream func(Delta)) (*Response, error)
	// Embed turns texts into vectors. A service without embeddings returns an
	// error for which errors.Is(err, ErrNoEmbeddings).
	Embed(ctx context.Context, req *EmbedRequest) (*EmbedResponse, error)
}
