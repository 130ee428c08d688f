package scheduler

import (
	"testing"

	"github.com/agentloom/agentloom/workflow"
)

func TestBranches(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name: "the chosen step runs, the other branch and all after it are skipped",
			steps: []workflow.Step{
				router("route"), step("billing", "route"), step("general", "route"),
				step("after", "general"), step("last", "after"),
			},
			script: `
				> start
				run started: test, 5 steps
				route started
				! start route#1
				> ok route#1 -> billing
				route ended success after 1
				general skipped: router "route" chose "billing"
				after skipped: step "general" was skipped
				last skipped: step "after" was skipped
				billing started
				! start billing#1
				> ok billing#1
				billing ended success after 1
				run ended success
				! finish success`,
		},
		{
			name:  "a step that depends on a router without being its target is skipped",
			steps: []workflow.Step{router("route"), step("target"), step("other", "route")},
			script: `
				> start
				run started: test, 3 steps
				route started
				target started
				! start route#1
				! start target#1
				> ok route#1 -> target
				route ended success after 1
				other skipped: router "route" chose "target"
				> ok target#1
				target ended success after 1
				run ended success
				! finish success`,
		},
		{
			name:  "a step that depends on two routers runs when both choose it",
			steps: []workflow.Step{router("r1"), router("r2"), step("a", "r1", "r2"), step("b", "r1", "r2")},
			script: `
				> start
				run started: test, 4 steps
				r1 started
				r2 started
				! start r1#1
				! start r2#1
				> ok r2#1 -> a
				r2 ended success after 1
				> ok r1#1 -> a
				r1 ended success after 1
				b skipped: router "r1" chose "a"
				a started
				! start a#1`,
		},
		{
			name:  "and not when one of them does not",
			steps: []workflow.Step{router("r1"), router("r2"), step("a", "r1", "r2"), step("b", "r2")},
			script: `
				> start
				run started: test, 4 steps
				r1 started
				r2 started
				! start r1#1
				! start r2#1
				> ok r1#1 -> a
				r1 ended success after 1
				> ok r2#1 -> b
				r2 ended success after 1
				a skipped: router "r2" chose "b"
				b started
				! start b#1`,
		},
		{
			name:  "a step that joins two branches never runs",
			steps: []workflow.Step{router("route"), step("a", "route"), step("b", "route"), step("join", "a", "b")},
			script: `
				> start
				run started: test, 4 steps
				route started
				! start route#1
				> ok route#1 -> a
				route ended success after 1
				b skipped: router "route" chose "a"
				a started
				! start a#1
				> ok a#1
				a ended success after 1
				join skipped: step "b" was skipped
				run ended success
				! finish success`,
		},
		{
			name:  "a choice that is no step leaves nothing to run",
			steps: []workflow.Step{router("route"), step("a", "route")},
			script: `
				> start
				run started: test, 2 steps
				route started
				! start route#1
				> ok route#1 -> nowhere
				route ended success after 1
				a skipped: router "route" chose "nowhere"
				run ended success
				! finish success`,
		},
		{
			name:  "a router that was skipped skips its branches",
			steps: []workflow.Step{step("a"), router("route", "a"), step("b", "route")},
			script: `
				> start
				run started: test, 3 steps
				a started
				! start a#1
				> fail a#1 permanent boom
				a ended failed after 1: boom
				route skipped: step "a" failed
				b skipped: step "route" was skipped
				run ended failed: step "a" failed: boom
				! finish failed: step "a" failed: boom`,
		},
		{
			name:  "a router is never retried, not even after a transient failure",
			steps: []workflow.Step{retrying(router("route"), 3), step("a", "route")},
			script: `
				> start
				run started: test, 2 steps
				route started
				! start route#1
				> fail route#1 transient boom
				route ended failed after 1: boom
				a skipped: router "route" failed
				run ended failed: step "route" failed: boom
				! finish failed: step "route" failed: boom`,
		},
		{
			name:   "a failed router's branches are skipped under continue too",
			config: continuing,
			steps:  []workflow.Step{router("route"), step("a", "route"), step("b", "a"), step("free")},
			script: `
				> start
				run started: test, 4 steps
				route started
				free started
				! start route#1
				! start free#1
				> fail route#1 invalid no match
				route ended failed after 1: no match
				a skipped: router "route" failed
				b skipped: step "a" was skipped
				> ok free#1
				free ended success after 1
				run ended failed: step "route" failed: no match
				! finish failed: step "route" failed: no match`,
		},
		{
			name:   "a router that timed out chose no branch either",
			config: continuing,
			steps:  []workflow.Step{limited(router("route"), 2), step("a", "route")},
			script: `
				> start
				run started: test, 2 steps
				route started
				! start route#1
				! set attempt route#1 2s
				> fire attempt route#1
				! cancel route#1 (timeout): attempt 1 timed out after 2s
				> fail route#1 cancelled context cancelled
				route ended timeout after 1: attempt 1 timed out after 2s
				a skipped: router "route" timed out
				run ended failed: step "route" timed out: attempt 1 timed out after 2s
				! finish failed: step "route" timed out: attempt 1 timed out after 2s`,
		},
	})
}

