package gateway

import (
	"cmp"
	"context"
	"errors"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// Complete makes a model call at the first of the call's providers that
// answers. The request's Model is filled in for each; the request itself is
// not changed. See model.Provider for stream, and Gateway for the order.
//
// Any failure hands the call over to the next provider, a permanent one too,
// but not when ctx has ended, when the budget refused the call, or when the
// stream function was already given something: another provider's text is not
// put behind it, and the error is one for which errors.Is(err, ErrStreamBroke).
//
// When several providers failed, the error's message names each with its own,
// and its kind, status and wait are the first provider's: a key that was
// rejected is permanent whatever the fallbacks said, and a service that may
// work again is worth another try. A provider that was passed over because its
// circuit is open counts as a transient failure, whose wait is the shortest
// that any provider with a transient failure asked for. When ctx ended, its
// cause decides. errors.Is and errors.As find all the causes.
//
// A budget's refusal is of kind fault.Budget when the first provider met it. A
// fallback that does not fit the budget ends the search, and the first
// provider's kind stays.
//
// The response's usage and cost include those of the failed calls before it
// that the service billed. Beside an error, the response holds what was
// billed, and of a broken stream what had come; nil when there is nothing.
func (g *Gateway) Complete(ctx context.Context, sel Selection, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	all, err := g.candidates(sel)
	if err != nil {
		return nil, err
	}
	var fs failures
	var last *model.Response
	sent := false
	sink := stream
	if stream != nil {
		sink = func(d model.Delta) {
			sent = true
			stream(d)
		}
	}
	for i, c := range all {
		resp, err := g.completeAt(ctx, c, sel, req, sink)
		if resp == nil && err == nil {
			err = fault.New(fault.Transient, c.name+" returned no response", nil)
		}
		if resp != nil {
			fs.bill(resp.Usage, resp.CostUSD)
			r := *resp
			r.Provider = cmp.Or(r.Provider, c.name)
			r.Usage, r.CostUSD = fs.total()
			last = &r
		}
		if err == nil {
			return last, nil
		}
		fs.add(c.name, err)
		if sent {
			return last, fs.broken(ctx)
		}
		if i+1 == len(all) || fs.final(ctx) {
			break
		}
	}
	return last, fs.err(ctx)
}

// Embed is Complete for vectors. A provider without embeddings is passed over;
// its error decides the kind only when none has them.
func (g *Gateway) Embed(ctx context.Context, sel Selection, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	all, err := g.candidates(sel)
	if err != nil {
		return nil, err
	}
	var fs failures
	var last *model.EmbedResponse
	for i, c := range all {
		resp, err := g.embedAt(ctx, c, sel, req)
		if resp == nil && err == nil {
			err = fault.New(fault.Transient, c.name+" returned no response", nil)
		}
		if resp != nil {
			fs.bill(resp.Usage, resp.CostUSD)
			r := *resp
			r.Provider = cmp.Or(r.Provider, c.name)
			r.Usage, r.CostUSD = fs.total()
			last = &r
		}
		if err == nil {
			return last, nil
		}
		fs.add(c.name, err)
		if i+1 == len(all) || fs.final(ctx) {
			break
		}
	}
	return last, fs.err(ctx)
}

// completeAt makes the call at one provider.
func (g *Gateway) completeAt(ctx context.Context, c candidate, sel Selection, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	ctx = withNotices(ctx, sel)
	// Before money is set aside or waited for.
	if err := c.breaker.closedTo(ctx); err != nil {
		return nil, err
	}
	r := *req
	r.Model = c.model
	h, err := g.reserve(ctx, c, sel, func() demand { return completionDemand(&r) })
	if err != nil {
		return nil, err
	}
	defer h.settle(nil, false) // when the call panics
	if h.maxTokens > 0 {
		r.MaxTokens = &h.maxTokens
	}
	resp, err := c.calls.Complete(ctx, &r, stream)
	if resp != nil {
		h.settle(resp.CostUSD, true)
	} else {
		h.settle(nil, mayBeBilled(err))
	}
	return resp, err
}

// embedAt makes the call at one provider.
func (g *Gateway) embedAt(ctx context.Context, c candidate, sel Selection, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	ctx = withNotices(ctx, sel)
	if err := c.breaker.closedTo(ctx); err != nil {
		return nil, err
	}
	r := *req
	r.Model = c.model
	h, err := g.reserve(ctx, c, sel, func() demand { return embedDemand(&r) })
	if err != nil {
		return nil, err
	}
	defer h.settle(nil, false)
	resp, err := c.calls.Embed(ctx, &r)
	if resp != nil {
		h.settle(resp.CostUSD, true)
	} else {
		h.settle(nil, mayBeBilled(err))
	}
	return resp, err
}

// mayBeBilled reports whether a call that failed without a response may have
// cost something all the same: it was sent, and nobody waited for the answer.
func mayBeBilled(err error) bool {
	kind := fault.KindOf(err)
	return (kind == fault.Timeout || kind == fault.Cancelled) && !errors.Is(err, errNotSent)
}
