package state_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

func TestSetNestedMakesObjects(t *testing.T) {
	s := state.New(value.MapOf("user", value.MapOf("id", int64(1)), "x", "y"))
	s = set(t, s, "user.name.first", "Ada")
	s = set(t, s, "new.a.b", true)
	s = set(t, s, "x", nil)
	want := `{"user":{"id":1,"name":{"first":"Ada"}},"x":null,"new":{"a":{"b":true}}}`
	if got := encode(t, s); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSetThroughAScalarNamesIt(t *testing.T) {
	for start, wants := range map[string][]string{
		"a string":  {"state.a is a string", `"a.b.c"`},
		"a list":    {"state.a is a list"},
		"null":      {"state.a is null"},
		"a number":  {"state.a is a number"},
		"a boolean": {"state.a is a boolean"},
	} {
		v := map[string]any{"a string": "s", "a list": []any{}, "null": nil, "a number": 1.5, "a boolean": true}[start]
		s := state.New(value.MapOf("a", v))
		_, err := s.Set("a.b.c", 1)
		if fault.KindOf(err) != fault.Permanent {
			t.Fatalf("%s: error %v is not permanent", start, err)
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
	}
	s := state.New(value.MapOf("a", value.MapOf("b", "deep")))
	if _, err := s.Set("a.b.c", 1); err == nil || !strings.Contains(err.Error(), "state.a.b is a string") {
		t.Errorf("a scalar further down: %v", err)
	}
}

func TestASnapshotNeverChanges(t *testing.T) {
	s := state.New(value.MapOf("a", value.MapOf("b", int64(1))))
	before := encode(t, s)
	next := set(t, set(t, s, "a.b", int64(2)), "c", int64(3)).WithStep("x", state.StepResult{Output: "o"})
	if got := encode(t, s); got != before {
		t.Errorf("the snapshot became %s", got)
	}
	if _, ok := s.Step("x"); ok {
		t.Error("the snapshot has a later step")
	}
	if r, ok := next.Step("x"); !ok || r.Output != "o" {
		t.Errorf("the new state's step is %v, %v", r, ok)
	}
}

func TestZeroStateIsEmpty(t *testing.T) {
	var s state.State
	if s.Len() != 0 || encode(t, s) != `{}` || s.Steps().Len() != 0 {
		t.Error("the zero state is not empty")
	}
	if got := encode(t, set(t, s, "a.b", "c")); got != `{"a":{"b":"c"}}` {
		t.Errorf("got %s", got)
	}
}

// TestOrderDoesNotDependOnWhoWasFirst writes the same outputs in two orders.
func TestOrderDoesNotDependOnWhoWasFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outputs := rapid.SliceOfDistinct(rapid.SampledFrom([]string{
			"a.x", "a.y", "a.z.p", "a.z.q", "b", "c", "d.x", "e.x", "in.new", "in.b", "seed",
		}), func(s string) string { return s }).Draw(t, "outputs")
		write := func(order []string) string {
			s := state.New(value.MapOf("seed", int64(0), "in", value.MapOf("z", nil, "b", nil)), outputs...)
			for _, o := range order {
				var err error
				if s, err = s.Set(o, "by "+o); err != nil {
					t.Fatal(err)
				}
			}
			b, _ := value.EncodeJSON(s.Map())
			return string(b)
		}
		inOrder := write(outputs)
		if shuffled := write(rapid.Permutation(outputs).Draw(t, "order")); shuffled != inOrder {
			t.Fatalf("written in another order:\n%s\n%s", shuffled, inOrder)
		}
	})
}

func TestOrderIsThatOfTheFile(t *testing.T) {
	s := state.New(value.MapOf("z", nil, "y", nil), "m.b", "m.a", "k", "y")
	for _, path := range []string{"k", "y", "m.a", "m.b"} {
		s = set(t, s, path, path)
	}
	if got, want := encode(t, s), `{"z":null,"y":"y","m":{"b":"m.b","a":"m.a"},"k":"k"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func set(t *testing.T, s state.State, path string, v any) state.State {
	t.Helper()
	next, err := s.Set(path, v)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func encode(t *testing.T, s state.State) string {
	t.Helper()
	b, err := value.EncodeJSON(s.Map())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
