package wfyaml

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/agentloom/agentloom/internal/nearest"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// field is one known key of a section whose values go into a T.
type field[T any] struct {
	key string
	set func(d *decoder, t *T, it item)
}

// section reads a mapping whose keys are the fields'. A null is an absent
// value; keys that start with x- are the user's own. what names the section in
// messages ("a tool step"). It reports whether the node is a mapping at all.
func section[T any](d *decoder, it item, what string, fields []field[T], t *T) bool {
	es, ok := d.mapping(it, "a mapping")
	if !ok {
		return false
	}
	for _, e := range es {
		if !d.ownKey(e, it) {
			continue
		}
		i := slices.IndexFunc(fields, func(f field[T]) bool { return f.key == e.key })
		if i < 0 {
			if d.news(workflow.SeverityError, "unknown_key", e.name, what) {
				d.putUnknownKey(e, es, it, what, fieldKeys(fields))
			}
			continue
		}
		if !isNull(e.value) {
			fields[i].set(d, t, it.key(e.key, e.value))
		}
	}
	return true
}

func fieldKeys[T any](fields []field[T]) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// mapping returns the entries of a node that must be a mapping; expected is
// how a message calls it.
func (d *decoder) mapping(it item, expected string) ([]entry, bool) {
	n := follow(it.node)
	if n.Kind != yaml.MappingNode {
		d.wrongType(it, expected)
		return nil, false
	}
	return d.entries(n, it.path), d.collectionTag(n, it, "!!map")
}

// collectionTag refuses a list or mapping with a tag of its own.
func (d *decoder) collectionTag(n *yaml.Node, it item, usual string) bool {
	if n.Style&yaml.TaggedStyle == 0 || n.Tag == usual {
		return true
	}
	d.wrong("unsupported_tag", it, "", "the tag %s is not supported", shown(n.Tag))
	return false
}

// ownKey reports whether a section's entry is to be looked up: not one of the
// user's own, and not a key that is no string.
func (d *decoder) ownKey(e entry, it item) bool {
	switch {
	case !e.text:
		d.badKey("invalid_key", e, it.path, "put quotes around it", "a key must be a string, not %s", described{e.name})
		return false
	case strings.HasPrefix(e.key, "x-"):
		d.free(it.key(e.key, e.value)) // for its errors: two equal keys are wrong here too
		return false
	}
	return true
}

// putUnknownKey reports a key that a section does not have.
func (d *decoder) putUnknownKey(e entry, es []entry, it item, what string, known []string) {
	suggestion := ""
	if near := nearest.Of(e.key, known); near != "" {
		suggestion = fmt.Sprintf("did you mean %q?", near)
		if _, ok := lookup(es, near); !ok {
			d.mark(spot{follow(it.node), near}) // a second error would call it missing
		}
	}
	d.put(workflow.SeverityError, "unknown_key", at(e.name), it.key(e.key, e.value).path,
		fmt.Sprintf("unknown key %s in %s", show(e.key), what), suggestion)
}

// wrongType reports a value of another type than expected, with what to write
// where that can be guessed.
func (d *decoder) wrongType(it item, expected string) {
	if d.news(workflow.SeverityError, "wrong_type", it.node, expected) {
		d.put(workflow.SeverityError, "wrong_type", at(it.node), it.path,
			"expected "+expected+", found "+describe(it.node), guess(follow(it.node), expected))
		d.mark(spot{node: it.node})
	}
}

// guess says what may have been meant by a value of the wrong type.
func guess(n *yaml.Node, expected string) string {
	wants := func(what string) bool { return strings.HasPrefix(expected, what) }
	if n.Kind != yaml.ScalarNode {
		if wants("a string") && n.Style&yaml.FlowStyle != 0 {
			return "a text that starts with { or [ needs quotes"
		}
		return ""
	}
	inner, _ := plainScalar(strings.TrimSpace(n.Value))
	_, fits := toFloat(inner)
	switch {
	case wants("a string") && inner == nil:
		return ""
	case wants("a string"):
		return "put quotes around it: " + strconv.Quote(cut(n.Value))
	case wants("true or false"):
		if b, ok := inner.(bool); ok {
			return fmt.Sprintf("remove the quotes: %t", b)
		}
		if b, ok := yaml11Truth(n.Value); ok {
			return fmt.Sprintf("write %t", b)
		}
	case wants("an integer") && isInt(inner), wants("a number") && fits:
		if isText(n) {
			return "remove the quotes: " + cut(strings.TrimSpace(n.Value))
		}
	case wants("an integer"):
		if f, ok := inner.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return fmt.Sprintf("write %.0f", f)
		}
	case wants("a number"):
		if t, err := time.ParseDuration(n.Value); err == nil {
			return "write the seconds alone: " + strconv.FormatFloat(t.Seconds(), 'f', -1, 64)
		}
	case wants("a list of strings"), wants("a list of integers") && isInt(inner):
		return "write [" + cut(n.Value) + "]"
	}
	return ""
}

