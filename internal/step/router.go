package step

import (
	"context"
	"fmt"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/expr"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/state"
)

// Router chooses which step runs next: the target of the first condition that
// is true, else the default. Its failures are permanent, since the same state
// gives the same result.
type Router struct{}

// Run evaluates the conditions in order.
func (Router) Run(_ context.Context, call *Call) (scheduler.Outcome, error) {
	fields := call.Step.Router
	for i, c := range fields.Conditions {
		yes, err := holds(c.Expression, call.State)
		if err != nil {
			return scheduler.Outcome{}, fault.New(fault.Permanent,
				fmt.Sprintf("condition %d, %s: %v", i+1, quoteShort(c.Expression), err), err)
		}
		if yes {
			return chose(c.Target), nil
		}
	}
	if fields.Default == "" {
		return scheduler.Outcome{}, fault.New(fault.Permanent,
			"no condition is true and the router has no default; add `default: <step id>`", nil)
	}
	return chose(fields.Default), nil
}

func holds(source string, s state.State) (bool, error) {
	p, err := expr.Compile(source)
	if err != nil {
		return false, err
	}
	v, err := p.Eval(s)
	if err != nil {
		return false, err
	}
	return expr.Truth(v), nil
}

func chose(target string) scheduler.Outcome {
	return scheduler.Outcome{Result: target, HasResult: true, Write: target, Chosen: target}
}

// quoteShort quotes a piece of source for an error, cut to one short line.
func quoteShort(s string) string {
	const most = 120
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
