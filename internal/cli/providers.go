package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/tool/mcp"
	"github.com/agentloom/agentloom/workflow"
)

const mockName = "mock"

// providerInfo is what `agentloom info` says of one provider.
type providerInfo struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	// Note says what it misses, or where its calls go.
	Note string `json:"note,omitempty"`
}

// providers returns the providers that one run may use: the mock one and the
// vendors' whose keys are set, or, for an offline run, the mock one alone under
// every name the workflow uses, so that no call can leave.
func (p *program) providers(def *workflow.Definition, set settings, c choice) ([]gateway.Entry, error) {
	canned, err := p.mockProvider(def, c)
	if err != nil {
		return nil, err
	}
	entries := []gateway.Entry{{Provider: canned, AnyModel: true}}
	if c.offline {
		for _, name := range stepProviders(def) {
			if name != mockName {
				entries = append(entries, gateway.Entry{
					Provider: standIn{canned, name}, AnyModel: true, Pricing: gateway.ByProvider,
				})
			}
		}
		return entries, nil
	}
	vendors, err := vendorEntries(set)
	if err != nil {
		return nil, err
	}
	return append(entries, vendors...), nil
}

// maxResponses bounds a file of canned responses, in bytes.
const maxResponses = 256 << 20

// mockProvider returns the mock provider with the run's canned responses. A
// file that can't be used is the fault of whoever named it: of the command
// line, or of the workflow.
func (p *program) mockProvider(def *workflow.Definition, c choice) (*mock.Provider, error) {
	cfg := mock.Config{
		File:         c.responses,
		LatencyModel: def.Config.LatencyModel,
		LatencyMS:    def.Config.LatencyMS,
		Strict:       c.replay,
	}
	code := exitFailed
	if c.offline {
		code = exitUsage
	}
	if c.responses != "" {
		src, err := p.readFile(c.responses, maxResponses)
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("there is no such file")
		}
		if err != nil {
			return nil, &failure{code, fmt.Errorf("canned responses %s: %w", c.responses, err)}
		}
		cfg.Responses = src
	}
	m, err := mock.New(cfg)
	if err != nil {
		return nil, &failure{code, err}
	}
	return m, nil
}

// tools returns the tools that workflows can use, under a sandbox or, for nil,
// without; servers, which may be nil, bring theirs when they are needed.
func (p *program) tools(env environment, policy *sandbox.Policy, servers *mcp.Servers) (*tool.Registry, error) {
	reg := tool.NewRegistry(tool.RegistryOptions{Resolve: servers.Resolve})
	if err := builtin.Register(reg, builtin.Options{
		Dir:     p.Dir,
		Sandbox: policy,
		Environ: env.list(),
		Proxy:   http.ProxyFromEnvironment,
	}); err != nil {
		return nil, failed("%w", err)
	}
	return reg, nil
}

// standIn is a provider under another's name.
type standIn struct {
	model.Provider
	name string
}

func (s standIn) Name() string { return s.name }

// stepProviders returns the providers that steps and agents name themselves,
// sorted.
func stepProviders(def *workflow.Definition) []string {
	var names []string
	for i := range def.Steps {
		s := &def.Steps[i]
		switch {
		case s.LLM != nil:
			names = append(names, s.LLM.Provider)
		case s.Agent != nil:
			names = append(names, s.Agent.Provider)
		case s.Embed != nil:
			names = append(names, s.Embed.Provider)
		}
	}
	for _, a := range def.Agents {
		names = append(names, a.Provider)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}
