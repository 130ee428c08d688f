package workflow_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func ptr[T any](v T) *T { return &v }

// llm and friends are steps without fault.
func llm(id string, after ...string) workflow.Step {
	return fixed(workflow.LLM(id, "Hello", workflow.After(after...)))
}

func toolStep(id string, after ...string) workflow.Step {
	return fixed(workflow.Tool(id, "http_request", workflow.After(after...)))
}

func router(id, target string, after ...string) workflow.Step {
	return fixed(workflow.Route(id, workflow.Otherwise(target), workflow.After(after...)))
}

// of is a step of a type that the builder does not make.
func of(id string, t workflow.StepType, set func(*workflow.Step)) workflow.Step {
	s := fixed(workflow.Step{ID: id, Type: t})
	set(&s)
	return s
}

func fixed(s workflow.Step) workflow.Step {
	s.Retry = workflow.DefaultRetry(3)
	return s
}

func writes(s workflow.Step, key string) workflow.Step {
	s.Output = key
	return s
}

func with(s workflow.Step, change func(*workflow.Step)) workflow.Step {
	change(&s)
	return s
}

func def(steps ...workflow.Step) *workflow.Definition {
	return &workflow.Definition{Name: "test", Config: workflow.DefaultConfig(), Steps: steps}
}

func defWith(change func(*workflow.Definition), steps ...workflow.Step) *workflow.Definition {
	d := def(steps...)
	change(d)
	return d
}

func config(change func(*workflow.Config)) *workflow.Definition {
	return defWith(func(d *workflow.Definition) { change(&d.Config) }, llm("a"))
}

// rule is a definition and what is said about it. A want is the severity's
// first letter, code and path, then words that the message or the suggestion
// must hold, separated by "|".
type rule struct {
	name string
	def  *workflow.Definition
	want []string
}

