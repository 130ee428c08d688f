package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxIntDigits bounds integers read from text: beyond it, arithmetic and
// printing cost quadratic time (Python refuses such literals too, at 4300).
const maxIntDigits = 4300

// DecodeJSON reads exactly one JSON document. Objects keep their key order
// (the last of two equal keys wins, as in Python), whole numbers become int64
// or *big.Int, numbers with a point or an exponent float64. Beside standard
// JSON, nothing is accepted.
func DecodeJSON(src []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	v, err := decode(d, 0)
	if err != nil {
		return nil, jsonError(src, d, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("something follows the JSON value at byte %d", d.InputOffset())
	}
	return v, nil
}

func jsonError(src []byte, d *json.Decoder, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the JSON ends too early, after %d bytes", len(src))
	}
	return fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
}

func decode(d *json.Decoder, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", MaxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		return number(string(t))
	case json.Delim:
		if t == '[' {
			return decodeList(d, depth)
		}
		return decodeMap(d, depth)
	}
	return t, nil // nil, bool, string
}

func decodeList(d *json.Decoder, depth int) (any, error) {
	out := []any{}
	for d.More() {
		v, err := decode(d, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.Token()
	return out, err
}

func decodeMap(d *json.Decoder, depth int) (any, error) {
	out := NewMap(4)
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decode(d, depth+1)
		if err != nil {
			return nil, err
		}
		out.Put(k.(string), v)
	}
	_, err := d.Token()
	return out, err
}

// number reads a JSON number, whole ones as integers of any size.
func number(s string) (any, error) {
	if !strings.ContainsAny(s, ".eE") {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return i, nil
		}
		if len(s) > maxIntDigits {
			return nil, fmt.Errorf("an integer of %d digits; at most %d are read", len(s), maxIntDigits)
		}
		if b, ok := new(big.Int).SetString(s, 10); ok {
			return b, nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case math.IsInf(f, 0):
		return nil, fmt.Errorf("the number %.40s is too large", s)
	case err != nil:
		return nil, fmt.Errorf("%q is no number", s)
	}
	return f, nil
}

// MarshalJSON writes the map with its keys in order.
func (m *Map) MarshalJSON() ([]byte, error) {
	return AppendJSON(nil, m)
}

// UnmarshalJSON reads a JSON object; the map must be new.
func (m *Map) UnmarshalJSON(src []byte) error {
	v, err := DecodeJSON(src)
	if err != nil {
		return err
	}
	o, ok := v.(*Map)
	if !ok {
		return fmt.Errorf("the JSON is no object")
	}
	*m = *o
	return nil
}

// EncodeJSON writes a value as compact JSON, without HTML escapes. A float
// that is whole keeps its point (1.0), so that reading it back gives a float.
// NaN and the infinities, which JSON does not have, are written as null.
func EncodeJSON(v any) ([]byte, error) {
	return AppendJSON(nil, v)
}

// AppendJSON is EncodeJSON into a buffer.
func AppendJSON(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case *big.Int:
		return v.Append(b, 10), nil
	case float64:
		return appendFloat(b, v), nil
	case string:
		return appendString(b, v)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = AppendJSON(b, e); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case *Map:
		return appendMap(b, v)
	}
	return nil, fmt.Errorf("a %T is no value", v)
}

func appendMap(b []byte, m *Map) ([]byte, error) {
	b = append(b, '{')
	first := true
	for k, e := range m.All() {
		if !first {
			b = append(b, ',')
		}
		first = false
		var err error
		if b, err = appendString(b, k); err != nil {
			return nil, err
		}
		b = append(b, ':')
		if b, err = AppendJSON(b, e); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendString(b []byte, s string) ([]byte, error) {
	if plain(s) { // nearly always, and without a copy
		return append(append(append(b, '"'), s...), '"'), nil
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return nil, err
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...), nil
}

// plain reports whether a string needs no escapes.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	start := len(b)
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		b = strconv.AppendFloat(b, f, 'e', -1, 64)
	} else {
		b = strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	if !bytes.ContainsAny(b[start:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}
