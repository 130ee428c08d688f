package template

import (
	"strings"
	"testing"

	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

// nearTheCaps is a renderer that has 1 MiB left to print and to walk over, so
// that reaching the caps takes a test little time.
func nearTheCaps(s state.State) *renderer {
	r := newRenderer(s, nil)
	r.left = 1 << 20
	r.read = maxRead - 1<<20
	return r
}

// The cap holds whatever prints: text, repetition, nested sharing that would
// print 2^60 items, conversions and padding.
func TestOutputIsCapped(t *testing.T) {
	shared := []any{"x"}
	for range 60 {
		shared = []any{shared, shared}
	}
	s := state.New(value.MapOf("kb", strings.Repeat("x", 1<<10), "bomb", any(shared), "one", int64(1)))
	for name, src := range map[string]string{
		"text":       strings.Repeat("{state.kb}", 1025),
		"literal":    strings.Repeat("x", 1<<20) + "{state.one}",
		"only text":  strings.Repeat("{{", 1<<20+1),
		"sharing":    "{state.bomb}",
		"conversion": "{state.bomb!r}",
		"cut":        strings.Repeat("{state.kb!r:.1}", 1025),
		"padding":    strings.Repeat("{state.one:>10000}", 105),
		"spec":       "{state.one:" + strings.Repeat("{state.kb}", 1025) + "}",
		"unknown":    strings.Repeat("{unknown:{state.kb}}", 1025),
	} {
		tpl, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		_, err = nearTheCaps(s).render(tpl)
		if err == nil || !strings.Contains(err.Error(), "64 MiB, the cap on what templates print") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOutputCap(t *testing.T) {
	s := state.New(value.MapOf("mb", strings.Repeat("x", 1<<20)))
	if text, _, err := parseAndRender(strings.Repeat("{state.mb}", 64), s, nil); err != nil || len(text) != MaxOutput {
		t.Errorf("at the cap: %d bytes, %v", len(text), err)
	}
	if text, _, err := parseAndRender(strings.Repeat("{state.mb}", 64)+"x", s, nil); err == nil || text != "" {
		t.Errorf("over the cap: %d bytes, %v", len(text), err)
	}
	many := make([]any, 65)
	for i := range many {
		many[i] = "{state.mb}"
	}
	if _, _, err := RenderValue(many, s); err == nil || !strings.Contains(err.Error(), "[64]: template, at byte 0: the text grows over 64 MiB") {
		t.Errorf("the templates of one value together: %v", err)
	}
}

func TestShortPrecisionOfALongTextIsCheap(t *testing.T) {
	s := state.New(value.MapOf("mb", strings.Repeat("é", 8<<20)))
	text, _, err := parseAndRender(strings.Repeat("{state.mb:.1}{state.mb[0]}{state.mb[-1]}", 30_000), s, nil)
	if err != nil || text != strings.Repeat("é", 90_000) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestIndexesIntoLongTextsAreCapped(t *testing.T) {
	s := state.New(value.MapOf("long", strings.Repeat("x", 1<<19)))
	for _, index := range []string{"[600000]", "[-600000]", "[500000]"} {
		tpl, err := Parse(strings.Repeat("{state.long"+index+"}", 3))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := nearTheCaps(s).render(tpl); err == nil || !strings.Contains(err.Error(), "256 MiB of text") {
			t.Errorf("%s: %v", index, err)
		}
	}
	path := "state.long[500000]"
	if _, err := nearTheCaps(s).value([]any{path, path, path}); err == nil || !strings.Contains(err.Error(), "256 MiB of text") {
		t.Errorf("%s: %v", path, err)
	}
}

func TestFieldsAreCapped(t *testing.T) {
	if _, err := Parse(strings.Repeat("{a}", MaxFields)); err != nil {
		t.Error(err)
	}
	for _, src := range []string{strings.Repeat("{a}", MaxFields+1), "{a:" + strings.Repeat("{a}", MaxFields) + "}"} {
		if _, err := Parse(src); err == nil || !strings.Contains(err.Error(), "more than 100000 fields") {
			t.Errorf("got %v", err)
		}
	}
}

func TestDeepValues(t *testing.T) {
	var v any = "{topic}"
	for range value.MaxDepth {
		v = []any{v}
	}
	if _, _, err := RenderValue(v, world(t)); err != nil {
		t.Errorf("%d deep: %v", value.MaxDepth, err)
	}
	v = []any{v}
	if _, _, err := RenderValue(v, world(t)); err == nil || !strings.Contains(err.Error(), "nested more than 1000 levels deep") || len(err.Error()) > 400 {
		t.Errorf("deeper: %.500v", err)
	}
	if _, _, err := ValueFields(v); err == nil || !strings.Contains(err.Error(), "nested more than 1000 levels deep") {
		t.Errorf("deeper: %.500v", err)
	}
}

// Errors quote a part of a long template, never all of it.
func TestErrorsStayShort(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	for _, src := range []string{
		"{_" + long + "}", "{state." + long + "..x}", "{state.topic:" + long + "}", "{0." + long + "}", "{state.topic!r:" + long + "d}",
		"state." + long, "state.topic." + long, "state._" + long, "state['" + long + "'].x",
	} {
		if _, _, err := RenderValue(src, world(t)); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%.20q: an error of %d bytes", src, len(err.Error()))
		}
	}
}
