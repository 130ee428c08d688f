package python

import (
	"math"
	"math/big"
	"strings"
	"unsafe"

	"github.com/agentloom/agentloom/value"
)

// Work bounds how many elementary steps a computation may take: one for each
// pair of values compared and for every few dozen bytes of text looked at. A
// nil *Work has no bound.
type Work struct{ left int }

// NewWork allows n steps.
func NewWork(n int) *Work { return &Work{left: n} }

// Spend takes n steps. It fails with a TimeoutError when none are left.
func (w *Work) Spend(n int) error {
	if w == nil {
		return nil
	}
	if w.left -= n; w.left < 0 {
		w.left = 0
		return Errorf("TimeoutError", "the evaluation takes too many steps; compare or search less data")
	}
	return nil
}

// bytesPerStep is how much text counts as one step.
const bytesPerStep = 64

// SpendText takes the steps for n bytes of text.
func (w *Work) SpendText(n int) error { return w.Spend(1 + n/bytesPerStep) }

// Truth returns bool(v): false for None, False, zero, and whatever is empty.
func Truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case *big.Int:
		return v.Sign() != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	}
	if n, err := Len(v); err == nil {
		return n != 0
	}
	return true
}

// Is tells whether a and b are one object. None, True and False are; lists and
// dicts when both come from the same place; equal numbers of one type, equal
// strings and empty tuples too, which CPython leaves to the implementation.
func Is(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool, int64, string, Type:
		return a == b
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b) && a == b
	case *big.Int:
		b, ok := b.(*big.Int)
		return ok && a.Cmp(b) == 0
	case []any:
		b, ok := b.([]any)
		return ok && sameSlice(a, b)
	case Tuple:
		b, ok := b.(Tuple)
		return ok && (sameSlice(a, b) || len(a)+len(b) == 0)
	case *value.Map, *Dict, *View:
		return a == b
	}
	return false
}

func sameSlice(a, b []any) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// Equal tells whether a == b: containers by their contents, numbers by value
// whatever their type. Its only error is a RecursionError, for what nests over
// 2000 levels deep.
func Equal(a, b any) (bool, error) { return (*Work)(nil).Equal(a, b) }

// Equal is the function Equal within a bound of steps.
func (w *Work) Equal(a, b any) (bool, error) { return w.equal(a, b, 0) }

func (w *Work) equal(a, b any, depth int) (bool, error) {
	if depth > maxNesting {
		return false, Errorf("RecursionError", "maximum recursion depth exceeded in comparison")
	}
	if err := w.Spend(1); err != nil {
		return false, err
	}
	if c, ok := compareNumbers(a, b); ok {
		return c == 0, nil
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && a == b, w.SpendText(min(len(a), len(b)))
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		return w.equalAll(a, b, depth)
	case Tuple:
		b, ok := b.(Tuple)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		return w.equalAll(a, b, depth)
	case *value.Map, *Dict:
		if TypeName(b) != "dict" {
			return false, nil
		}
		return w.equalDicts(a, b, depth)
	case *View:
		b, ok := b.(*View)
		if !ok || a.kind == ValuesView || b.kind == ValuesView || a.Len() != b.Len() {
			return ok && a == b, nil
		}
		return w.subset(a, b, depth)
	}
	return Is(a, b), nil
}

// Same tells whether a is b or a == b, which is what containers ask when they
// look for an element.
func (w *Work) Same(a, b any) (bool, error) { return w.same(a, b, 0) }

// same is what containers ask of their elements: one object, or equal.
func (w *Work) same(a, b any, depth int) (bool, error) {
	if _, isText := a.(string); !isText && Is(a, b) {
		return true, w.Spend(1)
	}
	return w.equal(a, b, depth)
}

