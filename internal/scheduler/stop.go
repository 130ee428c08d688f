package scheduler

import (
	"fmt"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
)

// stop is why a run ends before its steps have all ended.
type stop struct {
	halted  bool   // running attempts were told to stop
	message string // why they were
	// status and err are how the run ends; "" while its steps decide that.
	status event.Status
	err    string
}

// stopCause is why an attempt was told to stop. The first cause stands.
type stopCause uint8

const (
	notStopped stopCause = iota
	byTimeout            // its own
	byRunTimeout
	byCancel
)

// cancel stops the run for somebody; a second time changes nothing, nor does
// it after the run's timeout.
func (s *State) cancel(reason string) {
	message := "cancelled"
	if reason != "" {
		message += ": " + reason
	}
	s.halt(byCancel, event.Failed, fault.Cancelled, message)
}

// runTimedOut stops the run for its timeout.
func (s *State) runTimedOut() {
	if !s.runTimer {
		return
	}
	s.runTimer = false
	message := fmt.Sprintf("the run's timeout of %v ran out", s.plan.timeout)
	s.halt(byRunTimeout, event.Timeout, fault.Timeout, message)
}

// overBudget lets running attempts finish and starts no more. The run then
// ends budget_exceeded, even when it was being stopped for another reason:
// that it needs money is what a person must know to go on with it.
func (s *State) overBudget(reason string) {
	if s.stop.status == event.BudgetExceeded {
		return
	}
	if reason == "" {
		reason = "the run's budget is spent"
	}
	s.stop.status, s.stop.err = event.BudgetExceeded, reason
	s.close(notStopped)
}

// halt tells running attempts to stop and starts no more.
func (s *State) halt(cause stopCause, status event.Status, kind fault.Kind, message string) {
	if s.stop.halted {
		return
	}
	s.stop.halted, s.stop.message = true, message
	if s.stop.status == "" {
		s.stop.status, s.stop.err = status, message
	}
	for i := range s.steps {
		if st := &s.steps[i]; st.phase == running && st.stopped == notStopped {
			s.clearAttemptTimer(i)
			st.stopped = cause
			s.do(CancelAttempt{Step: i, Attempt: st.attempt, Kind: kind, Reason: message})
		}
	}
	s.close(cause)
}

// close starts no more attempts and ends the steps that were going to get
// another one. The run's timer stays while attempts may run on.
func (s *State) close(cause stopCause) {
	if s.stop.halted {
		s.clearRunTimer()
	}
	if s.life == closing {
		return
	}
	s.life = closing
	for i := range s.steps {
		st := &s.steps[i]
		if st.phase == waiting {
			s.do(ClearTimer{Timer: s.timer(RetryWait, i)})
		}
		if st.phase == waiting || st.phase == ready && st.attempt > 0 {
			s.dropRetry(i, cause)
		}
	}
}

// dropRetry ends a step between two attempts. Its report is empty, since the
// last attempt's was told when that one failed.
func (s *State) dropRetry(i int, cause stopCause) {
	st := &s.steps[i]
	done := event.StepFinished{Status: st.lastStatus, Error: st.lastError, Attempts: st.attempt}
	if cause != notStopped {
		done.Status = event.Failed
		if cause == byRunTimeout {
			done.Status = event.Timeout
		}
		done.Error = fmt.Sprintf("%s; attempt %d: %s", s.stop.message, st.attempt, st.lastError)
	}
	s.finishStep(i, done)
}

func (s *State) clearRunTimer() {
	if s.runTimer {
		s.runTimer = false
		s.do(ClearTimer{Timer: runTimer()})
	}
}

// finish ends the run.
func (s *State) finish() {
	s.life = over
	status, message := s.stop.status, s.stop.err
	if status == "" {
		status, message = event.Success, ""
		if s.failures.count > 0 {
			status, message = event.Failed, s.failures.message(s.plan)
		}
	}
	s.clearRunTimer()
	s.emit(-1, event.RunEnded{Status: status, Error: message})
	s.do(Finish{Status: status, Error: message})
}
