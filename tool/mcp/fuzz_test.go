package mcp

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func fuzzed(f *testing.F) *server {
	f.Helper()
	s, err := New([]workflow.MCPServer{{Name: "x", Command: "x"}}, Options{MaxResult: 1 << 16, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	return s.list[0]
}

// FuzzResult: whatever a server answers is a value or an error with a kind.
func FuzzResult(f *testing.F) {
	for _, src := range []string{
		`{"content":[{"type":"text","text":"a"}]}`, `{"structuredContent":{"a":[1,2.5,null]}}`, `{"isError":true,"content":[]}`,
		`{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"a","blob":"="}},{}]}`,
		`{"content":{}}`, `[]`, `null`, `{"resultType":"input_required"}`,
	} {
		f.Add([]byte(src))
	}
	s := fuzzed(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := s.result("t", raw)
		if err != nil {
			if fault.KindOf(err) == 0 {
				t.Fatalf("an error without a kind: %v", err)
			}
			return
		}
		if _, err := value.From(v); err != nil {
			t.Fatalf("the result is no value: %v", err)
		}
	})
}

// FuzzTool: whatever a server lists is a tool that model services take, or is
// left out.
func FuzzTool(f *testing.F) {
	f.Add("read.file", `{"type":"object"}`)
	f.Add("größe\xff", `{"properties":{}}`)
	f.Add(strings.Repeat("a", 61), `true`)
	f.Add("", `{"type":["object"]}`)
	s := fuzzed(f)
	f.Fuzz(func(t *testing.T, name, schema string) {
		r, err := s.remote(listed{Name: name, InputSchema: []byte(schema)})
		if err != nil {
			return
		}
		if n := r.spec.Name; len(n) > 64 || !strings.HasPrefix(n, "x__") || strings.ContainsFunc(n, func(r rune) bool { return !wordRune(r) }) {
			t.Fatalf("the name is %q", n)
		}
		if kind, _ := r.spec.Parameters.Get("type"); kind != "object" {
			t.Fatalf("the schema describes %v", kind)
		}
	})
}

// FuzzDecode: a line is a message, noise or an error.
func FuzzDecode(f *testing.F) {
	for _, src := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"level":"info"}`, `{"jsonrpc":"2.0"`, `{"jsonrpc":"1.0","method":"a"}`, `{"jsonrpc":"2.0","id":{},"method":1}`} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		msg, err := decode(line)
		if err != nil && (msg != nil || fault.KindOf(err) != fault.Permanent) {
			t.Fatalf("%v and %v", msg, err)
		}
	})
}
