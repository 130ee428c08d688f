package template

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

func escape(s string) string {
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(s)
}

func TestEscapedTextRendersAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[{}a.:!\[\]é_ ]*`).Draw(t, "text")
		got, missing, err := parseAndRender(escape(s), state.State{}, nil)
		if err != nil || got != s || missing != nil {
			t.Fatalf("%q: got %q, %v, %v", s, got, missing, err)
		}
	})
}

// Text around a field, and text in the state, come out as they are.
func TestFieldsPrintTextUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, text, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "text"), rapid.String().Draw(t, "after")
		s := state.New(value.MapOf("x", text, "m", value.MapOf("k", []any{text})))
		for _, field := range []string{"{state.x}", "{x}", "{state.x!s}", "{state.m.k[0]}", "{m[k][-1]}", "{state.x:}"} {
			got, _, err := parseAndRender(escape(before)+field+escape(after), s, nil)
			if err != nil || got != before+text+after {
				t.Fatalf("%s: got %q, %v", field, got, err)
			}
		}
		got, _, err := RenderValue([]any{"state.m.k[0]"}, s)
		if err != nil || got.([]any)[0] != text {
			t.Fatalf("got %q, %v", got, err)
		}
	})
}

// A written path reads as the same path.
func TestPathsRoundTrip(t *testing.T) {
	segment := rapid.OneOf(
		rapid.Map(rapid.IntRange(-99, 99), func(i int) Segment {
			s := item(i)
			return s
		}),
		rapid.Map(rapid.StringMatching(`[a-zé_]([-a-z0-9_]*[a-z0-9_])?|[a-z .]+`), func(s string) Segment { return Segment{Key: s} }),
	)
	rapid.Check(t, func(t *rapid.T) {
		first := Segment{Key: rapid.StringMatching(`[a-z]+`).Draw(t, "first")}
		p := Path{Root: "state", Segments: append([]Segment{first}, rapid.SliceOfN(segment, 0, 5).Draw(t, "segments")...)}
		got, ok := ParsePath(p.String())
		if !ok || got.String() != p.String() || len(got.Segments) != len(p.Segments) {
			t.Fatalf("%s reads as %v (%v)", p, got, ok)
		}
	})
}

// An index in brackets finds what the same index finds in Go.
func TestIndexesCountFromBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		i := rapid.IntRange(-40, 40).Draw(t, "index")
		l := lookup{}
		got, ok := l.character(s, i)
		runes := strings.Split(s, "")
		at := i
		if at < 0 {
			at += len(runes)
		}
		want := at >= 0 && at < len(runes)
		if ok != want || ok && got != runes[at] {
			t.Fatalf("%q[%d] = %q, %v", s, i, got, ok)
		}
	})
}

func FuzzParseRender(f *testing.F) {
	o := readOracle(f)
	for _, c := range o.cases[:400] {
		f.Add(c.template)
	}
	for _, src := range []string{"state.items[0]", "state.user['a b']", "state. of", "{state.text[-1]!a:>{width}}", `{"a": {"b": 1}}`} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		tpl, err := Parse(src)
		if err == nil {
			checkRendering(t, o, tpl, src)
		} else {
			checkError(t, src, err)
		}
		checkValue(t, o, src)
	})
}

func checkRendering(t *testing.T, o oracle, tpl *Template, src string) {
	for _, f := range tpl.Fields() {
		if name, refused := f.Path.refusedName(); refused {
			t.Fatalf("%q: the field %q has the refused name %q", src, f.Text, name)
		}
		if !strings.HasPrefix(src[f.Offset:], f.Text) {
			t.Fatalf("%q: the field %q does not stand at %d", src, f.Text, f.Offset)
		}
	}
	text, missing, err := tpl.Render(o.state, o.extra)
	if err != nil {
		checkError(t, src, err)
		return
	}
	if limit := 2*len(src) + len(tpl.Fields())*12_000; len(text) > limit {
		t.Fatalf("%q prints %d bytes", src, len(text))
	}
	if again, more, err := tpl.Render(o.state, o.extra); err != nil || again != text || len(more) != len(missing) {
		t.Fatalf("%q renders once as %q and once as %q, %v", src, text, again, err)
	}
}

func checkError(t *testing.T, src string, err error) {
	var e *Error
	if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(src) || len(e.Message) > 1000 || strings.Contains(e.Message, "\n\n") && !strings.Contains(src, "\n\n") {
		t.Fatalf("%q: %v", src, err)
	}
}

func checkValue(t *testing.T, o oracle, src string) {
	_, isPath := ParsePath(src)
	_, _, err := RenderValue([]any{src}, o.state)
	if err == nil {
		return
	}
	var e *ValueError
	var broken *Error
	switch {
	case !errors.As(err, &e) || e.Where != "[0]":
		t.Fatalf("%q: %v", src, err)
	case isPath && fault.KindOf(err) != fault.Permanent, !isPath && !errors.As(err, &broken):
		t.Fatalf("%q (a path: %v): %v", src, isPath, err)
	}
}
