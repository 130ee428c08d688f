package wfyaml

import (
	"net/url"
	"slices"
	"strings"
)

// ProviderSettings is one entry of `providers`: an OpenAI-compatible service
// under a name of its own, or limits and the place among the fallbacks for a
// provider that is built in.
type ProviderSettings struct {
	Name string // letters, digits, `_`, `.` and `-`
	// Type is the service's interface: "openai", the default; "" for a provider that is
	// built in (openai, anthropic, google, ollama), whose key and address come
	// from the environment.
	Type      string
	BaseURL   string // http or https, without userinfo, query or fragment; "" for one that is built in
	APIKeyEnv string // the variable that holds the key; "": the service wants none

	Models   []string // the names it serves as a fallback; nil: not said
	Priority *int     // among the fallbacks, lower first; nil: not said
	Fallback *bool    // nil: not said
	RPM, TPM int      // requests and tokens per minute; 0: no limit
}

// BuiltIn reports whether the entry is for a provider that is built in.
func (p ProviderSettings) BuiltIn() bool { return p.Type == "" }

// PriceSettings is one entry of `prices`, in US dollars per million tokens.
// What is nil is not said.
type PriceSettings struct {
	Input, Output, CachedInput *float64
}

func builtInProviders() []string { return []string{"openai", "anthropic", "google", "ollama"} }

func providerFields() []field[ProviderSettings] {
	return []field[ProviderSettings]{
		{"type", func(d *decoder, p *ProviderSettings, it item) {
			if d.string(it, &p.Type) && p.Type != "openai" {
				d.wrong("invalid_value", it, "write openai, for a service with OpenAI's interface", "there is no provider type %s", shown(p.Type))
			}
		}},
		{"base_url", func(d *decoder, p *ProviderSettings, it item) { d.baseURL(it, &p.BaseURL) }},
		{"api_key_env", func(d *decoder, p *ProviderSettings, it item) {
			// The value is not repeated: it may be the key itself, by mistake.
			if d.string(it, &p.APIKeyEnv) && !isVariable(p.APIKeyEnv) {
				d.wrong("invalid_value", it, "put the key into a variable, and write the variable's name here",
					"expected the name of an environment variable")
			}
		}},
		{"models", func(d *decoder, p *ProviderSettings, it item) { d.models(it, &p.Models) }},
		optionalInteger("priority", func(p *ProviderSettings) **int { return &p.Priority }),
		optionalBoolean("fallback", func(p *ProviderSettings) **bool { return &p.Fallback }),
		perMinute("rpm", func(p *ProviderSettings) *int { return &p.RPM }),
		perMinute("tpm", func(p *ProviderSettings) *int { return &p.TPM }),
	}
}

// providers reads `providers`.
func (d *decoder) providers(it item) []ProviderSettings {
	es, ok := d.mapping(it, "a mapping of provider names")
	if !ok {
		return nil
	}
	fields := providerFields()
	out := make([]ProviderSettings, 0, len(es))
	for _, e := range es {
		if !d.ownKey(e, it) {
			continue
		}
		switch {
		case e.key == "mock":
			d.badKey("invalid_name", e, it.path, "choose another name", "the provider mock has no settings")
		case !isProviderName(e.key):
			d.badKey("invalid_name", e, it.path, "use letters, digits, _, . and -", "%s is no name for a provider", shown(e.key))
		}
		p := ProviderSettings{Name: e.key}
		if section(d, it.key(e.key, e.value), "a provider", fields, &p) {
			d.wholeProvider(it, e, &p)
		}
		out = append(out, p)
	}
	return out
}

// wholeProvider checks which keys an entry of `providers` must and must not
// have; it is the mapping it stands in.
func (d *decoder) wholeProvider(it item, e entry, p *ProviderSettings) {
	own := it.key(e.key, e.value)
	keys := d.entries(follow(e.value), own.path)
	if slices.Contains(builtInProviders(), p.Name) {
		for _, k := range keys {
			if slices.Contains([]string{"type", "base_url", "api_key_env"}, k.key) && !isNull(k.value) {
				d.badKey("wrong_fields", k, own.path, "set the variables that `agentloom info` lists, or give the service another name",
					"%s is built in and takes no %s: its key and address come from the environment", p.Name, k.key)
			}
		}
		return
	}
	p.Type = "openai"
	if k, ok := lookup(keys, "base_url"); !ok || isNull(k.value) {
		d.badKey("missing_key", e, it.path, "set it to the service's address, such as https://api.example.com/v1", "base_url is required")
	}
}

