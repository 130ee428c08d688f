package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/value"
)

// A method is called on a value of the type that its table is for.
type method func(m *machine, self any, a *arguments) (any, error)

var dictMethods = map[string]method{
	"get":    dictGet,
	"keys":   dictView(python.KeysView),
	"values": dictView(python.ValuesView),
	"items":  dictView(python.ItemsView),
}

var sequenceMethods = map[string]method{
	"count": sequenceCount,
	"index": sequenceIndex,
}

var intMethods = map[string]method{
	"conjugate": noArguments(func(x *big.Int) any { return python.Normal(x) }),
	"bit_length": noArguments(func(x *big.Int) any {
		return int64(x.BitLen())
	}),
	"bit_count": noArguments(func(x *big.Int) any {
		n := 0
		for _, w := range x.Bits() {
			for ; w != 0; w &= w - 1 {
				n++
			}
		}
		return int64(n)
	}),
	"is_integer": noArguments(func(*big.Int) any { return true }),
	"as_integer_ratio": noArguments(func(x *big.Int) any {
		return python.Tuple{python.Normal(x), int64(1)}
	}),
}

var floatMethods = map[string]method{
	"conjugate":        noFloatArguments(func(f float64) (any, error) { return f, nil }),
	"is_integer":       noFloatArguments(func(f float64) (any, error) { return f == math.Trunc(f) && !math.IsInf(f, 0), nil }),
	"hex":              noFloatArguments(func(f float64) (any, error) { return floatHex(f), nil }),
	"as_integer_ratio": noFloatArguments(floatRatio),
}

// refusedMethods are methods that Python's types have and expressions don't.
// They are known so that an attribute of this name is refused, not missing.
var refusedMethods = map[string]string{
	"str":   " format format_map encode translate maketrans ",
	"list":  " append clear copy extend insert pop remove reverse sort ",
	"int":   " to_bytes from_bytes ",
	"bool":  " to_bytes from_bytes ",
	"float": " fromhex ",
}

// methodsOf returns the methods that a value has.
func methodsOf(v any) map[string]method {
	switch v.(type) {
	case string:
		return strMethods
	case bool, int64, *big.Int:
		return intMethods
	case float64:
		return floatMethods
	case []any, python.Tuple:
		return sequenceMethods
	case *value.Map, *python.Dict:
		return dictMethods
	}
	return nil
}

// isMethod tells whether any type has an allowed method of this name.
func isMethod(name string) bool {
	for _, table := range [...]map[string]method{strMethods, intMethods, floatMethods, sequenceMethods, dictMethods} {
		if table[name] != nil {
			return true
		}
	}
	return false
}

// hasMethod tells whether a value has a method of this name in Python.
func hasMethod(v any, name string) bool {
	return methodsOf(v)[name] != nil || strings.Contains(refusedMethods[python.TypeName(v)], " "+name+" ")
}

func (m *machine) callMethod(n *node) (any, error) {
	f := n.kids[0]
	self, err := m.eval(f.kids[0])
	if err != nil {
		return nil, err
	}
	found := methodsOf(self)[f.text]
	if found == nil {
		if v, has, err := python.Lookup(self, f.text); has && err == nil {
			return nil, python.TypeErrorf("'%s' object is not callable", python.TypeName(v))
		}
		return nil, located(noAttribute(self, f.text), f.off)
	}
	a, err := m.arguments(f.text, n.kids[1:])
	if err != nil {
		return nil, err
	}
	return found(m, self, a)
}

// numberAttribute returns one of the attributes that numbers have.
func numberAttribute(v any, name string) (any, bool) {
	if f, ok := v.(float64); ok {
		switch name {
		case "real":
			return f, true
		case "imag":
			return 0.0, true
		}
		return nil, false
	}
	i, ok := python.Integer(v)
	if !ok {
		return nil, false
	}
	switch name {
	case "real", "numerator":
		return i, true
	case "imag":
		return int64(0), true
	case "denominator":
		return int64(1), true
	}
	return nil, false
}

func noArguments(of func(*big.Int) any) method {
	return func(_ *machine, self any, a *arguments) (any, error) {
		if err := a.none("int"); err != nil {
			return nil, err
		}
		x, _ := python.BigInt(self)
		return of(x), nil
	}
}

func noFloatArguments(of func(float64) (any, error)) method {
	return func(_ *machine, self any, a *arguments) (any, error) {
		if err := a.none("float"); err != nil {
			return nil, err
		}
		return of(self.(float64))
	}
}

