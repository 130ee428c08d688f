// Package workflow is what a workflow is: a plain value that can be loaded,
// checked, drawn, built in Go and sent over a wire. Nothing in it runs.
//
// Every field of the file format is here. A field's doc gives its key, its
// unit and its default. "Not acted on yet" fields are listed in unsupported.go
// and are load errors until they are.
package workflow

import "github.com/agentloom/agentloom/value"

// Definition is one workflow file.
type Definition struct {
	Name        string // `name`, required
	Version     string // `version`
	Description string // `description`
	Config      Config
	State       *value.Map // `state`: the state a run starts with; nil is empty
	StateSchema *value.Map // `state_schema`: {key: {redact: bool}}
	Agents      []Agent    // `agents`, in file order
	MCPServers  []MCPServer
	Steps       []Step // `steps`, in file order, at least one
}

// Config is the `config` section.
type Config struct {
	Provider           string   // default "openai"
	Model              string   // default "gpt-4o-mini"
	MaxRetries         int      // of every step; default 3
	BudgetUSD          *float64 // nil: no budget
	BudgetMode         string   // "" or "strict"
	Timeout            *float64 // of the whole run, seconds; nil: none
	MaxConcurrentSteps int      // 1 to 1024; default 10
	Stream             bool
	Sandbox            *Sandbox
	OnStepFailure      string // "skip_downstream" (default) or "continue"
	StrictOutputs      bool
	CapturePrompts     bool
	ResponsesFile      string // canned responses for the mock provider
	LatencyModel       string // "constant", "normal" or "replay"; "" is none
	LatencyMS          *float64
	Scheduling         string // "layers" (default) or "eager"
	OnUncertain        string // "rerun" (default) or "stop"
	WorkdirTools       *WorkdirTools
	Permissions        *Permissions
}

// Values of Config's enumerations.
const (
	SkipDownstream = "skip_downstream"
	Continue       = "continue"
	Layers         = "layers"
	Eager          = "eager"
)

// DefaultConfig returns the configuration of a file without a config section.
func DefaultConfig() Config {
	return Config{
		Provider:           "openai",
		Model:              "gpt-4o-mini",
		MaxRetries:         3,
		MaxConcurrentSteps: 10,
		OnStepFailure:      SkipDownstream,
		Scheduling:         Layers,
		OnUncertain:        "rerun",
	}
}

// StepType is a step's `type`.
type StepType string

// The step types.
const (
	LLMCall      StepType = "llm_call"
	AgentStep    StepType = "agent"
	ToolStep     StepType = "tool"
	Router       StepType = "router"
	Subworkflow  StepType = "subworkflow"
	ApprovalGate StepType = "approval_gate"
	Embed        StepType = "embed"
)

// Step is one step. Exactly one of the pointers after the shared fields is
// set, the one that belongs to Type.
type Step struct {
	ID        string // [A-Za-z_][A-Za-z0-9_-]{0,127}
	Type      StepType
	DependsOn []string
	Output    string   // dotted key that receives the output; "" for none
	Timeout   *float64 // of each attempt, seconds, above 0; nil: none
	Retry     Retry
	Effect    string // tool steps: "", "pure", "idempotent" or "once"

	LLM         *LLMCallFields
	Agent       *AgentFields
	Tool        *ToolFields
	Router      *RouterFields
	Subworkflow *SubworkflowFields
	Approval    *ApprovalFields
	Embed       *EmbedFields
}

// Retry is a step's `retry`. The loader fills every field, from the config
// where the step says nothing.
type Retry struct {
	MaxRetries           int     // attempts after the first; default the config's
	BackoffBase          float64 // default 2.0; the wait after failed attempt n is BackoffBase^(n-1) seconds
	BackoffMax           float64 // default 60 seconds
	Jitter               bool    // default true: ±25 %
	RetryableStatusCodes []int   // default DefaultRetryableStatusCodes
}

// DefaultRetryableStatusCodes are the HTTP statuses worth another attempt.
func DefaultRetryableStatusCodes() []int { return []int{408, 429, 500, 502, 503, 504, 529} }

// DefaultRetry returns the retry policy of a step that says nothing.
func DefaultRetry(maxRetries int) Retry {
	return Retry{
		MaxRetries:           maxRetries,
		BackoffBase:          2,
		BackoffMax:           60,
		Jitter:               true,
		RetryableStatusCodes: DefaultRetryableStatusCodes(),
	}
}

