package expr

import (
	"errors"
	"fmt"

	"github.com/agentloom/agentloom/internal/python"
)

// A call's arguments, evaluated.
type arguments struct {
	name string // what is called, as error messages name it
	pos  []any
	kw   []namedArgument
}

type namedArgument struct {
	name string
	val  any
}

// keyword returns a keyword argument's value and removes it from the list.
func (a *arguments) keyword(name string) (any, bool) {
	for i, k := range a.kw {
		if k.name == name {
			a.kw = append(a.kw[:i:i], a.kw[i+1:]...)
			return k.val, true
		}
	}
	return nil, false
}

// noKeywords fails when keyword arguments are left.
func (a *arguments) noKeywords() error {
	if len(a.kw) > 0 {
		return python.TypeErrorf("%s() takes no keyword arguments", a.name)
	}
	return nil
}

// unknownKeywords is noKeywords for functions that have some.
func (a *arguments) unknownKeywords() error {
	if len(a.kw) > 0 {
		return python.TypeErrorf("'%s' is an invalid keyword argument for %s()", a.kw[0].name, a.name)
	}
	return nil
}

// between fails unless there are low to high positional arguments.
func (a *arguments) between(low, high int) error {
	n := len(a.pos)
	bound, want := "", low
	switch {
	case n < low && low < high:
		bound = "at least "
	case n > high:
		want = high
		if low < high {
			bound = "at most "
		}
	case n >= low:
		return nil
	}
	s := "s"
	if want == 1 {
		s = ""
	}
	return python.TypeErrorf("%s expected %s%d argument%s, got %d", a.name, bound, want, s, n)
}

// exactlyOne is between(1, 1) in the words that CPython has for some functions.
func (a *arguments) exactlyOne() error {
	if len(a.pos) != 1 {
		return python.TypeErrorf("%s() takes exactly one argument (%d given)", a.name, len(a.pos))
	}
	return nil
}

func (m *machine) arguments(name string, nodes []*node) (*arguments, error) {
	a := &arguments{name: name}
	for _, n := range nodes {
		if n.kind != kKeyword {
			v, err := m.eval(n)
			if err != nil {
				return nil, err
			}
			a.pos = append(a.pos, v)
			continue
		}
		v, err := m.eval(n.kids[0])
		if err != nil {
			return nil, err
		}
		a.kw = append(a.kw, namedArgument{name: n.text, val: v})
	}
	return a, nil
}

type function func(m *machine, a *arguments) (any, error)

// functionNames lists the functions for error messages.
const functionNames = "there are len, str, int, float, bool, abs, min, max and isinstance"

var functions = map[string]function{
	"len": callLen, "str": callStr, "int": callInt, "float": callFloat, "bool": callBool, "abs": callAbs,
	"min":        func(m *machine, a *arguments) (any, error) { return m.extreme(a, "<") },
	"max":        func(m *machine, a *arguments) (any, error) { return m.extreme(a, ">") },
	"isinstance": callIsInstance,
}

func (m *machine) call(n *node) (any, error) {
	f := n.kids[0]
	if f.kind == kAttribute {
		return m.callMethod(n)
	}
	if f.text == "isinstance" && len(n.kids) == 3 && isTypes(n.kids[2]) {
		v, err := m.eval(n.kids[1])
		if err != nil {
			return nil, err
		}
		return isInstance(v, n.kids[2]), nil
	}
	a, err := m.arguments(f.text, n.kids[1:])
	if err != nil {
		return nil, err
	}
	return functions[f.text](m, a)
}

// isInstance tells whether a value is of one of the types that a node names. A
// bool is an int too.
func isInstance(v any, types *node) bool {
	if types.kind == kTuple {
		for _, k := range types.kids {
			if isInstance(v, k) {
				return true
			}
		}
		return false
	}
	name := python.TypeName(v)
	return name == types.text || name == "bool" && types.text == "int"
}

// callIsInstance is reached only when the second argument names no type.
func callIsInstance(_ *machine, a *arguments) (any, error) {
	if err := a.noKeywords(); err != nil {
		return nil, err
	}
	if err := a.between(2, 2); err != nil {
		return nil, err
	}
	return nil, python.TypeErrorf("isinstance() arg 2 must be a type, a tuple of types, or a union")
}

func callLen(m *machine, a *arguments) (any, error) {
	if err := a.noKeywords(); err != nil {
		return nil, err
	}
	if err := a.exactlyOne(); err != nil {
		return nil, err
	}
	if err := m.look(a.pos[0]); err != nil {
		return nil, err
	}
	n, err := python.Len(a.pos[0])
	return int64(n), err
}

func callAbs(_ *machine, a *arguments) (any, error) {
	if err := a.noKeywords(); err != nil {
		return nil, err
	}
	if err := a.exactlyOne(); err != nil {
		return nil, err
	}
	return python.Abs(a.pos[0])
}

func callBool(_ *machine, a *arguments) (any, error) {
	if err := a.noKeywords(); err != nil {
		return nil, err
	}
	if err := a.between(0, 1); err != nil {
		return nil, err
	}
	return len(a.pos) == 1 && python.Truth(a.pos[0]), nil
}

