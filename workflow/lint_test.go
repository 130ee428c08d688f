package workflow_test

import (
	"strings"
	"testing"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func prompt(id, text string, after ...string) workflow.Step {
	return with(llm(id, after...), func(s *workflow.Step) { s.LLM.Prompt = text })
}

func call(id, name string, args *value.Map) workflow.Step {
	return with(toolStep(id), func(s *workflow.Step) { s.Tool = &workflow.ToolFields{ToolName: name, ToolArgs: args} })
}

func TestLintTools(t *testing.T) {
	checkRules(t, workflow.Lint, []rule{
		{"built in", def(call("a", "http_request", nil), call("b", "shell_command", nil), call("c", "file_read", nil), call("d", "file_write", nil)), nil},
		{"no name is Validate's", def(call("a", "", nil)), nil},
		{"nearly", def(call("a", "http_requst", nil)), []string{`w unknown_tool steps[0].tool_name|"http_requst"|did you mean "http_request"?`}},
		{"own", def(call("a", "word_count", nil)), []string{`w unknown_tool steps[0].tool_name|"word_count"|must be registered`}},
		{"of no server", def(call("a", "files__read", nil)), []string{`w unknown_tool steps[0].tool_name|mcp_servers has no "files"`}},
		{"of a server", defWith(func(d *workflow.Definition) { d.MCPServers = []workflow.MCPServer{{Name: "files", URL: "x"}} }, call("a", "files__read", nil)), nil},
		{"of the workdir", defWith(func(d *workflow.Definition) { d.Config.WorkdirTools = &workflow.WorkdirTools{} }, call("a", "grep", nil), call("b", "bash", nil)),
			[]string{"w unknown_tool steps[1].tool_name"}},
		{"of models and agents", defWith(func(d *workflow.Definition) {
			d.Agents = []workflow.Agent{{Name: "x", Tools: []string{"file_read", "look"}}}
		},
			with(llm("a"), func(s *workflow.Step) {
				s.LLM.Tools = []workflow.ToolDeclaration{{Name: "file_read"}, {Name: "find_it"}}
			})),
			[]string{"w unknown_tool agents.x.tools[1]", "w unknown_tool steps[0].tools[1].name"}},
	})
}

func TestStepsWithoutIDAreCalledByTheirNumber(t *testing.T) {
	checkRules(t, workflow.Check, []rule{
		{"a router's target", def(router("r", "", ""), with(llm(""), func(s *workflow.Step) { s.DependsOn = nil })),
			[]string{"e unknown_dependency steps[0].depends_on[0]", "e empty_router steps[0]", "e invalid_id steps[1].id"}},
		{"a target that is missing", def(fixed(workflow.Route("r", workflow.When("True", ""), workflow.Otherwise("a"))), llm("a", "r"), llm("")),
			[]string{"e missing_key steps[0].conditions[0].target", "e invalid_id steps[2].id"}},
		{"a router", def(router("", "a"), llm("a")),
			[]string{"e invalid_id steps[0].id", "w ungated_target steps[0].default|router steps[0], so|give the router an id"}},
		{"an empty router", def(router("", "")), []string{"e invalid_id steps[0].id", "e empty_router steps[0]|router steps[0] has"}},
		{"a tool", def(call("", "", nil)), []string{"e invalid_id steps[0].id", "w no_tool_name steps[0].tool_name|step steps[0] has no"}},
		{"a gate", def(of("", workflow.ApprovalGate, func(s *workflow.Step) { s.Approval = &workflow.ApprovalFields{} })),
			[]string{"e invalid_id steps[0].id", "w gate_without_checkpoint steps[0]|gate steps[0] pauses"}},
		{"writers", def(writes(llm("a"), "x"), writes(llm(""), "x")),
			[]string{"e invalid_id steps[1].id", `w parallel_writes steps[1].output|steps "a" and steps[1] may`}},
	})
}

func TestLintRouters(t *testing.T) {
	checkRules(t, workflow.Lint, []rule{
		{"a target that depends on its router", def(router("r", "a"), llm("a", "r")), nil},
		{"a target that does not", def(fixed(workflow.Route("r", workflow.When("True", "b"), workflow.Otherwise("a"))), llm("a"), llm("b", "a")), []string{
			`w ungated_target steps[0].conditions[0].target|"b" does not depend on router "r"`, `w ungated_target steps[0].default|add "r"`,
		}},
		{"a join of two branches", def(branch("r", "a", "b"), llm("a", "r"), llm("b", "r"), llm("join", "a", "b"), llm("after", "join")),
			[]string{`w never_runs steps[3].depends_on|router "r", "a" and "b"`}},
		{"a join further down", def(branch("r", "a", "b"), llm("a", "r"), llm("b", "r"), llm("a2", "a"), llm("join", "a2", "b")),
			[]string{"w never_runs steps[4].depends_on"}},
		{"a target after another target", def(branch("r", "a", "b"), llm("a", "r"), llm("b", "r", "a")), []string{"w never_runs steps[2].depends_on"}},
		{"a join within one branch", def(branch("r", "a", "b"), llm("a", "r"), llm("b", "r"), llm("c", "a"), llm("d", "a", "c")), nil},
		{"a join of branches of two routers", def(router("r", "a"), router("q", "b"), llm("a", "r"), llm("b", "q"), llm("join", "a", "b")), nil},
		{"a join of many branches", def(branch("r", "a", "b", "c"), llm("a", "r"), llm("b", "r"), llm("c", "r"), llm("join", "b", "c")),
			[]string{`w never_runs steps[4].depends_on|"b" and "c"`}},
		{"no target of its router", def(router("r", "a"), llm("a", "r"), llm("b", "r")), []string{`w never_runs steps[2].depends_on|never chooses it`}},
	})
}

// branch is a router that may choose any of its targets.
func branch(id string, targets ...string) workflow.Step {
	var options []workflow.StepOption
	for _, t := range targets {
		options = append(options, workflow.When("True", t))
	}
	return fixed(workflow.Route(id, options...))
}

func TestLintTemplates(t *testing.T) {
	state := func(d *workflow.Definition) {
		d.State = value.MapOf("topic", "x", "user", value.MapOf("name", "y"), "items", []any{}, "none", nil)
	}
	checkRules(t, workflow.Lint, []rule{
		{"set", defWith(state, prompt("a", "{state.topic} {topic} {state.user.name} {state.items[0].id} {state.none.x} {state} {{state.x}} {steps.b.output}")), nil},
		{"nothing sets it", defWith(state, prompt("a", "Hi {state.topc} {other}")), []string{`w unset_state steps[0].prompt|state.topc|did you mean "topic"?`}},
		{"the caller may set it", def(prompt("a", "{state.question}")), []string{"w unset_state steps[0].prompt|{state.question}|with -s"}},
		{"a nested key", defWith(state, prompt("a", "{state.user.mail}")), []string{"w unset_state steps[0].prompt|state.user.mail"}},
		{"an output anywhere", def(prompt("a", "{state.x} {state.y.z.deeper} {state.y}"), writes(llm("b"), "x"), writes(llm("c"), "y.z")), nil},
		{"beside an output", def(prompt("a", "{state.y.q}"), writes(llm("c"), "y.z")), []string{"w unset_state steps[0].prompt|state.y.q"}},
		{"inside a format spec", def(prompt("a", "{topic:>{state.width}}")), []string{"w unset_state steps[0].prompt|state.width"}},
		{"system prompt", def(with(llm("a"), func(s *workflow.Step) { s.LLM.SystemPrompt = "{state.x}" })), []string{"w unset_state steps[0].system_prompt"}},
		{"broken", def(prompt("a", "a } b")), []string{"w bad_template steps[0].prompt|single '}'"}},
		{"refused", def(prompt("a", "{state.__class__}")), []string{"w bad_template steps[0].prompt|start with _"}},
		{"JSON in a prompt", def(prompt("a", `{"score": 1}`)), nil},
		{"arguments", defWith(state, call("a", "http_request", value.MapOf(
			"url", "state.nowhere", "plain", "state. of mind", "headers", value.MapOf("X-Id", "{state.id}", "Y", "state.topic"),
			"list", []any{"{", value.MapOf("value", "{", "template", false), value.MapOf("value", "{", "template", true)},
			"secret", "state._x"))), []string{
			"w unset_state steps[0].tool_args.url", "w unset_state steps[0].tool_args.headers.X-Id", "w bad_template steps[0].tool_args.list[0]",
			"w bad_template steps[0].tool_args.list[2].value", "w bad_template steps[0].tool_args.secret",
		}},
		{"arguments named value and template", def(call("a", "http_request", value.MapOf("value", "{", "template", false))), []string{"w bad_template steps[0].tool_args.value"}},
		{"elsewhere", defWith(func(d *workflow.Definition) { d.Agents = []workflow.Agent{{Name: "x", SystemPrompt: "{"}} },
			of("a", workflow.AgentStep, func(s *workflow.Step) { s.Agent = &workflow.AgentFields{Prompt: "{"} }),
			of("b", workflow.Subworkflow, func(s *workflow.Step) {
				s.Subworkflow = &workflow.SubworkflowFields{IsolatedState: true, Input: value.MapOf("k", "{")}
			}),
			of("c", workflow.Subworkflow, func(s *workflow.Step) { s.Subworkflow = &workflow.SubworkflowFields{Input: value.MapOf("k", "{")} }),
			of("d", workflow.Embed, func(s *workflow.Step) { s.Embed = &workflow.EmbedFields{Inputs: "state.docs"} }),
			with(llm("e"), func(s *workflow.Step) { s.LLM.Attachments = []workflow.Attachment{{Source: "{"}} }),
		), []string{
			"w bad_template agents.x.system_prompt", "w bad_template steps[0].prompt", "w bad_template steps[1].input.k",
			"w unset_state steps[3].inputs", "w bad_template steps[4].attachments[0].source",
		}},
	})
}

func TestLintExpressions(t *testing.T) {
	route := func(expression string) *workflow.Definition {
		return def(fixed(workflow.Route("r", workflow.When(expression, "a"))), llm("a", "r"))
	}
	checkRules(t, workflow.Lint, []rule{
		{"good", route("state.category == 'billing' and len(state.items[1:3]) > 0"), nil},
		{"no Python", route("state.x =="), []string{"w bad_expression steps[0].conditions[0].expression|SyntaxError"}},
		{"refused", route("state.a * 2 == 4"), []string{"w bad_expression steps[0].conditions[0].expression|SecurityError|Mult"}},
		{"bare name", route("category == 'billing'"), []string{"w bad_expression steps[0].conditions[0].expression|category"}},
		{"a key that may be missing", route("state.priority is not None and state.priority >= 3"), nil},
	})
}

func TestLintGatesAndSandbox(t *testing.T) {
	checkRules(t, workflow.Lint, []rule{
		{"gate", def(of("a", workflow.ApprovalGate, func(s *workflow.Step) {
			s.Approval = &workflow.ApprovalFields{Notify: &workflow.Notify{BodyTemplate: `{{"id": "{run_id}"}} {`}}
		})), []string{"w gate_without_checkpoint steps[0]|--checkpoint", "w bad_template steps[0].notify.body_template"}},
		{"sandbox", config(func(c *workflow.Config) {
			c.Sandbox = &workflow.Sandbox{
				AllowedCommands: []string{"ls", "python3", "bash"}, DangerOptIn: []string{"bash"},
				AllowedPaths: []string{".", "/"}, WritablePaths: []string{"//"}, ReadablePaths: []string{"/data/.."},
			}
		}), []string{
			"w danger_opt_in config.sandbox.danger_opt_in[0]|\"bash\"", "w interpreter_refused config.sandbox.allowed_commands[1]|\"python3\"",
			"w whole_disk config.sandbox.allowed_paths[1]", "w whole_disk config.sandbox.readable_paths[0]", "w whole_disk config.sandbox.writable_paths[0]",
		}},
	})
}

func TestParallelWrites(t *testing.T) {
	strict := func(d *workflow.Definition) { d.Config.StrictOutputs = true }
	checkRules(t, workflow.Check, []rule{
		{"two beside each other", def(writes(llm("a"), "x"), writes(llm("b"), "x")), []string{`w parallel_writes steps[1].output|"a" and "b"|"x"`}},
		{"strict", defWith(strict, writes(llm("a"), "x"), writes(llm("b"), "x")), []string{"e parallel_writes steps[1].output"}},
		{"one after the other", defWith(strict, writes(llm("a"), "x"), writes(llm("b", "a"), "x")), nil},
		{"one far after the other", defWith(strict, writes(llm("c", "b"), "x"), llm("b", "a"), writes(llm("a"), "x")), nil},
		{"different keys", defWith(strict, writes(llm("a"), "x"), writes(llm("b"), "y"), writes(llm("c"), "xy")), nil},
		{"a part", def(writes(llm("a"), "x.y"), writes(llm("b"), "x")), []string{`w parallel_writes steps[1].output|"x" while step "a" writes "x.y"`}},
		{"a part of a part", def(writes(llm("a"), "x"), writes(llm("b"), "x-y"), writes(llm("c"), "x.y.z")), []string{"w parallel_writes steps[2].output"}},
		{"two parts", defWith(strict, writes(llm("a"), "x.y"), writes(llm("b"), "x.z"), writes(llm("c"), "x.y-z")), nil},
		{"three", def(writes(llm("a"), "x"), writes(llm("b"), "x"), writes(llm("c"), "x")),
			[]string{`w parallel_writes steps[1].output`, `w parallel_writes steps[2].output|"a" and "c"`}},
		{"two branches of one router", defWith(strict, branch("r", "a", "b"), writes(llm("a", "r"), "x"), writes(llm("b", "r"), "x")), nil},
		{"further down in two branches", defWith(strict, branch("r", "a", "b"), llm("a", "r"), llm("b", "r"), writes(llm("c", "a"), "x"), writes(llm("d", "b"), "x")), nil},
		{"in one branch", def(branch("r", "a", "b"), llm("a", "r"), llm("b", "r"), writes(llm("c", "a"), "x"), writes(llm("d", "a"), "x")),
			[]string{"w parallel_writes steps[4].output"}},
		{"beside a router", def(branch("r", "a", "b"), writes(llm("a", "r"), "x"), llm("b", "r"), writes(llm("c"), "x")),
			[]string{"w parallel_writes steps[3].output"}},
		{"branches of two routers", def(router("r", "a"), router("q", "b"), writes(llm("a", "r"), "x"), writes(llm("b", "q"), "x")),
			[]string{"w parallel_writes steps[3].output"}},
	})
}

func TestLintOfBrokenDefinitions(t *testing.T) {
	broken := []*workflow.Definition{
		nil,
		{},
		def(workflow.Step{}, workflow.Step{Type: workflow.Router}),
		def(writes(llm("a", "b"), "x"), writes(llm("b", "a"), "x")),
		def(writes(llm("a"), "x"), writes(llm("a"), "x")),
		def(writes(llm("a"), "..."), writes(llm("b"), strings.Repeat("a.", 1000))),
		def(with(branch("r", "r"), func(s *workflow.Step) { s.DependsOn = []string{"r"} })),
		def(workflow.Step{ID: "g", Type: workflow.ApprovalGate}),
	}
	for _, d := range broken {
		workflow.Lint(d) // must not panic
	}
}

func TestDeepValuesEnd(t *testing.T) {
	var deep any = "{"
	for range 100_000 {
		deep = []any{deep}
	}
	d := def(call("a", "http_request", value.MapOf("x", deep)))
	if err := workflow.Validate(d).Err(); err == nil || !strings.Contains(err.Error(), "levels deep") {
		t.Errorf("got %v", err)
	}
	workflow.Lint(d)
}
