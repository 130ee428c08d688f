package scheduler

import (
	"math"
	"slices"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
)

// retryable reports whether a failure is worth another attempt under a policy,
// leaving aside how many there have been.
//
// An HTTP status decides by itself, against the policy's list: a listed one is
// retried even when its kind is Permanent, another is not even when it is
// Transient. Otherwise the kind decides, and an error that nobody classified
// is retried: what can't be helped must have been marked so. Cancelled and
// Budget are never retried, since the run they speak of is as it was.
func retryable(f *Failure, policy *workflow.Retry) bool {
	switch {
	case f.Kind == fault.Cancelled || f.Kind == fault.Budget:
		return false
	case f.Status != 0:
		return slices.Contains(policy.RetryableStatusCodes, f.Status)
	}
	return f.Kind == 0 || f.Kind == fault.Transient || f.Kind == fault.Timeout
}

// wait returns how long to wait after failed attempt n, from 1:
// min(backoff_base^(n-1), backoff_max) seconds, spread by ±25 % where the policy
// says jitter, or what the service asked for where that is longer. No wait is
// longer than backoff_max, a spread or asked-for one included.
func wait(n int, f *Failure, policy *workflow.Retry) time.Duration {
	limit := duration(policy.BackoffMax)
	seconds := math.Pow(policy.BackoffBase, float64(n-1))
	if !(seconds < policy.BackoffMax) { // NaN too
		seconds = policy.BackoffMax
	}
	if policy.Jitter {
		seconds *= 0.75 + 0.5*unit(f.Jitter)
	}
	return min(max(duration(seconds), f.RetryAfter), limit)
}

// unit brings a number into [0, 1]; NaN is the middle.
func unit(x float64) float64 {
	if math.IsNaN(x) {
		return 0.5
	}
	return min(max(x, 0), 1)
}
