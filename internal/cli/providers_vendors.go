//go:build !offline

package cli

import (
	"net/http"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/anthropic"
	"github.com/agentloom/agentloom/model/google"
	"github.com/agentloom/agentloom/model/ollama"
	"github.com/agentloom/agentloom/model/openai"
)

// vendorsBuiltIn says whether the vendors' SDKs are part of this program.
const vendorsBuiltIn = true

// vendors returns the services that are built in, in the order of their help.
func vendors() []vendor {
	return []vendor{
		{
			name: "openai", keyVars: []string{"OPENAI_API_KEY"}, baseVars: []string{"OPENAI_BASE_URL"}, baseAlone: true,
			missing: "set OPENAI_API_KEY, or OPENAI_BASE_URL for a service that needs no key",
			connect: func(s access) (model.Provider, bool, error) {
				p, err := openai.New(openai.Config{
					Name: s.name, APIKey: s.key, BaseURL: s.base, KeyVar: s.keyVar, BaseVar: s.baseVar, Proxy: http.ProxyFromEnvironment,
				})
				if err != nil {
					return nil, false, err
				}
				return p, p.TakesAnyModel(), nil
			},
		},
		{
			name: "anthropic", keyVars: []string{"ANTHROPIC_API_KEY"}, baseVars: []string{"ANTHROPIC_BASE_URL"},
			missing: "set ANTHROPIC_API_KEY",
			connect: func(s access) (model.Provider, bool, error) {
				p, err := anthropic.New(anthropic.Config{APIKey: s.key, BaseURL: s.base, Proxy: http.ProxyFromEnvironment})
				return p, false, err
			},
		},
		{
			name: "google", keyVars: []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"}, baseVars: []string{"GOOGLE_BASE_URL"},
			missing: "set GOOGLE_API_KEY or GEMINI_API_KEY",
			connect: func(s access) (model.Provider, bool, error) {
				p, err := google.New(google.Config{APIKey: s.key, BaseURL: s.base, KeyVar: s.keyVar, BaseVar: s.baseVar, Proxy: http.ProxyFromEnvironment})
				return p, false, err
			},
		},
		{
			name: "ollama", keyVars: []string{"OLLAMA_API_KEY"}, baseVars: []string{"OLLAMA_BASE_URL", "OLLAMA_HOST"},
			baseAlone: true, always: true,
			connect: func(s access) (model.Provider, bool, error) {
				p, err := ollama.New(ollama.Config{APIKey: s.key, BaseURL: s.base, BaseVar: s.baseVar, Proxy: http.ProxyFromEnvironment})
				return p, true, err
			},
		},
	}
}
