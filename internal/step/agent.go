package step

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/workflow"
)

// defaultAgentTurns is how many model turns an agent may take.
const defaultAgentTurns = 10

// Agent takes one turn of an agent that the workflow defines: its prompt, its
// tools and its loop, until it has an answer.
type Agent struct {
	Agents []workflow.Agent
	Models Models
	Tools  *tool.Registry // nil: no tool is registered
	Tape   Tape           // nil: tool calls are neither recorded nor replayed
	Stream bool
}

// Run asks the agent that the step names.
func (k Agent) Run(ctx context.Context, call *Call) (scheduler.Outcome, error) {
	fields := call.Step.Agent
	i := slices.IndexFunc(k.Agents, func(a workflow.Agent) bool { return a.Name == fields.Agent })
	if i < 0 {
		return scheduler.Outcome{}, fault.New(fault.Permanent, fmt.Sprintf("there is no agent %q", fields.Agent), nil)
	}
	agent := &k.Agents[i]
	l, err := k.loop(ctx, call, agent)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	prompt, err := render(call, "prompt", fields.Prompt)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	ctx, cancel := within(ctx, agent.Timeout, fmt.Sprintf("agent %q", agent.Name))
	defer cancel()
	return l.converse(ctx, fields.Conversation, model.Message{Role: model.User, Text: prompt})
}

// loop prepares the exchange by the agent's own policy.
func (k Agent) loop(ctx context.Context, call *Call, agent *workflow.Agent) (*loop, error) {
	schema, err := newSchema(agent.OutputSchema)
	if err != nil {
		return nil, err
	}
	system, err := render(call, fmt.Sprintf("system_prompt of agent %q", agent.Name), agent.SystemPrompt)
	if err != nil {
		return nil, err
	}
	specs, err := k.specs(ctx, agent)
	if err != nil {
		return nil, err
	}
	provider := agent.Provider
	if call.Step.Agent.Provider != "" {
		provider = call.Step.Agent.Provider
	}
	l := &loop{
		call: call, models: k.Models, sel: Selection{provider, agent.Model, call.warn},
		tools: &toolbox{k.Tools, specs, k.Tape}, schema: schema,
		maxTurns: orDefault(agent.MaxToolIterations, defaultAgentTurns), onMax: finishTurn, stream: k.Stream,
		req: model.Request{
			StepID: call.Address, Attempt: call.Attempt, System: schema.instruct(system),
			Temperature: agent.Temperature, MaxTokens: agent.MaxTokens,
			Tools: specs, ToolChoice: toolChoice(agent.ToolChoice, specs),
		},
	}
	if agent.OnMaxIterations == "fail" {
		l.onMax = failStep
	}
	if agent.BudgetUSD != nil {
		l.models = k.Models.Within(*agent.BudgetUSD)
	}
	l.think(agent.Thinking)
	return l, nil
}

// specs are the agent's tools with their own descriptions and parameters. An
// agent that names a tool which is not registered can't work as it was meant.
func (k Agent) specs(ctx context.Context, agent *workflow.Agent) ([]model.ToolSpec, error) {
	var specs []model.ToolSpec
	var missing []string
	for _, name := range agent.Tools {
		t, ok, err := k.Tools.Find(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", name, err)
		}
		if !ok {
			missing = append(missing, name)
			continue
		}
		s := withRegistered(model.ToolSpec{Name: name}, t.Spec())
		if s.Parameters == nil {
			s.Parameters = anyObject()
		}
		specs = append(specs, s)
	}
	if len(missing) > 0 {
		return nil, fault.New(fault.Permanent, fmt.Sprintf(
			"agent %q names tools that are not registered: %s", agent.Name, strings.Join(missing, ", ")), nil)
	}
	return specs, nil
}