func (w *Work) equalAll(a, b []any, depth int) (bool, error) {
	if sameSlice(a, b) {
		return true, nil
	}
	for i := range a {
		if ok, err := w.same(a[i], b[i], depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (w *Work) equalDicts(a, b any, depth int) (bool, error) {
	if a == b {
		return true, nil
	}
	if dictLen(a) != dictLen(b) {
		return false, nil
	}
	for k, x := range Pairs(a) {
		y, has, err := Lookup(b, k)
		if !has || err != nil {
			return false, err
		}
		if ok, err := w.same(x, y, depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// subset tells whether all elements of a are in b; both show keys or items.
func (w *Work) subset(a, b *View, depth int) (bool, error) {
	for _, e := range a.Elems() {
		if ok, err := w.viewContains(b, e, depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// Compare returns `a op b` for one of < <= > >=. It fails with a TypeError
// where Python has no order.
func Compare(op string, a, b any) (bool, error) { return (*Work)(nil).Compare(op, a, b) }

// Compare is the function Compare within a bound of steps.
func (w *Work) Compare(op string, a, b any) (bool, error) { return w.compare(op, a, b, 0) }

func (w *Work) compare(op string, a, b any, depth int) (bool, error) {
	if depth > maxNesting {
		return false, Errorf("RecursionError", "maximum recursion depth exceeded in comparison")
	}
	if err := w.Spend(1); err != nil {
		return false, err
	}
	if c, ok := compareNumbers(a, b); ok {
		return holds(op, c), nil
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return holds(op, strings.Compare(x, y)), w.SpendText(min(len(x), len(y)))
		}
	case []any:
		if y, ok := b.([]any); ok {
			return w.compareSequences(op, x, y, depth)
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			return w.compareSequences(op, x, y, depth)
		}
	case *View:
		if y, ok := b.(*View); ok && x.kind != ValuesView && y.kind != ValuesView {
			return w.compareViews(op, x, y, depth)
		}
	}
	return false, TypeErrorf("'%s' not supported between instances of '%s' and '%s'", op, TypeName(a), TypeName(b))
}

// unordered is the result of comparing with a NaN: every order is false.
const unordered = 2

func holds(op string, c int) bool {
	switch op {
	case "<":
		return c == -1
	case "<=":
		return c == -1 || c == 0
	case ">":
		return c == 1
	}
	return c == 1 || c == 0
}

// compareSequences looks for the first pair that differs; it decides, else the
// lengths do.
func (w *Work) compareSequences(op string, a, b []any, depth int) (bool, error) {
	for i := range min(len(a), len(b)) {
		ok, err := w.same(a[i], b[i], depth+1)
		if err != nil {
			return false, err
		}
		if !ok {
			return w.compare(op, a[i], b[i], depth+1)
		}
	}
	switch {
	case len(a) < len(b):
		return holds(op, -1), nil
	case len(a) > len(b):
		return holds(op, 1), nil
	}
	return holds(op, 0), nil
}

// compareViews orders views as sets: < is a proper subset.
func (w *Work) compareViews(op string, a, b *View, depth int) (bool, error) {
	if op[0] == '>' {
		a, b = b, a
	}
	strict := len(op) == 1
	if a.Len() > b.Len() || strict && a.Len() == b.Len() {
		return false, nil
	}
	return w.subset(a, b, depth)
}

// Contains returns `item in container`. It fails with a TypeError when the
// container holds nothing, or can't hold such an item.
func Contains(container, item any) (bool, error) { return (*Work)(nil).Contains(container, item) }

// Contains is the function Contains within a bound of steps.
func (w *Work) Contains(container, item any) (bool, error) {
	switch c := container.(type) {
	case string:
		s, ok := item.(string)
		if !ok {
			return false, TypeErrorf("'in <string>' requires string as left operand, not %s", TypeName(item))
		}
		return strings.Contains(c, s), w.SpendText(len(c))
	case []any:
		return w.among(c, item, 0)
	case Tuple:
		return w.among(c, item, 0)
	case *value.Map, *Dict:
		return w.viewContains(NewView(KeysView, c), item, 0)
	case *View:
		return w.viewContains(c, item, 0)
	}
	return false, TypeErrorf("argument of type '%s' is not iterable", TypeName(container))
}

func (w *Work) among(elems []any, item any, depth int) (bool, error) {
	for _, e := range elems {
		if ok, err := w.same(e, item, depth+1); ok || err != nil {
			return ok && err == nil, err
		}
	}
	return false, nil
}

func (w *Work) viewContains(v *View, item any, depth int) (bool, error) {
	switch v.kind {
	case KeysView:
		if s, ok := item.(string); ok {
			if err := w.SpendText(len(s)); err != nil {
				return false, err
			}
		}
		_, has, err := Lookup(v.of, item)
		return has, err
	case ValuesView:
		return w.among(v.Elems(), item, depth)
	}
	t, ok := item.(Tuple)
	if !ok || len(t) != 2 {
		return false, nil
	}
	e, has, err := Lookup(v.of, t[0])
	if !has || err != nil {
		return false, err
	}
	return w.same(e, t[1], depth+1)
}
