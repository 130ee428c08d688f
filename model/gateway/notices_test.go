package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// notes collects what calls are told.
type notes struct {
	mu   sync.Mutex
	said []string
}

func (n *notes) add(message string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, message)
}

// TestEachRunIsWarned: a price is told once in each run, for calls and vectors,
// with a budget and without, and to the gateway's owner once in all.
func TestEachRunIsWarned(t *testing.T) {
	var owner notes
	g := open(t, gateway.Options{Warn: owner.add},
		gateway.Entry{Provider: reports("openai", model.Response{Usage: usage()}), AnyModel: true})
	for range 3 {
		var run notes
		sel := to("house-model")
		sel.Warn, sel.Warned, sel.Budget = run.add, &gateway.Warned{}, gateway.NewBudget(1, nil)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := g.Complete(t.Context(), sel, ask(), nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(run.said) != 1 || !strings.HasPrefix(run.said[0], `the price of model "house-model" at openai is not known`) {
			t.Errorf("a run was told %q", run.said)
		}
	}
	if len(owner.said) != 1 {
		t.Errorf("the owner was told %q", owner.said)
	}
}

// TestACallIsToldOfTheCircuit: the call that opens or closes it.
func TestACallIsToldOfTheCircuit(t *testing.T) {
	var run, observed notes
	down := &fake{name: "openai", complete: func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
		return nil, fault.New(fault.Transient, "down", nil)
	}}
	for _, observe := range []func(string, string, string){nil, func(p, from, to string) { observed.add(fmt.Sprint(p, from, to)) }} {
		g := open(t, gateway.Options{OnBreaker: observe}, gateway.Entry{Provider: down})
		sel := to("gpt-4o")
		sel.Warn = run.add
		for range 7 {
			_, _ = g.Complete(t.Context(), sel, ask(), nil)
		}
	}
	if len(run.said) != 2 || run.said[0] != "the circuit of provider openai is open (it was closed)" || len(observed.said) != 1 {
		t.Errorf("the calls were told %q, the observer %q", run.said, observed.said)
	}
}
