package value_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/value"
)

func TestMapKeepsTheOrderOfFirstSetting(t *testing.T) {
	m := value.NewMap(0)
	for _, k := range strings.Fields("z y x w v u t s r q p z a") {
		m.Put(k, "first "+k)
	}
	m.Put("y", "second")
	if got, want := strings.Join(m.Keys(), ""), "zyxwvutsrqpa"; got != want {
		t.Errorf("keys are %s, want %s", got, want)
	}
	if v, _ := m.Get("y"); v != "second" {
		t.Errorf("y is %v, want the value set last", v)
	}
}

func TestWithLeavesTheOriginal(t *testing.T) {
	m := value.MapOf("a", int64(1))
	n := m.With("b", int64(2)).With("a", int64(3))
	if got := encode(t, m); got != `{"a":1}` {
		t.Errorf("the original became %s", got)
	}
	if got := encode(t, n); got != `{"a":3,"b":2}` {
		t.Errorf("the copy is %s", got)
	}
	var none *value.Map
	if got := encode(t, none.With("a", nil)); got != `{"a":null}` {
		t.Errorf("a nil map with a key is %s", got)
	}
}

func TestFrom(t *testing.T) {
	type record struct {
		Z string `json:"z"`
		A int    `json:"a"`
	}
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	for _, tc := range []struct {
		name string
		in   any
		want string
	}{
		{"nil", nil, `null`},
		{"int", 7, `7`},
		{"uint beyond int64", uint64(math.MaxUint64), `18446744073709551615`},
		{"big", huge, `123456789012345678901234567890`},
		{"small big", big.NewInt(5), `5`},
		{"whole float stays a float", 2.0, `2.0`},
		{"json number", json.Number("1e3"), `1000.0`},
		{"go map, sorted", map[string]any{"b": 1, "a": []int{1, 2}}, `{"a":[1,2],"b":1}`},
		{"struct in field order", record{"x", 1}, `{"z":"x","a":1}`},
		{"named string", json.RawMessage(`{"b":1,"a":2}`), `{"b":1,"a":2}`},
		{"nested", []any{map[string]any{"k": []any{nil}}}, `[{"k":[null]}]`},
		{"nil map", (*value.Map)(nil), `null`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, err := value.From(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := encode(t, v); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestFromRefusesWhatHasNoJSONForm(t *testing.T) {
	deep := any(nil)
	for range value.MaxDepth + 1 {
		deep = []any{deep}
	}
	cycle := map[string]any{}
	cycle["self"] = cycle
	for name, in := range map[string]any{
		"channel":  map[string]any{"a": []any{1, make(chan int)}},
		"function": func() {},
		"deep":     deep,
		"cycle":    cycle,
	} {
		if _, err := value.From(in); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	_, err := value.From(map[string]any{"a": []any{1, make(chan int)}})
	if err == nil || !strings.Contains(err.Error(), ".a[1]") {
		t.Errorf("the error does not say where: %v", err)
	}
}

func TestDecodeJSON(t *testing.T) {
	v, err := value.DecodeJSON([]byte(` {"b": 1, "a": [1.0, -0.5, 12345678901234567890, 1e2, "é", null, true]} `))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := encode(t, v), `{"b":1,"a":[1.0,-0.5,12345678901234567890,100.0,"é",null,true]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := encode(t, must(t, `{"a":1,"a":2}`)); got != `{"a":2}` {
		t.Errorf("of two equal keys the last must win, got %s", got)
	}
}

func TestDecodeJSONRefuses(t *testing.T) {
	for _, src := range []string{"", "{", `{"a"}`, "[1,]", "1 2", "nul", "'a'", "{1:2}", "\x00",
		strings.Repeat("[", 5000), strings.Repeat("9", 5000), "1e400", "[-1e999]"} {
		if v, err := value.DecodeJSON([]byte(src)); err == nil {
			t.Errorf("%.20q was read as %v", src, v)
		}
	}
}

func TestJSONHasNoNaN(t *testing.T) {
	if got := encode(t, []any{math.NaN(), math.Inf(1), math.Inf(-1)}); got != `[null,null,null]` {
		t.Errorf("got %s", got)
	}
}

func TestNativeIsACopy(t *testing.T) {
	v := must(t, `{"a":[{"b":1}]}`)
	n := value.Native(v).(map[string]any)
	n["a"].([]any)[0].(map[string]any)["b"] = "changed"
	if got := encode(t, v); got != `{"a":[{"b":1}]}` {
		t.Errorf("changing the copy changed the value: %s", got)
	}
}

// generated draws any value.
func generated() *rapid.Generator[any] {
	return rapid.Deferred(func() *rapid.Generator[any] {
		scalar := rapid.OneOf(
			rapid.Just[any](nil),
			rapid.Map(rapid.Bool(), toAny[bool]),
			rapid.Map(rapid.Int64(), toAny[int64]),
			rapid.Map(rapid.Float64(), toAny[float64]),
			rapid.Map(rapid.String(), toAny[string]),
		)
		list := rapid.Map(rapid.SliceOfN(scalar, 0, 4), func(l []any) any { return l })
		object := rapid.Map(rapid.MapOfN(rapid.String(), list, 0, 12), func(m map[string]any) any {
			v, _ := value.From(m)
			return v
		})
		return rapid.OneOf(scalar, list, object)
	})
}

func toAny[T any](x T) any { return x }

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := generated().Draw(t, "value")
		b, err := value.EncodeJSON(v)
		if err != nil {
			t.Fatal(err)
		}
		back, err := value.DecodeJSON(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		again, _ := value.EncodeJSON(back)
		if diff := cmp.Diff(string(b), string(again)); diff != "" {
			t.Fatal(diff)
		}
		if !json.Valid(b) {
			t.Fatalf("%s is no JSON", b)
		}
	})
}

func FuzzDecodeJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"x"]}`, `[`, `1e999`, `"\ud800"`, `{"a":{"a":{}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v, err := value.DecodeJSON(src)
		if err != nil {
			return
		}
		if !json.Valid(src) {
			t.Fatalf("%q is no JSON but was read", src)
		}
		if _, err := value.From(v); err != nil {
			t.Fatalf("what was read is no value: %v", err)
		}
		if _, err := value.EncodeJSON(v); err != nil {
			t.Fatal(err)
		}
	})
}

func must(t *testing.T, src string) any {
	t.Helper()
	v, err := value.DecodeJSON([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := value.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
