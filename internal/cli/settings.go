package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/workflow"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// setting is one thing that can be set in more than one place. A flag wins
// over a variable, a variable over what the workflow file itself says, and that
// over agentloom.yaml: a flag and a variable are about this run, agentloom.yaml
// is about every workflow of a directory or a user.
type setting struct {
	flag     string // of run, without dashes
	variable string
	key      string // in agentloom.yaml; "" where it has no place there
	about    string
}

const (
	settingProvider = iota
	settingModel
	settingMockResponses
	settingBudget
	settingStream
	settingRecord
)

// settingTable returns all settings; the constants above are indexes into it.
func settingTable() []setting {
	return []setting{
		{"provider", "AGENTLOOM_PROVIDER", "provider", "the provider of steps that name none"},
		{"model", "AGENTLOOM_MODEL", "model", "the model of steps that name none"},
		{"mock-responses", "AGENTLOOM_MOCK_RESPONSES", "", "canned responses; the run is offline"},
		{"budget", "AGENTLOOM_BUDGET", "", "US dollars that the run may spend on model calls"},
		{"stream", "AGENTLOOM_STREAM", "", "print answers as they come (true or false)"},
		{"record", "AGENTLOOM_RECORD", "", "a file to record model calls to"},
	}
}

// laterVariables are settings that this version knows by name only. Most would
// make a run safer or cheaper than it is, so a run refuses them rather than
// going on without.
func laterVariables() []string {
	return []string{
		"AGENTLOOM_CALLBACK_TOKEN", "AGENTLOOM_CHECKPOINT", "AGENTLOOM_CHECKPOINT_DIR",
		"AGENTLOOM_REDACT_STATE_KEYS", "AGENTLOOM_STORE",
	}
}

// settings is what the environment and agentloom.yaml say. The value maps go
// from a variable's, or a key's, name to what it is set to.
type settings struct {
	env   environment
	keys  map[string]string
	files []string // the agentloom.yaml files that were read
	// What agentloom.yaml says of providers and prices: entries of the working
	// directory's file replace those of the user's, name by name.
	providers []wfyaml.ProviderSettings
	prices    map[string]gateway.Price
}

// variable returns what a setting's variable says; "" is not set.
func (s settings) variable(i int) string { return s.env.vars[settingTable()[i].variable] }

// fromFile returns what agentloom.yaml says of a setting; "" is not set.
func (s settings) fromFile(i int) string { return s.keys[settingTable()[i].key] }

// defaults returns the config of a workflow file that says nothing.
func (s settings) defaults() workflow.Config {
	c := workflow.DefaultConfig()
	c.Provider = firstSet(s.fromFile(settingProvider), c.Provider)
	c.Model = firstSet(s.fromFile(settingModel), c.Model)
	return c
}

// settings reads .env, the environment and agentloom.yaml: that of the working
// directory, then that of the user's configuration directory for keys the
// first one leaves open.
func (p *program) settings() (settings, error) {
	env, err := p.environment()
	if err != nil {
		return settings{}, err
	}
	s := settings{env: env, keys: map[string]string{}}
	names := []string{"agentloom.yaml"}
	if dir := env.userConfigDir(runtime.GOOS); dir != "" {
		names = append(names, filepath.Join(dir, "agentloom", "agentloom.yaml"))
	}
	for _, name := range names {
		said, err := p.readSettings(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return settings{}, &failure{exitUsage, err}
		}
		s.files = append(s.files, name)
		s.add(said)
	}
	for _, e := range s.providers {
		p.secrets.learn(env.vars, e.APIKeyEnv)
	}
	return s, nil
}

// add takes what a further agentloom.yaml says of what is open still.
func (s *settings) add(said wfyaml.Settings) {
	for key, v := range map[string]string{"provider": said.Provider, "model": said.Model} {
		if _, set := s.keys[key]; !set && v != "" {
			s.keys[key] = v
		}
	}
	for _, e := range said.Providers {
		if !slices.ContainsFunc(s.providers, func(o wfyaml.ProviderSettings) bool { return o.Name == e.Name }) {
			s.providers = append(s.providers, e)
		}
	}
	for name, price := range said.Prices {
		if _, set := s.prices[name]; !set {
			if s.prices == nil {
				s.prices = map[string]gateway.Price{}
			}
			s.prices[name] = gateway.Price(price)
		}
	}
}

// unsupported returns an error for a variable that this version does not act
// on, and warnings for those that no version knows.
func (s settings) unsupported() (warnings []string, err error) {
	known := make([]string, 0, 3)
	for _, t := range settingTable() {
		known = append(known, t.variable)
	}
	for _, name := range s.env.names("AGENTLOOM_") {
		switch {
		case s.env.vars[name] == "" || slices.Contains(known, name):
		case slices.Contains(laterVariables(), name):
			return nil, usage("%s is not supported yet; unset it", s.env.origin(name))
		default:
			warnings = append(warnings, fmt.Sprintf("%s is no setting of agentloom; the settings are %s",
				s.env.origin(name), strings.Join(known, ", ")))
		}
	}
	return warnings, nil
}

// maxSettings bounds agentloom.yaml, in bytes.
const maxSettings = 1 << 20

// readSettings reads one agentloom.yaml. Its errors are those of a workflow
// file: *workflow.InvalidError with every problem and its place, or
// fs.ErrNotExist.
func (p *program) readSettings(name string) (wfyaml.Settings, error) {
	src, err := p.readFile(name, maxSettings)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return wfyaml.Settings{}, err
		}
		return wfyaml.Settings{}, fmt.Errorf("%s: %w", name, err)
	}
	said, ds := wfyaml.LoadSettings(name, src)
	return said, ds.Err()
}

// settingHelp is the part of run's help that says where settings come from.
func settingHelp() string {
	var b strings.Builder
	b.WriteString("Settings, the first that is set wins: the flag, the variable, the workflow\n" +
		"file's own config, agentloom.yaml (in the working directory, then in the user's\n" +
		"configuration directory), the default. Variables also come from .env in the\n" +
		"working directory, which never overrides one that is set.\n")
	for _, s := range settingTable() {
		key := s.key
		if key == "" {
			key = "-"
		}
		fmt.Fprintf(&b, "  --%-15s %-25s %-9s %s\n", s.flag, s.variable, key, s.about)
	}
	return b.String()
}
