package wfyaml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettings(t *testing.T) {
	got, ds := LoadSettings("agentloom.yaml", []byte(`
provider: groq
model: llama-3.3-70b
x-team: {any: thing}
providers:
  groq:
    type: openai
    base_url: https://api.groq.com/openai/v1
    api_key_env: GROQ_API_KEY
    models: [llama-3.3-70b, qwen/qwen3-32b]
    priority: 2
    fallback: true
    rpm: 30
    tpm: 6000
  x-note: not a provider
  local-llm:
    base_url: http://127.0.0.1:8000/v1/
    api_key_env: null
  openai: {rpm: 500}
  ollama: {fallback: false, priority: -1, models: []}
prices:
  llama-3.3-70b: {input: 0.59, output: 0.79, cached_input: 0.1}
  x-own: {input: 1}
  qwen3:8b: {output: 0}
`))
	want := Settings{
		Provider: "groq",
		Model:    "llama-3.3-70b",
		Providers: []ProviderSettings{
			{
				Name: "groq", Type: "openai", BaseURL: "https://api.groq.com/openai/v1", APIKeyEnv: "GROQ_API_KEY",
				Models: []string{"llama-3.3-70b", "qwen/qwen3-32b"}, Priority: ptr(2), Fallback: ptr(true), RPM: 30, TPM: 6000,
			},
			{Name: "local-llm", Type: "openai", BaseURL: "http://127.0.0.1:8000/v1/"},
			{Name: "openai", RPM: 500},
			{Name: "ollama", Fallback: ptr(false), Priority: ptr(-1), Models: []string{}},
		},
		Prices: map[string]PriceSettings{
			"llama-3.3-70b": {Input: ptr(0.59), Output: ptr(0.79), CachedInput: ptr(0.1)},
			"x-own":         {Input: ptr(1.0)},
			"qwen3:8b":      {Output: ptr(0.0)},
		},
	}
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if got.Providers[0].BuiltIn() || !got.Providers[2].BuiltIn() {
		t.Error("openai is built in and groq is not")
	}
}

func TestSettingsThatSayNothing(t *testing.T) {
	for _, src := range []string{"", "# only a remark\n", "x-a: 1\n", "provider: null\nproviders: null\nprices: null\n"} {
		got, ds := LoadSettings("f", []byte(src))
		if diff := cmp.Diff(Settings{}, got); diff != "" || len(ds) > 0 {
			t.Errorf("%q: %v, settings (-want +got):\n%s", src, ds, diff)
		}
	}
}

