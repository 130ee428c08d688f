package scheduler

import (
	"testing"

	"github.com/agentloom/agentloom/workflow"
)

func TestAttemptTimeouts(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name:  "an attempt that times out is told to stop, ends timeout and is retried",
			steps: []workflow.Step{limited(retrying(step("a"), 1), 3), step("b", "a")},
			script: `
				> start
				run started: test, 2 steps
				a started
				! start a#1
				! set attempt a#1 3s
				> fire attempt a#1
				! cancel a#1 (timeout): attempt 1 timed out after 3s
				> fire attempt a#1
				> fail a#1 permanent interrupted
				a attempt 1 timeout: attempt 1 timed out after 3s; again in 1s
				! set retry a#1 1s
				> fire retry a#1
				a started attempt 2
				! start a#2
				! set attempt a#2 3s
				> fire attempt a#2
				! cancel a#2 (timeout): attempt 2 timed out after 3s
				> fail a#2 cancelled interrupted
				a ended timeout after 2: attempt 2 timed out after 3s
				b skipped: step "a" timed out
				run ended failed: step "a" timed out: attempt 2 timed out after 3s
				! finish failed: step "a" timed out: attempt 2 timed out after 3s`,
		},
		{
			name:  "a success that comes after the timeout counts",
			steps: []workflow.Step{limited(step("a"), 90)},
			script: `
				> start
				run started: test, 1 steps
				a started
				! start a#1
				! set attempt a#1 1m30s
				> fire attempt a#1
				! cancel a#1 (timeout): attempt 1 timed out after 1m30s
				> ok a#1
				a ended success after 1
				run ended success
				! finish success`,
		},
		{
			name:  "a timeout of the attempt's own making ends it timeout as well",
			steps: []workflow.Step{limited(retrying(step("a"), 1), 0.5)},
			script: `
				> start
				run started: test, 1 steps
				a started
				! start a#1
				! set attempt a#1 500ms
				> fail a#1 timeout the service did not answer
				a attempt 1 timeout: the service did not answer; again in 1s
				! clear attempt a#1
				! set retry a#1 1s`,
		},
	})
}

func TestRunTimeout(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name:   "running attempts stop, waits are dropped, the rest never starts",
			config: runLimit(5),
			steps: []workflow.Step{
				limited(step("a"), 3), retrying(step("b"), 1), step("c"), step("d", "a"),
			},
			script: `
				> start
				run started: test, 4 steps
				a started
				b started
				c started
				! set run 5s
				! start a#1
				! set attempt a#1 3s
				! start b#1
				! start c#1
				> fail b#1 transient boom
				b attempt 1 failed: boom; again in 1s
				! set retry b#1 1s
				> fire run
				b ended timeout after 1: the run's timeout of 5s ran out; attempt 1: boom
				! clear attempt a#1
				! cancel a#1 (timeout): the run's timeout of 5s ran out
				! cancel c#1 (timeout): the run's timeout of 5s ran out
				! clear retry b#1
				> fire retry b#1
				> fire attempt a#1
				> fire run
				> cancel too late
				> fail a#1 transient interrupted
				a ended timeout after 1: the run's timeout of 5s ran out
				> ok c#1
				c ended success after 1
				run ended timeout: the run's timeout of 5s ran out
				! finish timeout: the run's timeout of 5s ran out`,
		},
		{
			name:   "a run that ends in time takes the timer back",
			config: runLimit(5),
			steps:  []workflow.Step{step("a")},
			script: `
				> start
				run started: test, 1 steps
				a started
				! set run 5s
				! start a#1
				> ok a#1
				a ended success after 1
				run ended success
				! clear run
				! finish success`,
		},
	})
}

