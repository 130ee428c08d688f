package workflow

import (
	"math"
	"slices"
	"time"

	"github.com/agentloom/agentloom/value"
)

// inherit is a step's MaxRetries until Build puts the config's there.
const inherit = math.MinInt

// Builder makes a Definition in Go, with the defaults that a file has. Its
// methods may be chained; Build says what is wrong with any of it.
type Builder struct{ def Definition }

// New starts a workflow with the default configuration and no steps.
func New(name string) *Builder {
	return &Builder{Definition{Name: name, Config: DefaultConfig()}}
}

// Describe sets the workflow's version and description.
func (b *Builder) Describe(version, description string) *Builder {
	b.def.Version, b.def.Description = version, description
	return b
}

// Config lets set change the configuration, which starts as DefaultConfig.
func (b *Builder) Config(set func(*Config)) *Builder {
	set(&b.def.Config)
	return b
}

// State sets a key of the state that a run starts with. The value is turned
// into one by value.From; Build reports what has no JSON form.
func (b *Builder) State(key string, v any) *Builder {
	b.def.State = b.def.State.With(key, valueOf(v))
	return b
}

// Agent defines an agent for Ask steps.
func (b *Builder) Agent(a Agent) *Builder {
	b.def.Agents = append(b.def.Agents, a)
	return b
}

// Add appends steps, made by LLM, Ask, Vectors, Tool and Route or by hand.
func (b *Builder) Add(steps ...Step) *Builder {
	b.def.Steps = append(b.def.Steps, steps...)
	return b
}

// Build returns the definition, or an *InvalidError with everything that
// Validate finds wrong with it. The builder can go on being used.
func (b *Builder) Build() (*Definition, error) {
	def := b.def
	def.Steps = slices.Clone(b.def.Steps)
	for i := range def.Steps {
		if r := &def.Steps[i].Retry; r.MaxRetries == inherit {
			r.MaxRetries = def.Config.MaxRetries
		}
	}
	if err := Validate(&def).Err(); err != nil {
		return nil, err
	}
	return &def, nil
}

// valueOf returns x as a value, or x itself when it has no JSON form, which
// Validate then reports with its path.
func valueOf(x any) any {
	v, err := value.From(x)
	if err != nil {
		return x
	}
	return v
}

// LLM returns an llm_call step.
func LLM(id, prompt string, options ...StepOption) Step {
	return newStep(Step{ID: id, Type: LLMCall, LLM: &LLMCallFields{Prompt: prompt}}, options)
}

// Tool returns a tool step; Arg gives it arguments.
func Tool(id, name string, options ...StepOption) Step {
	return newStep(Step{ID: id, Type: ToolStep, Tool: &ToolFields{ToolName: name}}, options)
}

// Route returns a router; When and Otherwise give it targets. Each target must
// list the router in its After.
func Route(id string, options ...StepOption) Step {
	return newStep(Step{ID: id, Type: Router, Router: &RouterFields{}}, options)
}

// Ask returns an agent step: a turn of an agent that Agent defines.
func Ask(id, agent, prompt string, options ...StepOption) Step {
	return newStep(Step{ID: id, Type: AgentStep, Agent: &AgentFields{Agent: agent, Prompt: prompt}}, options)
}

// Vectors returns an embed step; inputs is a state path such as
// state.documents, and model an embedding model.
func Vectors(id, inputs, model string, options ...StepOption) Step {
	return newStep(Step{ID: id, Type: Embed, Embed: &EmbedFields{Inputs: inputs, Model: model}}, options)
}

// newStep fills in the defaults. The step's MaxRetries is the config's, which
// Build puts in.
func newStep(s Step, options []StepOption) Step {
	s.Retry = DefaultRetry(inherit)
	s.Retry.RetryableStatusCodes = slices.Clone(s.Retry.RetryableStatusCodes)
	for _, set := range options {
		set(&s)
	}
	return s
}

// StepOption sets something in a step. One that does not belong to the step's
// type, such as Arg on an LLM step, is an error of Build.
type StepOption func(*Step)

// After adds steps that must be done before this one starts.
func After(ids ...string) StepOption {
	return func(s *Step) { s.DependsOn = append(s.DependsOn, ids...) }
}

// Output names the key of the state, such as user.name, that receives the
// step's output.
func Output(key string) StepOption {
	return func(s *Step) { s.Output = key }
}

// Timeout bounds each attempt.
func Timeout(d time.Duration) StepOption {
	return func(s *Step) {
		seconds := d.Seconds()
		s.Timeout = &seconds
	}
}

// Retries is how many attempts may follow the first.
func Retries(n int) StepOption {
	return func(s *Step) { s.Retry.MaxRetries = n }
}

// WithRetry lets set change the retry policy, which starts as DefaultRetry;
// its MaxRetries is the config's unless set.
func WithRetry(set func(*Retry)) StepOption {
	return func(s *Step) { set(&s.Retry) }
}

// WithLLM lets set change the fields of an LLM step.
func WithLLM(set func(*LLMCallFields)) StepOption {
	return func(s *Step) { set(fieldsOf(&s.LLM)) }
}

// System sets an LLM step's system prompt, a template.
func System(prompt string) StepOption {
	return WithLLM(func(f *LLMCallFields) { f.SystemPrompt = prompt })
}

// Model sets an LLM step's provider and model, in place of the workflow's; ""
// leaves one as it is.
func Model(provider, name string) StepOption {
	return WithLLM(func(f *LLMCallFields) { f.Provider, f.Model = provider, name })
}

// Temperature sets an LLM step's temperature, from 0 to 2.
func Temperature(t float64) StepOption {
	return WithLLM(func(f *LLMCallFields) { f.Temperature = &t })
}

// MaxTokens bounds the length of an LLM step's answer.
func MaxTokens(n int64) StepOption {
	return WithLLM(func(f *LLMCallFields) { f.MaxTokens = &n })
}

// Arg adds an argument to a tool step. Strings in v, at any depth, are
// templates; v is turned into a value by value.From, and Build reports what
// has no JSON form.
func Arg(name string, v any) StepOption {
	return func(s *Step) {
		f := fieldsOf(&s.Tool)
		f.ToolArgs = f.ToolArgs.With(name, valueOf(v))
	}
}

// When adds a condition to a router: the first expression that is true chooses
// its target.
func When(expression, target string) StepOption {
	return func(s *Step) {
		f := fieldsOf(&s.Router)
		f.Conditions = append(f.Conditions, Condition{expression, target})
	}
}

// Otherwise sets the target of a router when no condition is true.
func Otherwise(target string) StepOption {
	return func(s *Step) { fieldsOf(&s.Router).Default = target }
}

// fieldsOf returns the fields of a type, made when the step has none.
func fieldsOf[T any](fields **T) *T {
	if *fields == nil {
		*fields = new(T)
	}
	return *fields
}
