// Package gateway decides which provider gets a model call, makes the call, and
// hands it over to another provider when that one fails. It also keeps each
// provider's limits, prices the answers and keeps a run's budget.
//
// A call goes to, in this order:
//
//  1. the step's own provider;
//  2. the workflow's provider, when it takes any model name as written;
//  3. the provider that the model's name begins with, as in
//     "anthropic/claude-sonnet-4", and the service gets the rest of the name;
//  4. the vendor whose family of models the name belongs to (gpt-, o1, o3, o4,
//     chatgpt- and text-embedding- are OpenAI's, claude Anthropic's, gemini
//     Google's);
//  5. the workflow's provider, for any other name;
//
// and, when that fails, to the fallbacks (Entry.Fallback) that serve the model,
// in the order of their priorities.
//
// A provider that is meant but not registered is an error that says what to
// set: a call never goes quietly to another service than the one that was
// asked for.
package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/model"
)

// Entry is one provider to choose from.
type Entry struct {
	Provider model.Provider // required; its Name is what workflow files call it
	// AnyModel says that the provider serves models of every name, so that a
	// name is sent to it as written: Ollama, the mock provider, and services
	// with a base URL of their own, whose models have names like
	// "anthropic/claude-sonnet-4".
	AnyModel bool

	// Fallback lets the provider take over the calls that others failed, for
	// the models it serves: those in Models; with an empty Models those of any
	// name if AnyModel is set; and those of its family.
	Fallback bool
	// Priority orders the fallbacks, lower first; those of equal priority stay
	// in the order they are given in.
	Priority int
	// Models are the names the provider serves as a fallback, as workflows
	// write them or without the prefix that names another provider. They play
	// no part in choosing a call's first provider.
	Models []string

	// RPM and TPM limit what is sent to the provider, in requests and in tokens
	// per minute: calls over it wait. 0: no limit.
	RPM, TPM int
	// Pricing says where the cost of the provider's answers comes from.
	Pricing Pricing
}

// Pricing says where the cost of a provider's answers comes from. A cost that
// the provider itself sets always stays.
type Pricing uint8

// The ways of pricing.
const (
	// ByModel: from Options.Prices and the catalogue, by the model's name. For
	// the providers called "ollama" and "mock" it means Free and ByProvider.
	ByModel Pricing = iota
	// Free: 0.
	Free
	// ByProvider: the provider's own figure only; where it sets none the cost
	// is not known. Its calls reserve nothing of a budget.
	ByProvider
)

// Options are what a gateway works with beside its providers. The zero Options
// take the catalogue's prices and tell nobody anything.
type Options struct {
	// Prices go before the catalogue's. A key is a model's name as the service
	// is told it, alone or after the provider's name and a slash.
	Prices map[string]Price
	// Warn is told, once for each model, that its price is not known, so that
	// its calls count nothing against a budget. It may be called from several
	// goroutines at once; may be nil.
	Warn func(message string)
	// OnBreaker is told, one change at a time for each provider, that its
	// circuit breaker changed from one of the Breaker states to another. It may
	// call the gateway; may be nil.
	OnBreaker func(provider, from, to string)
	// Wrap puts a decorator, such as a recorder, around each provider. Where it
	// stands among the gateway's own is to be seen in stack.go. It must keep
	// the provider's name. May be nil.
	Wrap func(model.Provider) model.Provider
}

// Gateway chooses among a fixed set of providers and calls them. It is safe for
// concurrent use.
type Gateway struct {
	entries   map[string]Entry
	names     []string // sorted
	members   map[string]*member
	fallbacks []*member // by priority
	prices    *prices
}

// New returns a gateway over the entries, which may be none: each route is an
// error then. Names must be unique, not empty and without a slash.
func New(entries ...Entry) (*Gateway, error) {
	return NewWith(Options{}, entries...)
}

