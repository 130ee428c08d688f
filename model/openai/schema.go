package openai

import (
	"github.com/agentloom/agentloom/value"
)

// schemaName is what the answer's schema is called; the service wants a name.
const schemaName = "answer"

// format asks for an answer that fits a schema. The service takes only schemas
// of objects; any other is left to the caller. It makes sure of the fit
// ("strict") only within a subset of JSON Schema and refuses a strict schema
// outside of it, so that such a one is sent as a hint.
func (p *Provider) format(out *request, schema *value.Map) {
	if schema == nil || p.quirks.noSchema {
		return
	}
	if kind, _ := schema.Get("type"); kind != "object" {
		return
	}
	out.ResponseFormat = &responseFormat{
		Type:       "json_schema",
		JSONSchema: jsonSchema{Name: schemaName, Schema: schema, Strict: strict(schema, 0)},
	}
}

// maxStrictDepth is how deep a strict schema may nest: more levels than the
// service takes.
const maxStrictDepth = 20

// isPlain reports whether a keyword of the strict subset holds no schemas.
func isPlain(keyword string) bool {
	switch keyword {
	case "type", "title", "description", "enum", "const", "required", "additionalProperties", "$ref",
		"pattern", "format", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
		"minItems", "maxItems":
		return true
	}
	return false
}

// strict reports whether a schema is in the strict subset: known keywords only,
// and objects that require each of their properties and allow no others.
func strict(schema any, depth int) bool {
	m, ok := schema.(*value.Map)
	if !ok || depth > maxStrictDepth {
		return false
	}
	for key, v := range m.All() {
		switch {
		case isPlain(key):
		case key == "properties" || key == "$defs" || key == "definitions":
			if !allStrict(v, depth) {
				return false
			}
		case key == "items":
			if !strict(v, depth+1) {
				return false
			}
		case key == "anyOf" && depth > 0: // not at the root
			list, ok := v.([]any)
			if !ok {
				return false
			}
			for _, s := range list {
				if !strict(s, depth+1) {
					return false
				}
			}
		default:
			return false
		}
	}
	return closed(m)
}

func allStrict(v any, depth int) bool {
	m, ok := v.(*value.Map)
	if !ok {
		return false
	}
	for _, s := range m.All() {
		if !strict(s, depth+1) {
			return false
		}
	}
	return true
}

// closed reports whether a schema, if it is an object's, requires all of its
// properties and allows no others.
func closed(m *value.Map) bool {
	props, has := m.Get("properties")
	if kind, _ := m.Get("type"); kind != "object" && !has {
		return !allowsObject(kind)
	}
	if more, _ := m.Get("additionalProperties"); more != false {
		return false
	}
	list, _ := m.Get("required")
	names, _ := list.([]any)
	required := make(map[any]bool, len(names))
	for _, n := range names {
		if name, ok := n.(string); ok {
			required[name] = true
		}
	}
	p, _ := props.(*value.Map)
	if p == nil {
		return len(required) == 0
	}
	for name := range p.All() {
		if !required[name] {
			return false
		}
	}
	return len(required) == p.Len()
}

// allowsObject reports whether a list of types holds "object"; one without its
// properties has no strict form.
func allowsObject(kind any) bool {
	list, _ := kind.([]any)
	for _, k := range list {
		if k == "object" {
			return true
		}
	}
	return false
}
