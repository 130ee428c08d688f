package template

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

// oracle is testdata/render.jsonl, which testdata/render.py explains.
type oracle struct {
	state state.State
	extra map[string]any
	cases []oracleCase
}

type oracleCase struct {
	template string
	ok       bool
	want     string
	missing  bool
}

func readOracle(t testing.TB) oracle {
	t.Helper()
	file, err := os.Open("testdata/render.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	var o oracle
	for lines.Scan() {
		if o.extra == nil {
			o.state, o.extra = readWorld(t, lines.Bytes())
			continue
		}
		var c oracleCase
		if err := json.Unmarshal(lines.Bytes(), &[]any{&c.template, &c.ok, &c.want, &c.missing}); err != nil {
			t.Fatal(err)
		}
		o.cases = append(o.cases, c)
	}
	if lines.Err() != nil || len(o.cases) < 3000 {
		t.Fatalf("read %d cases: %v", len(o.cases), lines.Err())
	}
	return o
}

func readWorld(t testing.TB, line []byte) (state.State, map[string]any) {
	t.Helper()
	world := decode(t, string(line)).(*value.Map)
	get := func(m *value.Map, key string) *value.Map {
		v, _ := m.Get(key)
		return v.(*value.Map)
	}
	s := state.New(get(world, "state"))
	for id, v := range get(world, "steps").All() {
		output, _ := v.(*value.Map).Get("output")
		s = s.WithStep(id, state.StepResult{Output: output, Status: "success"})
	}
	extra := map[string]any{}
	for k, v := range get(world, "extra").All() {
		extra[k] = v
	}
	return s, extra
}

func decode(t testing.TB, src string) any {
	t.Helper()
	v, err := value.DecodeJSON([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRenderAsCPython(t *testing.T) {
	o := readOracle(t)
	for _, c := range o.cases {
		got, missing, err := parseAndRender(c.template, o.state, o.extra)
		switch {
		case (err == nil) != c.ok:
			t.Errorf("%q:\n got %q, %v\nwant %q", c.template, got, err, c.want)
		case err == nil && (got != c.want || (len(missing) > 0) != c.missing):
			t.Errorf("%q:\n got %q, missing %v\nwant %q, missing %v", c.template, got, missing, c.want, c.missing)
		}
		var cause *python.Error
		if errors.As(err, &cause) && cause.Error() != c.want {
			t.Errorf("%q: got error %q, want %q", c.template, cause, c.want)
		}
	}
}

// Parse finds what is wrong with braces before anything is rendered, in
// CPython's words.
func TestParseErrorsAsCPython(t *testing.T) {
	for _, c := range readOracle(t).cases {
		message, isValueError := strings.CutPrefix(c.want, "ValueError: ")
		if c.ok || !isValueError || !isSyntax(message) {
			continue
		}
		if _, err := Parse(c.template); err == nil {
			t.Errorf("%q parses; CPython says %q", c.template, c.want)
		}
	}
}

func isSyntax(message string) bool {
	for _, s := range []string{"Single", "expected", "unexpected", "unmatched", "end of string", "Empty", "Only", "Too many", "Max string"} {
		if strings.HasPrefix(message, s) {
			return true
		}
	}
	return false
}

func parseAndRender(src string, s state.State, extra map[string]any) (string, []Missing, error) {
	t, err := Parse(src)
	if err != nil {
		return "", nil, err
	}
	return t.Render(s, extra)
}
