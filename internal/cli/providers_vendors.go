//go:build !offline

package cli

import (
	"net/http"

	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/model/openai"
)

// vendorsBuiltIn says whether the vendors' SDKs are part of this program.
const vendorsBuiltIn = true

// vendorEntries returns the vendors' providers that the environment sets up.
// OpenAI's own service needs a key; another one, under OPENAI_BASE_URL, may
// need none.
func vendorEntries(env environment) ([]gateway.Entry, error) {
	if env.vars["OPENAI_API_KEY"] == "" && env.vars["OPENAI_BASE_URL"] == "" {
		return nil, nil
	}
	p, err := newOpenAI(env)
	if err != nil {
		return nil, &failure{exitUsage, err}
	}
	return []gateway.Entry{{Provider: p, AnyModel: p.TakesAnyModel()}}, nil
}

func newOpenAI(env environment) (*openai.Provider, error) {
	return openai.New(openai.Config{
		APIKey:  env.vars["OPENAI_API_KEY"],
		BaseURL: env.vars["OPENAI_BASE_URL"],
		Proxy:   http.ProxyFromEnvironment,
	})
}

// vendorInfo says which vendors' providers are set up, and what the others
// miss.
func vendorInfo(env environment) []providerInfo {
	info := providerInfo{Name: "openai"}
	entries, err := vendorEntries(env)
	switch {
	case err != nil:
		info.Note = err.Error()
	case len(entries) == 0:
		info.Note = "set OPENAI_API_KEY, or OPENAI_BASE_URL for a service that needs no key"
	default:
		info.Ready = true
		if entries[0].AnyModel {
			info.Note = "calls go to OPENAI_BASE_URL"
		}
	}
	return []providerInfo{info}
}
