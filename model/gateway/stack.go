package gateway

import "github.com/agentloom/agentloom/model"

// member is a registered provider with everything that stands around it.
type member struct {
	name    string
	entry   Entry
	pricing Pricing
	breaker *breaker
	calls   model.Provider // the whole stack
}

// stack puts the decorators around a provider. This is their order, and the
// only place that knows it; a call passes, from the outside in:
//
//	limiter    waits until the provider's rpm and tpm allow the call
//	breaker    refuses it while the provider's circuit is open
//	Wrap       the caller's own, such as a recorder: it sees the price
//	pricing    sets the answer's cost
//	provider
//
// The budget stands before all of them, in call.go, since what a call may cost
// has to be reserved for one provider at a time.
func (g *Gateway) stack(e Entry, opts Options) *member {
	m := &member{name: e.Provider.Name(), entry: e, pricing: e.Pricing}
	if m.pricing == ByModel {
		m.pricing = pricingByName(m.name)
	}
	p := e.Provider
	p = &pricer{p, g.prices, m.pricing}
	if opts.Wrap != nil {
		p = opts.Wrap(p)
	}
	m.breaker = newBreaker(p, m.name, opts.OnBreaker)
	p = m.breaker
	if e.RPM > 0 || e.TPM > 0 {
		p = newLimiter(p, m.name, e.RPM, e.TPM)
	}
	m.calls = p
	return m
}

// pricingByName is the pricing of an entry that names none: what runs on one's
// own machine costs nothing, and the mock provider says itself what it costs.
func pricingByName(name string) Pricing {
	switch name {
	case "ollama":
		return Free
	case "mock":
		return ByProvider
	}
	return ByModel
}
