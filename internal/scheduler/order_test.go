package scheduler

import (
	"testing"

	"github.com/agentloom/agentloom/workflow"
)

func TestOrder(t *testing.T) {
	both := func(fs ...func(*workflow.Config)) func(*workflow.Config) {
		return func(c *workflow.Config) {
			for _, f := range fs {
				f(c)
			}
		}
	}
	// a and b are the first layer; c follows a alone.
	uneven := []workflow.Step{step("a"), step("b"), step("c", "a")}
	runScenarios(t, []scenario{
		{
			name:  "layers wait for the whole layer before",
			steps: uneven,
			script: `
				> start
				run started: test, 3 steps
				a started
				b started
				! start a#1
				! start b#1
				> ok a#1
				a ended success after 1
				> ok b#1
				b ended success after 1
				c started
				! start c#1
				> ok c#1
				c ended success after 1
				run ended success
				! finish success`,
		},
		{
			name:   "eager waits for a step's own dependencies only",
			config: eager,
			steps:  uneven,
			script: `
				> start
				run started: test, 3 steps
				a started
				b started
				! start a#1
				! start b#1
				> ok a#1
				a ended success after 1
				c started
				! start c#1
				> ok c#1
				c ended success after 1
				> ok b#1
				b ended success after 1
				run ended success
				! finish success`,
		},
		{
			name:  "file order need not be an order of dependencies",
			steps: []workflow.Step{step("last", "mid"), step("mid", "first"), step("first")},
			script: `
				> start
				run started: test, 3 steps
				first started
				! start first#1
				> ok first#1
				first ended success after 1
				mid started
				! start mid#1
				> ok mid#1
				mid ended success after 1
				last started
				! start last#1
				> ok last#1
				last ended success after 1
				run ended success
				! finish success`,
		},
		{
			name:   "no more than max_concurrent_steps run, in file order",
			config: atMost(2),
			steps:  []workflow.Step{step("c"), step("a"), step("b"), step("d")},
			script: `
				> start
				run started: test, 4 steps
				c started
				a started
				! start c#1
				! start a#1
				> ok a#1
				a ended success after 1
				b started
				! start b#1
				> ok c#1
				c ended success after 1
				d started
				! start d#1`,
		},
		{
			name:   "a step that waits for its retry holds no slot, and comes before new steps",
			config: both(atMost(1), eager),
			steps:  []workflow.Step{step("a"), retrying(step("b"), 1), step("c"), step("d")},
			script: `
				> start
				run started: test, 4 steps
				a started
				! start a#1
				> ok a#1
				a ended success after 1
				b started
				! start b#1
				> fail b#1 transient boom
				b attempt 1 failed: boom; again in 1s
				c started
				! set retry b#1 1s
				! start c#1
				> fire retry b#1
				> ok c#1
				c ended success after 1
				b started attempt 2
				! start b#2
				> ok b#2
				b ended success after 2
				d started
				! start d#1`,
		},
		{
			name:   "retries come in file order too",
			config: atMost(2),
			steps:  []workflow.Step{retrying(step("a"), 1), retrying(step("b"), 1), step("c"), step("d")},
			script: `
				> start
				run started: test, 4 steps
				a started
				b started
				! start a#1
				! start b#1
				> fail b#1 transient boom
				b attempt 1 failed: boom; again in 1s
				c started
				! set retry b#1 1s
				! start c#1
				> fail a#1 transient boom
				a attempt 1 failed: boom; again in 1s
				d started
				! set retry a#1 1s
				! start d#1
				> fire retry b#1
				> fire retry a#1
				> ok c#1
				c ended success after 1
				a started attempt 2
				! start a#2
				> ok d#1
				d ended success after 1
				b started attempt 2
				! start b#2`,
		},
		{
			name:   "a retry comes before a new step that stands before it in the file",
			config: both(atMost(2), eager),
			steps:  []workflow.Step{step("new", "x"), step("x"), retrying(step("again"), 1), step("y")},
			script: `
				> start
				run started: test, 4 steps
				x started
				again started
				! start x#1
				! start again#1
				> fail again#1 transient boom
				again attempt 1 failed: boom; again in 1s
				y started
				! set retry again#1 1s
				! start y#1
				> fire retry again#1
				> ok x#1
				x ended success after 1
				again started attempt 2
				! start again#2`,
		},
		{
			name: "a doubled dependency changes nothing",
			steps: []workflow.Step{
				step("a"), step("b", "a", "a"),
			},
			script: `
				> start
				run started: test, 2 steps
				a started
				! start a#1
				> ok a#1
				a ended success after 1
				b started
				! start b#1`,
		},
		{
			name:  "a workflow without steps ends at once",
			steps: nil,
			script: `
				> start
				run started: test, 0 steps
				run ended success
				! finish success`,
		},
	})
}

func TestIgnoredInputs(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name:  "before the start and after the end",
			steps: []workflow.Step{step("a")},
			script: `
				> ok a#1
				> cancel early
				> start
				run started: test, 1 steps
				a started
				! start a#1
				> start
				> ok a#1
				a ended success after 1
				run ended success
				! finish success
				> ok a#1
				> cancel late
				> overbudget late
				> start
				> fire run`,
		},
		{
			name:  "attempts that are not running",
			steps: []workflow.Step{retrying(step("a"), 3), step("b", "a")},
			script: `
				> start
				run started: test, 2 steps
				a started
				! start a#1
				> ok a#2
				> ok b#1
				> fail b#0 transient boom
				> fail a#1 transient boom
				a attempt 1 failed: boom; again in 1s
				! set retry a#1 1s
				> fail a#1 transient boom
				> ok a#1
				> fire retry a#2
				> fire retry b#0
				> fire attempt a#1
				> fire run
				> fire retry a#1
				a started attempt 2
				! start a#2
				> fire retry a#1
				> fire retry a#2
				> fire attempt a#2
				> ok a#1
				> ok a#2
				a ended success after 2
				b started
				! start b#1
				> ok a#2
				> fail a#2 transient boom`,
		},
		{
			name:  "a timer that was cleared",
			steps: []workflow.Step{limited(retrying(step("a"), 1), 3)},
			script: `
				> start
				run started: test, 1 steps
				a started
				! start a#1
				! set attempt a#1 3s
				> fail a#1 transient boom
				a attempt 1 failed: boom; again in 1s
				! clear attempt a#1
				! set retry a#1 1s
				> fire attempt a#1
				> fire retry a#1
				a started attempt 2
				! start a#2
				! set attempt a#2 3s
				> fire attempt a#1`,
		},
	})
}
