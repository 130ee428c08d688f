package workflow_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

const manySteps = 10_000

// shaped returns a definition of so many steps, with prompts that read the state.
func shaped(steps int, after func(i int) []int, output func(i int) string) *workflow.Definition {
	d := def()
	d.State = value.MapOf("topic", "x")
	for i := range steps {
		s := prompt(fmt.Sprint("step_", i), "Write about {state.topic}, after {steps.step_0.output}.")
		for _, j := range after(i) {
			s.DependsOn = append(s.DependsOn, fmt.Sprint("step_", j))
		}
		s.Output = output(i)
		d.Steps = append(d.Steps, s)
	}
	return d
}

func chainOf(i int) []int {
	if i == 0 {
		return nil
	}
	return []int{i - 1}
}

func latticeOf(i int) []int {
	row, column := i/100, i%100
	if row == 0 {
		return nil
	}
	return []int{i - 100, (row-1)*100 + (column+1)%100}
}

func alone(int) []int { return nil }

func own(i int) string { return fmt.Sprint("out_", i) }

func same(int) string { return "out" }

// part is one key of a few, each below another.
func part(i int) string { return []string{"a", "a.b", "a.b.c", "a.d"}[i%4] }

// manyBranches is one router that chooses among all other steps, which write
// the same output.
func manyBranches(steps int) *workflow.Definition {
	d := shaped(steps, func(i int) []int {
		if i == 0 {
			return nil
		}
		return []int{0}
	}, same)
	targets := make([]string, 0, steps)
	for _, s := range d.Steps[1:] {
		targets = append(targets, s.ID)
	}
	d.Steps[0] = branch("step_0", targets...)
	return d
}

// manyRouters is a chain of routers with two branches each, all of which write
// the same output.
func manyRouters(steps int) *workflow.Definition {
	d := shaped(steps, func(i int) []int {
		switch {
		case i < 3:
			return make([]int, min(i, 1))
		case i%3 == 0:
			return []int{i - 2}
		}
		return []int{i - i%3}
	}, same)
	for i := range d.Steps {
		if i%3 == 0 && i+2 < len(d.Steps) {
			d.Steps[i] = with(branch(d.Steps[i].ID, d.Steps[i+1].ID, d.Steps[i+2].ID), func(s *workflow.Step) { s.DependsOn = d.Steps[i].DependsOn })
		}
	}
	return d
}

// Beyond 64 writers and 64 routers, comparisons go block by block.
func TestManyWriters(t *testing.T) {
	const n = 500
	for _, d := range []*workflow.Definition{manyBranches(n), manyRouters(n), shaped(n, chainOf, same), shaped(n, chainOf, part)} {
		if got := paths(workflow.Lint(d), "parallel_writes"); len(got) > 0 {
			t.Errorf("%d clashes, first %s", len(got), got[0])
		}
		// One more step beside all others clashes with each of them; the report
		// is about the later one.
		d.Steps = append(d.Steps, writes(llm("beside"), "out"), writes(llm("between"), "a.b"))
		d.Steps[n+1].DependsOn = []string{"step_1"}
		got := paths(workflow.Lint(d), "parallel_writes")
		want := fmt.Sprintf("steps[%d].output", n)
		if d.Steps[1].Output != "out" {
			want = fmt.Sprintf("steps[%d].output", n+1)
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	if got := len(paths(workflow.Lint(shaped(n, alone, same)), "parallel_writes")); got != n-1 {
		t.Errorf("%d of %d clashes", got, n-1)
	}
}

func TestManyJoins(t *testing.T) {
	d := manyRouters(600)
	d.Steps = append(d.Steps, llm("join", "step_301", "step_302"), llm("join2", "step_301", "step_2"))
	got := paths(workflow.Lint(d), "never_runs")
	// join2 joins two branches of the first router: step_301 comes after
	// step_1, the other branch.
	if want := []string{"steps[600].depends_on", "steps[601].depends_on"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, shape := range []struct {
		name string
		def  *workflow.Definition
	}{
		{"chain", shaped(manySteps, chainOf, own)},
		{"wide", shaped(manySteps, alone, own)},
		{"lattice", shaped(manySteps, latticeOf, own)},
		{"chain, one output", shaped(manySteps, chainOf, same)},
		{"wide, one output", shaped(manySteps, alone, same)},
		{"lattice, one output", shaped(manySteps, latticeOf, same)},
		{"lattice, nested outputs", shaped(manySteps, latticeOf, part)},
		{"one router", manyBranches(manySteps)},
		{"many routers", manyRouters(manySteps)},
	} {
		b.Run(shape.name, func(b *testing.B) {
			if err := workflow.Check(shape.def).Err(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				workflow.Check(shape.def)
			}
		})
	}
}
