package openai

import (
	"encoding/json"

	"github.com/agentloom/agentloom/model"
)

// ownFields are the fields of a turn, beyond OpenAI's own, that compatible
// services want back with the turn's tool calls: the trace, and OpenRouter's
// signed form of it.
type ownFields struct {
	ReasoningContent json.RawMessage `json:"reasoning_content,omitempty"`
	Reasoning        json.RawMessage `json:"reasoning,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
}

func (o *ownFields) all() [3]*json.RawMessage {
	return [3]*json.RawMessage{&o.ReasoningContent, &o.Reasoning, &o.ReasoningDetails}
}

// present returns the fields without those that are null.
func (o ownFields) present() ownFields {
	for _, f := range o.all() {
		if string(*f) == "null" {
			*f = nil
		}
	}
	return o
}

// native keeps a turn's own fields. Only those of a turn with tool calls: of
// others the services ignore them, and some refuse them.
func (p *Provider) native(calls []model.ToolCall, fields ownFields) *model.Native {
	if len(calls) == 0 {
		return nil
	}
	data, err := json.Marshal(fields.present())
	if err != nil || string(data) == "{}" { // what the service sent is JSON, or it would not have been read
		return nil
	}
	return &model.Native{Provider: p.Name(), Data: data}
}

// toSend are the fields to send back.
func (p *Provider) toSend(n *model.Native) (fields ownFields) {
	if n == nil || n.Provider != p.Name() || json.Unmarshal(n.Data, &fields) != nil {
		return ownFields{}
	}
	return fields
}

// trace is the text of the reasoning in the own fields.
func (o *ownFields) trace() string {
	for _, raw := range []json.RawMessage{o.ReasoningContent, o.Reasoning} {
		if text := ""; len(raw) > 0 && json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// add joins the next pieces of the fields in a stream to those before: texts
// into one, lists into one.
func (o *ownFields) add(next *ownFields) {
	more := next.all()
	for i, whole := range o.all() {
		if piece := *more[i]; len(piece) > 0 && string(piece) != "null" {
			*whole = join(*whole, piece)
		}
	}
}

func join(whole, piece json.RawMessage) json.RawMessage {
	if len(whole) > 1 && len(piece) > 1 && whole[0] == piece[0] {
		switch {
		case piece[0] == '"':
			return append(whole[:len(whole)-1], piece[1:]...)
		case piece[0] == '[' && len(whole) > 2 && len(piece) > 2:
			return append(append(whole[:len(whole)-1], ','), piece[1:]...)
		case piece[0] == '[' && len(piece) == 2:
			return whole
		}
	}
	return append(whole[:0], piece...)
}