// checkRules ignores "not supported yet", which has a test of its own.
func checkRules(t *testing.T, check func(*workflow.Definition) workflow.Diagnostics, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			var got, want []string
			next := 0
			for _, d := range check(r.def) {
				if d.Code == "not_supported" {
					continue
				}
				got = append(got, fmt.Sprintf("%c %s %s", d.Severity[0], d.Code, d.Path))
				if next >= len(r.want) {
					t.Log(d)
					continue
				}
				for word := range strings.SplitSeq(r.want[next], "|") {
					if word != r.want[next] && !strings.HasPrefix(r.want[next], word) && !strings.Contains(d.Message+"; "+d.Suggestion, word) {
						t.Errorf("%q is not in: %s", word, d)
					}
				}
				next++
			}
			for _, w := range r.want {
				head, _, _ := strings.Cut(w, "|")
				want = append(want, head)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTopRules(t *testing.T) {
	checkRules(t, workflow.Validate, []rule{
		{"nothing", nil, []string{
			"e missing_key name", "e missing_key config.provider", "e missing_key config.model",
			"e out_of_range config.max_concurrent_steps", "e unknown_value config.on_step_failure",
			"e unknown_value config.scheduling", "e unknown_value config.on_uncertain", "e no_steps steps",
		}},
		{"a step of each type without fault", everyType(), nil},
		{"no name", defWith(func(d *workflow.Definition) { d.Name = "" }, llm("a")), []string{"e missing_key name|name is required"}},
		{"a blank name", defWith(func(d *workflow.Definition) { d.Name = " \n" }, llm("a")), []string{"e missing_key name"}},
		{"no steps", def(), []string{"e no_steps steps|at least one step"}},
		{"state that is no value", defWith(func(d *workflow.Definition) {
			d.State = value.MapOf("a", []any{int64(1), value.MapOf("b c", make(chan int))})
		}, llm("a")), []string{`e not_a_value state.a[1]["b c"]|chan int`}},
		{"an int instead of an int64", defWith(func(d *workflow.Definition) { d.State = value.MapOf("a", 1) }, llm("a")), []string{"e not_a_value state.a|int|value.From"}},
	})
}

func everyType() *workflow.Definition {
	return defWith(func(d *workflow.Definition) {
		d.Agents = []workflow.Agent{{Name: "writer", Tools: []string{"file_read"}, ToolChoice: "auto"}}
		d.MCPServers = []workflow.MCPServer{{Name: "files", Command: "server"}, {Name: "web", URL: "https://example.com"}}
		d.Config.Sandbox = &workflow.Sandbox{}
		d.Config.WorkdirTools = &workflow.WorkdirTools{
			Tools: []string{"read", "bash"}, Bash: value.MapOf("timeout", 2.5, "allow_pattern", "^ls"),
			WebSearch: value.MapOf("backend", "serper", "max_results", int64(3)),
		}
		d.Config.Permissions = &workflow.Permissions{Mode: "bypass", OnAsk: "pause"}
	},
		with(llm("a"), func(s *workflow.Step) {
			s.Output, s.Timeout = "user.name-2", ptr(0.5)
			s.LLM.Tools = []workflow.ToolDeclaration{{Name: "file_read"}}
			s.LLM.ToolChoice = value.MapOf("name", "file_read")
			s.LLM.Temperature, s.LLM.MaxTokens, s.LLM.MaxToolIterations = ptr(2.0), ptr(int64(1)), ptr(1)
			s.LLM.Attachments = []workflow.Attachment{{Type: "pdf", Source: "x", Fetch: "provider"}}
			s.LLM.Thinking = &workflow.Thinking{Level: "low", BudgetTokens: ptr(int64(9))}
		}),
		with(toolStep("_b-2"), func(s *workflow.Step) { s.Effect = "once" }),
		router("route", "c"),
		of("c", workflow.AgentStep, func(s *workflow.Step) { s.Agent = &workflow.AgentFields{Agent: "writer", Prompt: "x"} }),
		of("d", workflow.Subworkflow, func(s *workflow.Step) { s.Subworkflow = &workflow.SubworkflowFields{WorkflowPath: "x.yaml"} }),
		of("e", workflow.ApprovalGate, func(s *workflow.Step) {}),
		of("f", workflow.ApprovalGate, func(s *workflow.Step) {
			s.Approval = &workflow.ApprovalFields{TimeoutSeconds: ptr(1.0), OnTimeout: "reject", Notify: &workflow.Notify{URL: "https://x", Timeout: 30}}
		}),
		of("g", workflow.Embed, func(s *workflow.Step) { s.Embed = &workflow.EmbedFields{Inputs: "{state.docs.all}"} }),
		of("h", workflow.Embed, func(s *workflow.Step) {
			s.Embed = &workflow.EmbedFields{Inputs: "state.docs", Dimensions: ptr(int64(1))}
		}),
	)
}

func TestConfigRules(t *testing.T) {
	type c = workflow.Config
	checkRules(t, workflow.Validate, []rule{
		{"max_retries", config(func(c *c) { c.MaxRetries = -1 }), []string{"e out_of_range config.max_retries|is -1|from 0 to 1000"}},
		{"max_retries that steps inherit", defWith(func(d *workflow.Definition) { d.Config.MaxRetries = -1 },
			with(llm("a"), func(s *workflow.Step) { s.Retry.MaxRetries = -1 }), with(llm("b"), func(s *workflow.Step) { s.Retry.MaxRetries = -2 })),
			[]string{"e out_of_range config.max_retries", "e out_of_range steps[1].retry.max_retries"}},
		{"too many retries", config(func(c *c) { c.MaxRetries = 1001 }), []string{"e out_of_range config.max_retries"}},
		{"no step at a time", config(func(c *c) { c.MaxConcurrentSteps = 0 }), []string{"e out_of_range config.max_concurrent_steps|from 1 to 1024"}},
		{"too many steps at a time", config(func(c *c) { c.MaxConcurrentSteps = 1025 }), []string{"e out_of_range config.max_concurrent_steps"}},
		{"timeout 0", config(func(c *c) { c.Timeout = ptr(0.0) }), []string{"e out_of_range config.timeout|above 0"}},
		{"timeout infinite", config(func(c *c) { c.Timeout = ptr(math.Inf(1)) }), []string{"e out_of_range config.timeout|finite"}},
		{"timeout NaN", config(func(c *c) { c.Timeout = ptr(math.NaN()) }), []string{"e out_of_range config.timeout|finite"}},
		{"timeout beyond a lifetime", config(func(c *c) { c.Timeout = ptr(1e16) }), []string{"e out_of_range config.timeout|1e+16 seconds|at most 1000000000"}},
		{"budget", config(func(c *c) { c.BudgetUSD = ptr(-0.1) }), []string{"e out_of_range config.budget_usd|at least 0"}},
		{"no budget at all is one", config(func(c *c) { c.BudgetUSD = ptr(0.0) }), nil},
		{"infinite budget", config(func(c *c) { c.BudgetUSD = ptr(math.Inf(1)) }), []string{"e out_of_range config.budget_usd|finite"}},
		{"latency", config(func(c *c) { c.LatencyMS = ptr(-1.0) }), []string{"e out_of_range config.latency_ms|from 0"}},
		{"latency of more than a day", config(func(c *c) { c.LatencyMS = ptr(86_400_001.0) }), []string{"e out_of_range config.latency_ms|86400001|to 86400000"}},
		{"latency of a day", config(func(c *c) { c.LatencyMS = ptr(86_400_000.0) }), nil},
		{"a constant without latency", config(func(c *c) { c.LatencyModel = "constant" }), []string{`e missing_key config.latency_ms|latency_model "constant" needs latency_ms`}},
		{"a normal without latency", config(func(c *c) { c.LatencyModel = "normal" }), []string{`e missing_key config.latency_ms|latency_model "normal" needs latency_ms`}},
		{"a replay has its own latencies", config(func(c *c) { c.LatencyModel = "replay" }), nil},
		{"a constant with latency", config(func(c *c) { c.LatencyModel, c.LatencyMS = "constant", ptr(0.0) }), nil},
		{"words", config(func(c *c) {
			c.BudgetMode, c.LatencyModel, c.OnStepFailure, c.Scheduling, c.OnUncertain = "x", "norml", "continu", "lazy", "Stop"
		}), []string{
			"e unknown_value config.budget_mode|strict",
			`e unknown_value config.on_step_failure|did you mean "continue"?`,
			`e unknown_value config.latency_model|"norml"|"constant", "normal" or "replay"|did you mean "normal"?`,
			`e unknown_value config.scheduling|"layers" or "eager"`,
			`e unknown_value config.on_uncertain|did you mean "stop"?`,
		}},
		{"sandbox", config(func(c *c) {
			c.Sandbox = &workflow.Sandbox{Kernel: "on", MaxWriteBytes: ptr(int64(-1)), MaxReadBytes: ptr(int64(-1))}
		}), []string{
			"e out_of_range config.sandbox.max_write_bytes", "e out_of_range config.sandbox.max_read_bytes",
			`e unknown_value config.sandbox.kernel|"auto", "require", "strict" or "off"`,
		}},
		{"workdir tools", config(func(c *c) {
			c.WorkdirTools = &workflow.WorkdirTools{
				Tools: []string{"read", "gerp"}, Read: value.MapOf("line_limit", int64(0)), Grep: value.MapOf("max_results", "x"),
				Bash: value.MapOf("timeout", 0.0, "allow_pattern", "("), WebSearch: value.MapOf("backend", "bing"),
			}
		}), []string{
			`e unknown_tool config.workdir_tools.tools[1]|"gerp"|did you mean "grep"?`,
			"e out_of_range config.workdir_tools.read.line_limit", "e wrong_type config.workdir_tools.grep.max_results",
			"e out_of_range config.workdir_tools.bash.timeout", "e unknown_value config.workdir_tools.web_search.backend",
			"e invalid_pattern config.workdir_tools.bash.allow_pattern",
		}},
		{"permissions", config(func(c *c) { c.Permissions = &workflow.Permissions{Mode: "acceptedits", OnAsk: "ask"} }), []string{
			`e unknown_value config.permissions.mode|did you mean "acceptEdits"?`, "e unknown_value config.permissions.on_ask",
		}},
	})
}

func TestIDRules(t *testing.T) {
	checkRules(t, workflow.Validate, []rule{
		{"missing", def(llm("")), []string{"e invalid_id steps[0].id|id is required"}},
		{"first character", def(llm("1a")), []string{"e invalid_id steps[0].id|must begin with a letter"}},
		{"slash", def(llm("a"), llm("a/b")), []string{`e invalid_id steps[1].id|"a/b"|only letters`}},
		{"newline", def(llm("a\n")), []string{`e invalid_id steps[0].id|"a\n"`}},
		{"not ASCII", def(llm("é")), []string{"e invalid_id steps[0].id"}},
		{"longest", def(llm(strings.Repeat("a", 128))), nil},
		{"too long", def(llm(strings.Repeat("a", 129))), []string{"e invalid_id steps[0].id|longer than 128|…"}},
		{"twice", def(llm("a"), llm("b"), llm("a")), []string{`e duplicate_id steps[2].id|"a" is already that of steps[0]`}},
		{"twice says nothing about what they write", defWith(func(d *workflow.Definition) { d.Config.StrictOutputs = true },
			writes(llm("a"), "x"), writes(llm("a"), "x")), []string{"e duplicate_id steps[1].id"}},
		{"case", def(llm("Draft"), llm("draft")), []string{`w id_case steps[1].id|"Draft" and "draft"`}},
		{"case, where each id names a journal", def(child("Draft"), child("draft")), []string{"e id_case steps[1].id"}},
	})
}

func child(id string) workflow.Step {
	return of(id, workflow.Subworkflow, func(s *workflow.Step) { s.Subworkflow = &workflow.SubworkflowFields{WorkflowPath: "x"} })
}

func TestDependencyRules(t *testing.T) {
	checkRules(t, workflow.Validate, []rule{
		{"unknown", def(llm("draft"), llm("b", "drafft")), []string{`e unknown_dependency steps[1].depends_on[0]|"drafft"|did you mean "draft"?`}},
		{"empty", def(llm("a"), llm("b", "")), []string{"e unknown_dependency steps[1].depends_on[0]"}},
		{"itself", def(llm("a", "a")), []string{`e self_dependency steps[0].depends_on[0]|"a" depends on itself`}},
		{"twice", def(llm("a"), llm("b", "a", "a")), []string{"e duplicate_dependency steps[1].depends_on[1]|steps[1].depends_on[0]"}},
		{"cycle", def(llm("a"), llm("b", "a", "d"), llm("c", "b"), llm("d", "c")), []string{"e cycle steps[1].depends_on[1]|b -> d -> c -> b"}},
		{"two cycles and one step that waits for itself", def(llm("a", "b"), llm("b", "a"), llm("c", "d"), llm("d", "c"), llm("e", "e")), []string{
			"e cycle steps[0].depends_on[0]|a -> b -> a", "e cycle steps[2].depends_on[0]|c -> d -> c", "e self_dependency steps[4].depends_on[0]",
		}},
		{"all at once", def(llm("1"), llm("a", "x", "a"), router("r", "")), []string{
			"e invalid_id steps[0].id", "e unknown_dependency steps[1].depends_on[0]", "e self_dependency steps[1].depends_on[1]", "e empty_router steps[2]",
		}},
	})
}

func TestSharedFieldRules(t *testing.T) {
	output := func(key string) *workflow.Definition { return def(writes(llm("a"), key)) }
	checkRules(t, workflow.Validate, []rule{
		{"nested output", output("a.b.c"), nil},
		{"empty name", output("a..b"), []string{`e invalid_output steps[0].output|"a..b"|empty name`}},
		{"dot at the end", output("a."), []string{"e invalid_output steps[0].output"}},
		{"dot at the start", output(".a"), []string{"e invalid_output steps[0].output"}},
		{"underscore", output("_a"), []string{`e invalid_output steps[0].output|starts with "_"`}},
		{"inner underscore", output("a._b"), []string{"e invalid_output steps[0].output"}},
		{"index", output("items[0]"), []string{"e invalid_output steps[0].output|brackets"}},
		{"space", output("a. b"), []string{"e invalid_output steps[0].output"}},
		{"control character", output("a\x00b"), []string{"e invalid_output steps[0].output"}},
		{"bottomless", output("a" + strings.Repeat(".a", 100_000)), []string{"e invalid_output steps[0].output|more than 100"}},
		{"timeout", def(with(llm("a"), func(s *workflow.Step) { s.Timeout = ptr(-1.0) })), []string{"e out_of_range steps[0].timeout|above 0"}},
		{"retry", def(with(llm("a"), func(s *workflow.Step) {
			s.Retry = workflow.Retry{MaxRetries: -1, BackoffBase: 0, BackoffMax: math.Inf(1), RetryableStatusCodes: []int{429, 99, 600}}
		})), []string{
			"e out_of_range steps[0].retry.max_retries", "e out_of_range steps[0].retry.backoff_base|above 0",
			"e out_of_range steps[0].retry.backoff_max|finite", "e out_of_range steps[0].retry.retryable_status_codes[1]|from 100 to 599",
			"e out_of_range steps[0].retry.retryable_status_codes[2]",
		}},
		{"any wait above 0", def(with(llm("a"), func(s *workflow.Step) { s.Retry.BackoffBase, s.Retry.BackoffMax = 1e-9, 1e300 })), nil},
		{"effect of a model call", def(with(llm("a"), func(s *workflow.Step) { s.Effect = "pure" })), []string{"e misplaced_key steps[0].effect|tool steps only"}},
		{"effect", def(with(toolStep("a"), func(s *workflow.Step) { s.Effect = "onse" })), []string{`e unknown_value steps[0].effect|did you mean "once"?`}},
		{"no type", def(fixed(workflow.Step{ID: "a"})), []string{"e missing_key steps[0].type"}},
		{"unknown type", def(fixed(workflow.Step{ID: "a", Type: "lm_call"})), []string{`e unknown_value steps[0].type|did you mean "llm_call"?`}},
		{"fields of another type", def(with(llm("a"), func(s *workflow.Step) { s.Tool = &workflow.ToolFields{} })), []string{"e wrong_fields steps[0]|llm_call|tool"}},
	})
}

func TestTypeRules(t *testing.T) {
	model := func(change func(*workflow.LLMCallFields)) *workflow.Definition {
		return def(with(llm("a"), func(s *workflow.Step) { change(s.LLM) }))
	}
	type f = workflow.LLMCallFields
	checkRules(t, workflow.Validate, []rule{
		{"prompt", def(fixed(workflow.Step{ID: "a", Type: workflow.LLMCall})), []string{"e missing_key steps[0].prompt|prompt is required"}},
		{"temperature", model(func(f *f) { f.Temperature = ptr(2.1) }), []string{"e out_of_range steps[0].temperature|from 0 to 2"}},
		{"temperature NaN", model(func(f *f) { f.Temperature = ptr(math.NaN()) }), []string{"e out_of_range steps[0].temperature|finite"}},
		{"max_tokens", model(func(f *f) { f.MaxTokens = ptr(int64(0)) }), []string{"e out_of_range steps[0].max_tokens|at least 1"}},
		{"turns", model(func(f *f) { f.MaxToolIterations = ptr(0) }), []string{"e out_of_range steps[0].max_tool_iterations"}},
		{"attachment", model(func(f *f) { f.Attachments = []workflow.Attachment{{Type: "video", Fetch: "x"}} }), []string{
			"e unknown_value steps[0].attachments[0].type", "e missing_key steps[0].attachments[0].source", "e unknown_value steps[0].attachments[0].fetch",
		}},
		{"thinking", model(func(f *f) { f.Thinking = &workflow.Thinking{Level: "hihg", BudgetTokens: ptr(int64(0))} }), []string{
			"e out_of_range steps[0].thinking.budget_tokens", `e unknown_value steps[0].thinking.level|did you mean "high"?`,
		}},
		{"tool names", model(func(f *f) {
			f.Tools = []workflow.ToolDeclaration{{Name: "a.b"}, {Name: ""}, {Name: "x"}, {Name: "x"}, {Name: strings.Repeat("x", 65)}}
		}), []string{
			`e invalid_name steps[0].tools[0]|"a.b"`, "e invalid_name steps[0].tools[1]|empty", "e duplicate_name steps[0].tools[3]", "e invalid_name steps[0].tools[4]|64",
		}},
		{"tool choice", model(func(f *f) { f.ToolChoice = "any" }), []string{"e unknown_value steps[0].tool_choice"}},
		{"tool choice of a stranger", model(func(f *f) { f.ToolChoice = value.MapOf("name", "x") }), []string{"e unknown_tool steps[0].tool_choice.name"}},
		{"tool choice of a wrong shape", model(func(f *f) { f.ToolChoice = value.MapOf("tool", "x") }), []string{"e unknown_value steps[0].tool_choice"}},
		{"tool choice of a wrong type", model(func(f *f) { f.ToolChoice = int64(1) }), []string{"e wrong_type steps[0].tool_choice"}},
		{"tool_name", def(fixed(workflow.Step{ID: "a", Type: workflow.ToolStep})), []string{"w no_tool_name steps[0].tool_name|fails when it runs"}},
		{"empty router", def(fixed(workflow.Step{ID: "r", Type: workflow.Router})), []string{"e empty_router steps[0]|neither conditions nor a default"}},
		{"router with only a default", def(router("r", "a"), llm("a", "r")), nil},
		{"targets", def(fixed(workflow.Route("r", workflow.When("True", "aply"), workflow.Otherwise("zzz"))), llm("apply", "r")), []string{
			`e unknown_target steps[0].conditions[0].target|"aply"|did you mean "apply"?`, `e unknown_target steps[0].default|"zzz"`,
		}},
		{"empty condition", def(fixed(workflow.Route("r", workflow.When("", "")))), []string{
			"e missing_key steps[0].conditions[0].expression", "e missing_key steps[0].conditions[0].target",
		}},
		{"agent", def(of("a", workflow.AgentStep, func(s *workflow.Step) { s.Agent = &workflow.AgentFields{} })), []string{
			"e missing_key steps[0].agent", "e missing_key steps[0].prompt",
		}},
		{"unknown agent", defWith(func(d *workflow.Definition) { d.Agents = []workflow.Agent{{Name: "writer"}} },
			of("a", workflow.AgentStep, func(s *workflow.Step) { s.Agent = &workflow.AgentFields{Agent: "writter", Prompt: "x"} })), []string{
			`e unknown_agent steps[0].agent|did you mean "writer"?`,
		}},
		{"subworkflow", def(of("a", workflow.Subworkflow, func(s *workflow.Step) {})), []string{"e missing_key steps[0]|workflow_path or workflow_inline"}},
		{"gate", def(of("a", workflow.ApprovalGate, func(s *workflow.Step) {
			s.Approval = &workflow.ApprovalFields{OnTimeout: "aprove", Notify: &workflow.Notify{}}
		})), []string{
			`e unknown_value steps[0].on_timeout|did you mean "approve"?`, "e missing_key steps[0].on_timeout|timeout_seconds",
			"e missing_key steps[0].notify.url", "e out_of_range steps[0].notify.timeout",
		}},
		{"gate's time", def(of("a", workflow.ApprovalGate, func(s *workflow.Step) {
			s.Approval = &workflow.ApprovalFields{TimeoutSeconds: ptr(0.0)}
		})), []string{"e out_of_range steps[0].timeout_seconds"}},
		{"embed", def(of("a", workflow.Embed, func(s *workflow.Step) {})), []string{"e missing_key steps[0].inputs"}},
		{"embed an index", def(of("a", workflow.Embed, func(s *workflow.Step) {
			s.Embed = &workflow.EmbedFields{Inputs: "state.docs[0]", Dimensions: ptr(int64(0))}
		})), []string{"e invalid_inputs steps[0].inputs|state path", "e out_of_range steps[0].dimensions"}},
		{"embed an open brace", def(of("a", workflow.Embed, func(s *workflow.Step) { s.Embed = &workflow.EmbedFields{Inputs: "{state.docs"} })),
			[]string{"e invalid_inputs steps[0].inputs"}},
		{"embed text", def(of("a", workflow.Embed, func(s *workflow.Step) { s.Embed = &workflow.EmbedFields{Inputs: "hello"} })),
			[]string{"e invalid_inputs steps[0].inputs"}},
	})
}

func TestAgentAndServerRules(t *testing.T) {
	agents := func(a ...workflow.Agent) *workflow.Definition {
		return defWith(func(d *workflow.Definition) { d.Agents = a }, llm("a"))
	}
	servers := func(s ...workflow.MCPServer) *workflow.Definition {
		return defWith(func(d *workflow.Definition) { d.MCPServers = s }, llm("a"))
	}
	checkRules(t, workflow.Validate, []rule{
		{"agent names", agents(workflow.Agent{Name: ""}, workflow.Agent{Name: "a b"}, workflow.Agent{Name: "x"}, workflow.Agent{Name: "x"}), []string{
			"e invalid_name agents[0]", `e invalid_name agents["a b"]`, "e duplicate_name agents.x",
		}},
		{"agent", agents(workflow.Agent{
			Name: "x", Temperature: ptr(-1.0), MaxTokens: ptr(int64(0)), MaxToolIterations: ptr(0), Tools: []string{"a.b"},
			OnMaxIterations: "stop", BudgetUSD: ptr(-1.0), Timeout: ptr(0.0),
		}), []string{
			"e out_of_range agents.x.temperature", "e out_of_range agents.x.max_tokens", "e out_of_range agents.x.max_tool_iterations",
			"e invalid_name agents.x.tools[0]", `e unknown_value agents.x.on_max_iterations|"finish" or "fail"`,
			"e out_of_range agents.x.budget_usd", "e out_of_range agents.x.timeout",
		}},
		{"server names", servers(workflow.MCPServer{Name: "a__b", URL: "x"}, workflow.MCPServer{Name: "c.d", URL: "x"}, workflow.MCPServer{URL: "x"},
			workflow.MCPServer{Name: "e", URL: "x"}, workflow.MCPServer{Name: "e", URL: "x"}), []string{
			"e invalid_name mcp_servers.a__b", `e invalid_name mcp_servers["c.d"]`, "e invalid_name mcp_servers[2]", "e duplicate_name mcp_servers.e",
		}},
		{"server", servers(workflow.MCPServer{Name: "a"}, workflow.MCPServer{Name: "b", URL: "x", Command: "y", Timeout: ptr(0.0)}), []string{
			"e missing_key mcp_servers.a|command or a url", "e misplaced_key mcp_servers.b|not both", "e out_of_range mcp_servers.b.timeout",
		}},
	})
}

func TestConversations(t *testing.T) {
	talk := func(s workflow.Step, name string) workflow.Step {
		return with(s, func(s *workflow.Step) { s.LLM.Conversation = name })
	}
	checkRules(t, workflow.Validate, []rule{
		{"one layer", def(talk(llm("a"), "x"), talk(llm("b"), "x")), []string{`e shared_conversation steps[1].conversation|"a" and "b"|depend on the other`}},
		{"one after the other", def(talk(llm("a"), "x"), talk(llm("b", "a"), "x")), nil},
		{"two conversations", def(talk(llm("a"), "x"), talk(llm("b"), "y")), nil},
	})
}
