package wfyaml

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func ptr[T any](v T) *T { return &v }

// sameMap compares maps by content, order and the difference of 1 and 1.0; nil
// is no empty map.
var sameMap = cmp.Comparer(func(a, b *value.Map) bool {
	x, _ := value.EncodeJSON(a)
	y, _ := value.EncodeJSON(b)
	return (a == nil) == (b == nil) && bytes.Equal(x, y)
})

// decodeOnly reads a file without the semantic rules, some of which refuse
// keys that are not acted on yet.
func decodeOnly(src []byte) (*workflow.Definition, workflow.Diagnostics) {
	d := &decoder{file: "f.yaml"}
	root, ok := d.parse(src)
	if !ok {
		return nil, d.diagnostics()
	}
	def := d.workflow(root, workflow.DefaultConfig())
	return def, d.diagnostics()
}

func fullFile(t *testing.T) []byte {
	t.Helper()
	src, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestEveryKeyIsRead(t *testing.T) {
	def, ds := decodeOnly(fullFile(t))
	if len(ds) > 0 {
		t.Fatalf("diagnostics: %v", ds)
	}
	if diff := cmp.Diff(wantFull(), def, sameMap); diff != "" {
		t.Error(diff)
	}
}

// TestNoFieldIsForgotten fails when the definition gets a field that no key
// of the file fills.
func TestNoFieldIsForgotten(t *testing.T) {
	def, _ := decodeOnly(fullFile(t))
	filled := map[string]bool{}
	visit(reflect.ValueOf(*def), filled)
	delete(filled, "Sandbox.AllowNetwork") // its default is true: full.yaml sets it to false
	for name, ok := range filled {
		if !ok {
			t.Errorf("%s is zero everywhere in what full.yaml loads to", name)
		}
	}
}

// visit notes each field of package workflow, by type and name, and whether it
// was seen with a value.
func visit(v reflect.Value, filled map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*value.Map]() {
			visit(v.Elem(), filled)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), filled)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			filled[name] = filled[name] || !v.Field(i).IsZero()
			visit(v.Field(i), filled)
		}
	}
}

// TestFullFileHasEveryKey fails when a table gets a key that full.yaml lacks.
func TestFullFileHasEveryKey(t *testing.T) {
	src := string(fullFile(t))
	tables := [][]string{
		fieldKeys(documentFields()), fieldKeys(configFields()), fieldKeys(sandboxFields()), fieldKeys(workdirFields()),
		fieldKeys(permissionFields()), fieldKeys(agentFields()), fieldKeys(mcpFields()), fieldKeys(sharedFields()),
		fieldKeys(retryFields()), fieldKeys(attachmentFields()), fieldKeys(thinkingFields()), fieldKeys(declarationFields()),
		fieldKeys(conditionFields()), fieldKeys(notifyFields()), fieldKeys(schemaFields()), fieldKeys(choiceFields()),
	}
	for _, k := range kinds() {
		tables = append(tables, fieldKeys(k.fields))
	}
	for _, keys := range tables {
		for _, key := range keys {
			if !strings.Contains(src, key+":") {
				t.Errorf("full.yaml lacks %s", key)
			}
		}
	}
}

func wantFull() *workflow.Definition {
	return &workflow.Definition{
		Name: "every key", Version: "1.2", Description: "uses every key of every section",
		Config: wantFullConfig(),
		State: value.MapOf("topic", "tea",
			"1", value.MapOf("deep", []any{int64(1), 2.0, nil, true, "x"})),
		StateSchema: value.MapOf("secrets.*", value.MapOf("redact", true), "x-token", value.MapOf("redact", true),
			"plain", value.NewMap(0)),
		Agents: []workflow.Agent{{
			Name: "writer", Description: "writes", SystemPrompt: "You write.", Provider: "openai", Model: "gpt-4o",
			Temperature: ptr(0.0), MaxTokens: ptr(int64(100)), Tools: []string{"file_read"},
			ToolChoice: value.MapOf("name", "file_read"), MaxToolIterations: ptr(3), OnMaxIterations: "fail",
			Thinking:     &workflow.Thinking{Enabled: ptr(true), BudgetTokens: ptr(int64(50)), Level: "high", CaptureReasoning: true},
			OutputSchema: value.MapOf("type", "object"), BudgetUSD: ptr(0.5), Timeout: ptr(9.0),
		}},
		MCPServers: []workflow.MCPServer{{
			Name: "files", Command: "npx", Args: []string{"-y", "server"}, Env: value.MapOf("KEY", "value"),
			URL: "http://localhost/", Headers: value.MapOf("X-Key", "1"), Tools: []string{"read"}, Timeout: ptr(5.0),
		}},
		Steps: wantFullSteps(),
	}
}

