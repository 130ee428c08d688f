// Package localrun drives a run in this process: a goroutine for each attempt,
// which only sends, and one goroutine that owns the state, feeds the scheduler
// and carries out its commands.
package localrun

import (
	"context"
	"time"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/internal/step"
	"github.com/agentloom/agentloom/workflow"
)

// DefaultGrace is how long an attempt that was told to stop may take to do so
// before the run goes on without it.
const DefaultGrace = 10 * time.Second

// Config is one run.
type Config struct {
	Plan       *scheduler.Plan
	Definition *workflow.Definition // what Plan was made of
	RunID      string
	State      state.State
	Kinds      step.Kinds
	Observe    func(event.Event) // told of every event, in order; may be nil
	Now        func() time.Time  // default time.Now
	Jitter     func() float64    // in [0, 1), required
	Grace      time.Duration     // default DefaultGrace
	// Broke says why the run can't pay for anything more, "" while it can;
	// asked when an attempt has ended. Nil: money is no matter.
	Broke func() string
}

// Ending is how a run ended.
type Ending struct {
	Status event.Status
	Error  string
	State  state.State
}

// Run drives a run to its end. Cancelling ctx cancels the run, with the cause
// as its reason; Run still returns only when the attempts have stopped, or
// their grace is over.
func Run(ctx context.Context, cfg Config) Ending {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Grace == 0 {
		cfg.Grace = DefaultGrace
	}
	d := &driver{
		cfg:      cfg,
		ctx:      context.WithoutCancel(ctx),
		core:     scheduler.New(cfg.Plan),
		state:    cfg.State,
		messages: make(chan message, 16),
		jobs:     make(chan job),
		closed:   make(chan struct{}),
		running:  map[attemptID]*attempt{},
		timers:   map[scheduler.Timer]*time.Timer{},
	}
	defer d.close()
	return d.loop(ctx)
}

// message is what other goroutines send to the one that owns the state: an
// input for the scheduler, an event of a running attempt, or an attempt whose
// grace is over.
type message struct {
	input   scheduler.Input
	result  *result
	event   *stepEvent
	overdue *attemptID
}

type attemptID struct{ step, number int }

type stepEvent struct {
	from  attemptID
	place string
	data  event.Data
}

// driver is owned by the goroutine in loop; others touch only messages and
// closed.
type driver struct {
	cfg      Config
	ctx      context.Context // the run's values without its cancellation
	core     *scheduler.State
	state    state.State
	messages chan message
	jobs     chan job      // taken by idle workers
	closed   chan struct{} // closed when the run has ended
	running  map[attemptID]*attempt
	timers   map[scheduler.Timer]*time.Timer
	seq      int64
	ending   *Ending
}

func (d *driver) loop(ctx context.Context) Ending {
	stop := ctx.Done()
	d.apply(scheduler.Start{})
	for d.ending == nil {
		select {
		case m := <-d.messages:
			d.handle(m)
		case <-stop:
			stop = nil
			d.apply(scheduler.Cancelled{Reason: context.Cause(ctx).Error()})
		}
	}
	d.ending.State = d.state
	return *d.ending
}

func (d *driver) handle(m message) {
	switch {
	case m.input != nil:
		d.apply(m.input)
	case m.result != nil:
		d.finishAttempt(m.result)
	case m.event != nil:
		if d.running[m.event.from] != nil {
			d.emit(d.address(m.event.from.step)+m.event.place, m.event.data)
		}
	case m.overdue != nil:
		d.abandon(*m.overdue)
	}
}

// apply feeds the scheduler and carries out what it says. Events come first:
// an observer sees a step start before anything of the step.
func (d *driver) apply(in scheduler.Input) {
	commands, events := d.core.Apply(in)
	for _, e := range events {
		d.emit(d.address(e.Step), e.Data)
	}
	for _, c := range commands {
		d.execute(c)
	}
}

func (d *driver) execute(c scheduler.Command) {
	switch c := c.(type) {
	case scheduler.StartAttempt:
		d.startAttempt(attemptID{c.Step, c.Attempt})
	case scheduler.CancelAttempt:
		d.cancelAttempt(c)
	case scheduler.SetTimer:
		d.timers[c.Timer] = time.AfterFunc(c.After, func() {
			d.send(message{input: scheduler.Fired{Timer: c.Timer}})
		})
	case scheduler.ClearTimer:
		if t := d.timers[c.Timer]; t != nil {
			t.Stop()
			delete(d.timers, c.Timer)
		}
	case scheduler.Finish:
		d.ending = &Ending{Status: c.Status, Error: c.Error}
	}
}

// send hands a message to the owner, unless the run has ended.
func (d *driver) send(m message) {
	select {
	case d.messages <- m:
	case <-d.closed:
	}
}

func (d *driver) emit(address string, data event.Data) {
	if d.cfg.Observe == nil {
		return
	}
	d.seq++
	d.cfg.Observe(event.Event{
		Seq: d.seq, Time: d.cfg.Now(), RunID: d.cfg.RunID, Address: address, Data: data,
	})
}

// address is a step's qualified id, or the run's own for index -1.
func (d *driver) address(index int) string {
	if index < 0 {
		return ""
	}
	return d.cfg.Definition.Steps[index].ID
}

func (d *driver) close() {
	close(d.closed)
	for _, t := range d.timers {
		t.Stop()
	}
}
