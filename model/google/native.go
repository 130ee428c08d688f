package google

import (
	"encoding/json"
	"strings"

	"google.golang.org/genai"

	"github.com/agentloom/agentloom/model"
)

// nativeTurn gathers the parts of a turn as the service wrote them, so that
// its signatures can go back to it.
type nativeTurn struct {
	parts []nativePart
	// more says that the neutral fields do not say it all.
	more bool
}

// nativePart is a part as it came, or the plain text of several in a row.
type nativePart struct {
	raw  json.RawMessage
	text *strings.Builder
}

// add takes the next part: as it came, by its fields, and its text. It returns
// false when there are too many.
func (t *nativeTurn) add(raw json.RawMessage, fields map[string]json.RawMessage, text string) bool {
	_, isText := fields["text"]
	_, isThought := fields["thought"]
	_, signed := fields["thoughtSignature"]
	switch {
	case len(fields) == 0 || isThought && !signed:
		return true // the service does not want its thoughts back
	case isText && len(fields) == 1:
		if n := len(t.parts); n > 0 && t.parts[n-1].text != nil {
			t.parts[n-1].text.WriteString(text)
			return true
		}
		var b strings.Builder
		b.WriteString(text)
		t.parts = append(t.parts, nativePart{text: &b})
	default:
		if _, isCall := fields["functionCall"]; !isCall || len(fields) > 1 {
			t.more = true
		}
		t.parts = append(t.parts, nativePart{raw: raw})
	}
	return len(t.parts) <= maxParts
}

// native returns the turn for a following request, nil when the neutral fields
// say it all.
func (t *nativeTurn) native(provider string) *model.Native {
	if !t.more {
		return nil
	}
	out := struct {
		Role  string            `json:"role"`
		Parts []json.RawMessage `json:"parts"`
	}{Role: genai.RoleModel}
	for _, p := range t.parts {
		if p.text != nil {
			b, err := json.Marshal(map[string]string{"text": p.text.String()})
			if err != nil { // a map of strings can't fail
				return nil
			}
			p.raw = b
		}
		out.Parts = append(out.Parts, p.raw)
	}
	b, err := json.Marshal(out)
	if err != nil { // the parts are JSON that was read
		return nil
	}
	return &model.Native{Provider: provider, Data: b}
}
