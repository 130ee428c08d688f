package wfyaml

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/workflow"
)

const places = `name: w
agents:
  x-base: &base {model: m}
  first: {prompt: p}
  second:
    <<: *base
    tools: [a, b]
state:
  a.b: 1
  a: {b: 2, "c d": 3, "e]": 4}
steps:
  - {id: s, depends_on: [p, q]}
  - *base
`

func TestPathsHavePositions(t *testing.T) {
	tests := []struct {
		path string
		want position
	}{
		{"", position{1, 1}},
		{"name", position{1, 7}},
		{"version", position{1, 1}}, // missing: the mapping that lacks it
		{"agents", position{3, 3}},
		{"agents[0]", position{4, 10}},
		{"agents[1].tools[1]", position{7, 16}},
		{"agents.second.model", position{3, 25}}, // from the merged mapping
		{"agents[7]", position{3, 3}},
		{"state.a.b", position{9, 8}}, // the longest key wins
		{`state.a["c d"]`, position{10, 20}},
		{`state.a["e]"]`, position{10, 29}},
		{"state.a.nothing.deeper", position{10, 6}},
		{"steps[0].depends_on[1]", position{12, 29}},
		{"steps[0].depends_on[9]", position{12, 25}},
		{"steps[0].depends_on.x", position{12, 25}},
		{"steps[1]", position{13, 5}},
		{"steps[99999999999999999999]", position{12, 3}},
		{"steps[-1]", position{12, 3}},
		{"steps[", position{12, 3}},
	}
	d := &decoder{}
	root, ok := d.parse([]byte(places))
	if !ok {
		t.Fatal(d.diagnostics())
	}
	for _, tt := range tests {
		if got, _ := d.locate(root, tt.path); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.path, got, tt.want)
		}
	}
}

func TestBrokenValuesAreReportedOnce(t *testing.T) {
	d := &decoder{file: "f"}
	root, _ := d.parse([]byte(places))
	d.mark(spot{node: follow(root).Content[7].Content[0]})
	d.adopt(root, workflow.Diagnostics{
		{Severity: workflow.SeverityError, Code: "a", Path: "steps[0]"},
		{Severity: workflow.SeverityError, Code: "b", Path: "steps[0].depends_on[1]"},
		{Severity: workflow.SeverityError, Code: "c", Path: "steps[1].id"},
		{Severity: workflow.SeverityWarning, Code: "d", Path: "steps"},
		{Severity: workflow.SeverityError, Code: tooMany},
	})
	var got []string
	for _, g := range d.diagnostics() {
		got = append(got, g.Code)
	}
	if diff := cmp.Diff([]string{"d", "c", tooMany}, got); diff != "" {
		t.Error(diff)
	}
}
