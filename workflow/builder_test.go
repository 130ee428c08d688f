package workflow_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func ExampleNew() {
	def, err := workflow.New("triage").
		Config(func(c *workflow.Config) { c.Model, c.MaxRetries = "gpt-4o", 1 }).
		State("ticket", "I was charged twice.").
		Add(
			workflow.LLM("classify", "One word, billing or other: {state.ticket}", workflow.Output("category")),
			workflow.Route("route", workflow.After("classify"),
				workflow.When("state.category == 'billing'", "refund"),
				workflow.Otherwise("reply")),
			workflow.Tool("refund", "http_request", workflow.After("route"),
				workflow.Arg("url", "https://example.com/refunds"),
				workflow.Arg("method", "POST")),
			workflow.LLM("reply", "Answer kindly: {state.ticket}", workflow.After("route")),
		).
		Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(def.Name, len(def.Steps), "steps")
	// Output: triage 4 steps
}

func ExampleValidate() {
	def := &workflow.Definition{
		Name:   "letters",
		Config: workflow.DefaultConfig(),
		Steps: []workflow.Step{
			workflow.LLM("draft", "Write a letter.", workflow.Retries(3)),
			workflow.LLM("review", "Review it.", workflow.Retries(3), workflow.After("drafft")),
		},
	}
	for _, d := range workflow.Validate(def) {
		fmt.Println(d)
	}
	// Output: error: no step has the id "drafft" (steps[1].depends_on[0]); did you mean "draft"?
}

func TestBuild(t *testing.T) {
	got, err := workflow.New("w").
		Describe("1.2", "what it does").
		Config(func(c *workflow.Config) { c.MaxRetries = 5 }).
		State("n", 1).State("list", []string{"a"}).
		Add(
			workflow.LLM("a", "p", workflow.System("s"), workflow.Model("openai", "gpt-4o"), workflow.Temperature(0.5),
				workflow.MaxTokens(9), workflow.Output("x.y"), workflow.Timeout(1500*time.Millisecond)),
			workflow.Tool("b", "file_read", workflow.Arg("path", "{state.x.y}"), workflow.Arg("opts", map[string]any{"k": 2}), workflow.Retries(0)),
			workflow.Route("r", workflow.After("a", "b"), workflow.When("True", "c"), workflow.Otherwise("c"),
				workflow.WithRetry(func(r *workflow.Retry) { r.Jitter = false })),
			workflow.LLM("c", "p", workflow.After("r"), workflow.WithLLM(func(f *workflow.LLMCallFields) { f.MaxTokens = ptr(int64(1)) })),
		).Build()
	if err != nil {
		t.Fatal(err)
	}
	config := workflow.DefaultConfig()
	config.MaxRetries = 5
	retry := workflow.DefaultRetry(5)
	never, steady := retry, retry
	never.MaxRetries, steady.Jitter = 0, false
	want := &workflow.Definition{
		Name: "w", Version: "1.2", Description: "what it does", Config: config,
		State: value.MapOf("n", int64(1), "list", []any{"a"}),
		Steps: []workflow.Step{
			{ID: "a", Type: workflow.LLMCall, Output: "x.y", Timeout: ptr(1.5), Retry: retry, LLM: &workflow.LLMCallFields{
				Prompt: "p", SystemPrompt: "s", Provider: "openai", Model: "gpt-4o", Temperature: ptr(0.5), MaxTokens: ptr(int64(9)),
			}},
			{ID: "b", Type: workflow.ToolStep, Retry: never, Tool: &workflow.ToolFields{
				ToolName: "file_read", ToolArgs: value.MapOf("path", "{state.x.y}", "opts", value.MapOf("k", int64(2))),
			}},
			{ID: "r", Type: workflow.Router, DependsOn: []string{"a", "b"}, Retry: steady, Router: &workflow.RouterFields{
				Conditions: []workflow.Condition{{Expression: "True", Target: "c"}}, Default: "c",
			}},
			{ID: "c", Type: workflow.LLMCall, DependsOn: []string{"r"}, Retry: retry, LLM: &workflow.LLMCallFields{Prompt: "p", MaxTokens: ptr(int64(1))}},
		},
	}
	asJSON := cmp.Transformer("JSON", func(m *value.Map) string {
		b, err := value.EncodeJSON(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	})
	if diff := cmp.Diff(want, got, asJSON); diff != "" {
		t.Error(diff)
	}
}

func TestBuildReportsEverything(t *testing.T) {
	_, err := workflow.New("").
		State("bad", make(chan int)).
		Add(
			workflow.LLM("a", "p", workflow.Arg("x", 1)),
			workflow.Tool("b", "t", workflow.Arg("f", map[string]any{"g": func() {}}), workflow.After("nobody")),
			workflow.LLM("c", "p", workflow.Retries(-1)),
		).Build()
	invalid, ok := errors.AsType[*workflow.InvalidError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	var got []string
	for _, d := range invalid.Diagnostics {
		got = append(got, d.Code+" "+d.Path)
	}
	want := []string{
		"missing_key name", "not_a_value state.bad", "wrong_fields steps[0]",
		"unknown_dependency steps[1].depends_on[0]", "not_a_value steps[1].tool_args.f", "out_of_range steps[2].retry.max_retries",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBuilderGoesOn(t *testing.T) {
	b := workflow.New("w").Add(workflow.LLM("a", "p"))
	first, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	b.Config(func(c *workflow.Config) { c.MaxRetries = 9 }).Add(workflow.LLM("b", "p"))
	second, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Steps) != 1 || first.Steps[0].Retry.MaxRetries != 3 || len(second.Steps) != 2 || second.Steps[0].Retry.MaxRetries != 9 {
		t.Errorf("first %+v, second %+v", first, second)
	}
	second.Steps[0].Retry.RetryableStatusCodes[0] = 1
	if workflow.DefaultRetryableStatusCodes()[0] == 1 {
		t.Error("the default status codes were changed through a step")
	}
}
