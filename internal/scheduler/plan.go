package scheduler

import (
	"fmt"
	"math"
	"time"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/workflow"
)

// Plan is what the scheduler needs of a workflow, worked out once: any number
// of runs, at the same time too, share one Plan. Steps are named by their index
// in the definition's Steps, which is file order.
type Plan struct {
	name        string
	steps       []planStep
	index       map[string]int
	layers      [][]int // each layer's steps in file order
	eager       bool
	keepGoing   bool // on_step_failure: continue
	maxParallel int
	timeout     time.Duration // of the run; 0: none
}

// planStep is one step of a Plan.
type planStep struct {
	id         string
	router     bool
	deps       []int // in depends_on order; a doubled one is an edge twice
	dependents []int // in file order
	layer      int
	output     string // dotted state path; "": none
	timeout    time.Duration
	retry      workflow.Retry
	started    event.Data // its StepStarted
}

// NewPlan works out the plan of a definition that has been validated; the
// definition must not change afterwards. It costs as much as the definition
// has steps and dependencies. What would make a run hang or go wrong is an
// error all the same: an empty or doubled id, a dependency or router target
// that is no step, a cycle, a timeout that is not above 0, an unknown value of
// scheduling or on_step_failure, room for no step at all.
func NewPlan(def *workflow.Definition) (*Plan, error) {
	p := &Plan{
		name:        def.Name,
		steps:       make([]planStep, len(def.Steps)),
		index:       make(map[string]int, len(def.Steps)),
		maxParallel: def.Config.MaxConcurrentSteps,
	}
	if err := p.configure(&def.Config); err != nil {
		return nil, err
	}
	for i := range def.Steps {
		if err := p.addStep(i, &def.Steps[i]); err != nil {
			return nil, err
		}
	}
	for i := range def.Steps {
		if err := p.connect(i, &def.Steps[i]); err != nil {
			return nil, err
		}
	}
	if err := p.layOut(); err != nil {
		return nil, err
	}
	return p, nil
}

// Len returns the number of steps.
func (p *Plan) Len() int { return len(p.steps) }

// ID returns the id of step i, which must be in [0, Len).
func (p *Plan) ID(i int) string { return p.steps[i].id }

// Index returns the index of the step with an id.
func (p *Plan) Index(id string) (int, bool) {
	i, ok := p.index[id]
	return i, ok
}

func (p *Plan) configure(c *workflow.Config) error {
	switch c.Scheduling {
	case workflow.Layers:
	case workflow.Eager:
		p.eager = true
	default:
		return fmt.Errorf("config.scheduling is %q: use %q or %q", c.Scheduling, workflow.Layers, workflow.Eager)
	}
	switch c.OnStepFailure {
	case workflow.SkipDownstream:
	case workflow.Continue:
		p.keepGoing = true
	default:
		return fmt.Errorf("config.on_step_failure is %q: use %q or %q", c.OnStepFailure, workflow.SkipDownstream, workflow.Continue)
	}
	if p.maxParallel < 1 {
		return fmt.Errorf("config.max_concurrent_steps is %d: no step could run, use 1 or more", p.maxParallel)
	}
	var err error
	if p.timeout, err = timeout(c.Timeout); err != nil {
		return fmt.Errorf("config.timeout %w", err)
	}
	return nil
}

func (p *Plan) addStep(i int, s *workflow.Step) error {
	if s.ID == "" {
		return fmt.Errorf("steps[%d] has no id", i)
	}
	if _, taken := p.index[s.ID]; taken {
		return fmt.Errorf("two steps have the id %q", s.ID)
	}
	limit, err := timeout(s.Timeout)
	if err != nil {
		return fmt.Errorf("step %q: timeout %w", s.ID, err)
	}
	p.index[s.ID] = i
	p.steps[i] = planStep{
		id:      s.ID,
		router:  s.Type == workflow.Router,
		output:  s.Output,
		timeout: limit,
		retry:   s.Retry,
		started: event.StepStarted{Type: string(s.Type)},
	}
	return nil
}

// connect fills in the edges between step i and what it depends on.
func (p *Plan) connect(i int, s *workflow.Step) error {
	step := &p.steps[i]
	if len(s.DependsOn) > 0 {
		step.deps = make([]int, 0, len(s.DependsOn))
	}
	for _, id := range s.DependsOn {
		d, ok := p.index[id]
		if !ok {
			return fmt.Errorf("step %q depends on %q, which is no step", s.ID, id)
		}
		step.deps = append(step.deps, d)
		p.steps[d].dependents = append(p.steps[d].dependents, i)
	}
	if s.Type != workflow.Router || s.Router == nil {
		return nil
	}
	targets := make([]string, 0, len(s.Router.Conditions)+1)
	for _, c := range s.Router.Conditions {
		targets = append(targets, c.Target)
	}
	if s.Router.Default != "" {
		targets = append(targets, s.Router.Default)
	}
	for _, id := range targets {
		if _, ok := p.index[id]; !ok {
			return fmt.Errorf("router %q has the target %q, which is no step", s.ID, id)
		}
	}
	return nil
}

// timeout turns an optional number of seconds into a duration, 0 for none.
func timeout(seconds *float64) (time.Duration, error) {
	switch {
	case seconds == nil:
		return 0, nil
	case *seconds > 0:
		// A timeout too short for the clock still is one.
		return max(duration(*seconds), 1), nil
	}
	return 0, fmt.Errorf("is %v: use a number of seconds above 0", *seconds)
}

// duration turns seconds into a duration: nothing for a negative number or
// NaN, the longest there is for one that is too large.
func duration(seconds float64) time.Duration {
	ns := seconds * float64(time.Second)
	switch {
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns > 0:
		return time.Duration(ns)
	}
	return 0
}