// none fails when there are arguments. The type's name goes into the message.
func (a *arguments) none(typ string) error {
	if len(a.kw) > 0 {
		return python.TypeErrorf("%s.%s() takes no keyword arguments", typ, a.name)
	}
	if len(a.pos) > 0 {
		return python.TypeErrorf("%s.%s() takes no arguments (%d given)", typ, a.name, len(a.pos))
	}
	return nil
}

func floatRatio(f float64) (any, error) {
	switch {
	case math.IsNaN(f):
		return nil, python.ValueErrorf("cannot convert NaN to integer ratio")
	case math.IsInf(f, 0):
		return nil, python.Errorf("OverflowError", "cannot convert Infinity to integer ratio")
	}
	r := new(big.Rat).SetFloat64(f)
	return python.Tuple{python.Normal(new(big.Int).Set(r.Num())), python.Normal(new(big.Int).Set(r.Denom()))}, nil
}

// floatHex returns float.hex(): sign, 0x1., 13 hexadecimal digits, exponent.
func floatHex(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return python.FloatRepr(f)
	case f == 0 && math.Signbit(f):
		return "-0x0.0p+0"
	case f == 0:
		return "0x0.0p+0"
	}
	bits := math.Float64bits(f)
	sign, lead, exp := "", "1", int(bits>>52&0x7ff)-1023
	if math.Signbit(f) {
		sign = "-"
	}
	if exp == -1023 { // subnormal: no leading one, the smallest exponent
		lead, exp = "0", -1022
	}
	mantissa := strconv.FormatUint(bits&(1<<52-1), 16)
	mantissa = strings.Repeat("0", 13-len(mantissa)) + mantissa
	plus := ""
	if exp >= 0 {
		plus = "+"
	}
	return sign + "0x" + lead + "." + mantissa + "p" + plus + strconv.Itoa(exp)
}

func dictGet(_ *machine, self any, a *arguments) (any, error) {
	if len(a.kw) > 0 {
		return nil, python.TypeErrorf("dict.get() takes no keyword arguments")
	}
	if err := a.between(1, 2); err != nil {
		return nil, err
	}
	v, found, err := python.Lookup(self, a.pos[0])
	if err != nil || found {
		return v, err
	}
	if len(a.pos) == 2 {
		return a.pos[1], nil
	}
	return nil, nil
}

func dictView(kind python.ViewKind) method {
	return func(_ *machine, self any, a *arguments) (any, error) {
		if err := a.none("dict"); err != nil {
			return nil, err
		}
		return python.NewView(kind, self), nil
	}
}

func sequenceElems(self any) (elems []any, typ string) {
	if t, ok := self.(python.Tuple); ok {
		return t, "tuple"
	}
	return self.([]any), "list"
}

func sequenceCount(m *machine, self any, a *arguments) (any, error) {
	elems, typ := sequenceElems(self)
	if err := a.one(typ); err != nil {
		return nil, err
	}
	n := int64(0)
	for _, e := range elems {
		eq, err := m.work.Same(e, a.pos[0])
		if err != nil {
			return nil, err
		}
		if eq {
			n++
		}
	}
	return n, nil
}

// one fails unless there is exactly one argument, and no keywords.
func (a *arguments) one(typ string) error {
	if len(a.kw) > 0 {
		return python.TypeErrorf("%s.%s() takes no keyword arguments", typ, a.name)
	}
	if len(a.pos) != 1 {
		return python.TypeErrorf("%s.%s() takes exactly one argument (%d given)", typ, a.name, len(a.pos))
	}
	return nil
}

func sequenceIndex(m *machine, self any, a *arguments) (any, error) {
	elems, typ := sequenceElems(self)
	if len(a.kw) > 0 {
		return nil, python.TypeErrorf("%s.index() takes no keyword arguments", typ)
	}
	if err := a.between(1, 3); err != nil {
		return nil, err
	}
	var bounds [2]any
	for i, b := range a.pos[1:] {
		if _, ok := python.Integer(b); !ok {
			return nil, python.TypeErrorf("slice indices must be integers or have an __index__ method")
		}
		bounds[i] = b
	}
	from, to, err := python.Bounds(bounds[0], bounds[1], len(elems))
	if err != nil {
		return nil, err
	}
	for i := from; i < to; i++ {
		eq, err := m.work.Same(elems[i], a.pos[0])
		if err != nil {
			return nil, err
		}
		if eq {
			return int64(i), nil
		}
	}
	if typ == "tuple" {
		return nil, python.ValueErrorf("tuple.index(x): x not in tuple")
	}
	return nil, python.ValueErrorf("%s is not in list", excerpt(a.pos[0]))
}
