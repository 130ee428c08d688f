package python_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/value"
)

func bigInt(s string) *big.Int {
	x, _ := new(big.Int).SetString(s, 10)
	return x
}

func dictOf(t *testing.T, pairs ...any) *python.Dict {
	t.Helper()
	d := python.NewDict(0)
	for i := 0; i < len(pairs); i += 2 {
		if err := d.Put(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestEqual(t *testing.T) {
	list := []any{math.NaN()}
	for _, c := range []struct {
		a, b any
		want bool
	}{
		{int64(1), 1.0, true}, {int64(1), true, true}, {0.0, false, true}, {int64(1), "1", false}, {nil, false, false},
		{bigInt("18446744073709551616"), 18446744073709551616.0, true},
		{bigInt("18446744073709551617"), 18446744073709551616.0, false},
		{int64(math.MaxInt64), 9223372036854775808.0, false},
		{int64(1<<53 + 1), float64(1 << 53), false},
		{math.NaN(), math.NaN(), false}, {math.Inf(1), math.Inf(1), true}, {0.0, math.Copysign(0, -1), true},
		{[]any{int64(1)}, []any{1.0}, true}, {[]any{int64(1)}, python.Tuple{int64(1)}, false},
		{[]any{}, []any{nil}, false}, {list, list, true}, {[]any{math.NaN()}, []any{math.NaN()}, false},
		{value.MapOf("a", int64(1), "b", nil), value.MapOf("b", nil, "a", true), true},
		{value.MapOf("a", nil), value.MapOf("b", nil), false},
		{value.MapOf("a", int64(1)), dictOf(t, "a", 1.0), true},
		{dictOf(t, "a", 1.0), value.MapOf("a", int64(1)), true},
		{dictOf(t, int64(1), "x"), dictOf(t, true, "x"), true},
		{dictOf(t, int64(1), "x"), value.MapOf("1", "x"), false},
		{dictOf(t, python.Tuple{int64(1), "a"}, nil), dictOf(t, python.Tuple{1.0, "a"}, nil), true},
		{dictOf(t, python.Tuple{"a", "bc"}, nil), dictOf(t, python.Tuple{"ab", "c"}, nil), false},
		{value.NewMap(0), []any{}, false}, {"a", "a", true}, {"é", "e\u0301", false},
	} {
		for _, swap := range []bool{false, true} {
			a, b := c.a, c.b
			if swap {
				a, b = b, a
			}
			if got, err := python.Equal(a, b); got != c.want || err != nil {
				t.Errorf("%s == %s: got %v, %v", python.Repr(a), python.Repr(b), got, err)
			}
		}
	}
}

func TestIs(t *testing.T) {
	m, list := value.NewMap(0), []any{int64(1)}
	for _, c := range []struct {
		a, b any
		want bool
	}{
		{nil, nil, true}, {nil, false, false}, {true, true, true}, {true, int64(1), false}, {int64(1), 1.0, false},
		{m, m, true}, {m, value.NewMap(0), false}, {list, list, true}, {list, []any{int64(1)}, false},
		{"a", "a", true}, {python.Tuple{}, python.Tuple{}, true}, {bigInt("99999999999999999999"), bigInt("99999999999999999999"), true},
	} {
		if got := python.Is(c.a, c.b); got != c.want {
			t.Errorf("%s is %s: got %v", python.Repr(c.a), python.Repr(c.b), got)
		}
	}
}

func TestCompareErrors(t *testing.T) {
	for _, c := range []struct {
		op   string
		a, b any
		want string
	}{
		{">", nil, int64(3), "TypeError: '>' not supported between instances of 'NoneType' and 'int'"},
		{"<=", "a", 1.5, "TypeError: '<=' not supported between instances of 'str' and 'float'"},
		{"<", []any{"a"}, []any{true}, "TypeError: '<' not supported between instances of 'str' and 'bool'"},
		{">=", value.NewMap(0), dictOf(t), "TypeError: '>=' not supported between instances of 'dict' and 'dict'"},
	} {
		if _, err := python.Compare(c.op, c.a, c.b); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	for _, c := range []struct {
		container, item any
		want            string
	}{
		{"abc", int64(1), "TypeError: 'in <string>' requires string as left operand, not int"},
		{int64(1), int64(1), "TypeError: argument of type 'int' is not iterable"},
		{value.NewMap(0), []any{}, "TypeError: unhashable type: 'list'"},
	} {
		if _, err := python.Contains(c.container, c.item); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestBoundedComparing(t *testing.T) {
	_, err := python.Equal(deep(1_000_000), deep(1_000_000))
	if e, ok := errors.AsType[*python.Error](err); !ok || e.Name != "RecursionError" {
		t.Errorf("a million levels: got %v", err)
	}
	if eq, err := python.Equal(deep(value.MaxDepth), deep(value.MaxDepth)); !eq || err != nil {
		t.Errorf("%d levels: got %v, %v", value.MaxDepth, eq, err)
	}
	// Two graphs in which each level holds the one below twice: without a bound,
	// comparing them takes 2^60 steps.
	shared := func() any {
		var v any = int64(1)
		for range 60 {
			v = []any{v, v}
		}
		return v
	}
	_, err = python.NewWork(1_000_000).Equal(shared(), shared())
	if e, ok := errors.AsType[*python.Error](err); !ok || e.Name != "TimeoutError" {
		t.Errorf("shared parts: got %v", err)
	}
	if b, err := python.AppendRepr(nil, shared(), 1<<20); err != python.ErrTooLong || len(b) > 1<<20 {
		t.Errorf("shared parts: got %d bytes, %v", len(b), err)
	}
	long := strings.Repeat("x", 1<<20)
	if _, err := python.NewWork(100).Contains(long, "y"); err == nil {
		t.Error("a long text was searched within 100 steps")
	}
}

// Equal keys are one key, whatever their types; others are not.
func TestDictKeysFollowEquality(t *testing.T) {
	key := rapid.OneOf(
		rapid.Bool().AsAny(), rapid.Int64Range(-3, 3).AsAny(), rapid.Just[any](nil), rapid.StringN(0, 2, -1).AsAny(),
		rapid.Map(rapid.Int64Range(-6, 6), func(i int64) any { return float64(i) / 2 }),
		rapid.SampledFrom([]any{bigInt("18446744073709551616"), 18446744073709551616.0, math.Inf(1), int64(math.MaxInt64), 9223372036854775808.0}),
	)
	tuples := rapid.OneOf(key, rapid.Map(rapid.SliceOfN(key, 0, 2), func(e []any) any { return python.Tuple(e) }))
	rapid.Check(t, func(t *rapid.T) {
		a, b := tuples.Draw(t, "a"), tuples.Draw(t, "b")
		d := python.NewDict(0)
		if err := errors.Join(d.Put(a, "first"), d.Put(b, "second")); err != nil {
			t.Fatal(err)
		}
		eq, err := python.Equal(a, b)
		if err != nil || eq != (d.Len() == 1) {
			t.Fatalf("%s and %s: equal %v, but %d keys", python.Repr(a), python.Repr(b), eq, d.Len())
		}
	})
}
