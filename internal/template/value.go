package template

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

// A ValueError is an error in one string of a larger value. Its cause is an
// *Error (a broken template) or a permanent fault (a path that names something
// the state does not have).
type ValueError struct {
	Where string // such as tool_args.headers.X-Id or items[2]; "" for the value itself
	Err   error
}

func (e *ValueError) Error() string {
	if e.Where == "" {
		return e.Err.Error()
	}
	return e.Where + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *ValueError) Unwrap() error { return e.Err }

// RenderValue renders a value of a workflow file, such as one argument of a
// tool: strings at any depth of its lists and maps are whole-string paths
// (ParsePath), which give the state's value with its type, or templates. A map
// of exactly the two keys {value: X, template: false} gives X as written. Keys
// are left alone, and so is what comes out of the state: only v itself is read
// as templates. Errors are *ValueError and say where in v they stand.
func RenderValue(v any, s state.State) (any, []Missing, error) {
	r := newRenderer(s, nil)
	out, err := r.value(v)
	if err != nil {
		return nil, nil, err
	}
	return out, r.missing, nil
}

// RenderArgs renders each value of args as RenderValue does. The map itself
// always stays a map: a tool may well have two arguments called value and
// template. Places in errors and in Missing start with name, such as
// "tool_args".
func RenderArgs(name string, args *value.Map, s state.State) (*value.Map, []Missing, error) {
	r := newRenderer(s, nil)
	r.place = append(r.place, Segment{Key: name})
	out, err := r.mapping(args)
	if err != nil {
		return nil, nil, err
	}
	return out, r.missing, nil
}

func (r *renderer) value(v any) (any, error) {
	if len(r.place) > value.MaxDepth {
		return nil, &ValueError{shorten(r.where(), shown), tooDeep()}
	}
	switch v := v.(type) {
	case string:
		out, err := r.text(v)
		if err != nil {
			return nil, &ValueError{r.where(), err}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			r.place = append(r.place, item(i))
			rendered, err := r.value(e)
			if err != nil {
				return nil, err
			}
			r.place = r.place[:len(r.place)-1]
			out[i] = rendered
		}
		return out, nil
	case *value.Map:
		if x, ok := literal(v); ok {
			return x, nil
		}
		return r.mapping(v)
	}
	return v, nil
}

func (r *renderer) mapping(m *value.Map) (*value.Map, error) {
	out := value.NewMap(m.Len())
	for k, e := range m.All() {
		r.place = append(r.place, Segment{Key: k})
		rendered, err := r.value(e)
		if err != nil {
			return nil, err
		}
		r.place = r.place[:len(r.place)-1]
		out.Put(k, rendered)
	}
	return out, nil
}

func (r *renderer) text(s string) (any, error) {
	if p, ok := ParsePath(s); ok {
		return r.get(p)
	}
	if !strings.ContainsAny(s, "{}") {
		return s, nil
	}
	t, err := Parse(s)
	if err != nil {
		return nil, err
	}
	return r.render(t)
}

func item(i int) Segment {
	return Segment{Key: strconv.Itoa(i), Index: i, IsIndex: true}
}

func tooDeep() error {
	return &Error{Message: fmt.Sprintf("nested more than %d levels deep", value.MaxDepth)}
}

// literal returns X of {value: X, template: false}.
func literal(m *value.Map) (any, bool) {
	if m.Len() != 2 {
		return nil, false
	}
	x, hasValue := m.Get("value")
	flag, hasFlag := m.Get("template")
	if !hasValue || !hasFlag || flag != false {
		return nil, false
	}
	return x, true
}

// ValueFields returns what RenderValue would read, without a state: the fields
// of the value's templates and its whole-string paths, in order. The error
// joins one *ValueError for each string that is broken or refused; the fields
// and paths of the others are returned all the same.
func ValueFields(v any) ([]Field, []Path, error) {
	var w walker
	w.walk(v)
	return w.fields, w.paths, errors.Join(w.errs...)
}

type walker struct {
	fields []Field
	paths  []Path
	errs   []error
	place  []Segment
}

func (w *walker) walk(v any) {
	if len(w.place) > value.MaxDepth {
		w.errs = append(w.errs, &ValueError{shorten(placeString(w.place), shown), tooDeep()})
		return
	}
	switch v := v.(type) {
	case string:
		w.text(v)
	case []any:
		for i, e := range v {
			w.at(item(i), e)
		}
	case *value.Map:
		if _, ok := literal(v); ok {
			return
		}
		for k, e := range v.All() {
			w.at(Segment{Key: k}, e)
		}
	}
}

func (w *walker) at(s Segment, v any) {
	w.place = append(w.place, s)
	w.walk(v)
	w.place = w.place[:len(w.place)-1]
}

func (w *walker) text(s string) {
	if p, ok := ParsePath(s); ok {
		if name, refused := p.refusedName(); refused {
			w.fail(&Error{Message: refusal(name)})
			return
		}
		w.paths = append(w.paths, p)
		return
	}
	t, err := Parse(s)
	if err != nil {
		w.fail(err)
		return
	}
	w.fields = appendFields(w.fields, t.parts, placeString(w.place))
}

func (w *walker) fail(err error) {
	w.errs = append(w.errs, &ValueError{placeString(w.place), err})
}
