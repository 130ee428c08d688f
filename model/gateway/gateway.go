// Package gateway decides which provider gets a model call. It makes no call
// itself.
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
//  5. the workflow's provider, for any other name.
//
// A provider that is meant but not registered is an error that says what to
// set: a call never goes quietly to another service than the one that was
// asked for.
package gateway

import (
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
}

// Gateway chooses among a fixed set of providers. It is safe for concurrent
// use.
type Gateway struct {
	entries map[string]Entry
	names   []string // sorted
}

// New returns a gateway over the entries, which may be none: each route is an
// error then. Names must be unique, not empty and without a slash.
func New(entries ...Entry) (*Gateway, error) {
	g := &Gateway{entries: make(map[string]Entry, len(entries))}
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
		g.entries[name] = e
		g.names = append(g.names, name)
	}
	slices.Sort(g.names)
	return g, nil
}

// Names returns the registered providers' names, sorted.
func (g *Gateway) Names() []string { return slices.Clone(g.names) }

// Route is where a call goes.
type Route struct {
	Provider model.Provider
	Model    string // as the service is to be told
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
