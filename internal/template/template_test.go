package template

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

func world(t testing.TB) state.State {
	t.Helper()
	s := state.New(decode(t, `{
		"topic": "tea", "name": "Ada", "empty": "", "price": 1234.5, "count": 3, "ok": true, "gone": null,
		"user": {"name": "Bo", "first name": "B", "1": "one", "upper": "KEY"},
		"items": [{"name": "first"}, {"name": "last"}], "mixed": {"a": [1, "x", 1.0]},
		"width": 6, "spec": ">5", "braces": "{state.topic} {{", "run_id": "from state"
	}`).(*value.Map))
	s = s.WithStep("draft", state.StepResult{Output: "A draft.", Status: "success"})
	return s.WithStep("fetch-2", state.StepResult{Output: decode(t, `{"status_code": 200}`), Status: "success"})
}

func TestRender(t *testing.T) {
	tests := []struct{ src, want string }{
		{"", ""},
		{"plain text", "plain text"},
		{"{state.user.name}", "Bo"},
		{"{topic} and {user.name}", "tea and Bo"},
		{"{state.items[0].name}, {state.items[-1].name}", "first, last"},
		{"{state.items[-2][name]}", "first"},
		{"{state.user[name]} {state.user[first name]} {state[topic]}", "Bo B tea"},
		{"{state.user[1]}", "one"},
		{"{state.name[0]}{state.name[-1]}", "Aa"},
		{"{steps.draft.output} {steps.draft.status}", "A draft. success"},
		{"{steps[fetch-2].output.status_code}", "200"},
		{"{steps.draft}", "{'output': 'A draft.', 'status': 'success'}"},
		{"{{state.topic}} {{ }}", "{state.topic} { }"},
		{"{{{state.topic}}}", "{tea}"},
		{"{state.ok} {state.gone} {state.mixed}", "True None {'a': [1, 'x', 1.0]}"},
		{"{state.name!r} {state.name!s} {state.name!a}", "'Ada' Ada 'Ada'"},
		{"{state.price:.2f} {state.price:,.1f} {state.count:>4}|", "1234.50 1,234.5    3|"},
		{"{state.name:>8}|{state.name:*^7}|", "     Ada|**Ada**|"},
		{"{state.name!r:>{state.width}}|", " 'Ada'|"},
		{"{state.name:{state.spec}}", "  Ada"},
		{"{state.mixed!s:.5}", "{'a':"},
		{"{state.user.upper}", "KEY"},
		{"{state.braces}", "{state.topic} {{"}, // what comes out is not read again
		{"{run_id}, {state.run_id}", "r1, from state"},
		{`{"score": 1, "why": "{topic}"}`, `{"score": 1, "why": "tea"}`},
		{`{"a": {"b": [1, 2]}}`, `{"a": {"b": [1, 2]}}`},
		{"{unknown} {unknown!r} {unknown:>8} {unknown!a:} {un.known[0]}", "{unknown} {unknown!r} {unknown:>8} {unknown!a:} {un.known[0]}"},
		{"{unknown:>{state.width}}", "{unknown:>6}"},
	}
	for _, tt := range tests {
		got, missing, err := parseAndRender(tt.src, world(t), map[string]any{"run_id": "r1", "state": "no", "steps": "no"})
		if err != nil || got != tt.want || len(missing) > 0 {
			t.Errorf("%q:\n got %q, missing %v, %v\nwant %q", tt.src, got, missing, err, tt.want)
		}
	}
}

