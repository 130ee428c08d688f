package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/schema"
	"github.com/agentloom/agentloom/value"
)

// maxRepairs is how often a model may correct an answer that does not fit its
// schema.
const maxRepairs = 2

// answerSchema is an `output_schema`.
type answerSchema struct {
	source *value.Map
	*schema.Schema
}

// newSchema prepares a schema; nil gives nil. A schema that can't be used is a
// permanent fault.
func newSchema(source *value.Map) (*answerSchema, error) {
	if source == nil {
		return nil, nil
	}
	s, err := schema.New(source)
	if err != nil {
		return nil, fault.New(fault.Permanent, fmt.Sprintf("output_schema cannot be used: %v", err), err)
	}
	return &answerSchema{source, s}, nil
}

// instruct adds to a system prompt what a service without structured output
// has to be told. Services that have it are told too: a fallback may not.
func (s *answerSchema) instruct(system string) string {
	if s == nil {
		return system
	}
	return strings.TrimPrefix(system+"\n\nAnswer with JSON only, no other text, that fits this JSON Schema: "+s.Text(), "\n\n")
}

// maxReason bounds what is said of a mismatch, in bytes: the model reads it, and
// a validator repeats all of the value in it.
const maxReason = 2000

// parse reads an answer; why says what does not fit, "" when all does. Of a
// text that holds several JSON values it takes the first that fits.
func (s *answerSchema) parse(text string) (v any, why string) {
	var first error
	for found, err := range findJSON(text) {
		if err == nil {
			err = s.Check(found)
		}
		if err == nil {
			return found, ""
		}
		if first == nil {
			first = err
		}
	}
	return nil, clip(strings.TrimSpace(first.Error()), maxReason)
}

// clip cuts a text between two characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// maxPlaces is at how many places of an answer a JSON value is looked for.
const maxPlaces = 20

// findJSON yields the JSON values of an answer that may be what was asked for,
// the likeliest first: the whole text, else what a code fence holds, else the
// objects and lists in it, since models like to explain. Without any it yields
// an error.
func findJSON(text string) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		text = strings.TrimSpace(text)
		v, whole := value.DecodeJSON([]byte(text))
		switch {
		case whole == nil:
			yield(v, nil)
			return
		case text == "":
			yield(nil, errors.New("the answer is empty"))
			return
		}
		found := false
		if body, ok := fenced(text); ok {
			if v, err := value.DecodeJSON([]byte(body)); err == nil {
				found = true
				if !yield(v, nil) {
					return
				}
			}
		}
		rest := text
		for range maxPlaces {
			start := strings.IndexAny(rest, "{[")
			if start < 0 {
				break
			}
			rest = rest[start:]
			d := json.NewDecoder(strings.NewReader(rest))
			var raw json.RawMessage
			end := 1
			if d.Decode(&raw) == nil {
				end = int(d.InputOffset())
				if v, err := value.DecodeJSON(raw); err == nil {
					found = true
					if !yield(v, nil) {
						return
					}
				}
			}
			rest = rest[end:]
		}
		if !found {
			yield(nil, fmt.Errorf("the answer is no JSON: %w", whole))
		}
	}
}

// fenced returns what the first code fence of a text holds.
func fenced(text string) (string, bool) {
	_, rest, ok := strings.Cut(text, "```")
	if !ok {
		return "", false
	}
	body, _, _ := strings.Cut(rest, "```")
	if _, after, ok := strings.Cut(body, "\n"); ok { // the fence's language
		body = after
	}
	return strings.TrimSpace(body), true
}
