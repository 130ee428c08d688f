package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// named is a provider that is only ever chosen.
type named string

func (n named) Name() string { return string(n) }
func (n named) Embed(context.Context, *model.EmbedRequest) (*model.EmbedResponse, error) {
	return nil, nil
}

func (n named) Complete(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
	panic("the gateway made a call")
}

// setup is "openai anthropic ollama*": a star marks those that take any name.
func setup(t *testing.T, names string) *gateway.Gateway {
	t.Helper()
	var entries []gateway.Entry
	for _, name := range strings.Fields(names) {
		name, anyModel := strings.CutSuffix(name, "*")
		entries = append(entries, gateway.Entry{Provider: named(name), AnyModel: anyModel})
	}
	g, err := gateway.New(entries...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRoute(t *testing.T) {
	const all = "openai anthropic google ollama* mock* groq*"
	tests := map[string]struct {
		registered, step, workflow, model string
		want                              string // "provider model"
	}{
		"the step's own comes first":                {all, "google", "mock", "gpt-4o", "google gpt-4o"},
		"over a prefix":                             {all, "google", "openai", "anthropic/claude-x", "google anthropic/claude-x"},
		"the step's own prefix is dropped":          {all, "openai", "mock", "openai/gpt-4o", "openai gpt-4o"},
		"but not where any name goes":               {all, "groq", "openai", "groq/compound", "groq groq/compound"},
		"a workflow's that takes any name":          {all, "", "ollama", "gpt-oss:20b", "ollama gpt-oss:20b"},
		"a prefix goes to it as written":            {all, "", "groq", "openai/gpt-oss-120b", "groq openai/gpt-oss-120b"},
		"mock takes all":                            {all, "", "mock", "claude-sonnet-4", "mock claude-sonnet-4"},
		"openai with a base URL of its own":         {"openai*", "", "openai", "anthropic/claude-sonnet-4", "openai anthropic/claude-sonnet-4"},
		"a prefix":                                  {all, "", "openai", "anthropic/some-model", "anthropic some-model"},
		"a prefix of a custom service":              {all, "", "openai", "groq/qwen/qwen3-32b", "groq groq/qwen/qwen3-32b"},
		"a prefix over the family":                  {all, "", "anthropic", "openai/claude-alike", "openai claude-alike"},
		"a prefix that is no provider":              {all, "", "openai", "meta/llama-3", "openai meta/llama-3"},
		"a slash at the end":                        {all, "", "openai", "anthropic/", "anthropic anthropic/"},
		"family gpt-":                               {all, "", "google", "gpt-4o-mini", "openai gpt-4o-mini"},
		"family chatgpt-":                           {all, "", "google", "chatgpt-4o-latest", "openai chatgpt-4o-latest"},
		"family text-embedding-":                    {all, "", "google", "text-embedding-3-small", "openai text-embedding-3-small"},
		"family o1":                                 {all, "", "google", "o1", "openai o1"},
		"family o3":                                 {all, "", "google", "o3-mini", "openai o3-mini"},
		"family o4":                                 {all, "", "google", "o4-mini-2025-04-16", "openai o4-mini-2025-04-16"},
		"o1 in a longer word":                       {all, "", "google", "o1lama", "google o1lama"},
		"family claude":                             {all, "", "openai", "claude-sonnet-4-5", "anthropic claude-sonnet-4-5"},
		"family gemini":                             {all, "", "openai", "gemini-2.5-pro", "google gemini-2.5-pro"},
		"case":                                      {all, "", "openai", "Claude-Sonnet-4", "anthropic Claude-Sonnet-4"},
		"family without the workflow's being there": {"google", "", "openai", "gemini-2.5-pro", "google gemini-2.5-pro"},
		"any other name":                            {all, "", "anthropic", "ft:gpt-4o:me", "anthropic ft:gpt-4o:me"},
		"no workflow's provider, but a family":      {all, "", "", "gpt-4o", "openai gpt-4o"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := setup(t, test.registered).Route(test.step, test.workflow, test.model)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Provider.Name() + " " + r.Model; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestNoRoute(t *testing.T) {
	tests := map[string]struct {
		registered, step, workflow, model string
		want                              string
	}{
		"no key":                    {"mock*", "", "openai", "gpt-4o", "provider openai is not set up: set OPENAI_API_KEY"},
		"no key, other name":        {"mock*", "", "openai", "davinci", "provider openai is not set up: set OPENAI_API_KEY (the workflow asks for it)"},
		"the step's":                {"mock*", "openai", "mock", "gpt-4o", "set OPENAI_API_KEY (the step asks for it)"},
		"another vendor's model":    {"openai", "", "openai", "claude-x", `provider anthropic is not set up: set ANTHROPIC_API_KEY (model "claude-x" is of its family; to ask another provider, set the step's ` + "`provider`)"},
		"another vendor's prefix":   {"openai", "", "openai", "anthropic/x", `provider anthropic is not set up: set ANTHROPIC_API_KEY (the model's name "anthropic/x" begins with it)`},
		"google":                    {"openai", "google", "openai", "gemini-2.5-pro", "provider google is not set up: set GOOGLE_API_KEY or GEMINI_API_KEY"},
		"a local model stays local": {"openai", "", "ollama", "gpt-oss:20b", "provider ollama is not set up: set OLLAMA_BASE_URL or OLLAMA_HOST (the workflow asks for it)"},
		"a mock run stays one":      {"openai", "", "mock", "gpt-4o", "provider mock is not set up"},
		"a typing mistake":          {"openai mock*", "", "opnai", "gpt-4o", `there is no provider "opnai" (the workflow asks for it); did you mean "openai"?`},
		"a name nobody knows":       {"openai mock*", "acme", "openai", "gpt-4o", `there is no provider "acme" (the step asks for it); set up are mock, openai`},
		"nothing set up":            {"", "acme", "", "x", "none is set up"},
		"no provider at all":        {"openai", "", "", "llama-3", "set `config.provider`"},
		"no model":                  {"openai", "openai", "openai", "", "names no model"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := setup(t, test.registered).Route(test.step, test.workflow, test.model)
			if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v (%v), want a permanent error with %q", err, fault.KindOf(err), test.want)
			}
		})
	}
}

func TestNew(t *testing.T) {
	g, err := gateway.New(gateway.Entry{Provider: named("b")}, gateway.Entry{Provider: named("a")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, g.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for name, entries := range map[string][]gateway.Entry{
		"nil":   {{}},
		"empty": {{Provider: named("")}},
		"slash": {{Provider: named("a/b")}},
		"twice": {{Provider: named("a")}, {Provider: named("a")}},
	} {
		if _, err := gateway.New(entries...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
