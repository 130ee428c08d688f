package step

import (
	"context"
	"fmt"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/template"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// defaultToolTurns is how many model turns an llm_call with tools may take.
const defaultToolTurns = 5

// LLM makes one model call, with the tools, the schema and the conversation
// that the step declares.
type LLM struct {
	Models Models
	Tools  *tool.Registry // nil: no tool is registered
	// Attach loads an attachment whose source has been rendered.
	Attach func(context.Context, workflow.Attachment) (model.Attachment, error)
	Tape   Tape // nil: tool calls are neither recorded nor replayed
	Stream bool // for steps that don't say
}

// Run renders the prompts, asks the model and judges the answer.
func (k LLM) Run(ctx context.Context, call *Call) (scheduler.Outcome, error) {
	fields := call.Step.LLM
	schema, err := newSchema(fields.OutputSchema)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	system, err := render(call, "system_prompt", fields.SystemPrompt)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	prompt, err := k.prompt(ctx, call)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	specs, err := declared(ctx, fields.Tools, k.Tools)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	tools := &toolbox{k.Tools, specs, k.Tape}
	l := &loop{
		call: call, models: k.Models, sel: Selection{fields.Provider, fields.Model, call.warn},
		tools: tools, schema: schema, maxTurns: orDefault(fields.MaxToolIterations, defaultToolTurns),
		stream: orDefault(fields.Stream, k.Stream),
		req: model.Request{
			StepID: call.Address, Attempt: call.Attempt, System: schema.instruct(system),
			Temperature: fields.Temperature, MaxTokens: fields.MaxTokens,
			Tools: tools.specs, ToolChoice: toolChoice(fields.ToolChoice, tools.specs),
		},
	}
	l.think(fields.Thinking)
	attached := len(prompt.Attachments)
	l.report.Attachments = &attached
	return l.converse(ctx, fields.Conversation, prompt)
}

func orDefault[T any](p *T, other T) T {
	if p != nil {
		return *p
	}
	return other
}

// think sets the request's reasoning controls.
func (l *loop) think(t *workflow.Thinking) {
	if t == nil {
		return
	}
	l.capture = t.CaptureReasoning
	l.req.Thinking = &model.Thinking{Enabled: t.Enabled, BudgetTokens: t.BudgetTokens, Level: t.Level}
}

// converse adds the prompt to the conversation the step takes part in, if any,
// asks, and makes the step's outcome of the answer.
func (l *loop) converse(ctx context.Context, name string, prompt model.Message) (scheduler.Outcome, error) {
	if l.schema != nil {
		l.req.Schema = l.schema.source
	}
	history := history(l.call, name)
	l.req.Messages = append(history, prompt)
	a, err := l.run(ctx)
	out := scheduler.Outcome{Report: l.report}
	if err != nil {
		return out, err
	}
	out.Result, out.HasResult, out.Write = any(a.turn.Text), true, any(a.turn.Text)
	if a.parsed != nil || l.schema != nil && l.report.FinishReason != FinishMaxIterations {
		out.Result, out.Write = a.parsed, a.parsed
	}
	if name != "" {
		out.Conversation = &scheduler.Conversation{
			Name:     name,
			Messages: append(l.req.Messages, a.turn),
		}
	}
	return out, nil
}

// history is what was said before in a conversation; a slice of its own.
func history(call *Call, name string) []model.Message {
	if name == "" {
		return nil
	}
	said, _ := call.State.Conversation(name).([]model.Message)
	return append([]model.Message(nil), said...)
}

// prompt renders the user's message.
func (k LLM) prompt(ctx context.Context, call *Call) (model.Message, error) {
	text, err := render(call, "prompt", call.Step.LLM.Prompt)
	if err != nil {
		return model.Message{}, err
	}
	msg := model.Message{Role: model.User, Text: text}
	for i, a := range call.Step.LLM.Attachments {
		if a.Source, err = render(call, fmt.Sprintf("attachments[%d].source", i), a.Source); err != nil {
			return msg, err
		}
		if k.Attach == nil {
			return msg, fault.New(fault.Permanent, "attachments can't be loaded here: the engine has no Attach", nil)
		}
		loaded, err := k.Attach(ctx, a)
		if err != nil {
			return msg, fmt.Errorf("attachments[%d]: %w", i, err)
		}
		msg.Attachments = append(msg.Attachments, loaded)
	}
	return msg, nil
}

// render renders a prompt. A template that can't be rendered fails the step at
// once, since no attempt could succeed.
func render(call *Call, field, source string) (string, error) {
	t, err := template.Parse(source)
	if err != nil {
		return "", fault.New(fault.Permanent, fmt.Sprintf("%s: %v", field, err), err)
	}
	text, missing, err := t.Render(call.State, nil)
	call.warnMissing(field, missing)
	if err != nil {
		return "", fault.New(fault.Permanent, fmt.Sprintf("%s: %v", field, err), err)
	}
	return text, nil
}

// declared are the tools that a step declares, as the model is told of them: a
// tool without parameters, or description, is told with the registered one's.
func declared(ctx context.Context, tools []workflow.ToolDeclaration, registry *tool.Registry) ([]model.ToolSpec, error) {
	var specs []model.ToolSpec
	for _, d := range tools {
		s := model.ToolSpec{Name: d.Name, Description: d.Description, Parameters: d.Parameters}
		t, ok, err := registry.Find(ctx, d.Name)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", d.Name, err)
		}
		if ok {
			s = withRegistered(s, t.Spec())
		}
		if s.Parameters == nil {
			s.Parameters = anyObject()
		}
		specs = append(specs, s)
	}
	return specs, nil
}

func withRegistered(s model.ToolSpec, own tool.Spec) model.ToolSpec {
	if s.Parameters == nil {
		s.Parameters = own.Parameters
	}
	if s.Description == "" {
		s.Description = own.Description
	}
	return s
}

// toolChoice reads a `tool_choice`, which the loader has checked.
func toolChoice(v any, tools []model.ToolSpec) *model.ToolChoice {
	if len(tools) == 0 {
		return nil
	}
	switch v := v.(type) {
	case string:
		return &model.ToolChoice{Mode: model.ToolMode(v)}
	case *value.Map:
		name, _ := v.Get("name")
		s, _ := name.(string)
		return &model.ToolChoice{Mode: model.NamedTool, Name: s}
	}
	return nil
}