// NewWith is New with options.
func NewWith(opts Options, entries ...Entry) (*Gateway, error) {
	p, err := newPrices(opts.Prices, opts.Warn)
	if err != nil {
		return nil, err
	}
	g := &Gateway{
		entries: make(map[string]Entry, len(entries)),
		members: make(map[string]*member, len(entries)),
		prices:  p,
	}
	for _, e := range entries {
		if e.Provider == nil {
			return nil, errors.New("gateway: an entry has no provider")
		}
		name := e.Provider.Name()
		if name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("gateway: %q is no name for a provider: it must not be empty and not hold a slash", name)
		}
		if _, twice := g.entries[name]; twice {
			return nil, fmt.Errorf("gateway: two providers are called %q", name)
		}
		if e.RPM < 0 || e.TPM < 0 {
			return nil, fmt.Errorf("gateway: the limits of provider %q must not be negative", name)
		}
		m := g.stack(e, opts)
		g.entries[name], g.members[name] = e, m
		g.names = append(g.names, name)
		if e.Fallback {
			g.fallbacks = append(g.fallbacks, m)
		}
	}
	slices.Sort(g.names)
	slices.SortStableFunc(g.fallbacks, func(a, b *member) int { return cmp.Compare(a.entry.Priority, b.entry.Priority) })
	return g, nil
}

// Names returns the registered providers' names, sorted.
func (g *Gateway) Names() []string { return slices.Clone(g.names) }

// Route is where a call goes first.
type Route struct {
	Provider model.Provider // as it was registered, without limits and prices
	Model    string         // as the service is to be told
}

// Route finds the provider for a model. stepProvider is the step's own, or ""
// when it names none; workflowProvider is the workflow's. Its errors are
// *fault.Error of kind Permanent and name the variable to set where a provider
// is missing.
func (g *Gateway) Route(stepProvider, workflowProvider, modelName string) (Route, error) {
	if modelName == "" {
		return Route{}, refuse("the call names no model: set the step's or the workflow's `model`")
	}
	if stepProvider != "" {
		return g.to(stepProvider, modelName, "the step asks for it")
	}
	if e, ok := g.entries[workflowProvider]; ok && e.AnyModel {
		return Route{Provider: e.Provider, Model: modelName}, nil
	}
	if err := g.checkWorkflow(workflowProvider); err != nil {
		return Route{}, err
	}
	if name, _, ok := strings.Cut(modelName, "/"); ok && g.knows(name) {
		return g.to(name, modelName, fmt.Sprintf("the model's name %q begins with it", modelName))
	}
	if vendor := family(modelName); vendor != "" {
		return g.to(vendor, modelName, fmt.Sprintf("model %q is of its family; to ask another provider, set the step's `provider`", modelName))
	}
	if workflowProvider == "" {
		return Route{}, refuse(fmt.Sprintf("no provider for model %q: its name belongs to no known family, so set `config.provider`", modelName))
	}
	return g.to(workflowProvider, modelName, "the workflow asks for it")
}

// knows reports whether a model name's prefix means a provider. A vendor that
// is known but not registered counts: its name asks for it, and the error then
// says what to set.
func (g *Gateway) knows(prefix string) bool {
	_, registered := g.entries[prefix]
	_, isVendor := known(prefix)
	return registered || isVendor
}

// to routes to a provider by name; why says who asked for it.
func (g *Gateway) to(name, modelName, why string) (Route, error) {
	e, ok := g.entries[name]
	if !ok {
		return Route{}, g.missing(name, why)
	}
	if !e.AnyModel {
		if rest, ok := strings.CutPrefix(modelName, name+"/"); ok && rest != "" {
			modelName = rest
		}
	}
	return Route{Provider: e.Provider, Model: modelName}, nil
}

// checkWorkflow refuses a workflow's provider that no model name can stand in
// for: one that nobody knows, most likely a typing mistake, and one that takes
// any name, where a family name such as gpt-oss would send to a cloud what was
// meant for a local service.
func (g *Gateway) checkWorkflow(name string) error {
	if _, ok := g.entries[name]; ok || name == "" {
		return nil
	}
	if v, ok := known(name); ok && !v.anyModel {
		return nil
	}
	return g.missing(name, "the workflow asks for it")
}
