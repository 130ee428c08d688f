package expr_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/internal/expr"
	"github.com/agentloom/agentloom/internal/python"
)

// maxEval is far above what any evaluation within the limits takes.
const maxEval = 10 * time.Second

// No text makes the evaluation panic, take long, or answer differently when
// asked again, and every failure is an *expr.Error with a class and a place.
func FuzzCompileEval(f *testing.F) {
	st, cases := readOracle(f)
	for i, c := range cases {
		if i%7 == 0 {
			f.Add(c.Expr)
		}
	}
	for _, s := range []string{"'a'.ljust(10**9)", "[x for x in y]", "f'{a}'", "\\", "0x", "'\\x4", "((((", "state.\uFF3F"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		started := time.Now()
		first, err := eval(src, st)
		if took := time.Since(started); took > maxEval {
			t.Errorf("took %v", took)
		}
		if err != nil {
			e, ok := errors.AsType[*expr.Error](err)
			if !ok || e.Name == "" || e.Offset < 0 || e.Offset > len(src) {
				t.Errorf("a bad error: %#v", err)
			}
		}
		second, again := eval(src, st)
		if (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
			t.Fatalf("got %v, then %v", err, again)
		}
		if python.Repr(first) != python.Repr(second) {
			t.Errorf("got %s, then %s", python.Repr(first), python.Repr(second))
		}
	})
}

// An evaluation's result is within the documented size.
func TestMemoryIsBounded(t *testing.T) {
	st, _ := readOracle(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := eval("["+strings.Repeat("'a'.ljust(4000000), ", 400)+"]", st)
	runtime.ReadMemStats(&after)
	if e, ok := errors.AsType[*expr.Error](err); !ok || e.Name != "MemoryError" {
		t.Errorf("got %v, want a MemoryError", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 3*expr.MaxMemory {
		t.Errorf("%d bytes were allocated", used)
	}
}

// Literals read back what repr prints.
func TestReprReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "v")
		got, err := eval(python.Repr(v), emptyState)
		if err != nil {
			t.Fatalf("%s: %v", python.Repr(v), err)
		}
		if eq, err := python.Equal(got, v); !eq || err != nil || python.Repr(got) != python.Repr(v) {
			t.Fatalf("%s became %s", python.Repr(v), python.Repr(got))
		}
	})
}

// A literal's parts come back by the operations that take it apart.
func TestStringLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, sep := rapid.String().Draw(t, "s"), rapid.StringN(1, 3, -1).Draw(t, "sep")
		S, P := python.Repr(s), python.Repr(sep)
		for _, law := range []string{
			P + ".join(" + S + ".split(" + P + ")) == " + S,
			P + ".join(" + S + ".rsplit(" + P + ", 2)) == " + S,
			"''.join(" + S + ".partition(" + P + ")) == " + S,
			"''.join(" + S + ".rpartition(" + P + ")) == " + S,
			"''.join(" + S + ".splitlines(True)) == " + S,
			S + "[::-1][::-1] == " + S,
			S + "[:2] + " + S + "[2:] == " + S,
			S + ".center(9).strip() == " + S + ".strip()",
			"len(" + S + ".ljust(9, '*')) == max(9, len(" + S + "))",
			"(" + S + " + " + P + ").removesuffix(" + P + ") == " + S,
			"(" + P + " + " + S + ").index(" + P + ") == 0",
			"(" + S + ".find(" + P + ") >= 0) == (" + P + " in " + S + ") == (" + S + ".count(" + P + ") > 0)",
			S + ".casefold().casefold() == " + S + ".casefold()",
		} {
			if v, err := eval(law, emptyState); v != true || err != nil {
				t.Fatalf("%s: got %v, %v", law, v, err)
			}
		}
	})
}

// Ints and floats of any size are ordered as one line, and + undoes -.
func TestNumberLaws(t *testing.T) {
	number := rapid.OneOf(
		rapid.Map(rapid.Int64(), func(i int64) string { return python.Repr(i) }),
		rapid.StringMatching(`-?[1-9][0-9]{15,40}`),
		rapid.Map(rapid.Float64Range(-1e20, 1e20), func(f float64) string { return python.Repr(f) }),
	)
	integer := rapid.StringMatching(`-?[1-9][0-9]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := number.Draw(t, "a"), number.Draw(t, "b"), number.Draw(t, "c")
		i, j := integer.Draw(t, "i"), integer.Draw(t, "j")
		for _, law := range []string{
			"((" + a + " < " + b + ") + (" + a + " == " + b + ") + (" + a + " > " + b + ")) == 1",
			"not (" + a + " < " + b + " < " + c + ") or " + a + " < " + c,
			"(" + a + " == " + b + ") == (" + a + " in {" + b + ": 0}) == ((" + a + ",) == (" + b + ",))",
			"min(" + a + ", " + b + ") <= max(" + a + ", " + b + ")",
			i + " + " + j + " - (" + j + ") == " + i,
			i + " - (" + j + ") == -(" + j + " - (" + i + "))",
			"int(str(" + i + ")) == " + i,
			"float(str(float(" + i + "))) == float(" + i + ")",
		} {
			if v, err := eval(law, emptyState); v != true || err != nil {
				t.Fatalf("%s: got %v, %v", law, v, err)
			}
		}
	})
}
