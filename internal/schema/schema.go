// Package schema validates values against JSON Schemas (2020-12) that nobody
// has to trust: a schema that no validator comes back from is refused when it
// is prepared, and a value that would take too much work before it is looked
// at.
package schema

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentloom/agentloom/value"
)

// Schema is a schema that can be used. It is safe for concurrent use.
type Schema struct {
	text     string
	resolved *jsonschema.Resolved
	graph    *graph
}

// New prepares a schema. Its errors say what can't be used: what is no JSON
// Schema, references to anything outside of it, and references that lead back
// to themselves without going deeper into the value.
func New(source *value.Map) (*Schema, error) {
	text, err := value.EncodeJSON(source)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, err
	}
	g, err := newGraph(&s)
	if err != nil {
		return nil, err
	}
	if err := g.checkLoops(); err != nil {
		return nil, err
	}
	return &Schema{string(text), resolved, g}, nil
}

// Text returns the schema as JSON.
func (s *Schema) Text() string { return s.text }

// Check says why a value does not fit; nil when it does. The error may repeat
// all of the value.
func (s *Schema) Check(v any) error {
	text, err := value.EncodeJSON(v)
	if err != nil {
		return err
	}
	var native any // as the validator wants to see it, numbers and all
	if err := json.Unmarshal(text, &native); err != nil {
		return err
	}
	if err := s.graph.bound(native); err != nil {
		return err
	}
	return s.resolved.Validate(native)
}
