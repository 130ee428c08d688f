package gateway

import (
	"context"
	"math"

	"github.com/agentloom/agentloom/model"
)

// demand is how many tokens a call may use.
type demand struct {
	model string
	input int64 // at most
	// answer is the most tokens of the answer; -1: nothing bounds it.
	answer int64
	// least is the fewest tokens that an answer of a bounded length needs.
	least int64
}

func completionDemand(req *model.Request) demand {
	d := demand{model: req.Model, input: inputBound(req), answer: -1, least: 1}
	if req.MaxTokens != nil {
		d.answer = max(*req.MaxTokens, 0)
	}
	if t := req.Thinking; t.On() && t.BudgetTokens != nil {
		// The thinking is part of the answer, and services refuse a max_tokens
		// that leaves nothing beside it.
		d.least = plus(1, *t.BudgetTokens)
	}
	return d
}

func embedDemand(req *model.EmbedRequest) demand {
	return demand{model: req.Model, input: embedBound(req)}
}

// defaultAnswer is how long an answer the strict mode asks for at most, in
// tokens, where the catalogue does not know the model: services refuse a
// max_tokens that is higher than the model's own limit.
const defaultAnswer = 8192

// reserve sets aside what a call at a provider may cost. Without a budget the
// hold is empty, and nothing is measured.
func (g *Gateway) reserve(ctx context.Context, c candidate, sel Selection, measure func() demand) (*hold, error) {
	if sel.Budget == nil {
		return &hold{settled: true}, nil
	}
	d := measure()
	var t tariff
	if c.pricing == ByModel {
		known := false
		if t, known = g.prices.find(c.name, d.model, ""); !known {
			g.prices.unknown(ctx, c.name, d.model)
			return sel.Budget.reserve(ctx, c.name, claim{})
		}
	}
	if t.window > 0 {
		d.input, d.answer = min(d.input, t.window), min(d.answer, t.window)
	}
	if d.answer < 0 {
		return g.reserveOpen(ctx, c, sel, d, t)
	}
	most := dollarsUp(worst(t, d.input, d.answer))
	return sel.Budget.reserve(ctx, c.name, claim{most, most})
}

// reserveOpen is reserve for a call without max_tokens: it sets nothing aside,
// or, in the strict mode, as many tokens as the budget pays.
func (g *Gateway) reserveOpen(ctx context.Context, c candidate, sel Selection, d demand, t tariff) (*hold, error) {
	if !sel.Strict || c.pricing != ByModel || t.perInput() == 0 && t.output == 0 {
		return sel.Budget.reserve(ctx, c.name, claim{})
	}
	wish := int64(defaultAnswer)
	if t.answer > 0 {
		wish = t.answer
	}
	wish = max(wish, d.least)
	h, err := sel.Budget.reserve(ctx, c.name, claim{
		least: dollarsUp(worst(t, d.input, d.least)),
		most:  dollarsUp(worst(t, d.input, wish)),
	})
	if err != nil {
		return nil, err
	}
	h.maxTokens = wish
	if h.amount < dollarsUp(worst(t, d.input, wish)) {
		left := h.amount.dollars()*1e6 - float64(d.input)*t.perInput()
		h.maxTokens = min(wish, max(d.least, int64(math.Floor(left/t.output))))
		// Rounding may have come out one too high.
		for h.maxTokens > d.least && dollarsUp(worst(t, d.input, h.maxTokens)) > h.amount {
			h.maxTokens--
		}
	}
	return h, nil
}

// worst is the most that a call of so many tokens costs, in US dollars.
func worst(t tariff, input, answer int64) float64 {
	return (float64(input)*t.perInput() + float64(answer)*t.output) / 1e6
}
