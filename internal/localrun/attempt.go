package localrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/step"
)

// attempt is one that runs.
type attempt struct {
	cancel context.CancelCauseFunc
	grace  *time.Timer // runs once the attempt was told to stop
	reason string      // why it was told to
	kind   fault.Kind
}

// result is how an attempt ended.
type result struct {
	id      attemptID
	outcome scheduler.Outcome
	err     error
}

// startAttempt runs an attempt in a goroutine, on a snapshot of the state. Its context ends only when the scheduler says so, so that what a
// cancelled run's attempts mean is decided in one place.
func (d *driver) startAttempt(id attemptID) {
	ctx, cancel := context.WithCancelCause(d.ctx)
	d.running[id] = &attempt{cancel: cancel}
	def := &d.cfg.Definition.Steps[id.step]
	call := &step.Call{
		Step:    def,
		Address: def.ID,
		RunID:   d.cfg.RunID,
		Attempt: id.number,
		State:   d.state,
		Emit: func(place string, data event.Data) {
			d.send(message{event: &stepEvent{id, place, data}})
		},
	}
	j := job{id, ctx, d.cfg.Kinds[def.Type], call}
	select {
	case d.jobs <- j:
	default:
		go d.work(j)
	}
}

// job is an attempt to run.
type job struct {
	id   attemptID
	ctx  context.Context
	kind step.Kind
	call *step.Call
}

// work runs a job, and then those that come while it is idle: a goroutine
// whose stack has grown once is worth keeping. It ends with the run.
func (d *driver) work(j job) {
	growStack(j.id.step)
	for {
		out, err := run(j.ctx, j.kind, j.call)
		d.send(message{result: &result{j.id, out, err}})
		select {
		case j = <-d.jobs:
		case <-d.closed:
			return
		}
	}
}

// growStack gives a new goroutine's stack the size that a model call needs.
// Grown at once, from here, nothing is on it yet that had to be moved; in the
// depths of the call it would double twice, which takes several microseconds
// before the first token.
//
//go:noinline
func growStack(i int) byte {
	const depth = 9 << 10 // bytes: with what is in use, the stack becomes 16 KiB
	var room [depth]byte
	return room[uint(i)%depth]
}

// run contains panics: a fault in one step's code fails that step.
func run(ctx context.Context, kind step.Kind, call *step.Call) (out scheduler.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Permanent, fmt.Sprintf("a fault in this program: panic: %v", p), nil)
		}
	}()
	if kind == nil {
		return out, fault.New(fault.Permanent, fmt.Sprintf("steps of type %q are not supported yet", call.Step.Type), nil)
	}
	return kind.Run(ctx, call)
}

// finishAttempt makes the attempt's state change and tells the scheduler.
func (d *driver) finishAttempt(r *result) {
	a := d.running[r.id]
	if a == nil {
		return // abandoned before
	}
	d.release(r.id, a)
	// Before the attempt's own end, which may be the run's last input.
	if d.cfg.Broke != nil {
		if reason := d.cfg.Broke(); reason != "" {
			d.apply(scheduler.OverBudget{Reason: reason})
		}
	}
	err := r.err
	if err == nil {
		err = d.write(r)
	}
	if err != nil {
		d.apply(scheduler.Failed{Step: r.id.step, Attempt: r.id.number, Failure: d.failure(a, r, err)})
		return
	}
	d.apply(scheduler.Succeeded{Step: r.id.step, Attempt: r.id.number, Outcome: r.outcome})
}

// write makes a successful attempt's state change, whole or not at all.
func (d *driver) write(r *result) error {
	def := &d.cfg.Definition.Steps[r.id.step]
	next := d.state
	if def.Output != "" {
		var err error
		if next, err = next.Set(def.Output, r.outcome.Write); err != nil {
			return err
		}
	}
	if r.outcome.HasResult {
		next = next.WithStep(def.ID, state.StepResult{Output: r.outcome.Result, Status: string(event.Success)})
	}
	if c := r.outcome.Conversation; c != nil {
		next = next.WithConversation(c.Name, c.Messages)
	}
	d.state = next
	return nil
}

func (d *driver) failure(a *attempt, r *result, err error) scheduler.Failure {
	f := scheduler.Failure{
		Kind:    fault.KindOf(err),
		Message: err.Error(),
		Report:  r.outcome.Report,
		Jitter:  d.cfg.Jitter(),
	}
	if classified, ok := errors.AsType[*fault.Error](err); ok {
		f.Status, f.RetryAfter = classified.Status, classified.RetryAfter
	}
	if a.kind != 0 { // it was told to stop, and that is why it failed
		f.Kind, f.Message, f.Status = a.kind, a.reason, 0
	}
	return f
}

// cancelAttempt tells an attempt to stop and gives it its grace to do so.
func (d *driver) cancelAttempt(c scheduler.CancelAttempt) {
	id := attemptID{c.Step, c.Attempt}
	a := d.running[id]
	if a == nil || a.grace != nil {
		return
	}
	a.kind, a.reason = c.Kind, c.Reason
	a.cancel(fault.New(c.Kind, c.Reason, nil))
	a.grace = time.AfterFunc(d.cfg.Grace, func() { d.send(message{overdue: &id}) })
}

// abandon goes on without an attempt that does not stop. Go cannot end a
// goroutine from outside; what it still does has no effect on the run.
func (d *driver) abandon(id attemptID) {
	a := d.running[id]
	if a == nil {
		return
	}
	d.emit(d.address(id.step), event.Warning{Message: fmt.Sprintf(
		"step %q did not stop within %s of being told to (%s); the run goes on without it",
		d.cfg.Definition.Steps[id.step].ID, d.cfg.Grace, a.reason)})
	d.release(id, a)
	d.apply(scheduler.Failed{Step: id.step, Attempt: id.number, Failure: d.failure(a, &result{id: id}, errAbandoned)})
}

var errAbandoned = errors.New("abandoned")

func (d *driver) release(id attemptID, a *attempt) {
	a.cancel(nil)
	if a.grace != nil {
		a.grace.Stop()
	}
	delete(d.running, id)
}