// LLMCallFields are an llm_call step's own fields.
type LLMCallFields struct {
	Prompt            string // template, required
	SystemPrompt      string // template
	Provider          string // default: the workflow's
	Model             string // default: the workflow's
	Temperature       *float64
	MaxTokens         *int64
	Stream            *bool // default: the workflow's
	Attachments       []Attachment
	Thinking          *Thinking
	Tools             []ToolDeclaration
	ToolChoice        any  // "auto", "required", "none" or {name: …}
	MaxToolIterations *int // default 5
	OutputSchema      *value.Map
	Conversation      string
}

// Attachment is one of an llm_call's `attachments`.
type Attachment struct {
	Type      string // image, pdf or audio
	Source    string // URL, path or base64; a template
	MediaType string
	Fetch     string // local (default) or provider
}

// Thinking is `thinking`: the reasoning controls of a model call.
type Thinking struct {
	Enabled          *bool
	BudgetTokens     *int64
	Level            string // low, medium or high
	CaptureReasoning bool
}

// ToolDeclaration is one of an llm_call's `tools`.
type ToolDeclaration struct {
	Name        string
	Description string
	Parameters  *value.Map // JSON Schema; nil: the registered tool's own
}

// Agent is one entry of `agents`.
type Agent struct {
	Name              string
	Description       string
	SystemPrompt      string // template
	Provider          string
	Model             string
	Temperature       *float64
	MaxTokens         *int64
	Tools             []string
	ToolChoice        any
	MaxToolIterations *int   // default 10
	OnMaxIterations   string // finish or fail
	Thinking          *Thinking
	OutputSchema      *value.Map
	BudgetUSD         *float64
	Timeout           *float64 // seconds
}

// AgentFields are an agent step's own fields.
type AgentFields struct {
	Agent        string // an entry of `agents`
	Prompt       string // template
	Provider     string
	Conversation string
}

// ToolFields are a tool step's own fields.
type ToolFields struct {
	ToolName string     // may be missing: the step then fails when it runs
	ToolArgs *value.Map // string values at any depth are templates
}

// RouterFields are a router's own fields.
type RouterFields struct {
	Conditions []Condition // checked in order
	Default    string      // step id; "": the router fails when nothing matches
}

// Condition is one of a router's conditions.
type Condition struct {
	Expression string
	Target     string // step id
}

// SubworkflowFields are a subworkflow step's own fields.
type SubworkflowFields struct {
	WorkflowPath   string     // relative to the directory of the run; wins over the inline one
	WorkflowInline *value.Map // checked when the step runs
	IsolatedState  bool
	Input          *value.Map
	ReturnKeys     []string // nil: the whole final state; empty: {}
}

// ApprovalFields are an approval gate's own fields.
type ApprovalFields struct {
	Notify         *Notify
	TimeoutSeconds *float64
	OnTimeout      string // "", approve or reject
}

// Notify is an approval gate's webhook.
type Notify struct {
	URL             string
	Headers         *value.Map
	BodyTemplate    string
	CallbackBaseURL string
	Timeout         float64 // seconds for each attempt; default 30
}

// EmbedFields are an embed step's own fields.
type EmbedFields struct {
	Inputs     string // a state path
	Provider   string
	Model      string
	Dimensions *int64
}

// Sandbox is `config.sandbox`. Paths are as written.
type Sandbox struct {
	Enabled                     bool
	AllowedCommands             []string
	AllowedPaths                []string
	ReadablePaths               []string
	WritablePaths               []string
	AllowNetwork                bool // default true
	AllowedDomains              []string
	AllowedSchemes              []string // default http, https
	MaxWriteBytes               *int64
	MaxReadBytes                *int64
	DangerOptIn                 []string
	AllowInternalWebhookTargets bool
	DenyInternalHosts           bool
	Kernel                      string // auto (default), require, strict or off
}

// MCPServer is one entry of `mcp_servers`.
type MCPServer struct {
	Name    string
	Command string
	Args    []string
	Env     *value.Map
	URL     string
	Headers *value.Map
	Tools   []string
	Timeout *float64 // seconds
}

// WorkdirTools is `config.workdir_tools`.
type WorkdirTools struct {
	Workdir   string
	Tools     []string
	Read      *value.Map // {line_limit}
	Write     *value.Map // {create_parents}
	Grep      *value.Map // {max_results}
	Find      *value.Map // {max_results}
	Bash      *value.Map // {timeout, extra_env, allow_pattern}
	WebSearch *value.Map // {backend, max_results, timeout}
}

// Permissions is `config.permissions`.
type Permissions struct {
	Mode         string   // default, acceptEdits or bypass
	AllowedTools []string // nil: not set
	DeniedTools  []string
	OnAsk        string // prompt, deny or pause
}
