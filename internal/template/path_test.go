package template

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
)

func TestParsePath(t *testing.T) {
	key := func(s string) Segment { return Segment{Key: s} }
	tests := []struct {
		src  string
		want []Segment
	}{
		{"state.items", []Segment{key("items")}},
		{"state.items[0]", []Segment{key("items"), item(0)}},
		{"state.items[-1].name", []Segment{key("items"), {Key: "-1", Index: -1, IsIndex: true}, key("name")}},
		{"state.m[0][1]", []Segment{key("m"), item(0), item(1)}},
		{"state.user['first name']", []Segment{key("user"), key("first name")}},
		{`state["a.b"].c`, []Segment{key("a.b"), key("c")}},
		{"state.headers.X-Id", []Segment{key("headers"), key("X-Id")}},
		{"state.ключ", []Segment{key("ключ")}},
		{"state._x", []Segment{key("_x")}},
		{"state.x1-2", []Segment{key("x1-2")}},
	}
	for _, tt := range tests {
		p, ok := ParsePath(tt.src)
		if !ok {
			t.Errorf("%q is no path", tt.src)
			continue
		}
		if diff := cmp.Diff(Path{Root: "state", Segments: tt.want}, p); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.src, diff)
		}
	}
}

func TestNoPaths(t *testing.T) {
	for _, src := range []string{
		"", "state", "state.", "state. of affairs", "state.x and more", "state.x ", " state.x", "state.x\n", "state.x.",
		"state..x", "state.x[", "state.x[]", "state.x[a]", "state.x[1:2]", "state.x[+1]", "state.x[1", "state.x['a'",
		"state.x['a]", "state.x[0]y", "state[0]", "state.0", "state.x-", "state.-x", "state.x!", "state.x()", "stately.x",
		"State.x", "steps.draft.output", "{state.x}", "state.x {state.y}", `state.x['a\'b']`, "state.x, state.y",
		"state.x[99999999999999999999]", "state.x\x00", "state.\xff", "states", "state.x['']y",
	} {
		if p, ok := ParsePath(src); ok {
			t.Errorf("%q is the path %v", src, p)
		}
	}
}

func TestPathString(t *testing.T) {
	for _, src := range []string{"state.a.b", "state.items[0].x", "state.items[-1]", "state['a b'].c", "state.X-Id", `state["it's"]`} {
		p, ok := ParsePath(src)
		if !ok || p.String() != src {
			t.Errorf("%q is written %q (%v)", src, p.String(), ok)
		}
	}
}

func TestLookupKeepsTheType(t *testing.T) {
	for src, want := range map[string]any{
		"state.price": 1234.5, "state.count": int64(3), "state.ok": true, "state.gone": nil,
		"state.user.name": "Bo", "state.items[-1].name": "last", "state.mixed.a": []any{int64(1), "x", 1.0},
		"state['user']['first name']": "B",
	} {
		p, ok := ParsePath(src)
		if !ok {
			t.Fatalf("%q is no path", src)
		}
		got, err := p.Lookup(world(t))
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s = %#v, %v; want %#v", src, got, err, want)
		}
	}
}

func TestLookupNamesWhatIsMissing(t *testing.T) {
	for src, want := range map[string]string{
		"state.nope":           `the state has no key "nope"`,
		"state.nope.deep":      `the state has no key "nope", which state.nope.deep needs`,
		"state.user.nmae":      `state.user has no key "nmae", which state.user.nmae needs`,
		"state.items[2].name":  `state.items has no item 2, which state.items[2].name needs: its length is 2`,
		"state.items.name":     `state.items is a list and has no key "name"`,
		"state.name.first":     `state.name is of type str and has no "first"`,
		"state.gone.x":         `state.gone is of type NoneType and has no "x"`,
		"state._secret":        `names that start with _ are refused: "_secret"`,
		"state.user.__class__": `names that start with _ are refused`,
		"state['_x']":          `names that start with _ are refused`,
		"state.items[0]['_x']": `names that start with _ are refused`,
	} {
		p, ok := ParsePath(src)
		if !ok {
			t.Fatalf("%q is no path", src)
		}
		v, err := p.Lookup(world(t))
		if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), want) || v != nil {
			t.Errorf("%s: %v, %v (%v); want %q", src, v, err, fault.KindOf(err), want)
		}
	}
}

// Paths of fields can be looked up too.
func TestLookupOfOtherRoots(t *testing.T) {
	for path, want := range map[string]string{
		"{steps.later.output}": `no step "later" has succeeded`,
		"{nope.x}":             `nothing is called "nope" here: write state.nope`,
		"{steps.draft.nope}":   `steps.draft has no key "nope"`,
	} {
		tpl, err := Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tpl.Fields()[0].Path.Lookup(world(t))
		if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
}