func TestCancel(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name:   "running attempts stop, the rest never starts, the run ends failed",
			config: runLimit(60),
			steps:  []workflow.Step{limited(retrying(step("a"), 1), 3), step("b"), step("c", "a")},
			script: `
				> start
				run started: test, 3 steps
				a started
				b started
				! set run 1m0s
				! start a#1
				! set attempt a#1 3s
				! start b#1
				> cancel interrupted
				! clear attempt a#1
				! cancel a#1 (cancelled): cancelled: interrupted
				! cancel b#1 (cancelled): cancelled: interrupted
				! clear run
				> cancel again
				> ok b#1
				b ended success after 1
				> fail a#1 transient boom
				a ended failed after 1: cancelled: interrupted
				run ended failed: cancelled: interrupted
				! finish failed: cancelled: interrupted`,
		},
		{
			name:   "retries that wait for a slot are dropped like those that wait for their time",
			config: atMost(1),
			steps:  []workflow.Step{retrying(step("a"), 1), retrying(step("b"), 1), step("c")},
			script: `
				> start
				run started: test, 3 steps
				a started
				! start a#1
				> fail a#1 transient boom
				a attempt 1 failed: boom; again in 1s
				b started
				! set retry a#1 1s
				! start b#1
				> fail b#1 transient bang
				b attempt 1 failed: bang; again in 1s
				c started
				! set retry b#1 1s
				! start c#1
				> fire retry a#1
				> cancel stop
				a ended failed after 1: cancelled: stop; attempt 1: boom
				b ended failed after 1: cancelled: stop; attempt 1: bang
				! cancel c#1 (cancelled): cancelled: stop
				! clear retry b#1
				> fail c#1 cancelled stop
				c ended failed after 1: cancelled: stop
				run ended failed: cancelled: stop
				! finish failed: cancelled: stop`,
		},
		{
			name:  "a run in which nothing runs ends at once",
			steps: []workflow.Step{retrying(step("a"), 1)},
			script: `
				> start
				run started: test, 1 steps
				a started
				! start a#1
				> fail a#1 transient boom
				a attempt 1 failed: boom; again in 1s
				! set retry a#1 1s
				> cancel
				a ended failed after 1: cancelled; attempt 1: boom
				run ended failed: cancelled
				! clear retry a#1
				! finish failed: cancelled`,
		},
		{
			name:  "an attempt that had timed out before stays timed out, and gets no other",
			steps: []workflow.Step{limited(retrying(step("a"), 1), 3)},
			script: `
				> start
				run started: test, 1 steps
				a started
				! start a#1
				! set attempt a#1 3s
				> fire attempt a#1
				! cancel a#1 (timeout): attempt 1 timed out after 3s
				> cancel stop
				> fail a#1 timeout interrupted
				a ended timeout after 1: attempt 1 timed out after 3s
				run ended failed: cancelled: stop
				! finish failed: cancelled: stop`,
		},
		{
			name:  "a router that finishes late decides nothing any more",
			steps: []workflow.Step{router("route"), step("a", "route"), step("b", "route")},
			script: `
				> start
				run started: test, 3 steps
				route started
				! start route#1
				> cancel stop
				! cancel route#1 (cancelled): cancelled: stop
				> ok route#1 -> a
				route ended success after 1
				run ended failed: cancelled: stop
				! finish failed: cancelled: stop`,
		},
	})
}

func TestOverBudget(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name:   "running attempts finish, nothing else starts, budget_exceeded wins over failed",
			config: runLimit(60),
			steps: []workflow.Step{
				retrying(step("a"), 1), limited(retrying(step("b"), 1), 3), retrying(step("c"), 1), step("d", "a"),
			},
			script: `
				> start
				run started: test, 4 steps
				a started
				b started
				c started
				! set run 1m0s
				! start a#1
				! start b#1
				! set attempt b#1 3s
				! start c#1
				> fail c#1 transient boom
				c attempt 1 failed: boom; again in 1s
				! set retry c#1 1s
				> overbudget spent 1.20 of 1.00 USD
				c ended failed after 1: boom
				! clear retry c#1
				> overbudget again
				> ok a#1
				a ended success after 1
				> fire attempt b#1
				! cancel b#1 (timeout): attempt 1 timed out after 3s
				> fail b#1 transient interrupted
				b ended timeout after 1: attempt 1 timed out after 3s
				run ended budget_exceeded: spent 1.20 of 1.00 USD
				! clear run
				! finish budget_exceeded: spent 1.20 of 1.00 USD`,
		},
		{
			name:  "it also comes with the last step",
			steps: []workflow.Step{step("a")},
			script: `
				> start
				run started: test, 1 steps
				a started
				! start a#1
				> overbudget
				> ok a#1
				a ended success after 1
				run ended budget_exceeded: the run's budget is spent
				! finish budget_exceeded: the run's budget is spent`,
		},
		{
			name:   "a cancellation and the run's timeout still stop what runs",
			config: runLimit(5),
			steps:  []workflow.Step{step("a")},
			script: `
				> start
				run started: test, 1 steps
				a started
				! set run 5s
				! start a#1
				> overbudget spent
				> fire run
				! cancel a#1 (timeout): the run's timeout of 5s ran out
				> fail a#1 timeout interrupted
				a ended timeout after 1: the run's timeout of 5s ran out
				run ended budget_exceeded: spent
				! finish budget_exceeded: spent`,
		},
		{
			name:  "it is told of a cancelled run too",
			steps: []workflow.Step{step("a")},
			script: `
				> start
				run started: test, 1 steps
				a started
				! start a#1
				> cancel stop
				! cancel a#1 (cancelled): cancelled: stop
				> overbudget spent
				> fail a#1 cancelled interrupted
				a ended failed after 1: cancelled: stop
				run ended budget_exceeded: spent
				! finish budget_exceeded: spent`,
		},
	})
}
