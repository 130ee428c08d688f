package expr_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/internal/expr"
)

type grammarCase struct {
	Source  string   `json:"s"`
	Bad     bool     `json:"bad"`
	Classes []string `json:"c"`
}

// What CPython's parser refuses is a SyntaxError; what it reads never is, and
// the constructs that expressions don't have are named as its ast names them.
func TestGrammarAsCPython(t *testing.T) {
	f, err := os.Open("testdata/grammar.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	n := 0
	for ; lines.Scan(); n++ {
		var c grammarCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		_, err := expr.Compile(c.Source)
		name, message := "", ""
		if e, ok := errors.AsType[*expr.Error](err); ok {
			name, message = e.Name, e.Message
		}
		switch {
		case c.Bad && name != "SyntaxError":
			t.Errorf("%q is no Python: got %v, want a SyntaxError", c.Source, err)
		case !c.Bad && name == "SyntaxError":
			t.Errorf("%q is Python with %v: got %v", c.Source, c.Classes, err)
		case !c.Bad && len(c.Classes) > 0 && name != "SecurityError":
			t.Errorf("%q holds %v: got %v, want a SecurityError", c.Source, c.Classes, err)
		case !c.Bad && len(c.Classes) > 0 && !namesOne(message, c.Classes):
			t.Errorf("%q holds %v: none is named in %v", c.Source, c.Classes, err)
		}
	}
	if n < 500 {
		t.Errorf("only %d cases", n)
	}
}

func namesOne(message string, classes []string) bool {
	for _, c := range classes {
		if strings.Contains(message, c) {
			return true
		}
	}
	return false
}