func TestStepFailures(t *testing.T) {
	steps := []workflow.Step{step("a"), step("b", "a"), step("c", "b"), step("free")}
	runScenarios(t, []scenario{
		{
			name:  "everything downstream of a failed step is skipped, the rest runs",
			steps: steps,
			script: `
				> start
				run started: test, 4 steps
				a started
				free started
				! start a#1
				! start free#1
				> fail a#1 permanent boom
				a ended failed after 1: boom
				b skipped: step "a" failed
				c skipped: step "b" was skipped
				> ok free#1
				free ended success after 1
				run ended failed: step "a" failed: boom
				! finish failed: step "a" failed: boom`,
		},
		{
			name:   "under continue the steps after a failed one run, and the run still fails",
			config: continuing,
			steps:  steps[:3],
			script: `
				> start
				run started: test, 3 steps
				a started
				! start a#1
				> fail a#1 permanent boom
				a ended failed after 1: boom
				b started
				! start b#1
				> ok b#1
				b ended success after 1
				c started
				! start c#1
				> ok c#1
				c ended success after 1
				run ended failed: step "a" failed: boom
				! finish failed: step "a" failed: boom`,
		},
		{
			name:   "under continue a branch that a router skipped stays skipped",
			config: continuing,
			steps:  []workflow.Step{step("a"), router("route"), step("b", "route", "a"), step("c", "b", "a")},
			script: `
				> start
				run started: test, 4 steps
				a started
				route started
				! start a#1
				! start route#1
				> ok route#1 -> c
				route ended success after 1
				> fail a#1 permanent boom
				a ended failed after 1: boom
				b skipped: router "route" chose "c"
				c skipped: step "b" was skipped
				run ended failed: step "a" failed: boom
				! finish failed: step "a" failed: boom`,
		},
		{
			name:  "of several causes the closest is named, the first in depends_on order",
			steps: []workflow.Step{step("a"), step("b"), step("c", "a"), step("d", "c", "b", "a")},
			script: `
				> start
				run started: test, 4 steps
				a started
				b started
				! start a#1
				! start b#1
				> fail a#1 permanent first
				a ended failed after 1: first
				c skipped: step "a" failed
				> fail b#1 permanent second
				b ended failed after 1: second
				d skipped: step "b" failed
				run ended failed: 2 steps failed ("a", "b"); the first: step "a" failed: first
				! finish failed: 2 steps failed ("a", "b"); the first: step "a" failed: first`,
		},
		{
			name: "a run's error names the first failed steps and counts the others",
			steps: []workflow.Step{
				step("a"), step("b"), step("c"), step("d"), step("e"), step("f"), step("g"),
			},
			script: `
				> start
				run started: test, 7 steps
				a started
				b started
				c started
				d started
				e started
				f started
				g started
				! start a#1
				! start b#1
				! start c#1
				! start d#1
				! start e#1
				! start f#1
				! start g#1
				> fail g#1 timeout too slow
				g ended timeout after 1: too slow
				> fail a#1 refused no
				a ended failed after 1: no
				> fail b#1 permanent no
				b ended failed after 1: no
				> fail c#1 permanent no
				c ended failed after 1: no
				> fail d#1 permanent no
				d ended failed after 1: no
				> fail e#1 permanent no
				e ended failed after 1: no
				> fail f#1 unclassified
				f ended failed after 1: attempt 1 failed without saying why (unclassified)
				run ended failed: 7 steps failed ("g", "a", "b", "c", "d" and 2 more); the first: step "g" timed out: too slow
				! finish failed: 7 steps failed ("g", "a", "b", "c", "d" and 2 more); the first: step "g" timed out: too slow`,
		},
	})
}
