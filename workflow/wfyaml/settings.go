package wfyaml

import (
	"strings"

	"github.com/agentloom/agentloom/workflow"
)

// Settings is what an agentloom.yaml says. Empty fields are left open.
type Settings struct {
	Provider string // `provider`: used where the workflow names none
	Model    string // `model`: likewise
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
		notSupported[Settings]("providers"),
		notSupported[Settings]("prices"),
	}
}

// filledText is a text that must not be empty.
func filledText[T any](key string, to func(*T) *string) field[T] {
	return field[T]{key, func(d *decoder, t *T, it item) {
		if d.string(it, to(t)) && *to(t) == "" {
			d.wrong("empty", it, "must not be empty", "leave the key out")
		}
	}}
}

// notSupported is a key that is known and does nothing yet.
func notSupported[T any](key string) field[T] {
	return field[T]{key, func(d *decoder, _ *T, it item) {
		d.wrong("not_supported", it, "key "+show(key)+" is not supported yet", "leave it out")
	}}
}
