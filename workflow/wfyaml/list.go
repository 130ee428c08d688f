package wfyaml

import (
	"go.yaml.in/yaml/v4"

	"github.com/agentloom/agentloom/value"
)

// items returns the items of a node that must be a list of what is named. They
// get their paths one by one, where they are read: aliases can make millions of
// a few.
func (d *decoder) items(it item, of string) ([]*yaml.Node, bool) {
	n := follow(it.node)
	if n.Kind != yaml.SequenceNode {
		d.wrongType(it, "a list of "+of)
		return nil, false
	}
	if !d.collectionTag(n, it, "!!seq") {
		return nil, false
	}
	return n.Content, true
}

// texts is a field that holds a list of strings. An empty list is not nil.
func texts[T any](key string, to func(*T) *[]string) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		nodes, ok := d.items(it, "strings")
		if !ok {
			// A scalar was meant as the only item: go on as if it were.
			if n := follow(it.node); n.Kind == yaml.ScalarNode {
				*to(t) = []string{n.Value}
			}
			return
		}
		out := make([]string, len(nodes))
		for i, n := range nodes {
			it := it.index(i, n)
			if d.string(it, &out[i]) {
				d.warnBoolean(it, true)
			}
		}
		*to(t) = out
	}}
}

// integers is a field that holds a list of whole numbers.
func integers[T any](key string, to func(*T) *[]int) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		nodes, ok := d.items(it, "integers")
		if !ok {
			return
		}
		out := make([]int, len(nodes))
		for i, n := range nodes {
			decodeInt(d, it.index(i, n), &out[i])
		}
		*to(t) = out
	}}
}

// sections is a field that holds a list of sections of one kind, called what
// and plural in messages, each of which starts as blank.
func sections[T, S any](key, what, plural string, fields []field[S], blank S, to func(*T) *[]S) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		nodes, ok := d.items(it, plural)
		if !ok {
			return
		}
		out := make([]S, len(nodes))
		for i, n := range nodes {
			out[i] = blank
			section(d, it.index(i, n), what, fields, &out[i])
		}
		*to(t) = out
	}}
}

// subsection is a field that holds a section of its own, which starts as blank.
func subsection[T, S any](key, what string, fields []field[S], blank S, to func(*T) **S) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		s := blank
		if section(d, it, what, fields, &s) {
			*to(t) = &s
		}
	}}
}

// textMap is a field that holds a mapping of names to strings.
func textMap[T any](key string, to func(*T) **value.Map) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		es, ok := d.mapping(it, "a mapping of names to strings")
		if !ok {
			return
		}
		m := value.NewMap(len(es))
		for _, e := range es {
			s, it := "", it.key(e.key, e.value)
			if d.string(it, &s) {
				d.warnBoolean(it, true)
			}
			m.Put(e.key, s)
		}
		*to(t) = m
	}}
}