func isProviderName(s string) bool {
	return s != "" && len(s) <= 128 && strings.IndexFunc(s, func(r rune) bool {
		return !isLetterOrDigit(r) && r != '_' && r != '.' && r != '-'
	}) < 0
}

func isVariable(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && strings.IndexFunc(s, func(r rune) bool {
		return !isLetterOrDigit(r) && r != '_'
	}) < 0
}

func isLetterOrDigit(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// baseURL reads a service's address. What is wrong is not repeated: an address
// may hold a password or a key.
func (d *decoder) baseURL(it item, dst *string) {
	if !d.string(it, dst) {
		return
	}
	problem, advice := "", ""
	switch u, err := url.Parse(*dst); {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		problem, advice = "expected an http or https URL with a host", "write it like https://api.example.com/v1"
	case u.User != nil:
		problem, advice = "the URL must not hold a user or password", "put the key into a variable, and name it in api_key_env"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		problem, advice = "the URL must not have a ? or # part", "end it with its path"
	default:
		return
	}
	d.wrong("invalid_value", it, advice, "%s", problem)
}

// models reads the names of models, none of them empty.
func (d *decoder) models(it item, dst *[]string) {
	its, ok := d.items(it, "strings")
	if !ok {
		return
	}
	*dst = make([]string, len(its))
	for i, n := range its {
		it := it.index(i, n)
		if d.string(it, &(*dst)[i]) && (*dst)[i] == "" {
			d.wrong("empty", it, "", "must not be empty")
		}
	}
}

// perMinute is a field that holds a limit.
func perMinute[T any](key string, to func(*T) *int) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		if decodeInt(d, it, to(t)) && *to(t) < 1 {
			d.wrong("out_of_range", it, "leave it out for no limit", "%s is %d; it must be at least 1", key, *to(t))
		}
	}}
}

func priceFields() []field[PriceSettings] {
	return []field[PriceSettings]{
		perMillion("input", func(p *PriceSettings) **float64 { return &p.Input }),
		perMillion("output", func(p *PriceSettings) **float64 { return &p.Output }),
		perMillion("cached_input", func(p *PriceSettings) **float64 { return &p.CachedInput }),
	}
}

// perMillion is a field that holds a price.
func perMillion[T any](key string, to func(*T) **float64) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		f := 0.0
		if !d.number(it, &f) {
			return
		}
		if f < 0 {
			d.wrong("out_of_range", it, "", "%s is %v; it must be at least 0", key, f)
			return
		}
		*to(t) = &f
	}}
}

// prices reads `prices`. Its keys name models, so that none of them is free.
func (d *decoder) prices(it item) map[string]PriceSettings {
	es, ok := d.mapping(it, "a mapping of model names")
	if !ok {
		return nil
	}
	fields := priceFields()
	out := make(map[string]PriceSettings, len(es))
	for _, e := range es {
		switch {
		case !e.text:
			d.badKey("invalid_key", e, it.path, "put quotes around it", "a model's name must be a string, not %s", describe(e.name))
			continue
		case e.key == "":
			d.badKey("empty", e, it.path, "", "a model's name must not be empty")
			continue
		}
		var p PriceSettings
		own := it.key(e.key, e.value)
		if section(d, own, "a price", fields, &p) && !slices.ContainsFunc(d.entries(follow(e.value), own.path), says) {
			d.badKey("missing_key", e, it.path, "set input and output, in US dollars per million tokens", "the price says nothing")
		}
		out[e.key] = p
	}
	return out
}

// says reports whether an entry is more than a remark of the user's.
func says(e entry) bool { return !isNull(e.value) && !strings.HasPrefix(e.key, "x-") }
