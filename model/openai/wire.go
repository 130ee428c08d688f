package openai

import (
	"bytes"
	"encoding/json"

	"github.com/agentloom/agentloom/value"
)

// The forms that are sent. The SDK's own types for them cost more time than all
// the rest of a call.

// request is the body of a call.
type request struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Temperature         *float64        `json:"temperature,omitempty"`
	MaxTokens           *int64          `json:"max_tokens,omitempty"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens,omitempty"`
	Tools               []toolSpec      `json:"tools,omitempty"`
	ToolChoice          any             `json:"tool_choice,omitempty"` // a word or a namedTool
	ReasoningEffort     string          `json:"reasoning_effort,omitempty"`
	Thinking            *thinkingSwitch `json:"thinking,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Stream              bool            `json:"stream,omitempty"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type thinkingSwitch struct {
	Type string `json:"type"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string     `json:"name"`
	Schema *value.Map `json:"schema"` // keeps the order of the properties, which the answer follows
	Strict bool       `json:"strict"`
}

type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"` // a text or a list of parts
	ToolCalls  []sentCall `json:"tool_calls,omitempty"`
	ToolCallID *string    `json:"tool_call_id,omitempty"`
	ownFields
}

type sentCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function sentFunction `json:"function"`
}

type sentFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type toolSpec struct {
	Type     string       `json:"type"`
	Function functionSpec `json:"function"`
}

type functionSpec struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Parameters  *value.Map `json:"parameters"`
}

type namedTool struct {
	Type     string       `json:"type"`
	Function functionName `json:"function"`
}

type functionName struct {
	Name string `json:"name"`
}

// part is one part of a user's message: a text or a file.
type part struct {
	Type       string    `json:"type"`
	Text       string    `json:"text,omitempty"`
	ImageURL   *imageURL `json:"image_url,omitempty"`
	File       *fileData `json:"file,omitempty"`
	InputAudio *audio    `json:"input_audio,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type fileData struct {
	Filename string `json:"filename"`
	FileData string `json:"file_data"`
}

type audio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

// embedRequest is the body of an embedding call.
type embedRequest struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
	Dimensions     *int64   `json:"dimensions,omitempty"`
}

// encode writes a body. Characters of HTML stay as they are: a prompt full of
// them would be twice as long.
func encode(body any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
