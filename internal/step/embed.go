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

// Embed turns texts from the state into vectors.
type Embed struct {
	Models Models
}

// Run reads the texts and asks for their vectors. The step's entry in steps is
// a summary; the vectors go to its output.
func (k Embed) Run(ctx context.Context, call *Call) (scheduler.Outcome, error) {
	fields := call.Step.Embed
	texts, err := inputs(call)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	if len(texts) == 0 {
		return vectorsOutcome(nil, event.Report{}), nil
	}
	resp, err := k.Models.Embed(ctx, Selection{fields.Provider, fields.Model, call.warn}, &model.EmbedRequest{
		StepID: call.Address, Attempt: call.Attempt, Inputs: texts, Dimensions: fields.Dimensions,
	})
	var r event.Report
	if resp != nil {
		r = event.Report{
			Model: resp.Model, Provider: resp.Provider, Usage: resp.Usage, CostUSD: resp.CostUSD,
			Unpriced: resp.Usage != nil && resp.CostUSD == nil,
		}
	}
	switch {
	case err != nil:
		return scheduler.Outcome{Report: r}, err
	case resp == nil || len(resp.Vectors) != len(texts):
		return scheduler.Outcome{Report: r}, fault.New(fault.Transient, fmt.Sprintf(
			"the provider did not return a vector for each of the %d texts", len(texts)), nil)
	}
	return vectorsOutcome(resp.Vectors, r), nil
}

func vectorsOutcome(vectors [][]float64, r event.Report) scheduler.Outcome {
	list := make([]any, len(vectors))
	for i, v := range vectors {
		numbers := make([]any, len(v))
		for j, x := range v {
			numbers[j] = x
		}
		list[i] = numbers
	}
	summary := "0 vectors"
	switch {
	case len(vectors) == 1:
		summary = fmt.Sprintf("1 vector × %d", len(vectors[0]))
	case len(vectors) > 1:
		summary = fmt.Sprintf("%d vectors × %d", len(vectors), len(vectors[0]))
	}
	return scheduler.Outcome{Result: summary, HasResult: true, Write: list, Report: r}
}

// inputs reads the state path of the step's inputs, written with or without
// braces.
func inputs(call *Call) ([]string, error) {
	source := strings.TrimSpace(call.Step.Embed.Inputs)
	if inner, ok := strings.CutPrefix(source, "{"); ok {
		source = strings.TrimSuffix(inner, "}")
	}
	path, ok := template.ParsePath(source)
	if !ok || strings.ContainsAny(source, "[]") {
		return nil, fault.New(fault.Permanent, fmt.Sprintf(
			"inputs: %q is no state path; write one such as state.documents, with dots and without indexes", call.Step.Embed.Inputs), nil)
	}
	v, err := path.Lookup(call.State)
	if err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case []any:
		texts := make([]string, len(v))
		for i, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, fault.New(fault.Permanent, fmt.Sprintf("inputs: %s[%d] is no string", source, i), nil)
			}
			texts[i] = s
		}
		return texts, nil
	}
	return nil, fault.New(fault.Permanent, fmt.Sprintf("inputs: %s is neither a string nor a list of strings", source), nil)
}
