// Package template renders the templates of workflow files, which have the
// syntax of Python's str.format, and the arguments that are made of them.
//
// # What a template reads
//
//	{state.user.name}     a key of the state, at any depth
//	{topic}               a top-level key of the state, or one of the names
//	                      that the caller adds, which win
//	{steps.draft.output}  what a step that succeeded left; also .status
//	{state.items[0].name} an item, {state.items[-1]} the last one
//	{state.user[name]}    a key in brackets, without quotes, as str.format has it
//	{state}, {steps}      all of it
//	{{ and }}             literal braces
//
// A field may go on with a conversion (!r, !s, !a) and a format spec, which may
// hold fields of its own, one level deep: {state.x!r:>{state.width}}. Values
// print as Python prints them.
//
// The keys of objects are looked up by their text, in brackets too, so that
// {state.m[1]} finds the key "1". An index on a string is a character.
// Values have no attributes: {state.name.upper} is a missing key.
//
// # What is missing
//
// A field that names something the state does not have prints nothing, its
// conversion and spec included, and is reported as Missing. So does one that
// goes on below a value that has nothing below it, and an index out of range.
// Only a field that starts with a name that is neither state nor steps, nor a
// key of the state, nor one of the caller's, stays in the text as it was
// written, and is not reported: {"score": 1} in a prompt is no template. Fields
// inside its spec are fields all the same, as they are to str.format:
// {"name": "{state.name}"} gives {"name": "Ada"}.
//
// # What is refused
//
// Names that start with "_", wherever they stand; positional fields ({} and
// {0}); and all else that str.format refuses: single braces, unknown
// conversions, specs that do not fit the value.
package template

import (
	"fmt"
	"unicode/utf8"
)

const (
	// MaxOutput is the most that one rendering may print, in bytes: one
	// template, or all the templates of one value together. What a precision
	// cuts off is counted too where it had to be made first.
	MaxOutput = 64 << 20
	// MaxFields is the most fields that one template may have.
	MaxFields = 100_000
)

// A Template is a parsed template. It never changes.
type Template struct {
	parts []part
}

// A part is literal text, or a field.
type part struct {
	literal string
	field   *field
}

type field struct {
	path   Path
	text   string // as written, braces included
	head   string // text up to where the spec begins, or the closing brace
	offset int
	conv   byte   // 'r', 's', 'a', or 0
	spec   []part // nil without one
}

// A Field is one field of a template, for those who check templates without
// rendering them.
type Field struct {
	Path   Path
	Text   string // as written, braces included
	Offset int    // of its opening brace, in bytes from the template's start
	// Where is the place of the template in the value it was found in, such as
	// headers.X-Id; "" for a template by itself.
	Where string
}

// Fields returns the template's fields in the order they are written, those
// inside a format spec after the field that has it.
func (t *Template) Fields() []Field {
	return appendFields(nil, t.parts, "")
}

func appendFields(fields []Field, parts []part, where string) []Field {
	for _, p := range parts {
		if f := p.field; f != nil {
			fields = append(fields, Field{Path: f.path, Text: f.text, Offset: f.offset, Where: where})
			fields = appendFields(fields, f.spec, where)
		}
	}
	return fields
}

// An Error is a template that is broken, refused, or does not fit its values.
// It has no fault.Kind: whether it is worth a retry depends on whose template
// it is.
type Error struct {
	Offset  int    // in bytes from the template's start
	Message string // what is wrong and what to do, in lower case
	Err     error  // the cause, may be nil; its text is in Message
}

func (e *Error) Error() string {
	return fmt.Sprintf("template, at byte %d: %s", e.Offset, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// shown is how much of a template's own text an error quotes, in bytes.
const shown = 80

// shorten cuts what an error quotes.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
