package gateway

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/agentloom/agentloom/model"
)

// Price is what a model costs, in US dollars per million tokens; each finite
// and not negative. What is nil comes from the catalogue, where it has the
// model; otherwise it is 0, and CachedInput is Input.
type Price struct {
	Input  *float64
	Output *float64 // reasoning included
	// CachedInput is for the tokens of the prompt that the service had in its
	// cache. When it is nil and Input is not, it is Input.
	CachedInput *float64
}

// tariff is a model's complete price, with what the catalogue says of its size.
type tariff struct {
	input, output, cached float64 // US dollars per million tokens
	// window is how many tokens the input and the answer may have together, 0
	// when not known.
	window int64
	// answer is a length of answers that the model takes as max_tokens; 0 when
	// not known.
	answer int64
}

// perInput is the highest price of a million tokens of input.
func (t tariff) perInput() float64 { return max(t.input, t.cached) }

// cost is the price of a call, in US dollars. Reasoning is part of the
// completion.
func (t tariff) cost(u model.Usage) float64 {
	prompt := float64(max(u.PromptTokens, 0))
	cached := min(float64(max(u.CachedTokens, 0)), prompt)
	completion := float64(max(u.CompletionTokens, 0))
	return ((prompt-cached)*t.input + cached*t.cached + completion*t.output) / 1e6
}

// prices finds models' prices: the user's own before the catalogue's. The
// catalogue is read when the first price is asked for.
type prices struct {
	own       map[string]Price // by name in lower case
	warn      func(message string)
	warned    Warned
	catalogue *catalogue
}

func newPrices(own map[string]Price, warn func(string)) (*prices, error) {
	p := &prices{own: make(map[string]Price, len(own)), warn: warn, catalogue: &catalogue{}}
	for name, price := range own {
		for _, n := range []*float64{price.Input, price.Output, price.CachedInput} {
			if n != nil && !(*n >= 0 && !math.IsInf(*n, 1)) {
				return nil, fmt.Errorf("gateway: the price of model %q is %v: it must be finite and not negative", name, *n)
			}
		}
		if price != (Price{}) {
			p.own[strings.ToLower(name)] = price
		}
	}
	return p, nil
}

// find returns the price of a model as the named provider is told it. asked is
// the model's name in the call; answered, which may be "", is the one that the
// service says answered, and is looked at when the first is not known.
func (p *prices) find(provider, asked, answered string) (tariff, bool) {
	for _, name := range []string{asked, answered} {
		if name == "" {
			continue
		}
		t, listed := p.catalogue.find(provider, name)
		if own, ok := p.override(provider, name); ok {
			return own.over(t), true
		}
		if listed {
			return t, true
		}
	}
	return tariff{}, false
}

// override returns the user's own price of a model: by the provider's name and
// the model's, by the model's alone, then by both without the date of a
// version.
func (p *prices) override(provider, name string) (Price, bool) {
	name = strings.ToLower(name)
	provider = strings.ToLower(provider)
	for _, key := range []string{name, undated(name)} {
		if own, ok := p.own[provider+"/"+key]; ok {
			return own, true
		}
		if own, ok := p.own[key]; ok {
			return own, true
		}
	}
	return Price{}, false
}

// over completes a price with the catalogue's.
func (p Price) over(t tariff) tariff {
	if p.Input != nil {
		t.input, t.cached = *p.Input, *p.Input
	}
	if p.Output != nil {
		t.output = *p.Output
	}
	if p.CachedInput != nil {
		t.cached = *p.CachedInput
	}
	return t
}

// unknown warns, once for each model, that its calls can't be priced.
func (p *prices) unknown(ctx context.Context, provider, name string) {
	n := noticesOf(ctx)
	key := provider + "/" + name
	toAll := p.warn != nil && p.warned.first(key)
	toOne := n.warn != nil && n.warned.first(key)
	if !toAll && !toOne {
		return
	}
	message := fmt.Sprintf("the price of model %q at %s is not known: its cost is left out and counts nothing against a budget; set it under `prices` in agentloom.yaml", name, provider)
	if toAll {
		p.warn(message)
	}
	if toOne {
		n.warn(message)
	}
}

// pricer is a provider whose answers get their cost.
type pricer struct {
	model.Provider
	prices  *prices
	pricing Pricing
}

func (p *pricer) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	defer p.prepare()()
	resp, err := p.Provider.Complete(ctx, req, stream)
	if resp == nil || resp.CostUSD != nil {
		return resp, err
	}
	r := *resp
	whole := err == nil && (r.Text != "" || len(r.ToolCalls) > 0)
	odd := whole && r.Usage != nil && (r.Usage.PromptTokens <= 0 || r.Usage.CompletionTokens <= 0)
	r.CostUSD = p.cost(ctx, req.Model, r.Model, r.Usage, odd)
	return &r, err
}

func (p *pricer) Embed(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	defer p.prepare()()
	resp, err := p.Provider.Embed(ctx, req)
	if resp == nil || resp.CostUSD != nil {
		return resp, err
	}
	r := *resp
	odd := err == nil && len(r.Vectors) > 0 && r.Usage != nil && r.Usage.PromptTokens <= 0
	r.CostUSD = p.cost(ctx, req.Model, r.Model, r.Usage, odd)
	return &r, err
}

// prepare reads the catalogue while the call is under way. The function that
// it returns waits for the end of that.
func (p *pricer) prepare() (wait func()) {
	if p.pricing != ByModel || p.prices.catalogue.ready.Load() {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.prices.catalogue.load()
	}()
	return func() { <-done }
}

// cost returns what an answer cost, nil when that is not known. odd says that
// the counts can't be: no answer comes of an input without tokens, and none has
// no tokens itself. A service that says so, or a nonsense number, of which
// adapters make 0, has not told: to take the call for free would let a run go
// over its budget.
func (p *pricer) cost(ctx context.Context, asked, answered string, u *model.Usage, odd bool) *float64 {
	switch {
	case p.pricing == Free:
		return new(float64)
	case p.pricing == ByProvider || u == nil:
		return nil
	}
	t, ok := p.prices.find(p.Name(), asked, answered)
	if !ok {
		p.prices.unknown(ctx, p.Name(), asked)
		return nil
	}
	if odd && (t.perInput() > 0 || t.output > 0) {
		return nil
	}
	c := t.cost(*u)
	return &c
}
