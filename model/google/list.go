package google

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Bounds on lists: a few bytes of JSON can make hundreds in memory.
const (
	maxItems = 200_000 // items and fields of a whole JSON document
	maxParts = 100_000 // parts of an answer, text that comes in pieces counted once
)

// errTooMany says that a list has more items than are read.
var errTooMany = errors.New("a list of more items than are read")

// readList reads a JSON array of at most max items. Of a longer one it returns
// these and errTooMany.
func readList[T any](src []byte, max int) ([]T, error) {
	d := json.NewDecoder(bytes.NewReader(src))
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		if bytes.Equal(src, []byte("null")) {
			return nil, nil
		}
		return nil, &json.UnmarshalTypeError{Value: "no array", Offset: 0}
	}
	var out []T
	for d.More() {
		if len(out) == max {
			return out, errTooMany
		}
		var item T
		if err := d.Decode(&item); err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

// tooMany reports whether a JSON document has more than max items and fields
// after the first ones, at any depth. It is right for JSON only.
func tooMany(src []byte, max int) bool {
	n := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case ',':
			if n++; n > max {
				return true
			}
		case '"':
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}