func wantFullConfig() workflow.Config {
	return workflow.Config{
		Provider: "anthropic", Model: "claude-sonnet", MaxRetries: 1, BudgetUSD: ptr(2.0), BudgetMode: "strict",
		Timeout: ptr(600.5), MaxConcurrentSteps: 4, Stream: true, OnStepFailure: "continue", StrictOutputs: true,
		CapturePrompts: true, ResponsesFile: "responses.json", LatencyModel: "normal", LatencyMS: ptr(12.5),
		Scheduling: "eager", OnUncertain: "stop",
		Sandbox: &workflow.Sandbox{
			Enabled: true, AllowedCommands: []string{"ls", "wc"}, AllowedPaths: []string{"."},
			ReadablePaths: []string{"data"}, WritablePaths: []string{"out"}, AllowedDomains: []string{"api.example.com"},
			AllowedSchemes: []string{"https"}, MaxWriteBytes: ptr(int64(1000)), MaxReadBytes: ptr(int64(2000)),
			DangerOptIn: []string{"python3"}, AllowInternalWebhookTargets: true, DenyInternalHosts: true, Kernel: "off",
		},
		WorkdirTools: &workflow.WorkdirTools{
			Workdir: "./work", Tools: []string{"read", "bash"},
			Read: value.MapOf("line_limit", int64(2000)), Write: value.MapOf("create_parents", true),
			Grep: value.MapOf("max_results", int64(200)), Find: value.MapOf("max_results", int64(300)),
			Bash:      value.MapOf("timeout", 30.0, "extra_env", value.MapOf("CI", "1"), "allow_pattern", "^ls"),
			WebSearch: value.MapOf("backend", "serper", "max_results", int64(5), "timeout", 2.5),
		},
		Permissions: &workflow.Permissions{
			Mode: "acceptEdits", AllowedTools: []string{"read"}, DeniedTools: []string{}, OnAsk: "pause",
		},
	}
}

func wantFullSteps() []workflow.Step {
	usual := workflow.DefaultRetry(1) // the config's max_retries
	return []workflow.Step{
		{
			ID: "ask", Type: workflow.LLMCall, DependsOn: []string{}, Output: "answer.text", Timeout: ptr(30.0),
			Retry: workflow.Retry{MaxRetries: 7, BackoffBase: 1.5, BackoffMax: 10, RetryableStatusCodes: []int{500, 503}},
			LLM: &workflow.LLMCallFields{
				Prompt: "{state.topic}?", SystemPrompt: "Be brief.\n", Provider: "google", Model: "gemini",
				Temperature: ptr(0.7), MaxTokens: ptr(int64(256)), Stream: ptr(false),
				Attachments: []workflow.Attachment{
					{Type: "image", Source: "a.png", MediaType: "image/png", Fetch: "provider"},
					{Type: "pdf", Source: "b.pdf", Fetch: "local"},
				},
				Thinking: &workflow.Thinking{Level: "low"},
				Tools: []workflow.ToolDeclaration{
					{Name: "search", Description: "finds", Parameters: value.MapOf("type", "object")},
					{Name: "file_read"},
				},
				ToolChoice: "auto", MaxToolIterations: ptr(2), Conversation: "main",
				OutputSchema: value.MapOf("type", "object",
					"properties", value.MapOf("a", value.MapOf("type", "string"))),
			},
		},
		{ID: "turn", Type: workflow.AgentStep, Retry: usual, Agent: &workflow.AgentFields{
			Agent: "writer", Prompt: "go", Provider: "mock", Conversation: "main",
		}},
		{ID: "fetch", Type: workflow.ToolStep, Retry: usual, Effect: "once", Tool: &workflow.ToolFields{
			ToolName: "http_request", ToolArgs: value.MapOf("url", "{state.url}", "headers", value.MapOf("A", "b")),
		}},
		{ID: "route", Type: workflow.Router, Retry: usual, Router: &workflow.RouterFields{
			Conditions: []workflow.Condition{{Expression: "state.a == 1", Target: "gate"}}, Default: "sub",
		}},
		{ID: "sub", Type: workflow.Subworkflow, Retry: usual, Subworkflow: &workflow.SubworkflowFields{
			WorkflowPath: "child.yaml", WorkflowInline: value.MapOf("name", "child", "steps", []any{}),
			IsolatedState: true, Input: value.MapOf("a", "{state.a}"), ReturnKeys: []string{},
		}},
		{ID: "gate", Type: workflow.ApprovalGate, Retry: usual, Approval: &workflow.ApprovalFields{
			Notify: &workflow.Notify{
				URL: "https://hooks.example.com", Headers: value.MapOf("X-Source", "loom"), BodyTemplate: "{{}}",
				CallbackBaseURL: "https://me.example.com", Timeout: 3,
			},
			TimeoutSeconds: ptr(60.0), OnTimeout: "reject",
		}},
		{ID: "vectors", Type: workflow.Embed, Retry: usual, Embed: &workflow.EmbedFields{
			Inputs: "state.documents", Provider: "openai", Model: "text-embedding-3-small", Dimensions: ptr(int64(256)),
		}},
	}
}
