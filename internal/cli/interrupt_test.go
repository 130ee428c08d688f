//go:build unix

package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/agentloom/agentloom"
)

// A run that does not stop when it is told to is left behind at the second
// signal.
func TestSecondInterruptLeavesAtOnce(t *testing.T) {
	said, stderr := io.Pipe()
	p := &program{Process: Process{Stderr: stderr}}
	release := make(chan struct{})
	causes := make(chan error, 1)
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		_, _, err := untilInterrupted(t.Context(), p, func(ctx context.Context) (*agentloom.Result, error) {
			close(started)
			<-ctx.Done()
			causes <- context.Cause(ctx)
			<-release
			return &agentloom.Result{}, nil
		})
		ended <- err
	}()
	<-started
	kill(t, syscall.SIGINT)
	text, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(text, "press Ctrl-C again") {
		t.Fatalf("the first signal said %q (%v)", text, err)
	}
	if cause := <-causes; !errors.Is(cause, errInterrupted) {
		t.Errorf("the run was cancelled because of %v", cause)
	}
	kill(t, syscall.SIGTERM)
	var f *failure
	if err := <-ended; !errors.As(err, &f) || f.code != exitInterrupted {
		t.Errorf("the second signal ended with %v", err)
	}
	close(release)
}

func kill(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(syscall.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}
