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
	c.CapturePrompts, c.OnUncertain = true, "stop"
	var got []string
	for _, diag := range workflow.Validate(d) {
		if diag.Code != "not_supported" {
			t.Errorf("unexpected: %s", diag)
			continue
		}
		got = append(got, diag.Path)
	}
	want := []string{
		"config.capture_prompts", "config.on_uncertain",
		"config.workdir_tools", "config.permissions",
		"state_schema", "steps[1].effect", "steps[4].type", "steps[5].type", "steps[6].type",
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
		Enabled: true, MaxReadBytes: ptr(int64(1)),
		AllowedCommands: []string{"ls"}, AllowedPaths: []string{"."}, AllowNetwork: true, AllowedDomains: []string{"x"},
		MaxWriteBytes: ptr(int64(1)), DenyInternalHosts: true, Kernel: "strict",
	}
	d.StateSchema = value.MapOf()
	all := everyType()
	d.Agents, d.MCPServers = all.Agents, all.MCPServers
	for _, i := range []int{0, 3, 7, 8} { // llm_call with everything, agent, embed
		d.Steps = append(d.Steps, all.Steps[i])
		d.Steps[len(d.Steps)-1].ID += "_full"
	}
	f := d.Steps[4].LLM
	f.Stream, f.OutputSchema, f.Conversation = ptr(true), value.MapOf("type", "object"), "x"
	c.BudgetUSD, c.BudgetMode, c.Stream = ptr(1.0), "strict", true
	d.State = value.MapOf("docs", value.MapOf("all", []any{}))
	if ds := workflow.Check(d); len(ds) > 0 {
		t.Error(ds)
	}
}
