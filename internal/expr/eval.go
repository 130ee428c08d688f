package expr

import (
	"math/big"

	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

// A machine is one evaluation.
type machine struct {
	state  state.State
	work   *python.Work
	memory int // bytes that may still be taken

	whole, steps *value.Map // what the bare names stand for, made when first needed
}

// elemSize is roughly what one element of a list takes, in bytes.
const elemSize = 32

// take accounts for memory before it is used.
func (m *machine) take(bytes int) error {
	if bytes > m.memory {
		return python.Errorf(memoryError, "the evaluation needs too much memory; at most %d bytes are allowed", MaxMemory)
	}
	m.memory -= bytes
	return nil
}

// takeString accounts for a string of n bytes that an evaluation is to make.
func (m *machine) takeString(n int) error {
	if n > MaxString {
		return python.Errorf(memoryError, "the result would be %d bytes long; at most %d are allowed", n, MaxString)
	}
	return m.take(n)
}

// eval computes a node. Its recursion is bounded by MaxDepth and the longest
// chain that fits in MaxSource.
func (m *machine) eval(n *node) (any, error) {
	if err := m.work.Spend(1); err != nil {
		return nil, located(err, n.off)
	}
	v, err := m.evalKind(n)
	if x, ok := v.(*big.Int); ok && err == nil {
		err = m.takeInt(x)
	}
	if err != nil {
		return nil, located(err, n.off)
	}
	return v, nil
}

// takeInt accounts for an int of any size.
func (m *machine) takeInt(x *big.Int) error {
	bytes := x.BitLen() / 8
	if err := m.take(bytes); err != nil {
		return err
	}
	return m.work.SpendText(bytes)
}

// root returns all of state or steps.
func (m *machine) root(name string) *value.Map {
	if name == "state" {
		if m.whole == nil {
			m.whole = m.state.Map()
		}
		return m.whole
	}
	if m.steps == nil {
		m.steps = m.state.Steps()
	}
	return m.steps
}

// look accounts for a pass over a value that is a string.
func (m *machine) look(v any) error {
	if s, ok := v.(string); ok {
		return m.work.SpendText(len(s))
	}
	return nil
}

func (m *machine) evalKind(n *node) (any, error) {
	switch n.kind {
	case kConstant:
		return n.val, nil
	case kName:
		return m.root(n.text), nil
	case kAttribute:
		return m.attribute(n)
	case kSubscript:
		return m.subscript(n)
	case kCall:
		return m.call(n)
	case kBinOp:
		return m.binOp(n)
	case kBoolOp:
		return m.boolOp(n)
	case kUnaryOp:
		return m.unaryOp(n)
	case kCompare:
		return m.compare(n)
	case kIfExp:
		return m.ifExp(n)
	case kList:
		elems, err := m.evalAll(n.kids)
		return elems, err
	case kTuple:
		elems, err := m.evalAll(n.kids)
		return python.Tuple(elems), err
	case kDict:
		return m.dict(n)
	}
	return nil, python.Errorf(securityError, "%s %s", n.kind, notAllowed)
}

func (m *machine) evalAll(nodes []*node) ([]any, error) {
	if err := m.take(elemSize * (len(nodes) + 1)); err != nil {
		return nil, err
	}
	out := make([]any, len(nodes), len(nodes)+1) // room for one: no two empty lists are one object
	for i, n := range nodes {
		v, err := m.eval(n)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (m *machine) dict(n *node) (any, error) {
	if err := m.take(4 * elemSize * (len(n.kids) + 1)); err != nil {
		return nil, err
	}
	pairs := make([]any, len(n.kids)) // all are evaluated before the first is hashed
	for i, k := range n.kids {
		var err error
		if pairs[i], err = m.eval(k); err != nil {
			return nil, err
		}
	}
	d := python.NewDict(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		if err := m.look(pairs[i]); err != nil {
			return nil, err
		}
		if err := d.Put(pairs[i], pairs[i+1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (m *machine) boolOp(n *node) (any, error) {
	var v any
	for _, k := range n.kids {
		var err error
		if v, err = m.eval(k); err != nil {
			return nil, err
		}
		if python.Truth(v) == (n.op == "Or") {
			break
		}
	}
	return v, nil
}

func (m *machine) ifExp(n *node) (any, error) {
	test, err := m.eval(n.kids[0])
	if err != nil {
		return nil, err
	}
	if python.Truth(test) {
		return m.eval(n.kids[1])
	}
	return m.eval(n.kids[2])
}

func (m *machine) compare(n *node) (any, error) {
	left, err := m.eval(n.kids[0])
	if err != nil {
		return nil, err
	}
	for i, op := range n.ops {
		right, err := m.eval(n.kids[i+1])
		if err != nil {
			return nil, err
		}
		ok, err := m.compareOne(op, left, right)
		if err != nil || !ok {
			return ok, err
		}
		left = right
	}
	return true, nil
}

func (m *machine) compareOne(op string, a, b any) (bool, error) {
	switch op {
	case "==", "!=":
		eq, err := m.work.Equal(a, b)
		return eq == (op == "=="), err
	case "in", "not in":
		has, err := m.work.Contains(b, a)
		return has == (op == "in"), err
	case "is", "is not":
		return python.Is(a, b) == (op == "is"), m.look(a)
	}
	return m.work.Compare(op, a, b)
}

func (m *machine) unaryOp(n *node) (any, error) {
	v, err := m.eval(n.kids[0])
	if err != nil {
		return nil, err
	}
	sign := "-"
	switch n.op {
	case "Not":
		return !python.Truth(v), nil
	case "USub":
		if r, ok := python.Neg(v); ok {
			return r, nil
		}
	default:
		sign = "+"
		if r, ok := python.Pos(v); ok {
			return r, nil
		}
	}
	return nil, python.TypeErrorf("bad operand type for unary %s: '%s'", sign, python.TypeName(v))
}

func (m *machine) binOp(n *node) (any, error) {
	a, err := m.eval(n.kids[0])
	if err != nil {
		return nil, err
	}
	b, err := m.eval(n.kids[1])
	if err != nil {
		return nil, err
	}
	sign := "+"
	if n.op == "Add" {
		if sum, ok, err := python.Add(a, b); ok {
			return sum, err
		}
		if sum, ok, err := m.concat(a, b); ok {
			return sum, err
		}
	} else {
		sign = "-"
		if diff, ok, err := python.Sub(a, b); ok {
			return diff, err
		}
		if isSetLike(a) || isSetLike(b) {
			return nil, python.Errorf(securityError, "Set %s: views are not subtracted", notAllowed)
		}
	}
	return nil, python.TypeErrorf("unsupported operand type(s) for %s: '%s' and '%s'",
		sign, python.TypeName(a), python.TypeName(b))
}

func isSetLike(v any) bool {
	name := python.TypeName(v)
	return name == string(python.KeysView) || name == string(python.ItemsView)
}

// concat joins two strings, lists or tuples. ok is false when a is none.
func (m *machine) concat(a, b any) (sum any, ok bool, err error) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			if err := m.takeString(len(x) + len(y)); err != nil {
				return nil, true, err
			}
			return x + y, true, m.work.SpendText(len(x) + len(y))
		}
	case []any:
		if y, ok := b.([]any); ok {
			out, err := m.joined(x, y)
			return out, true, err
		}
	case python.Tuple:
		if y, ok := b.(python.Tuple); ok {
			out, err := m.joined(x, y)
			return python.Tuple(out), true, err
		}
	default:
		return nil, false, nil
	}
	name := python.TypeName(a)
	return nil, true, python.TypeErrorf(`can only concatenate %s (not "%s") to %s`, name, python.TypeName(b), name)
}

func (m *machine) joined(x, y []any) ([]any, error) {
	n := len(x) + len(y)
	if err := m.take(elemSize * (n + 1)); err != nil {
		return nil, err
	}
	if err := m.work.Spend(n); err != nil {
		return nil, err
	}
	out := make([]any, 0, n+1)
	return append(append(out, x...), y...), nil
}
