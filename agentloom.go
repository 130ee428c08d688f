// Package agentloom runs workflows of model calls, tools and decisions: a DAG
// of steps, written as YAML or built in Go, that is predictable, cheap and
// safe to run in production.
//
// Load a workflow with package workflow/wfyaml or build one with package
// workflow, make an Engine with the providers and tools it may use, and Run:
//
//	engine, err := agentloom.New(agentloom.Config{
//		Providers: []gateway.Entry{{Provider: provider}},
//		Tools:     registry,
//	})
//	result, err := engine.Run(ctx, definition, agentloom.RunOptions{})
//
// There is no global state: engines are independent of each other, and nothing
// here reads the environment.
package agentloom

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	mathrand "math/rand/v2"
	"regexp"
	"time"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/localrun"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/step"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// Config is what an Engine works with. The zero Config makes an engine that
// can run only routers.
type Config struct {
	// Providers are the model services, each under its own name. A step whose
	// provider is not among them fails with what to set.
	Providers []gateway.Entry
	// Gateway holds the prices, and who is told of prices that are not known
	// and of circuit breakers beside the runs, whose Warning events they are.
	Gateway gateway.Options
	// Attach loads an attachment whose source is a URL, a path or base64; nil:
	// steps with attachments fail.
	Attach func(context.Context, workflow.Attachment) (model.Attachment, error)
	// Tape records the tool calls that models make, or replays recorded ones
	// without running the tools; nil: neither.
	Tape Tape
	// Tools are the tools that steps may call; nil: every tool step fails.
	Tools *tool.Registry
	// Observers are told of the events of every run. A run's events come in
	// order and one at a time; those of different runs may come at once.
	Observers []event.Observer
	// Now is the clock that stamps events; default time.Now.
	Now func() time.Time
	// Jitter draws the numbers in [0, 1) that spread the waits between
	// attempts; default math/rand/v2's Float64.
	Jitter func() float64
}

// Tape records the tool calls that models make, or replays them.
type Tape = step.Tape

// Engine runs workflows. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	gateway *gateway.Gateway
}

// New returns an engine. It fails when two providers have one name.
func New(cfg Config) (*Engine, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Jitter == nil {
		cfg.Jitter = mathrand.Float64
	}
	g, err := gateway.NewWith(cfg.Gateway, cfg.Providers...)
	if err != nil {
		return nil, fmt.Errorf("making the engine: %w", err)
	}
	return &Engine{cfg: cfg, gateway: g}, nil
}

// RunOptions are one run's own.
type RunOptions struct {
	// RunID names the run: a letter or digit, then at most 200 of those and
	// `_.-`. Default: NewRunID.
	RunID string
	// State is laid over the workflow's own `state`, key by key; may be nil.
	State *value.Map
	// Provider and Model replace the workflow's `config.provider` and
	// `config.model`; "" leaves them. What a step sets itself stays.
	Provider, Model string
	// BudgetUSD replaces the workflow's `config.budget_usd`; nil leaves it.
	BudgetUSD *float64
	// Stream asks for answers as they come, from steps that don't say
	// themselves; the pieces are TextDelta events.
	Stream bool
	// Observer is told of this run's events, after Config.Observers; may be nil.
	Observer event.Observer
}

var runIDPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,200}$`)

// NewRunID returns a random run id of twelve hexadecimal digits.
func NewRunID() string {
	var b [6]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// Run runs a workflow to its end. A run that fails is a Result that says so;
// the error is for a run that could not start: a definition that is not valid
// (*workflow.InvalidError) or a run id that is none (fault.Invalid). When ctx
// ends, running steps are cancelled and the run ends Failed, with ctx's cause
// as the reason.
func (e *Engine) Run(ctx context.Context, def *workflow.Definition, opts RunOptions) (*Result, error) {
	if opts.RunID == "" {
		opts.RunID = NewRunID()
	}
	if !runIDPattern.MatchString(opts.RunID) {
		return nil, fault.New(fault.Invalid, fmt.Sprintf(
			"%q is no run id: write a letter or digit, then at most 200 letters, digits, `_`, `.` or `-`", opts.RunID), nil)
	}
	if err := workflow.Validate(def).Err(); err != nil {
		return nil, err
	}
	plan, err := scheduler.NewPlan(def)
	if err != nil {
		return nil, err
	}
	fold := newFold(def, opts.RunID)
	money := newPurse(def, opts)
	ending := localrun.Run(ctx, localrun.Config{
		Plan:       plan,
		Definition: def,
		RunID:      opts.RunID,
		State:      state.New(merged(def.State, opts.State), outputs(def)...),
		Kinds:      e.kinds(def, opts, money),
		Broke:      money.empty,
		Observe:    e.observe(fold, opts.Observer),
		Now:        e.cfg.Now,
		Jitter:     e.cfg.Jitter,
	})
	return fold.result(ending.State.Map()), nil
}

// ProviderStatus returns the health of each provider, its circuit breaker
// included, as the calls of all runs showed it; sorted by name.
func (e *Engine) ProviderStatus() []gateway.ProviderStatus { return e.gateway.Status() }

// newPurse returns the run's money.
func newPurse(def *workflow.Definition, opts RunOptions) *purse {
	limit := def.Config.BudgetUSD
	if opts.BudgetUSD != nil {
		limit = opts.BudgetUSD
	}
	if limit == nil {
		return &purse{}
	}
	return &purse{budget: gateway.NewBudget(*limit, nil)}
}

// kinds wires the step types for one run: the one place that knows them all.
func (e *Engine) kinds(def *workflow.Definition, opts RunOptions, money *purse) step.Kinds {
	var calls step.Models = models{gateway: e.gateway, purse: money, with: gateway.Selection{
		WorkflowProvider: cmp.Or(opts.Provider, def.Config.Provider),
		Model:            cmp.Or(opts.Model, def.Config.Model),
		Budget:           money.budget,
		Strict:           def.Config.BudgetMode == "strict",
		Warned:           &gateway.Warned{},
	}}
	stream := def.Config.Stream || opts.Stream
	return step.Kinds{
		workflow.LLMCall: step.LLM{
			Models: calls, Tools: e.cfg.Tools, Attach: e.cfg.Attach, Tape: e.cfg.Tape, Stream: stream,
		},
		workflow.AgentStep: step.Agent{
			Agents: def.Agents, Models: calls, Tools: e.cfg.Tools, Tape: e.cfg.Tape, Stream: stream,
		},
		workflow.Embed:    step.Embed{Models: calls},
		workflow.ToolStep: step.Tool{Tools: e.cfg.Tools},
		workflow.Router:   step.Router{},
	}
}

func (e *Engine) observe(fold *fold, own event.Observer) func(event.Event) {
	return func(ev event.Event) {
		fold.Observe(ev)
		for _, o := range e.cfg.Observers {
			o.Observe(ev)
		}
		if own != nil {
			own.Observe(ev)
		}
	}
}

// outputs are the paths that steps write, in file order.
func outputs(def *workflow.Definition) []string {
	var paths []string
	for i := range def.Steps {
		if def.Steps[i].Output != "" {
			paths = append(paths, def.Steps[i].Output)
		}
	}
	return paths
}

// merged lays over over base, key by key.
func merged(base, over *value.Map) *value.Map {
	if over.Len() == 0 {
		return base
	}
	m := value.NewMap(base.Len() + over.Len())
	for k, v := range base.All() {
		m.Put(k, v)
	}
	for k, v := range over.All() {
		m.Put(k, v)
	}
	return m
}
