package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/value"
)

// content is one piece of a result.
type content struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"` // base64
	MIMEType string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		URI      string  `json:"uri"`
		MIMEType string  `json:"mimeType"`
		Text     *string `json:"text"`
		Blob     string  `json:"blob"` // base64
	} `json:"resource"`
}

// result turns what a tool answered into a value: the structured content where
// there is some, else its texts, in lines. What is no text is described.
func (s *server) result(name string, raw json.RawMessage) (any, error) {
	doing := "calling " + quote(name)
	if most := s.all.opts.MaxResult; int64(len(raw)) > most {
		return nil, s.fault(fault.Permanent, fmt.Sprintf("%s: the result has %d bytes, more than the %d that are allowed", doing, len(raw), most), nil)
	}
	var r struct {
		Content           []content       `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		IsError           bool            `json:"isError"`
		ResultType        string          `json:"resultType"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, s.fault(fault.Permanent, doing+": the result can't be read", err)
	}
	texts := make([]string, len(r.Content))
	for i, c := range r.Content {
		texts[i] = c.describe()
	}
	text := strings.Join(texts, "\n")
	switch {
	case r.ResultType == "input_required":
		return nil, s.fault(fault.Permanent, doing+": the tool asks for further input, which it can't be given", nil)
	case r.IsError && text == "":
		return nil, s.fault(fault.Transient, doing+": the tool failed and does not say why", nil)
	case r.IsError:
		return nil, s.fault(fault.Transient, doing+": "+s.clean(text), nil)
	case len(r.StructuredContent) == 0 || string(r.StructuredContent) == "null":
		return text, nil
	}
	v, err := value.DecodeJSON(r.StructuredContent)
	if err != nil {
		return nil, s.fault(fault.Permanent, doing+": the structured result can't be read", err)
	}
	return v, nil
}

// describe is a piece of a result in words.
func (c content) describe() string {
	switch c.Type {
	case "text":
		return c.Text
	case "image", "audio":
		return fmt.Sprintf("[%s: %s, %d bytes]", c.Type, orElse(c.MIMEType, "type unknown"), decodedLen(c.Data))
	case "resource_link":
		return fmt.Sprintf("[resource: %s]", strings.TrimSpace(c.Name+" "+c.URI))
	case "resource":
		if c.Resource.Text != nil {
			return *c.Resource.Text
		}
		return fmt.Sprintf("[resource: %s, %s, %d bytes]", c.Resource.URI, orElse(c.Resource.MIMEType, "type unknown"), decodedLen(c.Resource.Blob))
	}
	return fmt.Sprintf("[content of type %.40q]", c.Type)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// decodedLen is how many bytes a base64 text stands for.
func decodedLen(text string) int {
	return len(strings.TrimRight(text, "=")) * 3 / 4
}
