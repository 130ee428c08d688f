// Package bench measures what users wait for. See README.md for how to run it,
// what it compares with and the numbers seen so far.
package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/internal/scheduler"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// largeFile is a workflow of n steps, each with a prompt that reads what the
// step before it wrote: 145 bytes a step.
func largeFile(n int) []byte {
	var b strings.Builder
	b.WriteString("name: large\nconfig: {provider: mock}\nstate: {topic: spring}\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: step_%d\n    type: llm_call\n    prompt: \"Write about {state.topic}\"\n    output: out_%d\n", i, i)
		if i > 0 {
			fmt.Fprintf(&b, "    depends_on: [step_%d]\n    system_prompt: \"Before: {state.out_%d}\"\n", i-1, i-1)
		}
	}
	return []byte(b.String())
}

// BenchmarkLoad10000 loads and validates a file of 10,000 steps and has the
// scheduler make its first decision. Target: 300 ms.
func BenchmarkLoad10000(b *testing.B) {
	src := largeFile(10_000)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		def, diagnostics := wfyaml.Load("large.yaml", src)
		if len(diagnostics) > 0 {
			b.Fatal(diagnostics[0])
		}
		plan, err := scheduler.NewPlan(def)
		if err != nil {
			b.Fatal(err)
		}
		if commands, _ := scheduler.New(plan).Apply(scheduler.Start{}); len(commands) == 0 {
			b.Fatal("nothing was started")
		}
	}
}

// BenchmarkRun10000 runs the same steps to their end with the mock provider.
func BenchmarkRun10000(b *testing.B) {
	def, diagnostics := wfyaml.Load("large.yaml", largeFile(10_000))
	if len(diagnostics) > 0 {
		b.Fatal(diagnostics[0])
	}
	provider, err := mock.New(mock.Config{})
	if err != nil {
		b.Fatal(err)
	}
	e, err := agentloom.New(agentloom.Config{Providers: []gateway.Entry{{Provider: provider, AnyModel: true}}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		mustRun(b, e, def)
	}
}

// BenchmarkNoop100 runs a chain of 100 steps that do nothing, in process.
// Target: 1 ms.
func BenchmarkNoop100(b *testing.B) { benchmarkNoop(b, 100, true) }

// BenchmarkNoop100Wide runs them side by side.
func BenchmarkNoop100Wide(b *testing.B) { benchmarkNoop(b, 100, false) }

func benchmarkNoop(b *testing.B, n int, chain bool) {
	def := &workflow.Definition{Name: "noop", Config: workflow.DefaultConfig()}
	for i := range n {
		s := workflow.Step{
			ID: fmt.Sprintf("s%d", i), Type: workflow.ToolStep, Output: fmt.Sprintf("o%d", i),
			Retry: workflow.DefaultRetry(0), Tool: &workflow.ToolFields{ToolName: "noop"},
		}
		if chain && i > 0 {
			s.DependsOn = []string{fmt.Sprintf("s%d", i-1)}
		}
		def.Steps = append(def.Steps, s)
	}
	tools := tool.NewRegistry(tool.RegistryOptions{})
	noop := tool.Func("noop", "Do nothing.", func(context.Context, struct{}) (any, error) { return true, nil })
	if err := tools.Register(noop); err != nil {
		b.Fatal(err)
	}
	e, err := agentloom.New(agentloom.Config{Tools: tools})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		mustRun(b, e, def)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/step")
}

func mustRun(b *testing.B, e *agentloom.Engine, def *workflow.Definition) {
	res, err := e.Run(b.Context(), def, agentloom.RunOptions{RunID: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	if res.Status != event.Success {
		b.Fatal(res.Error)
	}
}
