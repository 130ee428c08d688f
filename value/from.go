package value

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
)

// MaxDepth is how deep lists and maps may nest in a value that comes from
// outside: deep enough for any real data, shallow enough that no recursive
// walk over a value can exhaust the stack.
const MaxDepth = 1000

// An UnsupportedError says that something is no JSON value, and where in the
// value it stands.
type UnsupportedError struct {
	Path string // from the value's root, such as [2].name; "" for the root itself
	Why  string
}

func (e *UnsupportedError) Error() string {
	if e.Path == "" {
		return e.Why
	}
	return "at " + e.Path + ": " + e.Why
}

// From turns any Go value into a value: JSON types as they are, Go integers
// and floats of every size, map[string]any (keys sorted, since Go maps have no
// order), and everything else (structs, typed maps and slices, json.Marshaler)
// as encoding/json sees it. NaN and infinities pass, as floats. It fails on
// what has no JSON form, such as a channel or a function, on cycles and on
// nesting deeper than MaxDepth.
func From(x any) (any, error) {
	return from(x, "", 0)
}

func from(x any, path string, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, &UnsupportedError{Why: fmt.Sprintf("nested more than %d levels deep", MaxDepth)}
	}
	switch x := x.(type) {
	case nil, bool, int64, float64, string:
		return x, nil
	case int:
		return int64(x), nil
	case *big.Int:
		return normInt(x), nil
	case json.Number:
		return number(string(x))
	case *Map:
		return fromMap(x, path, depth)
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			v, err := from(e, fmt.Sprintf("%s[%d]", path, i), depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	case map[string]any:
		return fromGoMap(x, path, depth)
	}
	return fromReflect(x, path)
}

func fromMap(m *Map, path string, depth int) (any, error) {
	if m == nil {
		return nil, nil
	}
	out := NewMap(m.Len())
	for k, e := range m.All() {
		v, err := from(e, path+"."+k, depth+1)
		if err != nil {
			return nil, err
		}
		out.Put(k, v)
	}
	return out, nil
}

func fromGoMap(x map[string]any, path string, depth int) (any, error) {
	keys := make([]string, 0, len(x))
	for k := range x {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := NewMap(len(keys))
	for _, k := range keys {
		v, err := from(x[k], path+"."+k, depth+1)
		if err != nil {
			return nil, err
		}
		out.Put(k, v)
	}
	return out, nil
}

func fromReflect(x any, path string) (any, error) {
	rv := reflect.ValueOf(x)
	if _, marshals := x.(json.Marshaler); !marshals {
		switch rv.Kind() {
		case reflect.Bool:
			return rv.Bool(), nil
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			return rv.Int(), nil
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
			if u := rv.Uint(); u <= math.MaxInt64 {
				return int64(u), nil
			}
			return new(big.Int).SetUint64(rv.Uint()), nil
		case reflect.Float32, reflect.Float64:
			return rv.Float(), nil
		case reflect.String:
			return rv.String(), nil
		}
	}
	b, err := json.Marshal(x)
	if err != nil {
		return nil, &UnsupportedError{Path: path, Why: fmt.Sprintf("a %T has no JSON form: %v", x, err)}
	}
	return DecodeJSON(b)
}

func normInt(x *big.Int) any {
	if x.IsInt64() {
		return x.Int64()
	}
	return x
}

// Native returns the value as encoding/json would have decoded it into an
// empty interface, except that whole numbers stay int64 or *big.Int: maps
// become map[string]any and lose their order. Everything is a fresh copy.
func Native(v any) any {
	switch v := v.(type) {
	case *Map:
		out := make(map[string]any, v.Len())
		for k, e := range v.All() {
			out[k] = Native(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Native(e)
		}
		return out
	}
	return v
}
