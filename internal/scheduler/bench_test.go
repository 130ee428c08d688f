package scheduler

import (
	"fmt"
	"testing"

	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/workflow"
)

const benchSteps = 10_000

// shapes are workflows of benchSteps steps each.
func shapes() map[string][]workflow.Step {
	id := func(i int) string { return fmt.Sprint("s", i) }
	chain, fan := []workflow.Step{step(id(0))}, []workflow.Step{step(id(0))}
	var join, lattice []workflow.Step
	all := make([]string, benchSteps-1)
	for i := 1; i < benchSteps; i++ {
		chain = append(chain, step(id(i), id(i-1)))
		fan = append(fan, step(id(i), id(0)))
		join = append(join, step(id(i)))
		all[i-1] = id(i)
	}
	join = append(join, step("join", all...))
	const width = 100
	for i := range benchSteps {
		s := step(id(i))
		if row, column := i/width, i%width; row > 0 {
			for _, d := range []int{column, (column + 1) % width, (column + 7) % width} {
				s.DependsOn = append(s.DependsOn, id((row-1)*width+d))
			}
		}
		lattice = append(lattice, s)
	}
	return map[string][]workflow.Step{"chain": chain, "fan": fan, "join": join, "lattice": lattice}
}

// runThrough answers every attempt with success, the oldest first, and returns
// how the run ended.
func runThrough(p *Plan) event.Status {
	s := New(p)
	commands, _ := s.Apply(Start{})
	var open []StartAttempt
	for {
		for _, c := range commands {
			switch c := c.(type) {
			case StartAttempt:
				open = append(open, c)
			case Finish:
				return c.Status
			}
		}
		if len(open) == 0 {
			return ""
		}
		commands, _ = s.Apply(Succeeded{Step: open[0].Step, Attempt: open[0].Attempt})
		open = open[1:]
	}
}

func TestLargeWorkflows(t *testing.T) {
	for name, steps := range shapes() {
		for _, scheduling := range []string{workflow.Layers, workflow.Eager} {
			plan := mustPlan(t, func(c *workflow.Config) { c.Scheduling = scheduling }, steps...)
			if got := runThrough(plan); got != event.Success {
				t.Errorf("%s, %s: ended %q", name, scheduling, got)
			}
		}
	}
	// A failure at the head of a long chain skips all of it.
	s := New(mustPlan(t, nil, shapes()["chain"]...))
	s.Apply(Start{})
	_, events := s.Apply(Failed{Attempt: 1, Failure: Failure{Message: "boom"}})
	if want := 1 + (benchSteps - 1) + 1; len(events) != want {
		t.Errorf("%d events, want %d", len(events), want)
	}
}

func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"chain", "fan", "join", "lattice"} {
		steps := shapes()[name]
		for _, scheduling := range []string{workflow.Layers, workflow.Eager} {
			plan := mustPlan(b, func(c *workflow.Config) { c.Scheduling = scheduling }, steps...)
			b.Run(name+"/"+scheduling, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					runThrough(plan)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSteps, "ns/step")
			})
		}
	}
}

func BenchmarkNewPlan(b *testing.B) {
	for _, name := range []string{"chain", "fan", "join", "lattice"} {
		def := &workflow.Definition{Config: workflow.DefaultConfig(), Steps: shapes()[name]}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := NewPlan(def); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