func TestRenderTheWholeState(t *testing.T) {
	s := state.New(value.MapOf("b", int64(1), "a", "x")).WithStep("one", state.StepResult{Status: "success"})
	got, _, err := parseAndRender("{state} {steps}", s, nil)
	want := "{'b': 1, 'a': 'x'} {'one': {'output': None, 'status': 'success'}}"
	if err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestMissingPrintsNothingAndIsReported(t *testing.T) {
	tests := []struct {
		src, want string
		missing   []Missing
	}{
		{"a{state.nope}b", "ab", []Missing{{Field: "{state.nope}", Offset: 1}}},
		{"{state.user.nmae}", "", []Missing{{Field: "{state.user.nmae}"}}},
		{"{user.nmae}", "", []Missing{{Field: "{user.nmae}"}}},
		{"{state.nope:>8}|{state.nope!r}|{state.nope:.2f}", "||", []Missing{
			{Field: "{state.nope:>8}"}, {Field: "{state.nope!r}", Offset: 16}, {Field: "{state.nope:.2f}", Offset: 31}}},
		{"{state.items[2].name}{state.items[-3]}{state.items.name}{state.items[x]}", "", []Missing{
			{Field: "{state.items[2].name}"}, {Field: "{state.items[-3]}", Offset: 21},
			{Field: "{state.items.name}", Offset: 38}, {Field: "{state.items[x]}", Offset: 56}}},
		{"{state.name.upper}{state.ok.real}{state.gone.x}{state.name[3]}{state.name[-4]}{state.empty[0]}", "", []Missing{
			{Field: "{state.name.upper}"}, {Field: "{state.ok.real}", Offset: 18}, {Field: "{state.gone.x}", Offset: 33},
			{Field: "{state.name[3]}", Offset: 47}, {Field: "{state.name[-4]}", Offset: 62}, {Field: "{state.empty[0]}", Offset: 78}}},
		{"{steps.later.output}{steps.draft.nope}", "", []Missing{
			{Field: "{steps.later.output}"}, {Field: "{steps.draft.nope}", Offset: 20}}},
		{"{state.name:{state.nope}}", "Ada", []Missing{{Field: "{state.nope}", Offset: 12}}},
		{"{state.nope}{state.nope}", "", []Missing{{Field: "{state.nope}"}}}, // once
	}
	for _, tt := range tests {
		got, missing, err := parseAndRender(tt.src, world(t), nil)
		if err != nil || got != tt.want {
			t.Errorf("%q: got %q, %v; want %q", tt.src, got, err, tt.want)
		}
		if diff := cmp.Diff(tt.missing, missing); diff != "" {
			t.Errorf("%q: missing (-want +got):\n%s", tt.src, diff)
		}
	}
}

func TestBrokenTemplates(t *testing.T) {
	tests := []struct {
		src    string
		offset int
		want   string
	}{
		{"a } b", 2, "single '}' encountered in format string; write }} for a literal brace"},
		{"a {", 2, "single '{' encountered in format string; write {{"},
		{"a {state.x", 2, "expected '}' before end of string; write {{"},
		{"{state.x[0}", 0, "expected '}' before end of string"},
		{"{a{b}", 2, "unexpected '{' in field name"},
		{"{state.x:{state.y}", 0, "unmatched '{' in format spec"},
		{"{state.x!", 8, "end of string while looking for conversion specifier"},
		{"{state.x!rr}", 10, "expected ':' after conversion specifier"},
		{"{state.x!q}", 8, "unknown conversion specifier 'q': only !r, !s and !a exist"},
		{"{state.x!}", 0, "unmatched '{' in format spec"},
		{"{state.x[0]y}", 0, "something other than '.' or '[' follows ']' in {state.x[0]y}"},
		{"ab{state.}", 2, "empty attribute in {state.}"},
		{"{state..x}", 0, "empty attribute"},
		{"{state[]}", 0, "empty attribute"},
		{"{state.x[99999999999999999999]}", 0, "too many decimal digits"},
		{"{state.x:{a:{b}}}", 9, "max string recursion exceeded"},
		{"é{}", 2, "fields have names here, such as {state.x}, and there is none in {}; write {{"},
		{"{0}", 0, "fields have names here"},
		{"{0.x}", 0, "fields have names here"},
		{"{:>8}", 0, "fields have names here"},
		{"{.x}", 0, "fields have names here"},
		{`{"a": {}}`, 6, "fields have names here"},
	}
	for _, tt := range tests {
		_, err := Parse(tt.src)
		var e *Error
		if !errors.As(err, &e) || e.Offset != tt.offset || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%q: got %v, want %q at byte %d", tt.src, err, tt.want, tt.offset)
		}
	}
}

