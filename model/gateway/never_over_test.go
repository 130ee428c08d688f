package gateway_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// TestNeverOverBudget is the promise: in 1,000 random parallel runs whose calls
// set max_tokens, or in strict mode, none spends more than its budget, and each
// that has more to do uses at least 80 % of it. The services bill what they
// report, between nothing and the most that a call allows, and fail at times.
func TestNeverOverBudget(t *testing.T) {
	var names = []string{"gpt-4o-mini", "gpt-4o", "claude-sonnet-4-5", "house-model"}
	prices := map[string]gateway.Price{"house-model": {Input: ptr(0.07), Output: ptr(0.31), CachedInput: ptr(0.011)}}
	service := func(name string, r *rand.Rand, mu *sync.Mutex) *fake {
		f := answers(name)
		draw := func(n int64) int64 {
			mu.Lock()
			defer mu.Unlock()
			return r.Int64N(n + 1)
		}
		f.complete = func(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
			time.Sleep(time.Duration(draw(50)) * time.Millisecond)
			if req.MaxTokens == nil {
				return nil, errors.New("a call without max_tokens")
			}
			switch draw(19) {
			case 0:
				return nil, unavailable(name)
			case 1: // broke off, and was billed
				return &model.Response{Usage: &model.Usage{PromptTokens: int64(len(req.Messages[0].Text))}}, fault.New(fault.Transient, "broke off", nil)
			}
			in := int64(len(req.Messages[0].Text))
			in = in/4 + draw(in-in/4) // from typical text to a token a byte
			u := &model.Usage{PromptTokens: in, CachedTokens: draw(in), CompletionTokens: draw(*req.MaxTokens)}
			if draw(3) == 0 {
				u.CompletionTokens = *req.MaxTokens
			}
			return &model.Response{Usage: u}, nil
		}
		return f
	}
	first := open(t, gateway.Options{})
	runs := 1000
	if testing.Short() {
		runs = 100
	}
	for seed := range runs {
		synctest.Test(t, func(t *testing.T) {
			r, mu := rand.New(rand.NewPCG(uint64(seed), 0)), &sync.Mutex{}
			g := open(t, gateway.Options{Prices: prices},
				gateway.Entry{Provider: service("openai", r, mu), AnyModel: true},
				gateway.Entry{Provider: service("backup", r, mu), AnyModel: true, Fallback: true})
			g.ShareCatalogue(first)
			name := names[r.IntN(len(names))]
			strict := r.IntN(3) == 0
			text, answer := r.IntN(2000), 1+r.Int64N(2000)
			// The budget is at least five times what one call may cost at most.
			perCall := map[string]float64{"gpt-4o-mini": 0.6, "gpt-4o": 10, "claude-sonnet-4-5": 15, "house-model": 0.31}[name] * float64(int64(text+100)+answer) / 1e6
			limit := perCall * (5 + 20*r.Float64())
			root := gateway.NewBudget(limit, nil)
			budgets := []*gateway.Budget{root, gateway.NewBudget(math.Inf(1), root), gateway.NewBudget(limit*2, root)}
			var done sync.WaitGroup
			for w := range 1 + r.IntN(12) {
				sel := gateway.Selection{WorkflowProvider: "openai", Model: name, Budget: budgets[w%len(budgets)], Strict: strict}
				done.Go(func() {
					for { // there is always more to do
						req := sized(text, answer)
						if strict && w%2 == 0 {
							req = sized(text, 0)
						}
						_, err := g.Complete(t.Context(), sel, req, nil)
						switch fault.KindOf(err) {
						case fault.Budget:
							return
						case 0:
							if err != nil {
								t.Error(err)
								return
							}
						}
						if err != nil {
							time.Sleep(time.Second) // as a step's retry does
						}
					}
				})
			}
			done.Wait()
			if root.Exceeded() || root.Spent() > limit+1e-12 {
				t.Errorf("seed %d: spent %v of %v", seed, root.Spent(), limit)
			}
			if root.Spent() < 0.8*limit {
				t.Errorf("seed %d: spent only %v of %v (%s, strict %v)", seed, root.Spent(), limit, name, strict)
			}
		})
		if t.Failed() {
			return
		}
	}
}
