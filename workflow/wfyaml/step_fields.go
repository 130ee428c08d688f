package wfyaml

import (
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// kind is a step type: what it adds to a step and the keys only it has.
type kind struct {
	name   workflow.StepType
	start  func(*workflow.Step) // sets the pointer of the type's own fields
	fields []field[workflow.Step]
}

func kinds() []kind {
	return []kind{
		{workflow.LLMCall, func(s *workflow.Step) { s.LLM = new(workflow.LLMCallFields) }, llmFields()},
		{workflow.AgentStep, func(s *workflow.Step) { s.Agent = new(workflow.AgentFields) }, agentStepFields()},
		{workflow.ToolStep, func(s *workflow.Step) { s.Tool = new(workflow.ToolFields) }, toolFields()},
		{workflow.Router, func(s *workflow.Step) { s.Router = new(workflow.RouterFields) }, routerFields()},
		{workflow.Subworkflow, func(s *workflow.Step) { s.Subworkflow = new(workflow.SubworkflowFields) }, subworkflowFields()},
		{workflow.ApprovalGate, func(s *workflow.Step) { s.Approval = new(workflow.ApprovalFields) }, approvalFields()},
		{workflow.Embed, func(s *workflow.Step) { s.Embed = new(workflow.EmbedFields) }, embedFields()},
	}
}

// sharedFields are the keys of every step.
func sharedFields() []field[workflow.Step] {
	retry := retryFields()
	return []field[workflow.Step]{
		text("id", func(s *workflow.Step) *string { return &s.ID }),
		{"type", func(*decoder, *workflow.Step, item) {}}, // read first, by stepReader.kindOf
		texts("depends_on", func(s *workflow.Step) *[]string { return &s.DependsOn }),
		text("output", func(s *workflow.Step) *string { return &s.Output }),
		optionalNumber("timeout", func(s *workflow.Step) **float64 { return &s.Timeout }),
		{"retry", func(d *decoder, s *workflow.Step, it item) { section(d, it, "retry", retry, &s.Retry) }},
	}
}

func retryFields() []field[workflow.Retry] {
	return []field[workflow.Retry]{
		integer("max_retries", func(r *workflow.Retry) *int { return &r.MaxRetries }),
		number("backoff_base", func(r *workflow.Retry) *float64 { return &r.BackoffBase }),
		number("backoff_max", func(r *workflow.Retry) *float64 { return &r.BackoffMax }),
		boolean("jitter", func(r *workflow.Retry) *bool { return &r.Jitter }),
		integers("retryable_status_codes", func(r *workflow.Retry) *[]int { return &r.RetryableStatusCodes }),
	}
}

func toolFields() []field[workflow.Step] {
	return []field[workflow.Step]{
		text("tool_name", func(s *workflow.Step) *string { return &s.Tool.ToolName }),
		dataMap("tool_args", func(s *workflow.Step) **value.Map { return &s.Tool.ToolArgs }),
		word("effect", func(s *workflow.Step) *string { return &s.Effect }),
	}
}

func conditionFields() []field[workflow.Condition] {
	return []field[workflow.Condition]{
		text("expression", func(c *workflow.Condition) *string { return &c.Expression }),
		text("target", func(c *workflow.Condition) *string { return &c.Target }),
	}
}

func routerFields() []field[workflow.Step] {
	return []field[workflow.Step]{
		sections("conditions", "a condition", "conditions", conditionFields(), workflow.Condition{},
			func(s *workflow.Step) *[]workflow.Condition { return &s.Router.Conditions }),
		text("default", func(s *workflow.Step) *string { return &s.Router.Default }),
	}
}

func subworkflowFields() []field[workflow.Step] {
	return []field[workflow.Step]{
		text("workflow_path", func(s *workflow.Step) *string { return &s.Subworkflow.WorkflowPath }),
		dataMap("workflow_inline", func(s *workflow.Step) **value.Map { return &s.Subworkflow.WorkflowInline }),
		boolean("isolated_state", func(s *workflow.Step) *bool { return &s.Subworkflow.IsolatedState }),
		dataMap("input", func(s *workflow.Step) **value.Map { return &s.Subworkflow.Input }),
		texts("return_keys", func(s *workflow.Step) *[]string { return &s.Subworkflow.ReturnKeys }),
	}
}

func notifyFields() []field[workflow.Notify] {
	return []field[workflow.Notify]{
		text("url", func(n *workflow.Notify) *string { return &n.URL }),
		textMap("headers", func(n *workflow.Notify) **value.Map { return &n.Headers }),
		text("body_template", func(n *workflow.Notify) *string { return &n.BodyTemplate }),
		text("callback_base_url", func(n *workflow.Notify) *string { return &n.CallbackBaseURL }),
		number("timeout", func(n *workflow.Notify) *float64 { return &n.Timeout }),
	}
}

func approvalFields() []field[workflow.Step] {
	return []field[workflow.Step]{
		subsection("notify", "notify", notifyFields(), workflow.Notify{Timeout: 30},
			func(s *workflow.Step) **workflow.Notify { return &s.Approval.Notify }),
		optionalNumber("timeout_seconds", func(s *workflow.Step) **float64 { return &s.Approval.TimeoutSeconds }),
		word("on_timeout", func(s *workflow.Step) *string { return &s.Approval.OnTimeout }),
	}
}

func embedFields() []field[workflow.Step] {
	return []field[workflow.Step]{
		text("inputs", func(s *workflow.Step) *string { return &s.Embed.Inputs }),
		text("provider", func(s *workflow.Step) *string { return &s.Embed.Provider }),
		text("model", func(s *workflow.Step) *string { return &s.Embed.Model }),
		optionalInteger("dimensions", func(s *workflow.Step) **int64 { return &s.Embed.Dimensions }),
	}
}
