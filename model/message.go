package model

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/agentloom/agentloom/fault"
)

// ErrNoEmbeddings is the cause of a provider's error when its service has no
// embedding models.
var ErrNoEmbeddings = errors.New("the service has no embedding models")

// Role says who speaks in a message.
type Role string

// The roles of a conversation. The system prompt is no message: it stands in
// Request.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of a conversation.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text"` // a tool's: its result

	Attachments []Attachment `json:"attachments,omitempty"` // of a user's message
	ToolCalls   []ToolCall   `json:"tool_calls,omitempty"`  // of an assistant's message
	Native      *Native      `json:"native,omitempty"`      // of an assistant's message

	// A tool's message answers one call of the assistant's message before it.
	CallID   string `json:"call_id,omitempty"`
	ToolName string `json:"tool_name,omitempty"`
	IsError  bool   `json:"is_error,omitempty"` // the tool failed, and Text says how
}

// ToolCall is a model's wish to run a tool.
type ToolCall struct {
	// ID is the service's own, or one the adapter made where the service has
	// none; unique in its response.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is the JSON text that the model wrote: it may be anything, and
	// "" stands for {}.
	Arguments string `json:"arguments"`
}

// Native is a turn in one provider's own form. Only the provider that made it
// reads it; the others use the message's neutral fields.
type Native struct {
	Provider string          `json:"provider"`
	Data     json.RawMessage `json:"data"`
}

// AttachmentType is what an attachment is.
type AttachmentType string

// The types of attachments.
const (
	Image AttachmentType = "image"
	PDF   AttachmentType = "pdf"
	Audio AttachmentType = "audio"
)

// Attachment is a file that goes with a user's message. Either Data or URL is
// set. A service that does not take its type gets a permanent fault.
type Attachment struct {
	Type      AttachmentType `json:"type"`
	MediaType string         `json:"media_type"` // such as image/png; required with Data
	Data      []byte         `json:"data,omitempty"`
	URL       string         `json:"url,omitempty"` // for the service to fetch
}

// NoEmbeddings is embedded by providers whose service has no embedding models.
type NoEmbeddings struct{}

// Embed returns a permanent fault whose cause is ErrNoEmbeddings.
func (NoEmbeddings) Embed(context.Context, *EmbedRequest) (*EmbedResponse, error) {
	return nil, fault.New(fault.Permanent, ErrNoEmbeddings.Error(), ErrNoEmbeddings)
}
