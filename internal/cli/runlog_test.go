package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/model"
)

func TestRunLog(t *testing.T) {
	cost := 0.00125
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var b strings.Builder
	log := newRunLog(newScreen(&b, style{}, &secrets{}))
	tell := func(after time.Duration, address string, data event.Data) {
		log.Observe(event.Event{Time: start.Add(after), RunID: "r1", Address: address, Data: data})
	}
	tell(0, "", event.RunStarted{Workflow: "demo", Steps: 1})
	tell(0, "ask", event.StepStarted{Type: "llm_call"})
	tell(time.Second, "ask", event.AttemptFailed{Attempt: 1, Status: event.Timeout, Error: "too\nslow", RetryIn: 1500 * time.Millisecond,
		Report: event.Report{Usage: &model.Usage{TotalTokens: 4}, CostUSD: &cost}})
	tell(2*time.Second, "ask", event.AttemptStarted{Attempt: 2})
	tell(2*time.Second, "ask", event.Warning{Message: "state.x is not set"})
	tell(3*time.Second, "ask", event.StepFinished{Status: event.Success, Attempts: 2,
		Report: event.Report{Usage: &model.Usage{TotalTokens: 1}, CostUSD: &cost}})
	tell(3*time.Second, "fetch", event.StepStarted{Type: "tool"})
	tell(3*time.Second, "fetch", event.ToolStarted{Tool: "http_request"})
	tell(3*time.Second, "fetch", event.ToolFinished{Tool: "http_request", Error: "no"})
	tell(3*time.Second, "fetch", event.StepFinished{Status: event.Failed, Attempts: 1, Error: "no"})
	tell(3*time.Second, "ask/turn[1]/call[0]", event.ToolStarted{Tool: "bash"})
	tell(3*time.Second, "ask/turn[1]/call[0]", event.ToolFinished{Tool: "bash", Error: "no"})
	tell(4*time.Second, "later", event.StepSkipped{Reason: "fetch failed"})
	tell(125*time.Second, "", event.RunEnded{Status: event.Failed, Error: "step fetch failed"})
	want := `03:04:05 run r1 of demo started, 1 step
03:04:05 ask: started (llm_call)
03:04:06 ask: attempt 1 timed out: too\nslow; trying again in 1.50s
03:04:07 ask: attempt 2 started
03:04:07 ask: warning: state.x is not set
03:04:08 ask: done in 3.00s, 2 attempts, 5 tokens, $0.0025
03:04:08 fetch: started (tool)
03:04:08 fetch: failed after 0ms, 1 attempt: no
03:04:08 ask/turn[1]/call[0]: calls bash
03:04:08 ask/turn[1]/call[0]: bash failed: no
03:04:09 later: skipped: fetch failed
03:06:10 run ended: failed: step fetch failed
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestDurationAndDollars(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0ms", 1600 * time.Microsecond: "2ms", 999 * time.Millisecond: "999ms",
		1234 * time.Millisecond: "1.23s", 59 * time.Second: "59.00s",
		125 * time.Second: "2m05s", 2 * time.Hour: "120m00s",
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%v) = %q, want %q", d, got, want)
		}
	}
	for usd, want := range map[float64]string{
		0: "$0.00", 0.5: "$0.50", 12.345: "$12.345", 0.0000004: "$0.00", 0.000123: "$0.000123",
	} {
		if got := dollars(usd); got != want {
			t.Errorf("dollars(%v) = %q, want %q", usd, got, want)
		}
	}
}
