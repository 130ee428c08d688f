package workflow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/workflow"
)

// anyDAG draws a workflow without cycle, some of whose steps are routers. Each
// router chooses among the steps that depend on it.
func anyDAG(t *rapid.T, keys []string) *workflow.Definition {
	n := rapid.IntRange(1, 8).Draw(t, "n")
	steps := make([]workflow.Step, n)
	for i := range steps {
		id := fmt.Sprint("s", i)
		var after []string
		if i > 0 {
			for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, min(i, 2), rapid.ID).Draw(t, id) {
				after = append(after, fmt.Sprint("s", d))
			}
		}
		steps[i] = llm(id, after...)
		if rapid.Bool().Draw(t, id+" is a router") {
			steps[i] = fixed(workflow.Route(id, workflow.After(after...), workflow.Otherwise(id)))
		}
		steps[i].Output = rapid.SampledFrom(keys).Draw(t, id+" writes")
	}
	for i := range steps {
		if steps[i].Router == nil {
			continue
		}
		for _, s := range steps {
			if slices.Contains(s.DependsOn, steps[i].ID) {
				steps[i].Router.Conditions = append(steps[i].Router.Conditions, workflow.Condition{Expression: "True", Target: s.ID})
			}
		}
	}
	return def(rapid.Permutation(steps).Draw(t, "file order")...)
}

// runs lists, for each way the routers can choose, which steps run.
func runs(d *workflow.Definition) [][]bool {
	at := map[string]int{}
	for i, s := range d.Steps {
		at[s.ID] = i
	}
	var all [][]bool
	chosen := map[string]string{}
	var choose func(i int)
	choose = func(i int) {
		if i == len(d.Steps) {
			all = append(all, run(d, at, chosen))
			return
		}
		if r := d.Steps[i].Router; r != nil {
			for _, c := range r.Conditions {
				chosen[d.Steps[i].ID] = c.Target
				choose(i + 1)
			}
			if len(r.Conditions) > 0 {
				return
			}
		}
		choose(i + 1)
	}
	choose(0)
	return all
}

func run(d *workflow.Definition, at map[string]int, chosen map[string]string) []bool {
	ran := make([]bool, len(d.Steps))
	var does func(i int) bool
	does = func(i int) bool {
		for _, dep := range d.Steps[i].DependsOn {
			if !does(at[dep]) || d.Steps[at[dep]].Router != nil && chosen[dep] != d.Steps[i].ID {
				return false
			}
		}
		return true
	}
	for i := range ran {
		ran[i] = does(i)
	}
	return ran
}

func comesAfter(d *workflow.Definition, i, j int) bool {
	for _, dep := range d.Steps[i].DependsOn {
		k := slices.IndexFunc(d.Steps, func(s workflow.Step) bool { return s.ID == dep })
		if k == j || comesAfter(d, k, j) {
			return true
		}
	}
	return false
}

func paths(ds workflow.Diagnostics, code string) []string {
	var out []string
	for _, d := range ds {
		if d.Code == code {
			out = append(out, d.Path)
		}
	}
	return out
}

func TestNeverRunsIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDAG(t, []string{""})
		possible := make([]bool, len(d.Steps))
		for _, ran := range runs(d) {
			for i, r := range ran {
				possible[i] = possible[i] || r
			}
		}
		var want []string
		for i, s := range d.Steps {
			first := !possible[i]
			for k, other := range d.Steps {
				if slices.Contains(s.DependsOn, other.ID) && !possible[k] {
					first = false
				}
			}
			if first {
				want = append(want, fmt.Sprintf("steps[%d].depends_on", i))
			}
		}
		if got := paths(workflow.Lint(d), "never_runs"); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestParallelWritesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nested := rapid.Bool().Draw(t, "nested")
		keys := []string{"", "a", "b", "a-b"}
		if nested {
			keys = []string{"a", "a.b", "a.b.c", "a.c", "a-b"}
		}
		d := anyDAG(t, keys)
		all := runs(d)
		clash := func(i, j int) bool {
			a, b := d.Steps[i].Output+".", d.Steps[j].Output+"."
			if a == "." || b == "." || !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) || comesAfter(d, i, j) || comesAfter(d, j, i) {
				return false
			}
			return slices.ContainsFunc(all, func(ran []bool) bool { return ran[i] && ran[j] })
		}
		var want []string
		for j := range d.Steps {
			for i := range j {
				if clash(i, j) {
					want = append(want, fmt.Sprintf("steps[%d].output", j))
					break
				}
			}
		}
		got := paths(workflow.Lint(d), "parallel_writes")
		if !nested && !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		// With nested keys, one report may stand for several steps.
		for _, p := range got {
			if !slices.Contains(want, p) {
				t.Fatalf("%s is reported, but only %v clash", p, want)
			}
		}
		if len(got) == 0 && len(want) > 0 {
			t.Fatalf("nothing is reported, but %v clash", want)
		}
	})
}

// A generated workflow without fault stays without errors.
func TestNoFalseErrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDAG(t, []string{""})
		if err := workflow.Check(d).Err(); err != nil {
			t.Fatal(err)
		}
	})
}
