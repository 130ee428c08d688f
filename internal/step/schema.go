package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/value"
)

// maxRepairs is how often a model may correct an answer that does not fit its
// schema.
const maxRepairs = 2

// answerSchema is an `output_schema`.
type answerSchema struct {
	source   *value.Map
	text     string // the schema as JSON
	resolved *jsonschema.Resolved
}

// newSchema prepares a schema; nil gives nil. A schema that is none is a
// permanent fault.
func newSchema(source *value.Map) (*answerSchema, error) {
	if source == nil {
		return nil, nil
	}
	text, err := value.EncodeJSON(source)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fault.New(fault.Permanent, fmt.Sprintf("output_schema is no JSON Schema: %v", err), err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fault.New(fault.Permanent, fmt.Sprintf("output_schema cannot be used: %v", err), err)
	}
	return &answerSchema{source, string(text), resolved}, nil
}

// instruct adds to a system prompt what a service without structured output
// has to be told. Services that have it are told too: a fallback may not.
func (s *answerSchema) instruct(system string) string {
	if s == nil {
		return system
	}
	return strings.TrimPrefix(system+"\n\nAnswer with JSON only, no other text, that fits this JSON Schema: "+s.text, "\n\n")
}

// parse reads an answer; why says what does not fit, "" when all does.
func (s *answerSchema) parse(text string) (v any, why string) {
	v, err := findJSON(text)
	if err != nil {
		return nil, err.Error()
	}
	native, err := nativeCopy(v)
	if err != nil {
		return nil, err.Error()
	}
	if err := s.resolved.Validate(native); err != nil {
		return nil, strings.TrimSpace(err.Error())
	}
	return v, ""
}

// findJSON reads the JSON value of an answer: the whole text, else what a code
// fence holds, else the first object or list in it. Models like to explain.
func findJSON(text string) (any, error) {
	text = strings.TrimSpace(text)
	v, err := value.DecodeJSON([]byte(text))
	if err == nil {
		return v, nil
	}
	if text == "" {
		return nil, errors.New("the answer is empty")
	}
	if _, rest, ok := strings.Cut(text, "```"); ok {
		body, _, _ := strings.Cut(rest, "```")
		if _, after, ok := strings.Cut(body, "\n"); ok { // the fence's language
			body = after
		}
		if v, err := value.DecodeJSON([]byte(strings.TrimSpace(body))); err == nil {
			return v, nil
		}
	}
	if start := strings.IndexAny(text, "{["); start >= 0 {
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(text[start:])).Decode(&raw) == nil {
			if v, err := value.DecodeJSON(raw); err == nil {
				return v, nil
			}
		}
	}
	return nil, fmt.Errorf("the answer is no JSON: %w", err)
}
