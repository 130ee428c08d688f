package wfyaml

import (
	"strings"

	"github.com/agentloom/agentloom/workflow"
)

// Settings is what an agentloom.yaml says. Empty fields are left open.
type Settings struct {
	Provider string // `provider`: used where the workflow names none
	Model    string // `model`: likewise
	// Providers are the entries of `providers`, in file order.
	Providers []ProviderSettings
	// Prices are those of `prices`, by the model's name; nil when there are none.
	Prices map[string]PriceSettings
}

// LoadSettings reads an agentloom.yaml with the limits and the diagnostics of
// a workflow file. A file of comments only says nothing.
func LoadSettings(file string, src []byte) (Settings, workflow.Diagnostics) {
	if onlyComments(src) {
		return Settings{}, nil
	}
	d := &decoder{file: file}
	root, ok := d.parse(src)
	if !ok {
		return Settings{}, d.diagnostics()
	}
	var s Settings
	if it := (item{node: root}); !isNull(root) {
		section(d, it, "agentloom.yaml", settingsFields(), &s)
	}
	out := d.diagnostics()
	if d.failed() {
		return Settings{}, out
	}
	return s, out
}

func onlyComments(src []byte) bool {
	for line := range strings.Lines(string(src)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

func settingsFields() []field[Settings] {
	return []field[Settings]{
		filledText("provider", func(s *Settings) *string { return &s.Provider }),
		filledText("model", func(s *Settings) *string { return &s.Model }),
		{"providers", func(d *decoder, s *Settings, it item) { s.Providers = d.providers(it) }},
		{"prices", func(d *decoder, s *Settings, it item) { s.Prices = d.prices(it) }},
	}
}

// filledText is a text that must not be empty.
func filledText[T any](key string, to func(*T) *string) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		if d.string(it, to(t)) && *to(t) == "" {
			d.wrong("empty", it, "leave the key out", "must not be empty")
		}
	}}
}
