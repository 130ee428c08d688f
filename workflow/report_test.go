package workflow_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/workflow"
)

func TestCheckIsInPathOrder(t *testing.T) {
	d := defWith(func(d *workflow.Definition) {
		d.Name = ""
		d.Config.MaxRetries = -1
		d.Agents = []workflow.Agent{{Name: "x", Tools: []string{"look"}}}
		d.Config.Sandbox = &workflow.Sandbox{DangerOptIn: []string{"sh"}}
	})
	for i := range 12 {
		s := call(fmt.Sprint("s", i), "look", nil)
		s.Output = "_"
		d.Steps = append(d.Steps, s)
	}
	var got []string
	for _, diag := range workflow.Check(d) {
		got = append(got, diag.Path)
	}
	want := []string{"name", "config.max_retries", "config.sandbox.danger_opt_in[0]", "agents.x.tools[0]"}
	for i := range 12 {
		want = append(want, fmt.Sprintf("steps[%d].output", i), fmt.Sprintf("steps[%d].tool_name", i))
		if i > 0 {
			want = append(want, fmt.Sprintf("steps[%d].output", i))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReportIsBounded(t *testing.T) {
	s := llm("a")
	for i := range 5000 {
		s.DependsOn = append(s.DependsOn, fmt.Sprint("missing_", i))
	}
	ds := workflow.Validate(def(s))
	if len(ds) != 1001 {
		t.Fatalf("%d diagnostics", len(ds))
	}
	if last := ds[1000]; last.Code != "too_many" || last.Severity != workflow.SeverityError || !strings.Contains(last.Message, "4000 more errors") {
		t.Errorf("the last is %s", last)
	}
	ds = workflow.Lint(shaped(2000, alone, same))
	if len(ds) != 1001 || len(ds.Errors()) != 0 || ds[1000].Code != "too_many" {
		t.Errorf("%d warnings, the last %s", len(ds), ds[len(ds)-1])
	}
}

func TestMessagesAreShortAndPrintable(t *testing.T) {
	d := def(llm("a", strings.Repeat("é\x1b\u202e", 10_000)))
	for _, diag := range workflow.Validate(d) {
		if len(diag.Message) > 1000 || strings.ContainsAny(diag.String(), "\x1b\u202e\n") {
			t.Errorf("%q", diag.Message)
		}
	}
}

func TestErr(t *testing.T) {
	err := workflow.Validate(def(llm("a", "b"), llm("c", "d"))).Err()
	invalid, ok := errors.AsType[*workflow.InvalidError](err)
	if !ok || len(invalid.Diagnostics) != 2 {
		t.Fatalf("got %v", err)
	}
	want := `error: no step has the id "b" (steps[0].depends_on[0])
error: no step has the id "d" (steps[1].depends_on[0])`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}