func TestWrongSettings(t *testing.T) {
	const service = "providers:\n  groq: {base_url: 'http://h/v1', "
	tests := map[string]struct{ src, want string }{
		"unknown key": {"provder: a\n",
			`f:1:1: error: unknown key "provder" in agentloom.yaml (provder); did you mean "provider"?`},
		"empty name": {"provider: ''\n", "f:1:11: error: must not be empty (provider); leave the key out"},
		"no mapping": {"providers: [a]\n", "f:1:12: error: expected a mapping of provider names, found a list (providers)"},
		"no settings": {"providers:\n  groq:\n",
			"f:2:8: error: expected a mapping, found null (providers.groq)"},
		"no address": {"providers:\n  groq: {type: openai}\n",
			"f:2:3: error: base_url is required (providers.groq); set it to the service's address, such as https://api.example.com/v1"},
		"null address": {"providers:\n  groq: {base_url: }\n",
			"f:2:3: error: base_url is required (providers.groq); set it to the service's address, such as https://api.example.com/v1"},
		"no URL": {"providers:\n  groq: {base_url: api.groq.com}\n",
			"f:2:20: error: expected an http or https URL with a host (providers.groq.base_url); write it like https://api.example.com/v1"},
		"empty URL": {"providers:\n  groq: {base_url: ''}\n",
			"f:2:20: error: expected an http or https URL with a host (providers.groq.base_url); write it like https://api.example.com/v1"},
		"another scheme": {"providers:\n  groq: {base_url: 'file:///etc'}\n",
			"f:2:20: error: expected an http or https URL with a host (providers.groq.base_url); write it like https://api.example.com/v1"},
		"userinfo": {"providers:\n  groq: {base_url: 'https://me:hunter2@h/v1'}\n",
			"f:2:20: error: the URL must not hold a user or password (providers.groq.base_url); put the key into a variable, and name it in api_key_env"},
		"query": {"providers:\n  groq: {base_url: 'https://h/v1?key=hunter2'}\n",
			"f:2:20: error: the URL must not have a ? or # part (providers.groq.base_url); end it with its path"},
		"a key for a variable": {service + "api_key_env: sk-hunter2}\n",
			"f:2:48: error: expected the name of an environment variable (providers.groq.api_key_env); put the key into a variable, and write the variable's name here"},
		"a key itself": {service + "api_key: hunter2}\n",
			`f:2:35: error: unknown key "api_key" in a provider (providers.groq.api_key)`},
		"type": {service + "type: bedrock}\n",
			`f:2:41: error: there is no provider type "bedrock" (providers.groq.type); write openai, for a service with OpenAI's interface`},
		"no limit": {service + "rpm: 0}\n",
			"f:2:40: error: rpm is 0; it must be at least 1 (providers.groq.rpm); leave it out for no limit"},
		"negative limit": {service + "tpm: -1}\n",
			"f:2:40: error: tpm is -1; it must be at least 1 (providers.groq.tpm); leave it out for no limit"},
		"half a limit": {service + "rpm: 1.5}\n", "f:2:40: error: expected an integer, found the number 1.5 (providers.groq.rpm)"},
		"priority":     {service + "priority: high}\n", `f:2:45: error: expected an integer, found the string "high" (providers.groq.priority)`},
		"fallback":     {service + "fallback: yes}\n", `f:2:45: error: expected true or false, found the string "yes" (providers.groq.fallback); write true`},
		"one model":    {service + "models: llama}\n", `f:2:43: error: expected a list of strings, found the string "llama" (providers.groq.models); write [llama]`},
		"empty model":  {service + "models: ['']}\n", "f:2:44: error: must not be empty (providers.groq.models[0])"},
		"mock": {"providers:\n  mock: {rpm: 1, base_url: 'http://h'}\n",
			"f:2:3: error: the provider mock has no settings (providers.mock); choose another name"},
		"a name with a slash": {"providers:\n  a/b: {base_url: 'http://h'}\n",
			`f:2:3: error: "a/b" is no name for a provider (providers["a/b"]); use letters, digits, _, . and -`},
		"an address for a built-in one": {"providers:\n  openai: {base_url: 'http://h'}\n",
			"f:2:12: error: openai is built in and takes no base_url: its key and address come from the environment (providers.openai.base_url); set the variables that `agentloom info` lists, or give the service another name"},
		"twice": {"providers:\n  groq: {base_url: 'http://h'}\n  groq: {base_url: 'http://i'}\n",
			`f:3:3: error: the key "groq" is already on line 2 (providers.groq); remove one of them`},
		"prices":         {"prices: 3\n", "f:1:9: error: expected a mapping of model names, found the integer 3 (prices)"},
		"negative price": {"prices:\n  m: {input: -0.5}\n", "f:2:14: error: input is -0.5; it must be at least 0 (prices.m.input)"},
		"infinite price": {"prices:\n  m: {output: .inf}\n", "f:2:15: error: expected a finite number, found .inf (prices.m.output)"},
		"price as text":  {"prices:\n  m: {cached_input: '1'}\n", `f:2:21: error: expected a number, found the string "1" (prices.m.cached_input); remove the quotes: 1`},
		"another key":    {"prices:\n  m: {inputs: 1}\n", `f:2:7: error: unknown key "inputs" in a price (prices.m.inputs); did you mean "input"?`},
		"no price": {"prices:\n  m: {}\n",
			"f:2:3: error: the price says nothing (prices.m); set input and output, in US dollars per million tokens"},
		"only a remark": {"prices:\n  m: {input: null, x-note: later}\n",
			"f:2:3: error: the price says nothing (prices.m); set input and output, in US dollars per million tokens"},
		"a number for a model": {"prices:\n  4: {input: 1}\n",
			"f:2:3: error: a model's name must be a string, not the integer 4 (prices.4); put quotes around it"},
		"a model without a name": {"prices:\n  '': {input: 1}\n", `f:2:3: error: a model's name must not be empty (prices[""])`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ds := LoadSettings("f", []byte(test.src))
			if len(ds.Errors()) != 1 || ds.Errors()[0].String() != test.want {
				t.Errorf("got:\n%v\nwant:\n%s", ds, test.want)
			}
			if diff := cmp.Diff(Settings{}, got); diff != "" {
				t.Errorf("settings beside errors:\n%s", diff)
			}
			if strings.Contains(fmt.Sprint(ds), "hunter2") {
				t.Error("the error repeats a secret")
			}
		})
	}
}

// FuzzSettings wants no panic, and no settings that the gateway could not take.
func FuzzSettings(f *testing.F) {
	f.Add([]byte("providers:\n  a: &a {base_url: 'http://h', rpm: 1}\n  b: *a\nprices: {m: {input: 1}}\n"))
	f.Add([]byte("providers: {openai: {<<: {rpm: 3}}}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, ds := LoadSettings("f", src)
		if len(ds.Errors()) > 0 {
			return
		}
		for _, p := range s.Providers {
			if p.Name == "" || strings.Contains(p.Name, "/") || p.RPM < 0 || p.TPM < 0 || p.BuiltIn() != (p.BaseURL == "") {
				t.Errorf("%+v", p)
			}
		}
		for name, p := range s.Prices {
			for _, n := range []*float64{p.Input, p.Output, p.CachedInput} {
				if name == "" || n != nil && !(*n >= 0) {
					t.Errorf("%q: %+v", name, p)
				}
			}
		}
	})
}
