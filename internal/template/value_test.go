package template

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	b, err := value.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRenderValue(t *testing.T) {
	tests := []struct{ src, want string }{
		{`"{state.topic}!"`, `"tea!"`},
		{`"state.mixed"`, `{"a":[1,"x",1.0]}`},
		{`"state.count"`, `3`},
		{`"{state.count}"`, `"3"`},
		{`"state.gone"`, `null`},
		{`"state. of affairs"`, `"state. of affairs"`},
		{`"state.x and more"`, `"state.x and more"`},
		{`"state.x and {topic}"`, `"state.x and tea"`},
		{`"steps.draft.output"`, `"steps.draft.output"`},
		{`{"url": "https://x/{state.count}", "deep": [{"a": ["{topic}", 1, true, null, 1.0]}]}`,
			`{"url":"https://x/3","deep":[{"a":["tea",1,true,null,1.0]}]}`},
		{`{"z": "1", "{topic}": "{topic}", "state.count": 1}`, `{"z":"1","{topic}":"tea","state.count":1}`}, // keys stay
		{`{"value": "{literal}", "template": false}`, `"{literal}"`},
		{`[{"template": false, "value": "state.count"}]`, `["state.count"]`},
		{`{"a": {"value": {"b": ["{x} }"]}, "template": false}}`, `{"a":{"b":["{x} }"]}}`},
		{`{"value": "{topic}", "template": true}`, `{"value":"tea","template":true}`},
		{`{"value": "{topic}", "template": null}`, `{"value":"tea","template":null}`},
		{`{"value": "{topic}", "template": 0}`, `{"value":"tea","template":0}`},
		{`{"value": "{topic}", "template": [false]}`, `{"value":"tea","template":[false]}`},
		{`{"value": "{topic}", "template": false, "more": 1}`, `{"value":"tea","template":false,"more":1}`},
		{`{"value": "{topic}"}`, `{"value":"tea"}`},
		{`{"values": "{topic}", "template": false}`, `{"values":"tea","template":false}`},
		{`[]`, `[]`}, {`{}`, `{}`}, {`12`, `12`}, {`null`, `null`}, {`"{{}}"`, `"{}"`},
	}
	for _, tt := range tests {
		got, missing, err := RenderValue(decode(t, tt.src), world(t))
		if err != nil || len(missing) > 0 {
			t.Errorf("%s: missing %v, %v", tt.src, missing, err)
			continue
		}
		if got := jsonOf(t, got); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.src, got, tt.want)
		}
	}
}

// Data that looks like our own forms is data when it comes out of the state
// (the lesson of CVE-2025-68664).
func TestStateIsNeverReadAsTemplates(t *testing.T) {
	hostile := `{"value":"{state.secret}","template":false}`
	s := state.New(value.MapOf(
		"x", decode(t, hostile), "list", decode(t, `["state.secret", "{state.secret}"]`),
		"text", "{state.secret}", "path", "state.secret", "secret", "hush"))
	tests := []struct{ src, want string }{
		{`"state.x"`, hostile},
		{`{"a": "state.x"}`, `{"a":` + hostile + `}`},
		{`"state.list"`, `["state.secret","{state.secret}"]`},
		{`["state.text", "{state.text}", "state.path", "{state.path}"]`,
			`["{state.secret}","{state.secret}","state.secret","state.secret"]`},
		{`"{state.x}"`, `"{'value': '{state.secret}', 'template': False}"`},
		{`{"value": "state.x", "template": true}`, `{"value":` + hostile + `,"template":true}`},
	}
	for _, tt := range tests {
		got, _, err := RenderValue(decode(t, tt.src), s)
		if err != nil || jsonOf(t, got) != tt.want {
			t.Errorf("%s: got %v, %v; want %s", tt.src, got, err, tt.want)
		}
	}
}

func TestRenderValueLeavesItsInputAlone(t *testing.T) {
	src := `{"a":["{topic}",{"b":"state.count"}]}`
	v := decode(t, src)
	if _, _, err := RenderValue(v, world(t)); err != nil || jsonOf(t, v) != src {
		t.Errorf("%v; now %s", err, jsonOf(t, v))
	}
}

