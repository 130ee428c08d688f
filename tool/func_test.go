package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

// everything has one field of each kind of argument.
type everything struct {
	Text    string             `json:"text" jsonschema:"What to count."`
	Count   int                `json:"count"`
	Small   uint8              `json:"small,omitempty"`
	Ratio   float64            `json:"ratio,omitempty"`
	Deep    bool               `json:"deep,omitempty"`
	Tags    []string           `json:"tags,omitempty"`
	Weights map[string]float64 `json:"weights,omitempty"`
	Maybe   *int               `json:"maybe"`
	Inner   struct {
		Name string `json:"name"`
	} `json:"inner,omitzero"`
	Raw    json.RawMessage `json:"raw,omitempty"`
	Any    any             `json:"any,omitempty"`
	Data   []byte          `json:"data,omitempty"`
	Addr   netip.Addr      `json:"addr,omitzero"`
	When   time.Time       `json:"when,omitzero"`
	Object *value.Map      `json:"object,omitempty"`
	Pair   [2]int          `json:"pair,omitzero"`
	hidden int             //nolint:unused // shows that it is no argument
	Left   string          `json:"-"`
}

func show(t *testing.T, v any) string {
	t.Helper()
	b, err := value.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFuncSpec(t *testing.T) {
	f := tool.Func("count", "Count words.", func(context.Context, everything) (any, error) { return nil, nil },
		tool.WithEffect(tool.Pure), tool.Destructive())
	s := f.Spec()
	if s.Name != "count" || s.Description != "Count words." || s.Effect != tool.Pure || !s.Destructive {
		t.Errorf("got %+v", s)
	}
	want := `{"type":"object","properties":{` +
		`"text":{"type":"string","description":"What to count."},` +
		`"count":{"type":"integer"},` +
		`"small":{"type":"integer","minimum":0,"maximum":255},` +
		`"ratio":{"type":"number"},` +
		`"deep":{"type":"boolean"},` +
		`"tags":{"type":"array","items":{"type":"string"}},` +
		`"weights":{"type":"object","additionalProperties":{"type":"number"}},` +
		`"maybe":{"type":["null","integer"]},` +
		`"inner":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false},` +
		`"raw":true,"any":true,` +
		`"data":{"type":"string","contentEncoding":"base64"},` +
		`"addr":{"type":"string"},"when":{"type":"string"},` +
		`"object":{"type":"object"},` +
		`"pair":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2}},` +
		`"required":["text","count","maybe"],"additionalProperties":false}`
	var a, b any
	if err := errors.Join(json.Unmarshal([]byte(want), &a), json.Unmarshal([]byte(show(t, s.Parameters)), &b)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
	properties, _ := s.Parameters.Get("properties")
	if d := cmp.Diff([]string{"text", "count", "small", "ratio"}, properties.(*value.Map).Keys()[:4]); d != "" {
		t.Errorf("the properties are not in the order of the fields: %s", d)
	}
	empty := tool.Func("none", "", func(context.Context, struct{}) (any, error) { return nil, nil })
	if s, want := show(t, empty.Spec().Parameters), `{"type":"object","properties":{},"additionalProperties":false}`; s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

func TestFuncWithoutArguments(t *testing.T) {
	type optional struct {
		A string `json:"a,omitempty"`
	}
	call := func(f tool.Tool, args *value.Map) any {
		t.Helper()
		got, err := f.Call(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	plain := tool.Func("f", "", func(_ context.Context, in optional) (any, error) { return in.A, nil })
	mapping := tool.Func("f", "", func(_ context.Context, in map[string]int) (any, error) { return in != nil, nil })
	for _, args := range []*value.Map{nil, value.NewMap(0)} {
		if got := call(plain, args); got != "" {
			t.Errorf("a struct: got %v", got)
		}
		if got := call(mapping, args); got != true {
			t.Error("a map that is nil")
		}
	}
	if got := call(plain, value.MapOf("a", nil)); got != "" {
		t.Errorf("null: got %v", got)
	}
}

func TestFuncDecodesArguments(t *testing.T) {
	var got everything
	f := tool.Func("f", "", func(_ context.Context, in everything) (any, error) {
		got = in
		return nil, nil
	})
	three := 3
	args := value.MapOf("text", "a", "count", 3.0, "small", int64(255), "ratio", int64(2), "deep", true,
		"tags", []any{"x"}, "weights", value.MapOf("w", int64(1)), "maybe", int64(3),
		"inner", value.MapOf("name", "n"), "raw", value.MapOf("z", int64(1), "a", 1.0), "any", "s", "data", "aGk=",
		"addr", "127.0.0.1", "when", "2026-01-02T03:04:05Z", "object", value.MapOf("b", nil, "a", int64(1)),
		"pair", []any{int64(1), 2.0})
	if _, err := f.Call(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	want := everything{Text: "a", Count: 3, Small: 255, Ratio: 2, Deep: true, Tags: []string{"x"},
		Weights: map[string]float64{"w": 1}, Maybe: &three, Raw: json.RawMessage(`{"z":1,"a":1.0}`), Any: "s",
		Data: []byte("hi"), Addr: netip.MustParseAddr("127.0.0.1"), When: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Object: got.Object, Pair: [2]int{1, 2}}
	want.Inner.Name = "n"
	if d := cmp.Diff(want, got, cmp.AllowUnexported(everything{}), cmp.Comparer(func(a, b *value.Map) bool { return a == b }),
		cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
		t.Error(d)
	}
	if s := show(t, got.Object); s != `{"b":null,"a":1}` {
		t.Errorf("the object is %s", s)
	}
	optional := value.MapOf("text", "a", "count", int64(1), "maybe", nil, "tags", nil, "ratio", nil, "inner", nil, "object", nil)
	if _, err := f.Call(t.Context(), optional); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(everything{Text: "a", Count: 1}, got, cmp.AllowUnexported(everything{}),
		cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
		t.Error(d)
	}
}

func TestFuncChecksArguments(t *testing.T) {
	f := tool.Func("f", "", func(context.Context, everything) (any, error) {
		t.Error("the function was called")
		return nil, nil
	})
	huge, _ := new(big.Int).SetString("99999999999999999999", 10)
	tests := []struct {
		name string
		arg  any
		want string
	}{
		{"text", int64(1), `argument "text" must be a string, not an integer`},
		{"text", nil, `argument "text" must be a string, not null`},
		{"text", []any{}, `argument "text" must be a string, not an array`},
		{"txet", "a", `argument "txet" is unknown; the known ones are text, count, small, ratio, deep, tags, weights, maybe, inner, raw, any, data, addr, when, object, pair`},
		{"Text", "a", `argument "Text" is unknown; the known ones are text`},
		{"Left", "a", `argument "Left" is unknown`},
		{"hidden", int64(1), `argument "hidden" is unknown`},
		{"count", "1", `argument "count" must be an integer, not a string`},
		{"count", 1.5, `argument "count" must be an integer, not 1.5`},
		{"count", math.NaN(), `argument "count" must be a finite number`},
		{"count", true, `argument "count" must be an integer, not a boolean`},
		{"count", huge, `argument "count": number 99999999999999999999 does not fit a Go int`},
		{"count", 1e300, `argument "count": number 1`},
		{"small", int64(256), `argument "small" must be at most 255`},
		{"small", int64(-1), `argument "small" must be at least 0`},
		{"ratio", math.Inf(1), `argument "ratio" must be a finite number`},
		{"ratio", "x", `argument "ratio" must be a number, not a string`},
		{"deep", int64(1), `argument "deep" must be a boolean, not an integer`},
		{"tags", "x", `argument "tags" must be an array, not a string`},
		{"tags", []any{"x", 1.5}, `argument "tags[1]" must be a string, not a number`},
		{"weights", value.MapOf("w", "x"), `argument "weights.w" must be a number, not a string`},
		{"maybe", "x", `argument "maybe" must be an integer, not a string`},
		{"inner", value.MapOf(), `argument "inner.name" is missing`},
		{"inner", value.MapOf("name", "n", "age", int64(1)), `argument "inner.age" is unknown; the known ones are name`},
		{"inner", []any{}, `argument "inner" must be an object, not an array`},
		{"object", "x", `argument "object" must be an object, not a string`},
		{"pair", []any{int64(1)}, `argument "pair" must have 2 items, not 1`},
		{"addr", "nowhere", `the arguments do not fit: `},
		{"any", []any{1.5, value.MapOf("a", math.NaN())}, `argument "any[1].a" must be a finite number`},
		{"raw", math.Inf(-1), `argument "raw" must be a finite number`},
		{"object", value.MapOf("a", []any{math.Inf(1)}), `argument "object.a[0]" must be a finite number`},
	}
	for _, tt := range tests {
		args := value.MapOf("text", "a", "count", int64(1), "maybe", nil).With(tt.name, tt.arg)
		if _, err := f.Call(t.Context(), args); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want %s", tt.name, err, tt.want)
		}
	}
	if _, err := f.Call(t.Context(), nil); err == nil || err.Error() != `argument "text" is missing` {
		t.Errorf("no arguments: got error %v", err)
	}
	if _, err := f.Call(t.Context(), value.MapOf(strings.Repeat("é", 1<<20), nil)); err == nil || len(err.Error()) > 500 {
		t.Errorf("an unknown argument with a huge name: an error of %d bytes", len(err.Error()))
	}
	none := tool.Func("f", "", func(context.Context, struct{}) (any, error) { return nil, nil })
	if _, err := none.Call(t.Context(), value.MapOf("a", nil)); err == nil || err.Error() != `argument "a" is unknown: none are taken` {
		t.Errorf("got error %v", err)
	}
}

func TestFuncTakesMaps(t *testing.T) {
	got := ""
	record := func(v any) (any, error) {
		b, err := json.Marshal(v)
		got = string(b)
		return nil, err
	}
	for _, f := range []tool.Tool{
		tool.Func("f", "", func(_ context.Context, in map[string]any) (any, error) { return record(in) }),
		tool.Func("f", "", func(_ context.Context, in value.Map) (any, error) { return record(&in) }),
	} {
		if _, err := f.Call(t.Context(), value.MapOf("a", int64(1), "b", nil)); err != nil || strings.ReplaceAll(got, `"b":null`, "") != `{"a":1,}` && got != `{"a":1}` {
			t.Errorf("got %s, %v", got, err)
		}
	}
	strict := tool.Func("f", "", func(_ context.Context, in map[string]int) (any, error) { return record(in) })
	if _, err := strict.Call(t.Context(), value.MapOf("a", "x")); err == nil || err.Error() != `argument "a" must be an integer, not a string` {
		t.Errorf("got error %v", err)
	}
}

func TestFuncOfATypeWithoutSchema(t *testing.T) {
	type loop struct {
		Next *loop `json:"next"`
	}
	for want, f := range map[string]tool.Tool{
		"cycle": tool.Func("f", "", func(context.Context, loop) (any, error) { return nil, nil }),
		"its arguments are a string; they must be a struct or a map with string keys": tool.Func("f", "",
			func(context.Context, string) (any, error) { return nil, nil }),
		"unsupported": tool.Func("f", "", func(context.Context, struct{ C chan int }) (any, error) { return nil, nil }),
	} {
		_, err := f.Call(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), want) || fault.KindOf(err) != fault.Permanent {
			t.Errorf("got error %v, want %s", err, want)
		}
		if f.Spec().Name != "f" {
			t.Errorf("got %+v", f.Spec())
		}
	}
}

func TestFuncResultLimit(t *testing.T) {
	f := tool.Func("f", "", func(_ context.Context, in struct{ S string }) (any, error) { return in.S, nil }, tool.WithResultLimit(10))
	if got, err := f.Call(t.Context(), value.MapOf("S", "12345678")); err != nil || got != "12345678" {
		t.Errorf("got %v, %v", got, err)
	}
	_, err := f.Call(t.Context(), value.MapOf("S", "123456789"))
	if want := "the tool's result is 11 bytes of JSON; its limit is 10"; err == nil || err.Error() != want || fault.KindOf(err) != fault.Permanent {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestFuncCallContainsPanics(t *testing.T) {
	f := tool.Func("f", "", func(context.Context, struct{}) (any, error) { panic("boom\n\tgoroutine 1") })
	_, err := f.Call(t.Context(), nil)
	if want := "the tool panicked: boom goroutine 1"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// The check of arguments agrees with the JSON Schema that callers see, apart
// from optional nulls, which are left out.
func TestFuncAgreesWithItsSchema(t *testing.T) {
	type shape struct {
		Text  string         `json:"text"`
		Count int            `json:"count,omitempty"`
		Small int8           `json:"small,omitempty"`
		Ratio *float64       `json:"ratio"`
		Tags  []string       `json:"tags"`
		Inner map[string]int `json:"inner,omitempty"`
	}
	called := false
	f := tool.Func("f", "", func(context.Context, shape) (any, error) {
		called = true
		return nil, nil
	})
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(show(t, f.Spec().Parameters)), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf := rapid.OneOf(
		rapid.Map(rapid.Int64Range(-200, 200), func(i int64) any { return i }),
		rapid.Map(rapid.SampledFrom([]float64{0, 1, 2.5, -300}), func(f float64) any { return f }),
		rapid.Map(rapid.SampledFrom([]string{"", "a"}), func(s string) any { return s }),
		rapid.Just[any](true))
	arg := rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(leaf, 0, 2), func(l []any) any { return l }),
		rapid.Map(leaf, func(v any) any { return value.MapOf("k", v) }))
	rapid.Check(t, func(t *rapid.T) {
		args := value.MapOf("text", "a", "ratio", nil, "tags", []any{})
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"text", "count", "small", "ratio", "tags", "inner", "other"}), rapid.ID).Draw(t, "names") {
			args = args.With(name, arg.Draw(t, name))
		}
		called = false
		_, err := f.Call(context.Background(), args)
		wrong := resolved.Validate(value.Native(args))
		if (err == nil) != (wrong == nil) || called != (err == nil) {
			t.Fatalf("the call says %v, the schema %v", err, wrong)
		}
	})
}
