package gateway_test

import (
	"math"
	"testing"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// BenchmarkComplete is what the gateway adds to a call.
func BenchmarkComplete(b *testing.B) {
	p := reports("openai", model.Response{Usage: usage()})
	g := open(b, gateway.Options{}, gateway.Entry{Provider: p}, gateway.Entry{Provider: answers("ollama"), AnyModel: true, Fallback: true})
	sel := to("gpt-4o-mini-2024-07-18")
	sel.Budget = gateway.NewBudget(math.Inf(1), nil)
	req := sized(1000, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Complete(b.Context(), sel, req, nil); err != nil {
			b.Fatal(err)
		}
	}
}
