package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/workflow/wfyaml"
)

// vendor is one model service that is built in.
type vendor struct {
	name string
	// keyVars and baseVars are the variables that hold its key and its
	// address; of several the first that is set counts.
	keyVars, baseVars []string
	baseAlone         bool   // an address is enough: the service may want no key
	always            bool   // it needs neither: it runs on this machine
	missing           string // what to set where it is not set up
	leftOut           bool   // this program was built without it
	// connect makes the provider, and says whether it takes any model name.
	connect func(access) (p model.Provider, anyModel bool, err error)
}

// access is where a service is and how it lets us in.
type access struct {
	name, key, base string
	keyVar, baseVar string
}

// access returns what the environment says, and whether that is enough.
func (v vendor) access(env environment) (access, bool) {
	a := access{name: v.name, keyVar: v.keyVars[0], baseVar: v.baseVars[0]}
	for _, name := range slices.Backward(v.keyVars) {
		if env.vars[name] != "" {
			a.key, a.keyVar = env.vars[name], name
		}
	}
	for _, name := range slices.Backward(v.baseVars) {
		if env.vars[name] != "" {
			a.base, a.baseVar = env.vars[name], name
		}
	}
	return a, a.key != "" || v.always || v.baseAlone && a.base != ""
}

// vendorEntries returns the providers that the environment and agentloom.yaml
// set up: the vendors' and the services of the user's own.
func vendorEntries(set settings) ([]gateway.Entry, error) {
	var out []gateway.Entry
	for _, v := range vendors() {
		if v.leftOut {
			out = append(out, gateway.Entry{Provider: unready{v.name, leftOutNote(v.name)}})
			continue
		}
		a, ready := v.access(set.env)
		if !ready {
			continue
		}
		p, anyModel, err := v.connect(a)
		if err != nil {
			return nil, &failure{exitUsage, err}
		}
		e := gateway.Entry{Provider: p, AnyModel: anyModel}
		// Ollama steps in for every model once its variable is set.
		e.Fallback = v.name == "ollama" && a.base != ""
		out = append(out, tuned(e, set.providers))
	}
	for _, s := range set.providers {
		if s.BuiltIn() {
			continue
		}
		e, err := customEntry(s, set.env)
		if err != nil {
			return nil, &failure{exitUsage, err}
		}
		out = append(out, e)
	}
	return out, nil
}

// tuned applies what agentloom.yaml says of a built-in provider.
func tuned(e gateway.Entry, all []wfyaml.ProviderSettings) gateway.Entry {
	i := slices.IndexFunc(all, func(s wfyaml.ProviderSettings) bool { return s.BuiltIn() && s.Name == e.Provider.Name() })
	if i < 0 {
		return e
	}
	return withSettings(e, all[i])
}

func withSettings(e gateway.Entry, s wfyaml.ProviderSettings) gateway.Entry {
	e.RPM, e.TPM = s.RPM, s.TPM
	if s.Models != nil {
		e.Models = s.Models
	}
	if s.Priority != nil {
		e.Priority = *s.Priority
	}
	if s.Fallback != nil {
		e.Fallback = *s.Fallback
	}
	return e
}

// customEntry is a service with OpenAI's interface. Without its key it fails
// the calls that want it, and says which variable to set.
func customEntry(s wfyaml.ProviderSettings, env environment) (gateway.Entry, error) {
	e := withSettings(gateway.Entry{AnyModel: true}, s)
	key := ""
	if s.APIKeyEnv != "" {
		if key = env.vars[s.APIKeyEnv]; key == "" {
			e.Provider = unready{name: s.Name, why: fmt.Sprintf("provider %q has no key: set %s", s.Name, s.APIKeyEnv)}
			e.Fallback = false
			return e, nil
		}
	}
	for _, v := range vendors() {
		if v.name == s.Type && !v.leftOut {
			p, _, err := v.connect(access{
				name: s.Name, key: key, base: s.BaseURL,
				keyVar: s.APIKeyEnv, baseVar: "providers." + s.Name + ".base_url in agentloom.yaml",
			})
			e.Provider = p
			return e, err
		}
	}
	e.Provider = unready{name: s.Name, why: leftOutNote(s.Name)}
	return e, nil
}

// unready is a provider that is known and can't be used; each call says why.
type unready struct{ name, why string }

func (u unready) Name() string { return u.name }

func (u unready) fault() error { return fault.New(fault.Permanent, u.why, nil) }

// Complete says why there is no answer.
func (u unready) Complete(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
	return nil, u.fault()
}

// Embed says why there are no vectors.
func (u unready) Embed(context.Context, *model.EmbedRequest) (*model.EmbedResponse, error) {
	return nil, u.fault()
}

func leftOutNote(name string) string {
	return "provider " + name + " is not in this program, which was built with -tags offline; " +
		"build without the tag, or run with --mock-responses"
}

// vendorInfo says which providers are set up, and what the others miss.
func vendorInfo(set settings) []providerInfo {
	var out []providerInfo
	for _, v := range vendors() {
		out = append(out, v.info(set.env))
	}
	for _, s := range set.providers {
		if s.BuiltIn() {
			continue
		}
		i := providerInfo{Name: s.Name, Ready: true, Note: "from agentloom.yaml"}
		if s.APIKeyEnv != "" && set.env.vars[s.APIKeyEnv] == "" {
			i.Ready, i.Note = false, "set "+s.APIKeyEnv
		}
		out = append(out, i)
	}
	return out
}

func (v vendor) info(env environment) providerInfo {
	i := providerInfo{Name: v.name, Note: v.missing}
	if v.leftOut {
		i.Note = "not in this program, which was built with -tags offline"
		return i
	}
	a, ready := v.access(env)
	if !ready {
		return i
	}
	if _, _, err := v.connect(a); err != nil {
		i.Note = err.Error()
		return i
	}
	i.Ready, i.Note = true, ""
	if a.base != "" {
		i.Note = "calls go to " + a.baseVar
	} else if v.always {
		i.Note = "calls go to this machine; not asked whether anybody listens"
	}
	return i
}
