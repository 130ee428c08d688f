package workflow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func TestUnsupported(t *testing.T) {
	d := everyType()
	d.StateSchema = value.MapOf("x", value.MapOf("redact", true))
	c := &d.Config
	c.BudgetUSD, c.BudgetMode, c.Stream, c.CapturePrompts, c.OnUncertain = ptr(1.0), "strict", true, true, "stop"
	c.Sandbox = &workflow.Sandbox{Enabled: true, MaxReadBytes: ptr(int64(1))}
	f := d.Steps[0].LLM
	f.Stream, f.OutputSchema, f.Conversation = ptr(true), value.MapOf(), "x"
	var got []string
	for _, diag := range workflow.Validate(d) {
		if diag.Code != "not_supported" {
			t.Errorf("unexpected: %s", diag)
			continue
		}
		got = append(got, diag.Path)
	}
	want := []string{
		"config.budget_usd", "config.budget_mode", "config.stream", "config.capture_prompts", "config.on_uncertain",
		"config.workdir_tools", "config.permissions", "config.sandbox.enabled", "config.sandbox.max_read_bytes",
		"state_schema", "agents", "mcp_servers",
		"steps[0].stream", "steps[0].attachments", "steps[0].thinking", "steps[0].tools", "steps[0].tool_choice",
		"steps[0].max_tool_iterations", "steps[0].output_schema", "steps[0].conversation",
		"steps[1].effect", "steps[3].type", "steps[4].type", "steps[5].type", "steps[6].type", "steps[7].type", "steps[8].type",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSupported(t *testing.T) {
	d := def(
		with(llm("a"), func(s *workflow.Step) {
			s.LLM.Stream, s.LLM.Provider, s.LLM.Model, s.LLM.SystemPrompt = ptr(false), "openai", "gpt-4o", "x"
		}),
		toolStep("b"), router("r", "c"), llm("c", "r"))
	c := &d.Config
	c.StrictOutputs, c.ResponsesFile, c.LatencyModel, c.LatencyMS = true, "r.json", "normal", ptr(5.0)
	c.Scheduling, c.OnStepFailure, c.Timeout = workflow.Eager, workflow.Continue, ptr(60.0)
	c.Sandbox = &workflow.Sandbox{
		AllowedCommands: []string{"ls"}, AllowedPaths: []string{"."}, AllowNetwork: true, AllowedDomains: []string{"x"},
		MaxWriteBytes: ptr(int64(1)), DenyInternalHosts: true, Kernel: "strict",
	}
	d.StateSchema = value.MapOf()
	if ds := workflow.Check(d); len(ds) > 0 {
		t.Error(ds)
	}
}