func callFloat(m *machine, a *arguments) (any, error) {
	if err := a.noKeywords(); err != nil {
		return nil, err
	}
	if err := a.between(0, 1); err != nil {
		return nil, err
	}
	if len(a.pos) == 0 {
		return 0.0, nil
	}
	if s, ok := a.pos[0].(string); ok {
		if err := m.text(len(s)); err != nil {
			return nil, err
		}
	}
	return python.ToFloat(a.pos[0])
}

func callStr(m *machine, a *arguments) (any, error) {
	v, named := a.keyword("object")
	if err := a.unknownKeywords(); err != nil {
		return nil, err
	}
	switch {
	case named && len(a.pos) > 0:
		return nil, python.TypeErrorf("argument for str() given by name ('object') and position (1)")
	case len(a.pos) > 3:
		return nil, python.TypeErrorf("str() takes at most 3 arguments (%d given)", len(a.pos))
	case len(a.pos) > 1:
		if _, ok := a.pos[0].(string); ok {
			return nil, python.TypeErrorf("decoding str is not supported")
		}
		return nil, python.TypeErrorf("decoding to str: need a bytes-like object, %s found", python.TypeName(a.pos[0]))
	case len(a.pos) == 1:
		v = a.pos[0]
	case !named:
		return "", nil
	}
	return m.str(v)
}

func (m *machine) str(v any) (any, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	b, err := python.AppendStr(nil, v, MaxString)
	if errors.Is(err, python.ErrTooLong) {
		err = python.Errorf(memoryError, "str() would give more than %d bytes", MaxString)
	}
	if err != nil {
		return nil, err
	}
	if err := m.text(len(b)); err != nil {
		return nil, err
	}
	return string(b), m.takeString(len(b))
}

func callInt(m *machine, a *arguments) (any, error) {
	base, hasBase := a.keyword("base")
	if err := a.unknownKeywords(); err != nil {
		return nil, err
	}
	switch {
	case len(a.pos) > 2:
		return nil, python.TypeErrorf("int() takes at most 2 arguments (%d given)", len(a.pos))
	case len(a.pos) == 2 && hasBase:
		return nil, python.TypeErrorf("int() takes at most 2 arguments (3 given)")
	case len(a.pos) == 2:
		base, hasBase = a.pos[1], true
	}
	switch {
	case len(a.pos) == 0 && hasBase:
		return nil, python.TypeErrorf("int() missing string argument")
	case len(a.pos) == 0:
		return int64(0), nil
	}
	s, isText := a.pos[0].(string)
	if err := m.text(len(s)); err != nil {
		return nil, err
	}
	if !hasBase {
		return python.ToInt(a.pos[0])
	}
	n, ok := python.Integer(base)
	if !ok {
		return nil, notInteger(base)
	}
	i, ok := n.(int64)
	if !ok || i < 0 || i > 36 {
		i = 1 // which is out of range too
	}
	if !isText && i != 1 {
		return nil, python.TypeErrorf("int() can't convert non-string with explicit base")
	}
	return python.ParseInt(s, int(i))
}

func notInteger(v any) error {
	return python.TypeErrorf("'%s' object cannot be interpreted as an integer", python.TypeName(v))
}

// extreme is min and max: of several arguments, or of one iterable.
func (m *machine) extreme(a *arguments, op string) (any, error) {
	if len(a.pos) == 0 {
		return nil, python.TypeErrorf("%s expected at least 1 argument, got 0", a.name)
	}
	fallback, hasDefault := a.keyword("default")
	if err := a.unknownKeywords(); err != nil {
		return nil, err
	}
	elems := a.pos
	switch len(a.pos) {
	case 1:
		var err error
		if elems, err = m.elems(a.pos[0]); err != nil {
			return nil, err
		}
	default:
		if hasDefault {
			return nil, python.TypeErrorf("Cannot specify a default for %s() with multiple positional arguments", a.name)
		}
	}
	if len(elems) == 0 {
		if hasDefault {
			return fallback, nil
		}
		return nil, python.ValueErrorf("%s() arg is an empty sequence", a.name)
	}
	best := elems[0]
	for _, e := range elems[1:] {
		better, err := m.work.Compare(op, e, best)
		if err != nil {
			return nil, err
		}
		if better {
			best = e
		}
	}
	return best, nil
}

// elems iterates over a value, and accounts for the list that this makes.
func (m *machine) elems(v any) ([]any, error) {
	if n, err := python.Len(v); err == nil {
		if err := m.work.Spend(n); err != nil {
			return nil, err
		}
		if err := m.take(n * elemSize); err != nil {
			return nil, err
		}
	}
	return python.Elems(v)
}

// excerpt is repr(v), short enough for an error message.
func excerpt(v any) string {
	const most = 200
	b, err := python.AppendRepr(nil, v, most)
	if err != nil {
		return fmt.Sprintf("%s…", b)
	}
	return string(b)
}