func isText(n *yaml.Node) bool {
	v, _ := scalarOf(n)
	_, ok := v.(string)
	return ok
}

func isNull(n *yaml.Node) bool {
	n = follow(n)
	if n.Kind != yaml.ScalarNode || surelyText(n) {
		return false
	}
	v, problem := scalarOf(n)
	return v == nil && problem == ""
}

// scalar reads a scalar, or reports why it is none.
func (d *decoder) scalar(it item, expected string) (any, bool) {
	n := follow(it.node)
	if n.Kind != yaml.ScalarNode {
		d.wrongType(it, expected)
		return nil, false
	}
	v, problem := scalarOf(n)
	if problem != "" {
		d.wrong("invalid_value", it, "", "%s", problem)
		return nil, false
	}
	return v, true
}

// string reads a string. Of another scalar it keeps the text, so that what
// refers to it (a step's id) is not reported as well.
func (d *decoder) string(it item, dst *string) bool {
	if n := follow(it.node); surelyText(n) {
		*dst = n.Value
		return true
	}
	v, ok := d.scalar(it, "a string")
	if !ok {
		return false
	}
	*dst = follow(it.node).Value
	if _, ok := v.(string); !ok {
		d.wrongType(it, "a string")
		return false
	}
	return true
}

// warnBoolean warns of an unquoted yes, no, on or off. Where only a text can
// stand, the remedy is to quote it; elsewhere a boolean may have been meant.
func (d *decoder) warnBoolean(it item, onlyText bool) {
	n := follow(it.node)
	if !yaml11Boolean(n) || !d.news(workflow.SeverityWarning, "yaml11_boolean", it.node, "") {
		return
	}
	b, _ := yaml11Truth(n.Value)
	suggestion := "put quotes around it"
	if !onlyText {
		suggestion = fmt.Sprintf("write %t, or put quotes around it", b)
	}
	d.put(workflow.SeverityWarning, "yaml11_boolean", at(it.node), it.path,
		fmt.Sprintf("%s is a string here, though YAML 1.1 reads it as %t", show(n.Value), b), suggestion)
}

// text is a field that holds any text.
func text[T any](key string, to func(*T) *string) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		if d.string(it, to(t)) {
			d.warnBoolean(it, true)
		}
	}}
}

// word is a field that holds one of a few words, off among them; which ones,
// the semantic rules know.
func word[T any](key string, to func(*T) *string) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) { d.string(it, to(t)) }}
}

// boolean is a field that is true or false.
func boolean[T any](key string, to func(*T) *bool) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) { d.bool(it, to(t)) }}
}

// optionalBoolean is a boolean whose absence means something else than false.
func optionalBoolean[T any](key string, to func(*T) **bool) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		if b := false; d.bool(it, &b) {
			*to(t) = &b
		}
	}}
}

func (d *decoder) bool(it item, dst *bool) bool {
	const expected = "true or false"
	v, ok := d.scalar(it, expected)
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		d.wrongType(it, expected)
		return false
	}
	*dst = b
	return true
}

// integer is a field that holds a whole number.
func integer[T any, N int | int64](key string, to func(*T) *N) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) { decodeInt(d, it, to(t)) }}
}

// optionalInteger is an integer whose absence means something else than 0.
func optionalInteger[T any, N int | int64](key string, to func(*T) **N) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		if n := N(0); decodeInt(d, it, &n) {
			*to(t) = &n
		}
	}}
}

func decodeInt[N int | int64](d *decoder, it item, dst *N) bool {
	const expected = "an integer"
	v, ok := d.scalar(it, expected)
	if !ok {
		return false
	}
	if i, ok := v.(int64); ok && int64(N(i)) == i {
		*dst = N(i)
		return true
	}
	if isInt(v) {
		d.wrong("out_of_range", it, "", "the integer %s is too large", cut(follow(it.node).Value))
		return false
	}
	d.wrongType(it, expected)
	return false
}

// number is a field that holds a number, whole or not.
func number[T any](key string, to func(*T) *float64) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) { d.number(it, to(t)) }}
}

// optionalNumber is a number whose absence means something else than 0.
func optionalNumber[T any](key string, to func(*T) **float64) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		if f := 0.0; d.number(it, &f) {
			*to(t) = &f
		}
	}}
}

func (d *decoder) number(it item, dst *float64) bool {
	const expected = "a number"
	v, ok := d.scalar(it, expected)
	if !ok {
		return false
	}
	f, ok := toFloat(v)
	if !ok {
		d.wrongType(it, expected)
		return false
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		d.wrong("out_of_range", it, "", "expected a finite number, found %s", cut(follow(it.node).Value))
		return false
	}
	*dst = f
	return true
}

// dataMap is a field that holds a mapping of any data.
func dataMap[T any](key string, to func(*T) **value.Map) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		if n := follow(it.node); n.Kind != yaml.MappingNode {
			d.wrongType(it, "a mapping")
			return
		}
		if m, ok := d.free(it).(*value.Map); ok {
			*to(t) = m
		}
	}}
}
