package tool

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentloom/agentloom/value"
)

// deriveSchema returns the JSON Schema of a tool's arguments, to check calls
// with and to show.
func deriveSchema[In any]() (*jsonschema.Schema, *value.Map, error) {
	t := reflect.TypeFor[In]()
	special := map[reflect.Type]*jsonschema.Schema{}
	collectSpecial(t, special, map[reflect.Type]bool{})
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: special})
	if err != nil {
		return nil, nil, fmt.Errorf("no JSON Schema can be derived from %s: %w", t, err)
	}
	simplify(schema)
	if schema.Type != "object" {
		return nil, nil, fmt.Errorf("its arguments are a %s; they must be a struct or a map with string keys", t)
	}
	if schema.Properties == nil {
		schema.Properties = map[string]*jsonschema.Schema{} // model services want the key
	}
	src, err := json.Marshal(schema)
	if err != nil {
		return nil, nil, fmt.Errorf("the JSON Schema of %s cannot be written: %w", t, err)
	}
	shown := value.NewMap(4)
	if err := json.Unmarshal(src, shown); err != nil {
		return nil, nil, fmt.Errorf("the JSON Schema of %s cannot be read back: %w", t, err)
	}
	return schema, shown, nil
}

// collectSpecial finds, inside t, the types whose JSON form is not the one
// that their Go kind suggests.
func collectSpecial(t reflect.Type, special map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	p := reflect.PointerTo(t)
	switch {
	case t.Kind() == reflect.Pointer:
		collectSpecial(t.Elem(), special, seen)
	case t == reflect.TypeFor[value.Map]():
		special[t] = &jsonschema.Schema{Type: "object"}
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		special[t] = &jsonschema.Schema{Type: "string"}
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		special[t] = &jsonschema.Schema{}
	case t == reflect.TypeFor[[]byte]():
		special[t] = &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			collectSpecial(t.Field(i).Type, special, seen)
		}
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array, t.Kind() == reflect.Map:
		collectSpecial(t.Elem(), special, seen)
	}
}

// simplify removes the "or null" that Go's nil adds where it says nothing to a
// caller: from lists, and from properties that may be left out anyway. What
// stays is the form that every model service understands.
func simplify(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[1] == "array" {
		s.Type, s.Types = "array", nil
	}
	for name, p := range s.Properties {
		if len(p.Types) == 2 && p.Types[0] == "null" && !slices.Contains(s.Required, name) {
			p.Type, p.Types = p.Types[1], nil
		}
		simplify(p)
	}
	simplify(s.Items)
	simplify(s.AdditionalProperties)
}
