package scheduler

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
)

func TestRetryable(t *testing.T) {
	tests := []struct {
		kind   fault.Kind
		status int
		want   bool
	}{
		{0, 0, true},
		{fault.Permanent, 0, false},
		{fault.Transient, 0, true},
		{fault.Timeout, 0, true},
		{fault.Refused, 0, false},
		{fault.Invalid, 0, false},
		{fault.Cancelled, 0, false},
		{fault.Budget, 0, false},

		{0, 503, true},
		{0, 404, false},
		{fault.Permanent, 401, false},
		{fault.Permanent, 503, true}, // listed: retried although permanent
		{fault.Transient, 503, true},
		{fault.Transient, 404, false}, // not listed: not retried although transient
		{fault.Timeout, 408, true},
		{fault.Timeout, 418, false},
		{fault.Cancelled, 503, false},
		{fault.Budget, 429, false},
	}
	policy := workflow.DefaultRetry(3)
	for _, tt := range tests {
		if got := retryable(&Failure{Kind: tt.kind, Status: tt.status}, &policy); got != tt.want {
			t.Errorf("retryable(%v, status %d) = %v, want %v", tt.kind, tt.status, got, tt.want)
		}
	}
	for _, status := range []int{408, 429, 500, 502, 503, 504, 529} {
		if !retryable(&Failure{Kind: fault.Transient, Status: status}, &policy) {
			t.Errorf("status %d is not retried by default", status)
		}
	}
	policy.RetryableStatusCodes = []int{401}
	if !retryable(&Failure{Kind: fault.Permanent, Status: 401}, &policy) {
		t.Error("a rejected key is not retried although the step lists 401")
	}
}

func TestRetries(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name:  "up to max_retries attempts follow the first, then the last failure stands",
			steps: []workflow.Step{retrying(step("a"), 2)},
			script: `
				> start
				run started: test, 1 steps
				a started
				! start a#1
				> fail a#1 transient one
				a attempt 1 failed: one; again in 1s
				! set retry a#1 1s
				> fire retry a#1
				a started attempt 2
				! start a#2
				> fail a#2 transient two
				a attempt 2 failed: two; again in 2s
				! set retry a#2 2s
				> fire retry a#2
				a started attempt 3
				! start a#3
				> fail a#3 transient three
				a ended failed after 3: three
				run ended failed: step "a" failed: three
				! finish failed: step "a" failed: three`,
		},
		{
			name:  "a listed status is retried whatever its kind, after what the service asks for",
			steps: []workflow.Step{retrying(step("a"), 2)},
			script: `
				> start
				run started: test, 1 steps
				a started
				! start a#1
				> fail a#1 permanent status=429 after=7s slow down
				a attempt 1 failed: slow down; again in 7s
				! set retry a#1 7s
				> fire retry a#1
				a started attempt 2
				! start a#2
				> fail a#2 transient status=404 not there
				a ended failed after 2: not there
				run ended failed: step "a" failed: not there
				! finish failed: step "a" failed: not there`,
		},
		{
			name:  "max_retries 0 is one attempt",
			steps: []workflow.Step{retrying(step("a"), 0)},
			script: `
				> start
				run started: test, 1 steps
				a started
				! start a#1
				> fail a#1 transient boom
				a ended failed after 1: boom
				run ended failed: step "a" failed: boom
				! finish failed: step "a" failed: boom`,
		},
	})
}

func TestWait(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name      string
		n         int
		base, max float64
		jitter    bool
		draw      float64
		after     time.Duration
		want      time.Duration
	}{
		{name: "first", n: 1, base: 2, max: 60, want: 1 * s},
		{name: "second", n: 2, base: 2, max: 60, want: 2 * s},
		{name: "fourth", n: 4, base: 2, max: 60, want: 8 * s},
		{name: "at the limit", n: 7, base: 2, max: 60, want: 60 * s},
		{name: "far over the limit", n: math.MaxInt, base: 2, max: 60, want: 60 * s},
		{name: "huge base", n: 3, base: 1e300, max: 60, want: 60 * s},
		{name: "base 1", n: 99, base: 1, max: 60, want: 1 * s},
		{name: "base below 1 shrinks", n: 3, base: 0.5, max: 60, want: s / 4},
		{name: "and shrinks to nothing", n: math.MaxInt, base: 0.5, max: 60, want: 0},
		{name: "limit below 1", n: 1, base: 2, max: 0.25, want: s / 4},
		{name: "limit beyond all time", n: math.MaxInt, base: 2, max: math.MaxFloat64, want: math.MaxInt64},
		{name: "no number", n: 2, base: math.NaN(), max: 60, want: 60 * s},
		{name: "no policy", n: 1, want: 0},

		{name: "least jitter", n: 3, base: 2, max: 60, jitter: true, draw: 0, want: 3 * s},
		{name: "middle jitter", n: 3, base: 2, max: 60, jitter: true, draw: 0.5, want: 4 * s},
		{name: "most jitter", n: 3, base: 2, max: 60, jitter: true, draw: 1, want: 5 * s},
		{name: "jitter stays under the limit", n: 9, base: 2, max: 60, jitter: true, draw: 0.9, want: 60 * s},
		{name: "jitter out of range", n: 3, base: 2, max: 60, jitter: true, draw: 99, want: 5 * s},
		{name: "jitter no number", n: 3, base: 2, max: 60, jitter: true, draw: math.NaN(), want: 4 * s},
		{name: "no jitter", n: 3, base: 2, max: 60, draw: 0.9, want: 4 * s},

		{name: "longer Retry-After", n: 1, base: 2, max: 60, after: 30 * s, want: 30 * s},
		{name: "shorter Retry-After", n: 5, base: 2, max: 60, after: 3 * s, want: 16 * s},
		{name: "Retry-After over the limit", n: 1, base: 2, max: 60, after: time.Hour, want: 60 * s},
		{name: "Retry-After is not spread", n: 1, base: 2, max: 60, jitter: true, draw: 0, after: 30 * s, want: 30 * s},
		{name: "negative Retry-After", n: 1, base: 2, max: 60, after: -time.Hour, want: 1 * s},
	}
	for _, tt := range tests {
		policy := workflow.Retry{BackoffBase: tt.base, BackoffMax: tt.max, Jitter: tt.jitter}
		if got := wait(tt.n, &Failure{Jitter: tt.draw, RetryAfter: tt.after}, &policy); got != tt.want {
			t.Errorf("%s: wait = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWaitIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := workflow.Retry{
			BackoffBase: rapid.Float64().Draw(t, "base"),
			BackoffMax:  rapid.Float64().Draw(t, "max"),
			Jitter:      rapid.Bool().Draw(t, "jitter"),
		}
		f := Failure{
			Jitter:     rapid.Float64().Draw(t, "draw"),
			RetryAfter: time.Duration(rapid.Int64().Draw(t, "after")),
		}
		got := wait(rapid.IntMin(1).Draw(t, "n"), &f, &policy)
		if got < 0 || got > duration(policy.BackoffMax) {
			t.Fatalf("wait = %v, outside 0 to %v s", got, policy.BackoffMax)
		}
	})
}
