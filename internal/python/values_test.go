package python_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/value"
)

func TestPrintingAsCPython(t *testing.T) {
	f, err := os.Open("testdata/values.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var c struct {
			Value json.RawMessage `json:"j"`
			Str   string          `json:"s"`
			Repr  string          `json:"r"`
			ASCII string          `json:"a"`
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		v, err := value.DecodeJSON(c.Value)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []struct {
			name, got, want string
		}{
			{"str", python.Str(v), c.Str}, {"repr", python.Repr(v), c.Repr}, {"ascii", python.ASCII(v), c.ASCII},
		} {
			if p.got != p.want {
				t.Errorf("%s of %.80s: got %q, want %q", p.name, c.Value, p.got, p.want)
			}
		}
	}
	if n < 800 {
		t.Errorf("only %d values", n)
	}
}

func boolText(test func(rune) bool) func(rune) string {
	return func(r rune) string {
		if test(r) {
			return "True"
		}
		return "False"
	}
}

func onText(f func(string) string) func(rune) string {
	return func(r rune) string { return f(string(r)) }
}

// Each function of one code point is right for all 1,112,064 of them.
func TestTextAsCPython(t *testing.T) {
	src, err := os.ReadFile("testdata/text.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]string
	if err := json.Unmarshal(src, &want); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(rune) string{
		"repr":         func(r rune) string { return python.Repr(string(r)) },
		"ascii":        func(r rune) string { return python.ASCII(string(r)) },
		"upper":        onText(python.Upper),
		"lower":        onText(python.Lower),
		"title":        onText(python.Title),
		"capitalize":   onText(python.Capitalize),
		"casefold":     onText(python.CaseFold),
		"swapcase":     onText(python.SwapCase),
		"final_sigma":  func(r rune) string { c := string(r); return python.Lower("Σ" + c + "Σ" + c + "a" + c + "Σ") },
		"isalpha":      boolText(python.IsAlpha),
		"islower":      boolText(python.IsLower),
		"isupper":      boolText(python.IsUpper),
		"isdecimal":    boolText(python.IsDecimal),
		"isdigit":      boolText(python.IsDigit),
		"isnumeric":    boolText(python.IsNumeric),
		"isspace":      boolText(python.IsSpace),
		"isprintable":  boolText(python.IsPrintable),
		"isidentifier": boolText(func(r rune) bool { return r == '_' || python.IsIdentStart(r) }),
		"continues":    boolText(python.IsIdentContinue),
		"strip":        func(r rune) string { return python.Strip(string(r) + "x" + string(r)) },
		"decimal": func(r rune) string {
			if d, ok := python.DecimalValue(r); ok {
				return strconv.Itoa(d)
			}
			return "-1"
		},
	} {
		h := sha256.New()
		for r := rune(0); r <= utf8.MaxRune; r++ {
			if utf8.ValidRune(r) {
				io.WriteString(h, f(r)+"\x00")
			}
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != want[name] {
			t.Errorf("%s differs from CPython's somewhere", name)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not tested: %v", want)
	}
}

func TestPrintingOfOtherValues(t *testing.T) {
	d := python.NewDict(0)
	for _, k := range []any{int64(1), 1.0, true, nil, "a", python.Tuple{int64(1), "b"}} {
		if err := d.Put(k, python.Repr(k)); err != nil {
			t.Fatal(err)
		}
	}
	m := value.MapOf("k", int64(1))
	for _, c := range []struct {
		v    any
		want string
	}{
		{python.Tuple{}, "()"},
		{python.Tuple{int64(1)}, "(1,)"},
		{python.Tuple{"a", python.Tuple{nil}}, "('a', (None,))"},
		{d, "{1: 'True', None: 'None', 'a': \"'a'\", (1, 'b'): \"(1, 'b')\"}"},
		{python.NewView(python.KeysView, m), "dict_keys(['k'])"},
		{python.NewView(python.ValuesView, m), "dict_values([1])"},
		{python.NewView(python.ItemsView, m), "dict_items([('k', 1)])"},
		{python.Type("int"), "<class 'int'>"},
		{math.NaN(), "nan"}, {math.Inf(1), "inf"}, {math.Inf(-1), "-inf"},
		{"bad \xff\xfe", `'bad \udcff\udcfe'`},
		{(*value.Map)(nil), "{}"},
	} {
		if got := python.Repr(c.v); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func deep(n int) any {
	var v any = int64(1)
	for range n {
		v = []any{v}
	}
	return v
}

func TestBoundedPrinting(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for limit := range 1010 {
		b, err := python.AppendRepr(nil, []any{long}, limit)
		if len(b) > limit || (err == nil) != (limit >= 1004) || err != nil && err != python.ErrTooLong {
			t.Fatalf("limit %d: %d bytes, %v", limit, len(b), err)
		}
	}
	if b, err := python.AppendStr([]byte("ab"), "c", 3); string(b) != "abc" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
	if b, err := python.AppendASCII(nil, "é", 6); string(b) != `'\xe9'` || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
	huge := new(big.Int).Exp(big.NewInt(10), big.NewInt(python.MaxIntDigits), nil)
	if _, err := python.AppendStr(nil, huge, 1<<20); err == nil ||
		!strings.HasPrefix(err.Error(), "ValueError: Exceeds the limit (4300 digits) for integer string conversion") {
		t.Errorf("4301 digits: got %v", err)
	}
	if _, err := python.AppendStr(nil, new(big.Int).Sub(huge, big.NewInt(1)), 1<<20); err != nil {
		t.Errorf("4300 digits: got %v", err)
	}
	if got := python.Str(huge); len(got) != python.MaxIntDigits+1 {
		t.Errorf("unbounded: %d digits", len(got))
	}
	_, err := python.AppendRepr(nil, deep(1_000_000), 1<<20)
	if e, ok := errors.AsType[*python.Error](err); !ok || e.Name != "RecursionError" {
		t.Errorf("a million levels: got %v", err)
	}
	if got := python.Repr(deep(1_000_000)); len(got) > 5000 {
		t.Errorf("a million levels: %d bytes", len(got))
	}
	if got := python.Repr(deep(value.MaxDepth)); len(got) != 2*value.MaxDepth+1 {
		t.Errorf("%d levels: %d bytes", value.MaxDepth, len(got))
	}
}

// What FuzzRepr checks: a printed string has only printable characters, ASCII
// where asked, and the bounded form agrees with the unbounded one.
func FuzzRepr(f *testing.F) {
	for _, s := range []string{`{"a": [1, "x'\"", 1.5e300, null]}`, `"\u200b\ud83d\ude00"`, "\xff", "[[[]]]", "1e999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		check := func(v any) {
			repr := python.Repr(v)
			for _, r := range repr {
				if !python.IsPrintable(r) {
					t.Errorf("%q holds %q", repr, r)
				}
			}
			if a := python.ASCII(v); strings.IndexFunc(a, func(r rune) bool { return r > '~' || r < ' ' }) >= 0 {
				t.Errorf("ascii gave %q", a)
			}
			if b, err := python.AppendRepr(nil, v, len(repr)); err != nil || string(b) != repr {
				t.Errorf("bounded: %q, %v, unbounded: %q", b, err, repr)
			}
			if _, err := python.AppendRepr(nil, v, len(repr)-1); err != python.ErrTooLong {
				t.Errorf("one byte too few: got %v", err)
			}
		}
		check(src)
		if v, err := value.DecodeJSON([]byte(src)); err == nil {
			check(v)
		}
		if got := python.Join(python.Runes(src)); got != src {
			t.Errorf("runes: %q became %q", src, got)
		}
	})
}

func TestFloatReprReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		got, err := python.ParseFloat(" " + python.FloatRepr(f) + "\n")
		if err != nil || math.Float64bits(got) != math.Float64bits(f) {
			t.Fatalf("%v became %v, %v", f, got, err)
		}
	})
}
