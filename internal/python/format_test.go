package python

import (
	"bufio"
	"encoding/json"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/value"
)

// formatCase is one line of testdata/format.jsonl, which testdata/format.py
// explains.
type formatCase struct {
	kind, text, spec string
	ok               bool
	want             string
}

func (c *formatCase) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&c.kind, &c.text, &c.spec, &c.ok, &c.want})
}

func (c *formatCase) value(t testing.TB) any {
	t.Helper()
	switch c.kind {
	case "int":
		x, ok := new(big.Int).SetString(c.text, 0)
		if !ok {
			t.Fatalf("%q is no integer", c.text)
		}
		if x.IsInt64() {
			return x.Int64()
		}
		return x
	case "bool":
		return c.text == "True"
	case "float":
		f, err := strconv.ParseFloat(c.text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	case "str":
		return c.text
	case "none":
		return nil
	}
	v, err := value.DecodeJSON([]byte(c.text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFormatAsCPython(t *testing.T) {
	file, err := os.Open("testdata/format.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	cases := 0
	for ; lines.Scan(); cases++ {
		var c formatCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		got, err := Format(c.value(t), c.spec)
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("format(%s %.40q, %q):\n got %.200q\nwant %.200q", c.kind, c.text, c.spec, got, c.want)
		}
	}
	if lines.Err() != nil || cases < 10_000 {
		t.Fatalf("read %d cases: %v", cases, lines.Err())
	}
}

func TestFormatLimits(t *testing.T) {
	for _, v := range []any{"x", int64(1), 1.5} {
		if got, err := Format(v, "10000"); err != nil || len(got) != MaxFormatWidth {
			t.Errorf("width 10000 of %v: %d characters, %v", v, len(got), err)
		}
		for _, spec := range []string{"10001", "<99999999999999999999999", "010001", "*^10001"} {
			if _, err := Format(v, spec); err == nil || !strings.Contains(err.Error(), "width in a format spec is above 10000") {
				t.Errorf("format(%v, %q): %v", v, spec, err)
			}
		}
	}
	if got, err := Format(0.1, ".10000f"); err != nil || len(got) != MaxFormatWidth+2 {
		t.Errorf("precision 10000: %d characters, %v", len(got), err)
	}
	for _, v := range []any{"x", 1.5} {
		if _, err := Format(v, ".10001"); err == nil || !strings.Contains(err.Error(), "precision in a format spec is above 10000") {
			t.Errorf("format(%v, .10001): %v", v, err)
		}
	}
}

func TestFormatHalfOfASurrogatePair(t *testing.T) {
	if got, err := Format(int64(0xD800), "c"); err == nil {
		t.Errorf("got %q, want an error", got)
	}
}

func TestFormatOfATuple(t *testing.T) {
	_, err := Format(Tuple{int64(1)}, "5")
	if want := "TypeError: unsupported format string passed to tuple.__format__"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A width is a lower bound, whatever else the spec says.
func TestFormatFillsItsWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(
			rapid.Map(rapid.Int64(), func(i int64) any { return i }),
			rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		).Draw(t, "value")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		spec := rapid.SampledFrom([]string{"", "*<", "é^", "0=", "+", " #", "0"}).Draw(t, "front") +
			strconv.Itoa(width) + rapid.SampledFrom([]string{"", ",", "_", "e", ",.3f", "g"}).Draw(t, "back")
		got, err := Format(v, spec)
		if err != nil {
			if strings.HasPrefix(spec, " #") || strings.HasSuffix(spec, "f") {
				return
			}
			t.Fatalf("format(%v, %q): %v", v, spec, err)
		}
		if n := utf8.RuneCountInString(got); n < width {
			t.Fatalf("format(%v, %q) = %q: %d characters", v, spec, got, n)
		}
	})
}

// Taking the separators out again gives the number without them.
func TestFormatGroupingOnlyAddsSeparators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		for _, kind := range []string{"d", "x", "b", "o"} {
			grouped, err1 := Format(n, "_"+kind)
			plain, err2 := Format(n, kind)
			if err1 != nil || err2 != nil || strings.ReplaceAll(grouped, "_", "") != plain {
				t.Fatalf("%q and %q (%v, %v)", grouped, plain, err1, err2)
			}
		}
	})
}

func FuzzFormat(f *testing.F) {
	for _, spec := range []string{"", ">8", ",.2f", "#x", "0=+12,d", "*^10", ".3g", "c", "9999", "z.1%", "é<5"} {
		f.Add("text", int64(-7), 2.5, spec)
	}
	f.Fuzz(func(t *testing.T, s string, i int64, x float64, spec string) {
		big := new(big.Int).Lsh(big.NewInt(i), 900)
		for _, v := range []any{s, i, x, i%2 == 0, big, nil, []any{s}} {
			got, err := Format(v, spec)
			if limit := 4*MaxFormatWidth + 4*len(s) + 2000; len(got) > limit {
				t.Fatalf("format(%v, %q) has %d bytes", v, spec, len(got))
			}
			if err != nil && got != "" {
				t.Fatalf("format(%v, %q) gives both %q and %v", v, spec, got, err)
			}
		}
	})
}
