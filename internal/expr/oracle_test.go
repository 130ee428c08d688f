package expr_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/agentloom/agentloom/internal/expr"
	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

// An oracleCase is one line of a file that CPython wrote.
type oracleCase struct {
	Expr      string `json:"e"`
	Value     string `json:"v"` // its repr
	Type      string `json:"t"`
	Exception string `json:"x"`
	Message   string `json:"m"`
}

func readOracle(t testing.TB) (state.State, []oracleCase) {
	t.Helper()
	f, err := os.Open("testdata/oracle.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	world := decodeMap(t, lines.Bytes())
	keys, _ := world.Get("state")
	st := state.New(keys.(*value.Map))
	steps, _ := world.Get("steps")
	for id, r := range steps.(*value.Map).All() {
		output, _ := r.(*value.Map).Get("output")
		st = st.WithStep(id, state.StepResult{Output: output, Status: "success"})
	}
	var cases []oracleCase
	for lines.Scan() {
		var c oracleCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return st, cases
}

func decodeMap(t testing.TB, src []byte) *value.Map {
	t.Helper()
	v, err := value.DecodeJSON(src)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Map)
}

func eval(src string, st state.State) (any, error) {
	p, err := expr.Compile(src)
	if err != nil {
		return nil, err
	}
	return p.Eval(st)
}

// CPython's answer to each of several thousand expressions is ours too: value
// and type, or exception and message.
func TestAsCPython(t *testing.T) {
	st, cases := readOracle(t)
	if len(cases) < 1500 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		v, err := eval(c.Expr, st)
		if c.Exception == "" {
			if err != nil {
				t.Errorf("%s: got %v, want %s", c.Expr, err, c.Value)
			} else if got := python.Repr(v); got != c.Value || python.TypeName(v) != c.Type {
				t.Errorf("%s: got %s (%s), want %s (%s)", c.Expr, got, python.TypeName(v), c.Value, c.Type)
			}
			continue
		}
		e, ok := errors.AsType[*expr.Error](err)
		if !ok {
			t.Errorf("%s: got %v, %v, want %s: %s", c.Expr, v, err, c.Exception, c.Message)
		} else if e.Name != c.Exception || e.Message != c.Message {
			t.Errorf("%s: got %v, want %s: %s", c.Expr, e, c.Exception, c.Message)
		}
	}
}
