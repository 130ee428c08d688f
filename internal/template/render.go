package template

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
)

// Missing is a field that printed nothing because the state does not have what
// it names. Each field is reported once for each rendering.
type Missing struct {
	Field  string // as written, such as {state.user.nmae}
	Offset int    // of its first use, in bytes from the template's start
	Where  string // the template's place in the value, as in Field; "" by itself
}

// Render prints the template with the values of s, and with the names of
// extra, which may be nil; extra's values are those of package value, and a
// name there hides the state's key of that name, but not "state" and "steps".
// It returns the fields that were missing, in order. What does not fit its
// format spec, or prints more than MaxOutput, is an *Error.
func (t *Template) Render(s state.State, extra map[string]any) (string, []Missing, error) {
	r := newRenderer(s, extra)
	text, err := r.render(t)
	if err != nil {
		return "", nil, err
	}
	return text, r.missing, nil
}

// A renderer prints templates that share one budget.
type renderer struct {
	lookup
	left    int // bytes that may still be printed
	missing []Missing
	seen    map[missingKey]bool
	place   []Segment // where the template stands, in a value
}

type missingKey struct{ field, where string }

func newRenderer(s state.State, extra map[string]any) *renderer {
	return &renderer{lookup: lookup{state: s, extra: extra}, left: MaxOutput}
}

func (r *renderer) render(t *Template) (string, error) {
	if len(t.parts) == 1 && t.parts[0].field == nil {
		return t.parts[0].literal, r.spend(len(t.parts[0].literal), 0)
	}
	b, err := r.appendParts(nil, t.parts)
	return string(b), err
}

func (r *renderer) appendParts(b []byte, parts []part) ([]byte, error) {
	var err error
	for _, p := range parts {
		if p.field != nil {
			b, err = r.appendField(b, p.field)
		} else {
			err = r.spend(len(p.literal), 0)
			b = append(b, p.literal...)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// spend takes n bytes off the budget.
func (r *renderer) spend(n, offset int) error {
	if r.left -= n; r.left < 0 {
		return tooLong(offset)
	}
	return nil
}

func tooLong(offset int) *Error {
	return errorAt(offset, "the text grows over %d MiB, the cap on what templates print", MaxOutput>>20)
}

func (r *renderer) appendField(b []byte, f *field) ([]byte, error) {
	v, n, ok := r.find(f.path)
	if r.read > maxRead {
		return nil, errorAt(f.offset, readTooMuch)
	}
	if !ok {
		if n < 0 {
			return r.appendUnknown(b, f)
		}
		r.miss(f)
		return b, nil
	}
	if f.conv != 0 {
		text, err := r.convert(v, f)
		if err != nil {
			return nil, err
		}
		v = text
	}
	if f.spec != nil {
		spec, err := r.appendParts(nil, f.spec)
		if err != nil {
			return nil, err
		}
		if len(spec) > 0 {
			return r.appendFormatted(b, v, string(spec), f)
		}
	}
	before := len(b)
	b, err := python.AppendStr(b, v, len(b)+r.left)
	if err != nil {
		return nil, f.fail(err)
	}
	return b, r.spend(len(b)-before, f.offset)
}

// appendUnknown writes a field that starts with an unknown name as it stands.
func (r *renderer) appendUnknown(b []byte, f *field) ([]byte, error) {
	if err := r.spend(len(f.head)+1, f.offset); err != nil {
		return nil, err
	}
	spec, err := r.appendParts(append(b, f.head...), f.spec)
	return append(spec, '}'), err
}

// convert carries out !r, !s or !a. A text that !s leaves alone costs nothing
// yet.
func (r *renderer) convert(v any, f *field) (string, error) {
	if s, ok := v.(string); ok && f.conv == 's' {
		return s, nil
	}
	var b []byte
	var err error
	switch f.conv {
	case 'r':
		b, err = python.AppendRepr(nil, v, r.left)
	case 'a':
		b, err = python.AppendASCII(nil, v, r.left)
	default:
		b, err = python.AppendStr(nil, v, r.left)
	}
	if err != nil {
		return "", f.fail(err)
	}
	return string(b), r.spend(len(b), f.offset)
}

func (r *renderer) appendFormatted(b []byte, v any, spec string, f *field) ([]byte, error) {
	text, err := python.Format(v, spec)
	if err != nil {
		if f.specHasFields() {
			// The spec that was made holds state, which may be secret.
			return nil, &Error{Offset: f.offset, Message: fmt.Sprintf(
				"cannot print %s: the format spec that its fields make does not fit a value of type %s",
				shorten(f.text, shown), python.TypeName(v))}
		}
		return nil, f.fail(err)
	}
	return append(b, text...), r.spend(len(text), f.offset)
}

func (f *field) specHasFields() bool {
	for _, p := range f.spec {
		if p.field != nil {
			return true
		}
	}
	return false
}

// fail says that a field's value cannot be printed.
func (f *field) fail(err error) error {
	if errors.Is(err, python.ErrTooLong) {
		return tooLong(f.offset)
	}
	return &Error{
		Offset:  f.offset,
		Message: fmt.Sprintf("cannot print %s: %s", shorten(f.text, shown), shorten(err.Error(), 2*shown)),
		Err:     err,
	}
}

func (r *renderer) miss(f *field) {
	where := r.where()
	key := missingKey{f.text, where}
	if r.seen[key] {
		return
	}
	if r.seen == nil {
		r.seen = map[missingKey]bool{}
	}
	r.seen[key] = true
	r.missing = append(r.missing, Missing{Field: f.text, Offset: f.offset, Where: where})
}

// where prints the place in a value that is being rendered.
func (r *renderer) where() string {
	return placeString(r.place)
}

func placeString(place []Segment) string {
	var b strings.Builder
	writeSegments(&b, place)
	return strings.TrimPrefix(b.String(), ".")
}