func TestValueErrorsSayWhere(t *testing.T) {
	tests := []struct {
		src, where, want string
		kind             fault.Kind
	}{
		{`{"headers": {"X-Id": "{x"}}`, "tool_args.headers.X-Id", "expected '}' before end of string", 0},
		{`{"a": [1, ["ok", "}"]]}`, "tool_args.a[1][1]", "single '}'", 0},
		{`{"a b": {"c": "{state._x}"}}`, "tool_args['a b'].c", "names that start with _", 0},
		{`{"a": "{state.name:d}"}`, "tool_args.a", "Unknown format code 'd'", 0},
		{`{"a": "state.nope"}`, "tool_args.a", `the state has no key "nope"`, fault.Permanent},
		{`{"a": [{"b": "state.user.nmae"}]}`, "tool_args.a[0].b", `state.user has no key "nmae"`, fault.Permanent},
		{`{"a": "state._x"}`, "tool_args.a", "names that start with _", fault.Permanent},
	}
	for _, tt := range tests {
		_, _, err := RenderArgs("tool_args", decode(t, tt.src).(*value.Map), world(t))
		var e *ValueError
		if !errors.As(err, &e) || e.Where != tt.where || !strings.HasPrefix(err.Error(), tt.where+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v; want %q at %s", tt.src, err, tt.want, tt.where)
		}
		if fault.KindOf(err) != tt.kind {
			t.Errorf("%s: kind %v, want %v", tt.src, fault.KindOf(err), tt.kind)
		}
		var broken *Error
		if errors.As(err, &broken) != (tt.kind == 0) {
			t.Errorf("%s: a broken template and a missing key look the same: %v", tt.src, err)
		}
	}
	_, _, err := RenderValue(decode(t, `["}"]`), world(t))
	if err == nil || !strings.HasPrefix(err.Error(), "[0]: template, at byte 0: single '}'") {
		t.Errorf("got %v", err)
	}
	if _, _, err = RenderValue("}", world(t)); err == nil || !strings.HasPrefix(err.Error(), "template, at byte 0") {
		t.Errorf("got %v", err)
	}
}

func TestRenderArgsStaysAMap(t *testing.T) {
	got, missing, err := RenderArgs("tool_args", decode(t, `{"value": "{topic}", "template": false}`).(*value.Map), world(t))
	if err != nil || jsonOf(t, got) != `{"value":"tea","template":false}` || missing != nil {
		t.Errorf("got %v, %v, %v", got, missing, err)
	}
	if got, _, err := RenderArgs("input", nil, world(t)); err != nil || got.Len() != 0 {
		t.Errorf("no arguments: %v, %v", got, err)
	}
}

func TestMissingFieldsOfValuesSayWhere(t *testing.T) {
	args := decode(t, `{"a": ["{state.nope} {state.nope}", "x {state.nope}"], "b": "{unknown}"}`).(*value.Map)
	got, missing, err := RenderArgs("input", args, world(t))
	if err != nil || jsonOf(t, got) != `{"a":[" ","x "],"b":"{unknown}"}` {
		t.Errorf("got %v, %v", got, err)
	}
	want := []Missing{{Field: "{state.nope}", Where: "input.a[0]"}, {Field: "{state.nope}", Offset: 2, Where: "input.a[1]"}}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestValueFields(t *testing.T) {
	v := decode(t, `{"a": "state.items[0]", "b": ["{state.x:{w}}", "plain", 1], "c": {"value": "{no} }", "template": false},
		"d": "}", "e": "state._x", "f": {"g": "{_x}"}, "h": "{state.last}"}`)
	fields, paths, err := ValueFields(v)
	var texts, places []string
	for _, f := range fields {
		texts = append(texts, f.Text)
		places = append(places, f.Where)
	}
	if diff := cmp.Diff([]string{"{state.x:{w}}", "{w}", "{state.last}"}, texts); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b[0]", "b[0]", "h"}, places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if len(paths) != 1 || paths[0].String() != "state.items[0]" {
		t.Errorf("paths %v", paths)
	}
	var lines []string
	if err != nil {
		lines = strings.Split(err.Error(), "\n")
	}
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "d: ") || !strings.HasPrefix(lines[1], "e: ") || !strings.HasPrefix(lines[2], "f.g: ") {
		t.Errorf("errors %q", lines)
	}
	if _, _, err := ValueFields(decode(t, `{"a": ["{state.x}"]}`)); err != nil {
		t.Errorf("a sound value: %v", err)
	}
}
