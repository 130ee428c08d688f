// Package python gives the values of package value the meaning that Python 3
// gives them: how they print, what is true, equal, smaller or contained, and
// how text and numbers are classified and converted. The expression language
// and the template language are both built on it.
//
// A value here is one of package value's types, or one of the few more that
// only a running expression makes: Tuple, *Dict, *View, or Type. None of them
// ever reaches workflow state.
//
// Strings are sequences of code points held as UTF-8. A byte that is no UTF-8
// counts as one code point and prints as CPython prints an undecodable byte
// (\udcNN). Everything here is pure: no clock, no files, no shared state.
package python

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/agentloom/agentloom/value"
)

// A Tuple is a Python tuple: like a list, but hashable, equal only to tuples,
// and printed with parentheses.
type Tuple []any

// A Type is one of Python's built-in types used as a value, such as the second
// argument of isinstance. Its text is the type's name, such as "int".
type Type string

// An Error is an exception: its class and its text. Error returns both as the
// last line of a traceback has them, such as "TypeError: unhashable type: 'list'".
type Error struct {
	Name    string // the exception's class, such as "TypeError"
	Message string
}

func (e *Error) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Name + ": " + e.Message
}

// Errorf makes an Error from a class name and a format.
func Errorf(name, format string, args ...any) *Error {
	return &Error{Name: name, Message: fmt.Sprintf(format, args...)}
}

// TypeErrorf is Errorf for a TypeError.
func TypeErrorf(format string, args ...any) *Error { return Errorf("TypeError", format, args...) }

// ValueErrorf is Errorf for a ValueError.
func ValueErrorf(format string, args ...any) *Error { return Errorf("ValueError", format, args...) }

// TypeName returns the name of a value's Python type: NoneType, bool, int,
// float, str, list, dict, tuple, dict_keys, dict_values, dict_items or type.
// For what is no value it returns the Go type, so that a bug shows.
func TypeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case []any:
		return "list"
	case *value.Map, *Dict:
		return "dict"
	case Tuple:
		return "tuple"
	case *View:
		return string(v.kind)
	case Type:
		return "type"
	}
	return fmt.Sprintf("%T", v)
}

// ViewKind is what a View shows of its dict.
type ViewKind string

// The kinds of views; each is the view's type name.
const (
	KeysView   ViewKind = "dict_keys"
	ValuesView ViewKind = "dict_values"
	ItemsView  ViewKind = "dict_items"
)

// A View is what the methods keys, values and items of a dict return.
type View struct {
	kind ViewKind
	of   any // *value.Map or *Dict
}

// NewView returns a view of a dict, a *value.Map or *Dict.
func NewView(kind ViewKind, of any) *View { return &View{kind: kind, of: of} }

// Len returns the number of the dict's entries.
func (v *View) Len() int { return dictLen(v.of) }

// Elems returns what iterating over the view gives: keys, values, or (key,
// value) tuples.
func (v *View) Elems() []any {
	out := make([]any, 0, v.Len())
	for k, e := range Pairs(v.of) {
		switch v.kind {
		case KeysView:
			out = append(out, k)
		case ValuesView:
			out = append(out, e)
		default:
			out = append(out, Tuple{k, e})
		}
	}
	return out
}

// Runes splits a string into code points. A byte that is no UTF-8 becomes the
// lone surrogate U+DC00 plus the byte, as with CPython's surrogateescape, so
// that Join puts back what was there.
func Runes(s string) []rune {
	out := make([]rune, 0, len(s))
	for i, r := range s {
		if r == '\uFFFD' && !strings.HasPrefix(s[i:], "\uFFFD") {
			r = escapeBase + rune(s[i])
		}
		out = append(out, r)
	}
	return out
}

// escapeBase is where undecodable bytes are mapped to.
const escapeBase = 0xDC00

// Join is the inverse of Runes.
func Join(rs []rune) string {
	var b strings.Builder
	b.Grow(len(rs))
	for _, r := range rs {
		if r >= escapeBase+0x80 && r <= escapeBase+0xFF {
			b.WriteByte(byte(r - escapeBase))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
