package python

import (
	"cmp"
	"math"
	"math/big"
)

// IsNumber tells whether a value is a bool, an int or a float.
func IsNumber(v any) bool {
	switch v.(type) {
	case bool, int64, *big.Int, float64:
		return true
	}
	return false
}

// Integer returns a bool or int as an int, int64 where it fits, and false for
// any other value.
func Integer(v any) (any, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1), true
		}
		return int64(0), true
	case int64, *big.Int:
		return v, true
	}
	return nil, false
}

// BigInt returns a bool or int as a big integer, which must not be changed,
// and false for any other value.
func BigInt(v any) (*big.Int, bool) {
	switch v := v.(type) {
	case *big.Int:
		return v, true
	case int64:
		return big.NewInt(v), true
	case bool:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	}
	return nil, false
}

// Normal returns an int in its one form: int64 where it fits.
func Normal(x *big.Int) any {
	if x.IsInt64() {
		return x.Int64()
	}
	return x
}

// Float returns a number as a float, rounded to the nearest. It fails with an
// OverflowError for an int beyond a float's range, a TypeError for what is no
// number.
func Float(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		if math.IsInf(f, 0) {
			return 0, Errorf("OverflowError", "int too large to convert to float")
		}
		return f, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	}
	return 0, TypeErrorf("must be real number, not %s", TypeName(v))
}

// compareNumbers compares two numbers exactly: -1, 0, 1, or unordered when one
// is NaN; and false when one is no number.
func compareNumbers(a, b any) (int, bool) {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), true
		}
	}
	if !IsNumber(a) || !IsNumber(b) {
		return 0, false
	}
	x, xFloat := a.(float64)
	y, yFloat := b.(float64)
	switch {
	case xFloat && yFloat:
		if math.IsNaN(x) || math.IsNaN(y) {
			return unordered, true
		}
		return cmp.Compare(x, y), true
	case xFloat:
		return -compareIntFloat(b, x), true
	case yFloat:
		return compareIntFloat(a, y), true
	}
	i, _ := BigInt(a)
	j, _ := BigInt(b)
	return i.Cmp(j), true
}

// compareIntFloat compares without rounding either side. (-unordered counts as
// unordered too: holds knows only -1, 0 and 1.)
func compareIntFloat(i any, f float64) int {
	switch {
	case math.IsNaN(f):
		return unordered
	case math.IsInf(f, 1):
		return -1
	case math.IsInf(f, -1):
		return 1
	}
	x, _ := BigInt(i)
	return new(big.Float).SetInt(x).Cmp(big.NewFloat(f))
}

// Add returns a + b for numbers. ok is false, and the rest meaningless, when
// one of them is no number.
func Add(a, b any) (sum any, ok bool, err error) {
	return arithmetic(a, b, addInt64, (*big.Int).Add, func(x, y float64) float64 { return x + y })
}

// Sub returns a - b for numbers, like Add.
func Sub(a, b any) (difference any, ok bool, err error) {
	return arithmetic(a, b, subInt64, (*big.Int).Sub, func(x, y float64) float64 { return x - y })
}

func addInt64(x, y int64) (int64, bool) {
	s := x + y
	return s, (s > x) == (y > 0)
}

func subInt64(x, y int64) (int64, bool) {
	d := x - y
	return d, (d < x) == (y > 0)
}

func arithmetic(a, b any, small func(x, y int64) (int64, bool), large func(z, x, y *big.Int) *big.Int,
	float func(x, y float64) float64) (any, bool, error) {
	if !IsNumber(a) || !IsNumber(b) {
		return nil, false, nil
	}
	_, aFloat := a.(float64)
	_, bFloat := b.(float64)
	if aFloat || bFloat {
		x, err := Float(a)
		if err != nil {
			return nil, true, err
		}
		y, err := Float(b)
		if err != nil {
			return nil, true, err
		}
		return float(x, y), true, nil
	}
	a, _ = Integer(a)
	b, _ = Integer(b)
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			if z, fits := small(x, y); fits {
				return z, true, nil
			}
		}
	}
	x, _ := BigInt(a)
	y, _ := BigInt(b)
	return Normal(large(new(big.Int), x, y)), true, nil
}

// Neg returns -v, and false when v is no number.
func Neg(v any) (any, bool) {
	if f, ok := v.(float64); ok {
		return -f, true
	}
	x, ok := BigInt(v)
	if !ok {
		return nil, false
	}
	return Normal(new(big.Int).Neg(x)), true
}

// Pos returns +v, which makes an int of a bool, and false when v is no number.
func Pos(v any) (any, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	return Integer(v)
}

// Abs returns abs(v). It fails with a TypeError when v is no number.
func Abs(v any) (any, error) {
	if f, ok := v.(float64); ok {
		return math.Abs(f), nil
	}
	x, ok := BigInt(v)
	if !ok {
		return nil, TypeErrorf("bad operand type for abs(): '%s'", TypeName(v))
	}
	return Normal(new(big.Int).Abs(x)), nil
}
