package step

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/template"
	"github.com/agentloom/agentloom/model"
)

// RouteFunc says which provider answers a call, and by what name it knows the
// model. Either argument may be "", which leaves the choice to the workflow.
type RouteFunc func(provider, modelName string) (model.Provider, string, error)

// LLM makes one model call.
type LLM struct {
	Route RouteFunc
}

// Run renders the prompts, calls the model and judges the answer.
func (l LLM) Run(ctx context.Context, call *Call) (scheduler.Outcome, error) {
	req, err := l.request(call)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	provider, name, err := l.Route(call.Step.LLM.Provider, call.Step.LLM.Model)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	req.Model = name
	resp, err := provider.Complete(ctx, req, nil)
	out := scheduler.Outcome{Report: event.Report{Model: name, Provider: provider.Name()}}
	if resp != nil {
		out.Report = report(out.Report, resp)
	}
	if err == nil && resp == nil {
		err = fault.New(fault.Transient, fmt.Sprintf("provider %q returned no response", provider.Name()), nil)
	}
	if err == nil {
		err = judge(resp)
	}
	if err != nil {
		return out, err
	}
	out.Result, out.HasResult, out.Write = resp.Text, true, resp.Text
	return out, nil
}

func (l LLM) request(call *Call) (*model.Request, error) {
	fields := call.Step.LLM
	prompt, err := render(call, "prompt", fields.Prompt)
	if err != nil {
		return nil, err
	}
	system, err := render(call, "system_prompt", fields.SystemPrompt)
	if err != nil {
		return nil, err
	}
	return &model.Request{
		StepID:      call.Address,
		System:      system,
		Messages:    []model.Message{{Role: model.User, Text: prompt}},
		Temperature: fields.Temperature,
		MaxTokens:   fields.MaxTokens,
	}, nil
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

func report(r event.Report, resp *model.Response) event.Report {
	if resp.Model != "" {
		r.Model = resp.Model
	}
	if resp.Provider != "" {
		r.Provider = resp.Provider
	}
	r.Usage, r.CostUSD, r.FinishReason = resp.Usage, resp.CostUSD, resp.FinishReason
	return r
}

// judge refuses an answer without text. One that was cut off before its first
// character would be cut off again; any other may come with the next attempt.
func judge(resp *model.Response) error {
	if strings.TrimSpace(resp.Text) != "" {
		return nil
	}
	switch resp.FinishReason {
	case model.FinishLength:
		return fault.New(fault.Permanent,
			"the model answered nothing: max_tokens was used up before any text; raise it", nil)
	case model.FinishContentFilter:
		return fault.New(fault.Permanent, "the model answered nothing: a content filter withheld the answer", nil)
	}
	return fault.New(fault.Transient, fmt.Sprintf("the model answered nothing (finish reason %q)", resp.FinishReason), nil)
}
