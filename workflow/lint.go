package workflow

import (
	"path"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/internal/schema"
	"github.com/agentloom/agentloom/value"
)

// builtinTools are the tools that every run has.
func builtinTools() []string {
	return []string{"http_request", "shell_command", "file_read", "file_write"}
}

// IsInterpreter reports whether a program, by its name, is one of those that
// can run anything else, so that allowing it allows all: interpreters and
// launchers. A sandbox refuses them unless danger_opt_in lists them too.
func IsInterpreter(program string) bool {
	switch program {
	case "sh", "bash", "zsh", "fish", "ksh", "dash", "env", "xargs", "find", "exec", "eval", "source", ".",
		"python", "python3", "node", "perl", "ruby", "php", "lua", "awk", "nc", "ncat", "socat", "ssh":
		return true
	}
	return false
}

func (c *checker) lintSandbox() {
	s := c.def.Config.Sandbox
	if s == nil {
		return
	}
	p := configPart().key("sandbox")
	for k, name := range s.DangerOptIn {
		c.warnf(p.key("danger_opt_in").item(k), "danger_opt_in", "",
			"%s can run any other program, so that allowed_commands no longer limits what runs", quoted(name))
	}
	for k, name := range s.AllowedCommands {
		if IsInterpreter(name) && !slices.Contains(s.DangerOptIn, name) {
			c.warnf(p.key("allowed_commands").item(k), "interpreter_refused", "take it out, or list it in danger_opt_in too",
				"%s can run any other program and is refused although it is allowed here", quoted(name))
		}
	}
	for _, list := range []struct {
		key   string
		paths []string
	}{{"allowed_paths", s.AllowedPaths}, {"readable_paths", s.ReadablePaths}, {"writable_paths", s.WritablePaths}} {
		for k, dir := range list.paths {
			if path.Clean(dir) == "/" {
				c.warnf(p.key(list.key).item(k), "whole_disk", "list the directories that the workflow needs",
					"%s allows every file of the machine", quoted(dir))
			}
		}
	}
}

// lintAgents looks at what agents say that a step would say otherwise.
func (c *checker) lintAgents() {
	all := place{name: "agents"}
	for i := range c.def.Agents {
		a := &c.def.Agents[i]
		p := all.key(a.Name)
		c.lintTemplate(p.key("system_prompt"), a.SystemPrompt)
		c.lintSpending(p, a.MaxTokens, a.BudgetUSD)
		c.lintSchema(p, a.OutputSchema)
		for k, name := range a.Tools {
			c.lintToolName(p.key("tools").item(k), name)
		}
	}
}

func (c *checker) lintStep(i int, s *Step) {
	p := stepAt(i)
	switch {
	case s.LLM != nil:
		c.lintLLMCall(p, s.LLM)
	case s.Agent != nil:
		c.lintTemplate(p.key("prompt"), s.Agent.Prompt)
	case s.Tool != nil:
		c.lintTool(p, s.Tool)
	case s.Router != nil:
		c.lintRouter(p, i, s.Router)
	case s.Subworkflow != nil:
		if s.Subworkflow.IsolatedState {
			c.lintArgs(p.key("input"), s.Subworkflow.Input)
		}
	case s.Embed != nil:
		c.lintText(p.key("inputs"), s.Embed.Inputs)
	}
	if s.Type == ApprovalGate {
		c.lintGate(p, i, s)
	}
}

func (c *checker) lintLLMCall(p place, f *LLMCallFields) {
	c.lintTemplate(p.key("prompt"), f.Prompt)
	c.lintTemplate(p.key("system_prompt"), f.SystemPrompt)
	c.lintSpending(p, f.MaxTokens, nil)
	c.lintSchema(p, f.OutputSchema)
	for k := range f.Attachments {
		c.lintTemplate(p.key("attachments").item(k).key("source"), f.Attachments[k].Source)
	}
	for k := range f.Tools {
		c.lintToolName(p.key("tools").item(k).key("name"), f.Tools[k].Name)
	}
}

