package gateway_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// reports is a provider that reports this response, whatever it is asked.
func reports(name string, resp model.Response) *fake {
	return &fake{
		name: name,
		complete: func(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
			r := resp
			return &r, nil
		},
		embed: func(context.Context, *model.EmbedRequest) (*model.EmbedResponse, error) {
			return &model.EmbedResponse{Model: resp.Model, Usage: resp.Usage, CostUSD: resp.CostUSD}, nil
		},
	}
}

// usage is one of a million tokens of each kind, a fifth of the prompt cached.
func usage() *model.Usage {
	return &model.Usage{PromptTokens: 1e6, CompletionTokens: 1e6, TotalTokens: 2e6, ReasoningTokens: 4e5, CachedTokens: 2e5}
}

// cost asks for the cost of that usage.
func cost(t *testing.T, opts gateway.Options, provider string, e gateway.Entry, asked, answered string) *float64 {
	t.Helper()
	if e.Provider == nil {
		e.Provider = reports(provider, model.Response{Model: answered, Usage: usage()})
	}
	g := open(t, opts, e)
	resp, err := g.Complete(t.Context(), gateway.Selection{StepProvider: provider, Model: asked}, ask(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp.CostUSD
}

// TestCatalogue looks models up under the names that workflows use. The prices
// are those of the catalogue's version in go.mod.
func TestCatalogue(t *testing.T) {
	tests := map[string]struct {
		provider, asked, answered string
		want                      float64 // -1: not known
	}{
		"as listed":                       {"openai", "gpt-4o-mini", "", 0.8*0.15 + 0.2*0.075 + 0.6},
		"a dated version":                 {"openai", "gpt-4o-mini-2024-07-18", "", 0.8*0.15 + 0.2*0.075 + 0.6},
		"a date the list does not have":   {"openai", "gpt-5.1-2025-11-13", "", 0.8*1.25 + 0.2*0.125 + 10},
		"a version with a price":          {"openai", "gpt-4o-2024-05-13", "", 5 + 15},
		"only listed with a date":         {"anthropic", "claude-sonnet-4-5", "", 0.8*3 + 0.2*0.3 + 15},
		"its own date":                    {"anthropic", "claude-sonnet-4-5-20250929", "", 0.8*3 + 0.2*0.3 + 15},
		"upper case":                      {"anthropic", "Claude-Sonnet-4-5", "", 0.8*3 + 0.2*0.3 + 15},
		"the list of another name":        {"google", "gemini-2.5-flash", "", 0.8*0.3 + 0.2*0.03 + 2.5},
		"a price of writing to the cache": {"openai", "gpt-5.6-sol", "", 0.8*5 + 0.2*0.5 + 30},
		"no price of the cache":           {"groq", "qwen/qwen3-32b", "", 0.29 + 0.59},
		"as OpenRouter names it":          {"openai", "anthropic/claude-sonnet-4.5", "", 0.8*3 + 0.2*0.3 + 15},
		"of a vendor behind a prefix":     {"proxy", "anthropic/claude-sonnet-4-5-20250929", "", 0.8*3 + 0.2*0.3 + 15},
		"of a family at another service":  {"proxy", "gpt-4o-mini", "", 0.8*0.15 + 0.2*0.075 + 0.6},
		"free by name":                    {"openrouter", "openai/gpt-oss-20b:free", "", 0},
		"by the model that answered":      {"proxy", "best", "gpt-4o-mini-2024-07-18", 0.8*0.15 + 0.2*0.075 + 0.6},
		"a local model":                   {"openai", "qwen3:8b", "qwen3:8b", -1},
		"a fine-tuned model":              {"openai", "ft:gpt-4o-mini-2024-07-18:me", "", -1},
		"a subscription":                  {"copilot", "gpt-3.5-turbo", "", -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := cost(t, gateway.Options{}, test.provider, gateway.Entry{AnyModel: true}, test.asked, test.answered)
			switch {
			case test.want < 0:
				if got != nil {
					t.Errorf("got %v, want none", *got)
				}
			case got == nil:
				t.Error("not known")
			case math.Abs(*got-test.want) > 1e-9:
				t.Errorf("got %v, want %v", *got, test.want)
			}
		})
	}
}

func TestOwnPrices(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	tests := map[string]struct {
		prices          map[string]gateway.Price
		provider, asked string
		want            float64
	}{
		"complete":                     {map[string]gateway.Price{"m": {Input: f(1), Output: f(2), CachedInput: f(0.5)}}, "x", "m", 0.8 + 0.1 + 2},
		"without a price of the cache": {map[string]gateway.Price{"m": {Input: f(1), Output: f(2)}}, "x", "m", 1 + 2},
		"input alone":                  {map[string]gateway.Price{"m": {Input: f(1)}}, "x", "m", 1},
		"free":                         {map[string]gateway.Price{"m": {Input: f(0), Output: f(0)}}, "x", "m", 0},
		"over the catalogue":           {map[string]gateway.Price{"gpt-4o-mini": {Input: f(1), Output: f(2)}}, "openai", "gpt-4o-mini", 1 + 2},
		"the rest from the catalogue":  {map[string]gateway.Price{"gpt-4o-mini": {Output: f(2)}}, "openai", "gpt-4o-mini", 0.8*0.15 + 0.2*0.075 + 2},
		"of the undated name":          {map[string]gateway.Price{"m": {Input: f(1)}}, "x", "m-2025-01-31", 1},
		"the dated one first":          {map[string]gateway.Price{"m": {Input: f(1)}, "m-2025-01-31": {Input: f(3)}}, "x", "m-2025-01-31", 3},
		"of one provider":              {map[string]gateway.Price{"x/m": {Input: f(1)}, "m": {Input: f(3)}}, "x", "m", 1},
		"case":                         {map[string]gateway.Price{"Org/M": {Input: f(1)}}, "x", "org/m", 1},
		"nothing said":                 {map[string]gateway.Price{"gpt-4o-mini": {}}, "openai", "gpt-4o-mini", 0.8*0.15 + 0.2*0.075 + 0.6},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := cost(t, gateway.Options{Prices: test.prices}, test.provider, gateway.Entry{AnyModel: true}, test.asked, "")
			if got == nil || math.Abs(*got-test.want) > 1e-9 {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	for name, bad := range map[string]float64{"negative": -1, "infinite": math.Inf(1), "no number": math.NaN()} {
		if _, err := gateway.NewWith(gateway.Options{Prices: map[string]gateway.Price{"m": {CachedInput: &bad}}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPricing(t *testing.T) {
	zero, own := 0.0, 0.25
	tests := map[string]struct {
		provider string
		pricing  gateway.Pricing
		resp     model.Response
		want     *float64
	}{
		"ollama costs nothing":                {"ollama", gateway.ByModel, model.Response{Usage: usage()}, &zero},
		"even without usage":                  {"ollama", gateway.ByModel, model.Response{}, &zero},
		"the mock provider says it itself":    {"mock", gateway.ByModel, model.Response{Usage: usage(), CostUSD: &own}, &own},
		"and when it does not, nobody does":   {"mock", gateway.ByModel, model.Response{Usage: usage()}, nil},
		"a cost that is set stays":            {"openai", gateway.ByModel, model.Response{Usage: usage(), CostUSD: &own}, &own},
		"no usage, no cost":                   {"openai", gateway.ByModel, model.Response{}, nil},
		"free":                                {"openai", gateway.Free, model.Response{Usage: usage()}, &zero},
		"by the provider":                     {"openai", gateway.ByProvider, model.Response{Usage: usage()}, nil},
		"negative counts are none":            {"openai", gateway.ByModel, model.Response{Usage: &model.Usage{PromptTokens: -5, CompletionTokens: -1, CachedTokens: -9}}, &zero},
		"no more is cached than was prompted": {"openai", gateway.ByModel, model.Response{Usage: &model.Usage{PromptTokens: 1e6, CachedTokens: 5e6}}, ptr(1.25)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := reports(test.provider, test.resp)
			g := open(t, gateway.Options{}, gateway.Entry{Provider: p, AnyModel: true, Pricing: test.pricing})
			sel := gateway.Selection{StepProvider: test.provider, Model: "gpt-4o"}
			resp, err := g.Complete(t.Context(), sel, ask(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, resp.CostUSD, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("Complete: cost (-want +got):\n%s", diff)
			}
			vectors, err := g.Embed(t.Context(), sel, &model.EmbedRequest{Inputs: []string{"a"}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, vectors.CostUSD, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("Embed: cost (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNonsenseCountsAreNotFree: an answer whose tokens nobody counted may have
// cost all that was set aside for it.
func TestNonsenseCountsAreNotFree(t *testing.T) {
	for name, u := range map[string]model.Usage{
		"no prompt": {CompletionTokens: 5}, "no answer": {PromptTokens: 5}, "nothing": {}, "negative": {PromptTokens: -1, CompletionTokens: -1},
	} {
		g := open(t, gateway.Options{}, gateway.Entry{Provider: reports("openai", model.Response{Text: "hi", Usage: &u})})
		sel := to("gpt-4o")
		sel.Budget = gateway.NewBudget(0.01, nil)
		limit, calls := int64(300), 0
		req := ask()
		req.MaxTokens = &limit
		for ; calls < 100; calls++ {
			resp, err := g.Complete(t.Context(), sel, req, nil)
			if err != nil {
				break
			}
			if resp.CostUSD != nil {
				t.Fatalf("%s: the answer costs %v", name, *resp.CostUSD)
			}
		}
		if calls == 0 || calls > 4 { // of at least $0.003 each
			t.Errorf("%s: %d calls were made under a budget of $0.01", name, calls)
		}
	}
	none := 0.0
	g := open(t, gateway.Options{Prices: map[string]gateway.Price{"house": {Input: &none, Output: &none}}},
		gateway.Entry{Provider: reports("openai", model.Response{Text: "hi", Usage: &model.Usage{}}), AnyModel: true})
	if resp, err := g.Complete(t.Context(), to("house"), ask(), nil); err != nil || resp.CostUSD == nil || *resp.CostUSD != 0 {
		t.Errorf("a model that is free costs %v, %v", resp.CostUSD, err)
	}
}

// TestSharedResponse: the provider's own response is not written to.
func TestSharedResponse(t *testing.T) {
	shared := &model.Response{Usage: usage()}
	p := answers("openai")
	p.complete = func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) { return shared, nil }
	g := open(t, gateway.Options{}, gateway.Entry{Provider: p})
	if _, err := g.Complete(t.Context(), to("gpt-4o"), ask(), nil); err != nil || shared.CostUSD != nil {
		t.Errorf("%v, cost %v", err, shared.CostUSD)
	}
}

// TestWarnings: one for each model whose price is not known, and none else.
func TestWarnings(t *testing.T) {
	var mu sync.Mutex
	var got []string
	g := open(t, gateway.Options{Warn: func(m string) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, m)
	}},
		gateway.Entry{Provider: reports("openai", model.Response{Usage: usage()}), AnyModel: true},
		gateway.Entry{Provider: reports("ollama", model.Response{Usage: usage()}), AnyModel: true})
	var wg sync.WaitGroup
	for _, sel := range []gateway.Selection{to("house-model"), to("gpt-4o"), {WorkflowProvider: "ollama", Model: "llama3"}} {
		for range 10 {
			wg.Go(func() {
				sel := sel
				sel.Budget = gateway.NewBudget(100, nil)
				if _, err := g.Complete(t.Context(), sel, ask(), nil); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if len(got) != 1 || !strings.HasPrefix(got[0], `the price of model "house-model" at openai is not known`) {
		t.Errorf("warnings: %q", got)
	}
	for i := range 2000 {
		_, _ = g.Complete(t.Context(), to(fmt.Sprint("house-model-", i)), ask(), nil)
	}
	if len(got) > 1000 {
		t.Errorf("%d warnings", len(got))
	}
}

// TestWrap: the caller's decorator sees the request as it is sent, and the price.
func TestWrap(t *testing.T) {
	var seen []string
	g := open(t, gateway.Options{Wrap: func(p model.Provider) model.Provider {
		return &fake{name: p.Name(), complete: func(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
			resp, err := p.Complete(ctx, req, stream)
			if err != nil || resp.CostUSD == nil {
				t.Errorf("%+v, %v", resp, err)
			}
			seen = append(seen, p.Name()+" "+req.Model)
			return resp, err
		}}
	}}, gateway.Entry{Provider: reports("openai", model.Response{Usage: usage()})})
	if _, err := g.Complete(t.Context(), to("openai/gpt-4o"), ask(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"openai gpt-4o"}, seen); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}
