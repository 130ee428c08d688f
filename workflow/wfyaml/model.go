package wfyaml

import (
	"go.yaml.in/yaml/v4"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func llmFields() []field[workflow.Step] {
	return []field[workflow.Step]{
		text("prompt", func(s *workflow.Step) *string { return &s.LLM.Prompt }),
		text("system_prompt", func(s *workflow.Step) *string { return &s.LLM.SystemPrompt }),
		text("provider", func(s *workflow.Step) *string { return &s.LLM.Provider }),
		text("model", func(s *workflow.Step) *string { return &s.LLM.Model }),
		optionalNumber("temperature", func(s *workflow.Step) **float64 { return &s.LLM.Temperature }),
		optionalInteger("max_tokens", func(s *workflow.Step) **int64 { return &s.LLM.MaxTokens }),
		optionalBoolean("stream", func(s *workflow.Step) **bool { return &s.LLM.Stream }),
		sections("attachments", "an attachment", "attachments", attachmentFields(), workflow.Attachment{Fetch: "local"},
			func(s *workflow.Step) *[]workflow.Attachment { return &s.LLM.Attachments }),
		subsection("thinking", "thinking", thinkingFields(), workflow.Thinking{},
			func(s *workflow.Step) **workflow.Thinking { return &s.LLM.Thinking }),
		sections("tools", "a tool", "tools, each with a name", declarationFields(), workflow.ToolDeclaration{},
			func(s *workflow.Step) *[]workflow.ToolDeclaration { return &s.LLM.Tools }),
		toolChoice(func(s *workflow.Step) *any { return &s.LLM.ToolChoice }),
		optionalInteger("max_tool_iterations", func(s *workflow.Step) **int { return &s.LLM.MaxToolIterations }),
		dataMap("output_schema", func(s *workflow.Step) **value.Map { return &s.LLM.OutputSchema }),
		text("conversation", func(s *workflow.Step) *string { return &s.LLM.Conversation }),
	}
}

func agentStepFields() []field[workflow.Step] {
	return []field[workflow.Step]{
		text("agent", func(s *workflow.Step) *string { return &s.Agent.Agent }),
		text("prompt", func(s *workflow.Step) *string { return &s.Agent.Prompt }),
		text("provider", func(s *workflow.Step) *string { return &s.Agent.Provider }),
		text("conversation", func(s *workflow.Step) *string { return &s.Agent.Conversation }),
	}
}

func agentFields() []field[workflow.Agent] {
	return []field[workflow.Agent]{
		text("description", func(a *workflow.Agent) *string { return &a.Description }),
		text("system_prompt", func(a *workflow.Agent) *string { return &a.SystemPrompt }),
		text("provider", func(a *workflow.Agent) *string { return &a.Provider }),
		text("model", func(a *workflow.Agent) *string { return &a.Model }),
		optionalNumber("temperature", func(a *workflow.Agent) **float64 { return &a.Temperature }),
		optionalInteger("max_tokens", func(a *workflow.Agent) **int64 { return &a.MaxTokens }),
		texts("tools", func(a *workflow.Agent) *[]string { return &a.Tools }),
		toolChoice(func(a *workflow.Agent) *any { return &a.ToolChoice }),
		optionalInteger("max_tool_iterations", func(a *workflow.Agent) **int { return &a.MaxToolIterations }),
		word("on_max_iterations", func(a *workflow.Agent) *string { return &a.OnMaxIterations }),
		subsection("thinking", "thinking", thinkingFields(), workflow.Thinking{},
			func(a *workflow.Agent) **workflow.Thinking { return &a.Thinking }),
		dataMap("output_schema", func(a *workflow.Agent) **value.Map { return &a.OutputSchema }),
		optionalNumber("budget_usd", func(a *workflow.Agent) **float64 { return &a.BudgetUSD }),
		optionalNumber("timeout", func(a *workflow.Agent) **float64 { return &a.Timeout }),
	}
}

func attachmentFields() []field[workflow.Attachment] {
	return []field[workflow.Attachment]{
		word("type", func(a *workflow.Attachment) *string { return &a.Type }),
		text("source", func(a *workflow.Attachment) *string { return &a.Source }),
		text("media_type", func(a *workflow.Attachment) *string { return &a.MediaType }),
		word("fetch", func(a *workflow.Attachment) *string { return &a.Fetch }),
	}
}

func thinkingFields() []field[workflow.Thinking] {
	return []field[workflow.Thinking]{
		optionalBoolean("enabled", func(t *workflow.Thinking) **bool { return &t.Enabled }),
		optionalInteger("budget_tokens", func(t *workflow.Thinking) **int64 { return &t.BudgetTokens }),
		word("level", func(t *workflow.Thinking) *string { return &t.Level }),
		boolean("capture_reasoning", func(t *workflow.Thinking) *bool { return &t.CaptureReasoning }),
	}
}

func declarationFields() []field[workflow.ToolDeclaration] {
	return []field[workflow.ToolDeclaration]{
		text("name", func(t *workflow.ToolDeclaration) *string { return &t.Name }),
		text("description", func(t *workflow.ToolDeclaration) *string { return &t.Description }),
		dataMap("parameters", func(t *workflow.ToolDeclaration) **value.Map { return &t.Parameters }),
	}
}

func choiceFields() []field[value.Map] {
	return []field[value.Map]{putText("name")}
}

// toolChoice is `tool_choice`: a word, or a mapping that names one tool.
func toolChoice[T any](to func(*T) *any) field[T] {
	fields := choiceFields()
	return field[T]{"tool_choice", func(d *decoder, t *T, it item) {
		if follow(it.node).Kind == yaml.MappingNode {
			m := value.NewMap(1)
			section(d, it, "tool_choice", fields, m)
			*to(t) = m
			return
		}
		s := ""
		d.string(it, &s)
		*to(t) = s
	}}
}