// lintSchema tells of a schema that will fail its step.
func (c *checker) lintSchema(p place, source *value.Map) {
	if source == nil {
		return
	}
	if _, err := schema.New(source); err != nil {
		c.warnf(p.key("output_schema"), "schema", "", "the schema does not work: %v", err)
	}
}

// lintSpending wants a limit on the answers that a budget has to pay: a call
// without one reserves nothing and may go over it. Strict budgets set the limit
// themselves.
func (c *checker) lintSpending(p place, maxTokens *int64, own *float64) {
	if maxTokens != nil || c.def.Config.BudgetMode == "strict" || c.def.Config.BudgetUSD == nil && own == nil {
		return
	}
	c.warnf(p, "unbounded_cost", "set max_tokens, or budget_mode: strict",
		"without max_tokens a model call may cost more than the budget has left")
}

func (c *checker) lintTool(p place, f *ToolFields) {
	c.lintToolName(p.key("tool_name"), f.ToolName)
	c.lintArgs(p.key("tool_args"), f.ToolArgs)
}

// knowsTool reports whether a run of this file has the tool, as far as the
// file can tell: a built-in one, a workdir tool that is switched on, or one of
// a declared MCP server.
func (c *checker) knowsTool(name string) bool {
	if slices.Contains(builtinTools(), name) {
		return true
	}
	if w := c.def.Config.WorkdirTools; w != nil && slices.Contains(workdirTools(w), name) {
		return true
	}
	server, _, ok := strings.Cut(name, "__")
	return ok && c.servers[server]
}

func workdirTools(w *WorkdirTools) []string {
	if w.Tools == nil {
		return workdirToolNames()[:6]
	}
	return w.Tools
}

func (c *checker) lintToolName(p place, name string) {
	if name == "" || c.knowsTool(name) {
		return
	}
	suggestion := c.didYouMean(name, builtinTools())
	if suggestion == "" {
		suggestion = "a tool of your own must be registered by the Go program that runs the workflow"
	}
	if server, _, ok := strings.Cut(name, "__"); ok {
		c.warnf(p, "unknown_tool", suggestion, "no built-in tool is named %s, and mcp_servers has no %s", quoted(name), quoted(server))
		return
	}
	c.warnf(p, "unknown_tool", suggestion, "no built-in tool is named %s", quoted(name))
}

func (c *checker) lintRouter(p place, i int, f *RouterFields) {
	for k := range f.Conditions {
		at := p.key("conditions").item(k)
		c.lintExpression(at.key("expression"), f.Conditions[k].Expression)
		c.lintTarget(at.key("target"), i, f.Conditions[k].Target)
	}
	c.lintTarget(p.key("default"), i, f.Default)
}

// lintTarget wants a router's target to depend on the router: one that does
// not runs whatever is chosen.
func (c *checker) lintTarget(p place, router int, target string) {
	to, known := c.graph.Index(target)
	if target == "" || !known || c.graph.DependsOn(to, router) || c.enoughWarnings() {
		return
	}
	suggestion := "give the router an id, and add that to its depends_on"
	if id := c.ids[router]; id != "" {
		suggestion = "add " + quoted(id).String() + " to its depends_on"
	}
	c.warnf(p, "ungated_target", suggestion,
		"step %s does not depend on router %s, so it runs whatever the router chooses", quoted(target), c.name(router))
}

func (c *checker) lintGate(p place, i int, s *Step) {
	c.warnf(p, "gate_without_checkpoint", "run it with --checkpoint",
		"approval gate %s pauses the run, and without a checkpoint a paused run can't be resumed", c.name(i))
	if s.Approval != nil && s.Approval.Notify != nil {
		c.lintTemplate(p.key("notify").key("body_template"), s.Approval.Notify.BodyTemplate)
	}
}
