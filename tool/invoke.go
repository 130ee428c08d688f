package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/value"
)

// Invoke calls a tool on behalf of a step or a model and makes the outcome
// uniform. The result is a value of package value. An error always carries a
// fault.Kind:
//
//   - the tool's own, where it has one;
//   - where ctx ended, the kind of its cause, else Timeout for a deadline and
//     Cancelled for the rest;
//   - Permanent for a result that is no JSON value, since it never will be;
//   - Transient otherwise, as every error that a tool raises is retried.
//
// A panic is an error without a stack trace. The tool runs in a goroutine of
// its own, so that one that ends its goroutine (runtime.Goexit) is an error
// too. Invoke returns only when the tool has: a tool that ignores ctx holds it
// up. What the Go runtime does not let anybody recover from, such as an
// exhausted stack, still ends the process.
func Invoke(ctx context.Context, t Tool, args *value.Map) (any, error) {
	if ctx.Err() != nil {
		return nil, stopped(ctx)
	}
	type outcome struct {
		result any
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		out := outcome{err: fault.New(fault.Transient, "the tool ended its goroutine instead of returning", nil)}
		defer func() {
			if p := recover(); p != nil {
				out = outcome{err: fault.New(fault.Transient, "the tool panicked: "+panicText(p), nil)}
			}
			done <- out
		}()
		result, err := t.Call(ctx, args)
		if err == nil {
			result, err = jsonValue(result)
		}
		if err != nil {
			result, err = nil, classify(ctx, err)
		}
		out = outcome{result, err}
	}()
	out := <-done
	return out.result, out.err
}

// jsonValue turns what a tool returned into a value.
func jsonValue(result any) (any, error) {
	v, err := value.From(result)
	if err != nil {
		return nil, fault.New(fault.Permanent, "the tool's result is no JSON value: "+err.Error(), err)
	}
	return v, nil
}

func classify(ctx context.Context, err error) error {
	kind := fault.KindOf(err)
	if ctx.Err() != nil && (kind == 0 || errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return stopped(ctx)
	}
	if kind != 0 {
		return err
	}
	return fault.New(fault.Transient, err.Error(), err)
}

// stopped is the error of a call whose context ended. A cause that has a kind
// names the operation whose time ran out, so it is kept.
func stopped(ctx context.Context) error {
	cause := context.Cause(ctx)
	switch {
	case fault.KindOf(cause) != 0:
		return cause
	case errors.Is(cause, context.DeadlineExceeded):
		return fault.New(fault.Timeout, "the tool was stopped: "+cause.Error(), cause)
	}
	return fault.New(fault.Cancelled, "the tool was stopped: "+cause.Error(), cause)
}

// panicText is what a panic says, in one short line.
func panicText(p any) string {
	const most = 300
	text := []rune(strings.Join(strings.Fields(fmt.Sprint(p)), " "))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
