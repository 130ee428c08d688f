// Package value is the data that workflow state, tool arguments and results
// are made of: JSON values with the two things that Go's own JSON values lose,
// the order of an object's keys and the difference between 1 and 1.0.
//
// A value is one of
//
//	nil, bool, int64, *big.Int (only outside int64's range), float64, string,
//	[]any and *Map (of values)
//
// Values are immutable by convention: whoever has one may keep it and read it
// from any goroutine, and nobody changes it. To change a value, make another.
package value

import (
	"iter"
	"maps"
	"slices"
)

// indexFrom is the number of keys from which a Map keeps a hash index; below
// it, comparing a few strings is faster than hashing one.
const indexFrom = 9

// Map is a JSON object whose keys keep the order in which they were first set,
// as a Python dict does. The zero value, and nil, are empty maps to read from.
type Map struct {
	keys  []string
	vals  []any
	index map[string]int
}

// NewMap returns an empty map with room for n keys.
func NewMap(n int) *Map {
	return &Map{keys: make([]string, 0, n), vals: make([]any, 0, n)}
}

// MapOf returns a map of the given pairs, key, value, key, value, …; the
// values must already be values of this package. It panics on an odd number of
// arguments or a key that is no string: it is meant for literals in code.
func MapOf(pairs ...any) *Map {
	m := NewMap(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		m.Put(pairs[i].(string), pairs[i+1])
	}
	return m
}

// Put sets a key while the map is being built. It must not be called once the
// map has been handed to anyone else; use With then.
func (m *Map) Put(key string, v any) {
	if i, ok := m.find(key); ok {
		m.vals[i] = v
		return
	}
	m.keys = append(m.keys, key)
	m.vals = append(m.vals, v)
	switch {
	case m.index != nil:
		m.index[key] = len(m.keys) - 1
	case len(m.keys) >= indexFrom:
		m.index = make(map[string]int, 2*len(m.keys))
		for i, k := range m.keys {
			m.index[k] = i
		}
	}
}

// With returns a copy of the map with one key set. The copy shares the values.
func (m *Map) With(key string, v any) *Map {
	c := m.clone()
	c.Put(key, v)
	return c
}

func (m *Map) clone() *Map {
	if m == nil {
		return NewMap(1)
	}
	return &Map{keys: slices.Clone(m.keys), vals: slices.Clone(m.vals), index: maps.Clone(m.index)}
}

// Get returns the value of a key, and whether the map has it.
func (m *Map) Get(key string) (any, bool) {
	if m == nil {
		return nil, false
	}
	if i, ok := m.find(key); ok {
		return m.vals[i], true
	}
	return nil, false
}

// Len returns the number of keys.
func (m *Map) Len() int {
	if m == nil {
		return 0
	}
	return len(m.keys)
}

// Keys returns the keys in order. The slice is a copy.
func (m *Map) Keys() []string {
	if m == nil {
		return nil
	}
	return slices.Clone(m.keys)
}

// All ranges over the pairs in order.
func (m *Map) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if m == nil {
			return
		}
		for i, k := range m.keys {
			if !yield(k, m.vals[i]) {
				return
			}
		}
	}
}

func (m *Map) find(key string) (int, bool) {
	if m.index != nil {
		i, ok := m.index[key]
		return i, ok
	}
	for i, k := range m.keys {
		if k == key {
			return i, true
		}
	}
	return 0, false
}