// One check, wherever a name stands; GHSA-style escapes through nested fields
// of format specs included.
func TestNamesWithUnderscoreAreRefused(t *testing.T) {
	for _, src := range []string{
		"{_x}", "{__class__}", "{state._x}", "{state.__class__}", "{state.name.__class__.__mro__}",
		"{state.a.b._c}", "{state[_x]}", "{state.items[0]._x}", "{state.user[__class__]}",
		"{steps._x}", "{steps.draft._output}", "{topic.__init__}", "{unknown.__globals__}", "{_x!r}", "{_x:>8}",
		"{state.name:{_x}}", "{state.name:{state.__class__}}", "{state.name:>{state.width.__class__}}",
		"{state.missing:{state[_x]}}", "{unknown:{unknown._x}}", `{"json": {_x}}`, "{state.name!r:{state.user[_x]}}",
	} {
		_, err := Parse(src)
		if err == nil || !strings.Contains(err.Error(), "names that start with _ are refused") {
			t.Errorf("%q: got %v, want a refusal", src, err)
		}
	}
	for _, src := range []string{"{state.a_b}", "{a_}", "{{_x}}", "_x {topic}", "{ _x}"} {
		if _, err := Parse(src); err != nil {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestWhatDoesNotFitItsSpec(t *testing.T) {
	tests := []struct{ src, want string }{
		{"ab{state.name:.2f}", "template, at byte 2: cannot print {state.name:.2f}: ValueError: Unknown format code 'f' for object of type 'str'"},
		{"{state.user:>8}", "TypeError: unsupported format string passed to dict.__format__"},
		{"{state.gone:>8}", "TypeError: unsupported format string passed to NoneType.__format__"},
		{"{state.name:10001}", "above 10000"},
		{"{state.price:.10001f}", "above 10000"},
		{"{state.name:{state.topic}}", "the format spec that its fields make does not fit a value of type str"},
	}
	for _, tt := range tests {
		text, _, err := parseAndRender(tt.src, world(t), nil)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) || text != "" {
			t.Errorf("%q: got %q, %v; want %q", tt.src, text, err, tt.want)
		}
	}
	var cause *python.Error
	if _, _, err := parseAndRender("{state.name:d}", world(t), nil); !errors.As(err, &cause) || cause.Name != "ValueError" {
		t.Errorf("%v does not unwrap to the exception", err)
	}
}

// A spec made of state must not carry the state's text into the error.
func TestErrorsDoNotTellTheState(t *testing.T) {
	s := state.New(value.MapOf("x", int64(1), "secret", "sk-123 or so", "list", []any{"sk-456"}))
	for _, src := range []string{"{state.x:{state.secret}}", "{state.secret:d}", "{state.list:>8}", "{state.secret:{state.secret}}"} {
		if _, _, err := parseAndRender(src, s, nil); err == nil || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestHugeIntegersAreRefusedAsByCPython(t *testing.T) {
	s := state.New(value.MapOf("n", new(big.Int).Lsh(big.NewInt(1), 20000)))
	if _, _, err := parseAndRender("{state.n}", s, nil); err == nil || !strings.Contains(err.Error(), "Exceeds the limit (4300 digits)") {
		t.Errorf("got %v", err)
	}
}

func TestFields(t *testing.T) {
	tpl, err := Parse("a {state.user[name]!r:>{width}} {{no}} {steps.draft.output} {state.items[-1]}")
	if err != nil {
		t.Fatal(err)
	}
	want := []Field{
		{Path: Path{Root: "state", Segments: []Segment{{Key: "user"}, {Key: "name"}}}, Text: "{state.user[name]!r:>{width}}", Offset: 2},
		{Path: Path{Root: "width"}, Text: "{width}", Offset: 23},
		{Path: Path{Root: "steps", Segments: []Segment{{Key: "draft"}, {Key: "output"}}}, Text: "{steps.draft.output}", Offset: 39},
		{Path: Path{Root: "state", Segments: []Segment{{Key: "items"}, {Key: "-1", Index: -1, IsIndex: true}}}, Text: "{state.items[-1]}", Offset: 60},
	}
	if diff := cmp.Diff(want, tpl.Fields()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStateKey(t *testing.T) {
	for src, want := range map[string]string{
		"{state.user.name}": "user", "{state[user]}": "user", "{topic}": "topic", "{user.name}": "user",
		"{state}": "", "{steps}": "", "{steps.draft.output}": "",
	} {
		tpl, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if key, ok := tpl.Fields()[0].Path.StateKey(); key != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v", src, key, ok)
		}
	}
}
