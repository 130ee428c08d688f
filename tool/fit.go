package tool

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentloom/agentloom/value"
)

// fitArguments checks arguments against a derived schema and returns them as
// the Go type wants them: whole floats as integers where integers stand, and
// optional nulls left out. It knows the keywords that deriveSchema produces
// and reports the first misfit with the argument's path.
func fitArguments(s *jsonschema.Schema, args *value.Map) (*value.Map, error) {
	if args == nil {
		args = value.NewMap(0)
	}
	return fitObject(s, args, "")
}

func fitObject(s *jsonschema.Schema, m *value.Map, path string) (*value.Map, error) {
	out := value.NewMap(m.Len())
	for name, v := range m.All() {
		at := name
		if path != "" {
			at = path + "." + name
		}
		p, known := s.Properties[name]
		switch {
		case !known && s.AdditionalProperties == nil:
			if _, err := anything(v, at); err != nil {
				return nil, err
			}
			out.Put(name, v)
			continue
		case !known && s.AdditionalProperties.Not != nil: // false: nothing more
			return nil, unknownArgument(s, at)
		case !known:
			p = s.AdditionalProperties
		case v == nil && !slices.Contains(s.Required, name):
			continue
		}
		fitted, err := fit(p, v, at)
		if err != nil {
			return nil, err
		}
		out.Put(name, fitted)
	}
	for _, name := range s.Required {
		if _, ok := m.Get(name); !ok {
			if path != "" {
				name = path + "." + name
			}
			return nil, fmt.Errorf("argument %q is missing", short(name))
		}
	}
	return out, nil
}

func unknownArgument(s *jsonschema.Schema, at string) error {
	if len(s.PropertyOrder) == 0 {
		return fmt.Errorf("argument %q is unknown: none are taken", short(at))
	}
	return fmt.Errorf("argument %q is unknown; the known ones are %s", short(at), strings.Join(s.PropertyOrder, ", "))
}

func fit(s *jsonschema.Schema, v any, path string) (any, error) {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	if len(types) == 0 {
		return anything(v, path)
	}
	if v == nil && slices.Contains(types, "null") {
		return nil, nil
	}
	want := types[len(types)-1]
	switch v := v.(type) {
	case *value.Map:
		if want == "object" {
			return fitObject(s, v, path)
		}
	case []any:
		if want == "array" {
			return fitList(s, v, path)
		}
	case int64, *big.Int, float64:
		if want == "integer" || want == "number" {
			n, err := fitNumber(s, v, want)
			if err != nil {
				return nil, fmt.Errorf("argument %q %w", short(path), err)
			}
			return n, nil
		}
	case string:
		if want == "string" {
			return v, nil
		}
	case bool:
		if want == "boolean" {
			return v, nil
		}
	}
	return nil, fmt.Errorf("argument %q must be %s, not %s", short(path), withArticle(want), typeName(v))
}

func fitList(s *jsonschema.Schema, list []any, path string) (any, error) {
	if s.MinItems != nil && len(list) != *s.MinItems {
		return nil, fmt.Errorf("argument %q must have %d items, not %d", short(path), *s.MinItems, len(list))
	}
	if s.Items == nil {
		_, err := anything(list, path)
		return list, err
	}
	out := make([]any, len(list))
	for i, e := range list {
		v, err := fit(s.Items, e, fmt.Sprintf("%s[%d]", path, i))
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func fitNumber(s *jsonschema.Schema, v any, want string) (any, error) {
	var size float64
	switch n := v.(type) {
	case int64:
		size = float64(n)
	case *big.Int:
		size, _ = new(big.Float).SetInt(n).Float64()
	case float64:
		size = n
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, errors.New("must be a finite number")
		}
		if want == "integer" {
			if n != math.Trunc(n) {
				return nil, fmt.Errorf("must be an integer, not %v", n)
			}
			whole, _ := big.NewFloat(n).Int(nil)
			v = whole
			if whole.IsInt64() {
				v = whole.Int64()
			}
		}
	}
	if s.Minimum != nil && size < *s.Minimum {
		return nil, fmt.Errorf("must be at least %v", *s.Minimum)
	}
	if s.Maximum != nil && size > *s.Maximum {
		return nil, fmt.Errorf("must be at most %v", *s.Maximum)
	}
	return v, nil
}

// anything takes every value but the floats that JSON does not have: they are
// refused, at any depth, rather than turned into null.
func anything(v any, path string) (any, error) {
	if at, found := endless(v); found {
		return nil, fmt.Errorf("argument %q must be a finite number", short(path+at))
	}
	return v, nil
}

// endless finds NaN or an infinity in a value, and where it stands.
func endless(v any) (at string, found bool) {
	switch v := v.(type) {
	case float64:
		return "", math.IsNaN(v) || math.IsInf(v, 0)
	case []any:
		for i, e := range v {
			if at, found := endless(e); found {
				return fmt.Sprintf("[%d]%s", i, at), true
			}
		}
	case *value.Map:
		for k, e := range v.All() {
			if at, found := endless(e); found {
				return "." + k + at, true
			}
		}
	}
	return "", false
}

// short cuts an argument's name for an error: a model may call it anything.
func short(name string) string {
	const most = 200
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

func withArticle(jsonType string) string {
	switch jsonType {
	case "array", "object", "integer":
		return "an " + jsonType
	}
	return "a " + jsonType
}

// typeName is the JSON type of a value, as an error names it.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int64, *big.Int:
		return "an integer"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}
