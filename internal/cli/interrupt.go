package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/fault"
)

var errInterrupted = errors.New("interrupted")

// untilInterrupted runs a workflow. The first SIGINT or SIGTERM cancels it and
// waits for its end; the second leaves at once, as an error with the exit
// code, while the run is still ending.
func untilInterrupted(ctx context.Context, p *program, run func(context.Context) (*agentloom.Result, error)) (res *agentloom.Result, interrupted bool, err error) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	type ending struct {
		res *agentloom.Result
		err error
	}
	ended := make(chan ending, 1)
	go func() {
		res, err := run(ctx)
		ended <- ending{res, err}
	}()
	for {
		select {
		case e := <-ended:
			if fault.KindOf(e.err) == fault.Invalid { // the run id
				return nil, interrupted, usage("%w", e.err)
			}
			if e.err != nil {
				return nil, interrupted, failed("%w", e.err)
			}
			return e.res, interrupted, nil
		case <-signals:
			if interrupted {
				return nil, true, &failure{code: exitInterrupted}
			}
			interrupted = true
			p.say("%s stopping the running steps; press Ctrl-C again to leave at once\n", p.err.yellow("interrupted:"))
			cancel(errInterrupted)
		}
	}
}
