package scheduler

import (
	"fmt"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/fault"
)

// runTimer is the timer of the run's timeout.
func runTimer() Timer { return Timer{Kind: RunTimeout, Step: -1} }

// startAttempt starts a step's next attempt.
func (s *State) startAttempt(i int) {
	st, step := &s.steps[i], &s.plan.steps[i]
	st.attempt++
	st.phase, st.stopped = running, notStopped
	st.lastStatus, st.lastError = "", ""
	s.running++
	if st.attempt == 1 {
		s.emit(i, step.started)
	} else {
		s.emit(i, event.AttemptStarted{Attempt: st.attempt})
	}
	s.do(StartAttempt{Step: i, Attempt: st.attempt})
	if step.timeout > 0 {
		s.do(SetTimer{Timer: s.timer(AttemptTimeout, i), After: step.timeout})
	}
}

// timer names a timer of a step's current attempt: the limit of the one that
// runs, or the wait after the one that failed.
func (s *State) timer(kind TimerKind, i int) Timer {
	return Timer{Kind: kind, Step: i, Attempt: s.steps[i].attempt}
}

// endAttempt takes note that a running attempt ended, and reports whether
// there was one.
func (s *State) endAttempt(i, attempt int) bool {
	st := s.at(i)
	if st == nil || st.phase != running || st.attempt != attempt {
		return false
	}
	s.running--
	if st.stopped == notStopped {
		s.clearAttemptTimer(i)
	}
	return true
}

// clearAttemptTimer takes back the limit of a running attempt, if it has one.
// The timer is set from the attempt's start until it ends or is told to stop.
func (s *State) clearAttemptTimer(i int) {
	if s.plan.steps[i].timeout > 0 {
		s.do(ClearTimer{Timer: s.timer(AttemptTimeout, i)})
	}
}

// attemptSucceeded ends a step. A success that comes after the attempt was
// told to stop counts: the work is done and may have been paid for.
func (s *State) attemptSucceeded(in Succeeded) {
	if !s.endAttempt(in.Step, in.Attempt) {
		return
	}
	done := event.StepFinished{
		Status:   event.Success,
		HasEntry: in.Outcome.HasResult,
		Attempts: in.Attempt,
		Report:   in.Outcome.Report,
		Path:     s.plan.steps[in.Step].output,
	}
	if done.HasEntry {
		done.Output = in.Outcome.Result
	}
	if done.Path != "" {
		done.Write = in.Outcome.Write
	}
	s.steps[in.Step].chosen = in.Outcome.Chosen
	s.finishStep(in.Step, done)
}

// attemptFailed retries a step or ends it.
func (s *State) attemptFailed(in Failed) {
	if !s.endAttempt(in.Step, in.Attempt) {
		return
	}
	i, f := in.Step, &in.Failure
	status, message := s.verdict(i, f)
	if !s.retries(i, f) {
		s.finishStep(i, event.StepFinished{
			Status: status, Error: message, Attempts: in.Attempt, Report: f.Report,
		})
		return
	}
	st := &s.steps[i]
	pause := wait(in.Attempt, f, &s.plan.steps[i].retry)
	st.phase, st.lastStatus, st.lastError = waiting, status, message
	s.emit(i, event.AttemptFailed{
		Attempt: in.Attempt, Status: status, Error: message, RetryIn: pause, Report: f.Report,
	})
	s.do(SetTimer{Timer: s.timer(RetryWait, i), After: pause})
}

// verdict says how a failed attempt ended and why. An attempt that was told to
// stop ended of that, whatever it says itself.
func (s *State) verdict(i int, f *Failure) (event.Status, string) {
	attempt := s.steps[i].attempt
	switch s.steps[i].stopped {
	case byTimeout:
		return event.Timeout, s.timeoutMessage(i)
	case byRunTimeout:
		return event.Timeout, s.stop.message
	case byCancel:
		return event.Failed, s.stop.message
	}
	message := f.Message
	if message == "" {
		message = fmt.Sprintf("attempt %d failed without saying why (%v)", attempt, f.Kind)
	}
	if f.Kind == fault.Timeout {
		return event.Timeout, message
	}
	return event.Failed, message
}

func (s *State) timeoutMessage(i int) string {
	return fmt.Sprintf("attempt %d timed out after %v", s.steps[i].attempt, s.plan.steps[i].timeout)
}

// retries reports whether a step gets another attempt after a failure. A
// router does not: the same state would give the same answer.
func (s *State) retries(i int, f *Failure) bool {
	st, step := &s.steps[i], &s.plan.steps[i]
	if s.life != going || step.router || st.attempt > step.retry.MaxRetries {
		return false
	}
	return st.stopped == byTimeout || retryable(f, &step.retry)
}

// fired acts on a timer, unless it has been cleared or has nothing to do with
// this run.
func (s *State) fired(t Timer) {
	if t == runTimer() {
		s.runTimedOut()
		return
	}
	st := s.at(t.Step)
	if st == nil || st.attempt != t.Attempt {
		return
	}
	switch {
	case t.Kind == RetryWait && st.phase == waiting:
		s.push(t.Step)
	case t.Kind == AttemptTimeout && st.phase == running && st.stopped == notStopped && s.plan.steps[t.Step].timeout > 0:
		st.stopped = byTimeout
		s.do(CancelAttempt{
			Step: t.Step, Attempt: t.Attempt, Kind: fault.Timeout, Reason: s.timeoutMessage(t.Step),
		})
	}
}
