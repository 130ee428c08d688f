package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/agentloom/agentloom/value"
)

const (
	maxOptional = 24 // properties that are not required; the service's limit
	maxUnions   = 16 // anyOf and lists of types; the service's limit
	maxNesting  = 50 // ours: what is deeper is too complex for the service anyway
)

// nativeSchema makes the output format of a schema; ok is false when the
// service does not take it. The caller checks the answer against the schema
// itself, so what the service can't enforce (lengths, ranges, patterns, …) is
// dropped, and an object that does not say whether it is open is closed. A
// schema that would lose a form of its answers so is not taken.
func nativeSchema(schema *value.Map) (format sdk.JSONOutputFormatParam, ok bool) {
	if kind, _ := schema.Get("type"); kind != "object" {
		return format, false
	}
	s := schemaWriter{refs: map[string][]string{}}
	out, ok := s.node(schema, 0)
	if !ok {
		return format, false
	}
	if _, has := out.Get("properties"); !has { // a union, say
		return format, false
	}
	out, ok = s.definitions(schema, out)
	if !ok || s.optional > maxOptional || s.unions > maxUnions || !s.resolves("", map[string]bool{}) {
		return format, false
	}
	raw, err := value.EncodeJSON(value.MapOf("type", "json_schema", "schema", out))
	if err != nil {
		return format, false
	}
	return param.Override[sdk.JSONOutputFormatParam](json.RawMessage(raw)), true
}

// schemaWriter rewrites a schema, and counts what is limited.
type schemaWriter struct {
	optional, unions int
	definition       string              // the one that is being written; "" for the schema itself
	refs             map[string][]string // the definitions that each one refers to
}

func (s *schemaWriter) node(v any, depth int) (out *value.Map, ok bool) {
	in, ok := v.(*value.Map)
	if !ok || depth > maxNesting {
		return nil, false
	}
	// These give answers a form that the service can't express.
	for _, k := range []string{
		"allOf", "patternProperties", "prefixItems", "unevaluatedProperties", "dependentSchemas", "$anchor", "$dynamicRef", "$recursiveRef",
	} {
		if _, has := in.Get(k); has {
			return nil, false
		}
	}
	if _, has := in.Get("$id"); has && depth > 0 { // references below it mean other places
		return nil, false
	}
	if ref, has := in.Get("$ref"); has {
		return s.reference(ref)
	}
	out = value.NewMap(4)
	for _, k := range []string{"title", "description"} {
		if text, has := in.Get(k); has {
			out.Put(k, text)
		}
	}
	return out, s.shape(in, out, depth)
}

// shape writes what the values look like. Of a union, only the variants count.
func (s *schemaWriter) shape(in, out *value.Map, depth int) bool {
	for _, k := range []string{"anyOf", "oneOf"} {
		if variants, has := in.Get(k); has {
			return s.union(variants, out, depth)
		}
	}
	if one, has := in.Get("const"); has {
		out.Put("const", one)
		return scalar(one)
	}
	if list, has := in.Get("enum"); has {
		out.Put("enum", list)
		values, ok := list.([]any)
		return ok && len(values) > 0 && !slices.ContainsFunc(values, func(v any) bool { return !scalar(v) })
	}
	kind, _ := in.Get("type")
	out.Put("type", kind)
	switch kind {
	case "object":
		return s.object(in, out, depth)
	case "array":
		return s.array(in, out, depth)
	case "string":
		if format, _ := in.Get("format"); knownFormat(format) {
			out.Put("format", format)
		}
		return true
	case "number", "integer", "boolean", "null":
		return true
	}
	kinds, ok := kind.([]any)
	s.unions++
	return ok && len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k any) bool { return !scalarType(k) })
}

// knownFormat reports whether the service knows a string's format.
func knownFormat(format any) bool {
	switch format {
	case "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid":
		return true
	}
	return false
}

func scalarType(kind any) bool {
	switch kind {
	case "string", "number", "integer", "boolean", "null":
		return true
	}
	return false
}

func scalar(v any) bool {
	switch v.(type) {
	case *value.Map, []any:
		return false
	}
	return true
}

func (s *schemaWriter) union(v any, out *value.Map, depth int) bool {
	s.unions++
	variants, ok := v.([]any)
	if !ok || len(variants) == 0 {
		return false
	}
	list := make([]any, len(variants))
	for i, variant := range variants {
		node, ok := s.node(variant, depth+1)
		if !ok {
			return false
		}
		list[i] = node
	}
	out.Put("anyOf", list)
	return true
}

func (s *schemaWriter) object(in, out *value.Map, depth int) bool {
	v, _ := in.Get("properties")
	properties, ok := v.(*value.Map)
	if !ok || properties.Len() == 0 {
		return false // any object at all, which a closed one is not
	}
	if open, has := in.Get("additionalProperties"); has && open != false {
		return false
	}
	written := value.NewMap(properties.Len())
	for name, property := range properties.All() {
		node, ok := s.node(property, depth+1)
		if !ok {
			return false
		}
		written.Put(name, node)
	}
	out.Put("properties", written)
	s.optional += properties.Len()
	if v, has := in.Get("required"); has {
		required, ok := v.([]any)
		if !ok {
			return false
		}
		for _, name := range required {
			text, ok := name.(string)
			if _, known := properties.Get(text); !ok || !known {
				return false
			}
		}
		s.optional -= len(required)
		out.Put("required", required)
	}
	out.Put("additionalProperties", false)
	return true
}

func (s *schemaWriter) array(in, out *value.Map, depth int) bool {
	items, has := in.Get("items")
	if !has {
		return false
	}
	node, ok := s.node(items, depth+1)
	if !ok {
		return false
	}
	out.Put("items", node)
	if least, _ := in.Get("minItems"); least == int64(0) || least == int64(1) {
		out.Put("minItems", least)
	}
	return true
}

// places are where definitions may stand.
func places() [2]string { return [2]string{"$defs", "definitions"} }

// reference keeps a reference to a definition of this schema. What stands
// beside it is dropped: the service allows nothing there.
func (s *schemaWriter) reference(v any) (*value.Map, bool) {
	ref, _ := v.(string)
	for _, place := range places() {
		if name, ok := strings.CutPrefix(ref, "#/"+place+"/"); ok && !strings.ContainsAny(name, "/~%") {
			s.refs[s.definition] = append(s.refs[s.definition], place+"/"+name)
			return value.MapOf("$ref", ref), true
		}
	}
	return nil, false
}

func (s *schemaWriter) definitions(schema, out *value.Map) (*value.Map, bool) {
	for _, place := range places() {
		v, has := schema.Get(place)
		if !has {
			continue
		}
		in, ok := v.(*value.Map)
		if !ok {
			return nil, false
		}
		written := value.NewMap(in.Len())
		for name, definition := range in.All() {
			s.definition = place + "/" + name
			s.refs[s.definition] = []string{}
			node, ok := s.node(definition, 1)
			if !ok {
				return nil, false
			}
			written.Put(name, node)
		}
		out = out.With(place, written)
	}
	return out, true
}

// resolves reports whether each reference from a definition on has its
// definition, and none leads back to one that it came from: the service takes
// no recursion. done holds those it was asked before: true when they resolve,
// false while they are on the way.
func (s *schemaWriter) resolves(from string, done map[string]bool) bool {
	if resolved, asked := done[from]; asked {
		return resolved
	}
	done[from] = false
	for _, to := range s.refs[from] {
		if _, known := s.refs[to]; !known || !s.resolves(to, done) {
			return false
		}
	}
	done[from] = true
	return true
}
