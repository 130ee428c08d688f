package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/workflow"
)

func TestCaretStandsUnderThePlace(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, tt := range []struct {
		name, src    string
		line, column int
		want         string
	}{
		{"start", "name: a\n", 1, 1, "name: a\n^"},
		{"middle of a later line", "a\r\nsteps: 7\r\n", 2, 8, "steps: 7\n       ^"},
		{"after the end", "ab", 1, 9, "ab\n  ^"},
		{"a tab counts as one column", "\tkey: x", 1, 2, " key: x\n ^"},
		{"wide characters take two columns", "日本: x", 1, 5, "日本: x\n      ^"},
		{"escape codes are spelled out", "\x1b[31m: x", 1, 6, "\\x1b[31m: x\n        ^"},
		{"a byte order mark is not counted", "\ufeffname: a", 1, 1, "name: a\n^"},
		{"a long line is cut", long + "HERE" + long, 1, 201,
			"…" + strings.Repeat("x", 60) + "HERE" + strings.Repeat("x", 56) + "…\n" + strings.Repeat(" ", 61) + "^"},
		{"no such line", "a\n", 7, 1, ""},
		{"no position", "a\n", 0, 0, ""},
		{"no UTF-8", "\xff\xfe", 1, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sourceLines{src: []byte(tt.src)}
			text, caret, ok := s.excerpt(tt.line, tt.column)
			got := ""
			if ok {
				got = text + "\n" + strings.Repeat(" ", caret) + "^"
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExcerptsOfOneHugeLine(t *testing.T) {
	l := &loaded{name: "f", src: bytes.Repeat([]byte("é, "), 2<<20)}
	for i := range 1000 {
		l.diagnostics = append(l.diagnostics, workflow.Diagnostic{Severity: workflow.SeverityError, Message: "bad", File: "f", Line: 1, Column: 1 + 6000*i})
	}
	start := time.Now()
	text := diagnosticsText(l, style{})
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("%v", took)
	}
	if n := strings.Count(text, "…é, "); n != 999 {
		t.Errorf("%d excerpts", n)
	}
}

func TestDiagnosticsComeInAnyOrder(t *testing.T) {
	l := &loaded{name: "f", src: []byte("one\ntwo\nthree\n"), diagnostics: workflow.Diagnostics{
		{Severity: workflow.SeverityError, Message: "late", File: "f", Line: 3, Column: 1},
		{Severity: workflow.SeverityWarning, Message: "early", File: "f", Line: 1, Column: 2},
	}}
	want := `f:3:1: error: late
    3 | three
      | ^
f:1:2: warning: early
    1 | one
      |  ^
`
	if diff := cmp.Diff(want, diagnosticsText(l, style{})); diff != "" {
		t.Error(diff)
	}
}
