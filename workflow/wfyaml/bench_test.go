package wfyaml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/workflow"
)

// manySteps is a workflow of n steps, about 140 bytes each.
func manySteps(n int) []byte {
	var b strings.Builder
	b.WriteString("name: many\nstate:\n  topic: tea\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: step_%d\n    type: llm_call\n", i)
		if i > 0 {
			fmt.Fprintf(&b, "    depends_on: [step_%d]\n", i-1)
		}
		fmt.Fprintf(&b, "    prompt: \"Write a line about {state.topic}.\"\n    output: out_%d\n    timeout: 30\n", i)
	}
	return []byte(b.String())
}

func TestTenThousandStepsLoad(t *testing.T) {
	def, ds := Load("f", manySteps(10_000))
	if def == nil || len(def.Steps) != 10_000 || len(ds) > 0 {
		t.Fatalf("%.300v", ds)
	}
	if last := def.Steps[9999]; last.ID != "step_9999" || last.DependsOn[0] != "step_9998" || *last.Timeout != 30 {
		t.Errorf("%+v", last)
	}
}

// BenchmarkLoad is the whole: check, parse, decode and the semantic rules.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src := manySteps(n)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if def, ds := Load("f", src); def == nil {
					b.Fatal(ds)
				}
			}
		})
	}
}

// BenchmarkParts shows where the time of 10,000 steps goes.
func BenchmarkParts(b *testing.B) {
	src := manySteps(10_000)
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			(&decoder{}).checkSource(src)
		}
	})
	b.Run("yaml", func(b *testing.B) {
		for b.Loop() {
			(&decoder{}).parseYAML(src)
		}
	})
	b.Run("decode", func(b *testing.B) {
		root, _ := (&decoder{}).parseYAML(src)
		for b.Loop() {
			d := &decoder{}
			d.measure(root)
			d.workflow(root, workflow.DefaultConfig())
		}
	})
}
