package scheduler

import (
	"fmt"

	"github.com/agentloom/agentloom/event"
)

// finishStep ends a step that started, and passes it on.
func (s *State) finishStep(i int, done event.StepFinished) {
	st := &s.steps[i]
	switch done.Status {
	case event.Success:
		st.phase = succeeded
	case event.Timeout:
		st.phase = timedOut
	default:
		st.phase = failed
	}
	if st.phase != succeeded {
		s.failures.add(i, st.phase, done.Error)
	}
	s.emit(i, done)
	s.settle(i)
}

// settle tells the steps after an ended one, and those after the ones that are
// skipped for it, and opens the next layer when this was the last of its own.
// In a run that is closing nothing is decided any more: what has not started
// is left as it is, so that a resumed run can decide it.
func (s *State) settle(i int) {
	ended := []int{i}
	for len(ended) > 0 {
		i, ended = ended[0], ended[1:]
		s.ended++
		s.layerLeft[s.plan.steps[i].layer]--
		if s.life != going {
			continue
		}
		for _, d := range s.plan.steps[i].dependents {
			if s.steps[d].unmet--; s.steps[d].unmet == 0 && s.decide(d) {
				ended = append(ended, d)
			}
		}
	}
	s.openLayers()
}

// decide lets a step whose dependencies have all ended run, or skips it, which
// it reports. It waits for all of them, though one may be enough to skip the
// step, so that the reason does not depend on which ended first.
func (s *State) decide(i int) (skip bool) {
	if reason := s.skipReason(i); reason != "" {
		s.steps[i].phase = skipped
		s.emit(i, event.StepSkipped{Reason: reason})
		return true
	}
	if s.plan.eager {
		s.push(i)
	} else {
		s.steps[i].phase = held
	}
	return false
}

// openLayers moves on to the first layer with steps that have not ended.
func (s *State) openLayers() {
	if s.life != going {
		return
	}
	for s.layerLeft[s.layer] == 0 && s.layer+1 < len(s.plan.layers) {
		s.layer++
		for _, i := range s.plan.layers[s.layer] {
			if s.steps[i].phase == held {
				s.push(i)
			}
		}
	}
}

// skipReason says why a step whose dependencies have all ended must be
// skipped, "" when it may run. Of several causes the closest is named, the
// first in depends_on order: a dependency that decided it before one that was
// skipped itself.
func (s *State) skipReason(i int) string {
	passedOn := ""
	for _, d := range s.plan.steps[i].deps {
		if reason := s.blocks(d, s.plan.steps[i].id); reason != "" {
			return reason
		}
		if s.steps[d].phase == skipped && passedOn == "" {
			passedOn = fmt.Sprintf("step %q was skipped", s.plan.steps[d].id)
		}
	}
	return passedOn
}

// blocks says why dependency d keeps the step with an id from running, ""
// when it does not: a router that chose another step or, whatever
// on_step_failure says, none at all; a step that did not succeed, unless the
// run continues after failures.
func (s *State) blocks(d int, id string) string {
	dep, name, kind := &s.steps[d], s.plan.steps[d].id, "step"
	if s.plan.steps[d].router {
		kind = "router"
		if dep.phase == succeeded && dep.chosen != id {
			return fmt.Sprintf("router %q chose %q", name, dep.chosen)
		}
	} else if s.plan.keepGoing {
		return ""
	}
	switch dep.phase {
	case failed:
		return fmt.Sprintf("%s %q failed", kind, name)
	case timedOut:
		return fmt.Sprintf("%s %q timed out", kind, name)
	}
	return ""
}
