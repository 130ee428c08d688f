package gateway

import (
	"slices"
	"strings"
)

// Selection says who is to answer a call, and what it may cost.
type Selection struct {
	StepProvider     string // the step's own provider; "": it names none
	WorkflowProvider string
	Model            string // required

	// Budget is asked before each call and told what it cost; nil: no budget.
	Budget *Budget
	// Strict sends a call without max_tokens with as many as the rest of the
	// budget pays, and at most as many as the catalogue gives the model by
	// default. Without a budget or a known price it changes nothing.
	Strict bool

	// Warn is told what a person should know of the call although it went on: a
	// price that is not known, a change of a provider's circuit breaker. It may
	// be called from several goroutines at once, and only while the call lasts;
	// may be nil. Options.Warn and OnBreaker are told all the same.
	Warn func(message string)
	// Warned, which the calls of a run share, makes it one warning for each
	// price; nil: one for each call.
	Warned *Warned
}

// candidate is a provider that may be asked, and the model's name there.
type candidate struct {
	*member
	model string
}

// candidates returns who may answer a call: the one that Route finds, then the
// fallbacks that serve the model. A call to the mock provider is nobody
// else's: a trial run must not reach a service.
func (g *Gateway) candidates(sel Selection) ([]candidate, error) {
	r, err := g.Route(sel.StepProvider, sel.WorkflowProvider, sel.Model)
	if err != nil {
		return nil, err
	}
	first := candidate{g.members[r.Provider.Name()], r.Model}
	all := []candidate{first}
	if first.name == "mock" {
		return all, nil
	}
	for _, m := range g.fallbacks {
		if m == first.member {
			continue
		}
		if name, ok := m.entry.serves(m.name, sel.Model, r.Model); ok {
			all = append(all, candidate{m, name})
		}
	}
	return all, nil
}

// serves returns the name under which a fallback serves a model, if it does.
// written is the name in the workflow, bare the same without the prefix that
// only named the first provider. A name that is listed is sent as it is
// listed; a fallback for models of every name gets it as written; one whose
// own prefix or family it is, gets what is left without the prefix.
func (e Entry) serves(name, written, bare string) (string, bool) {
	switch {
	case slices.Contains(e.Models, written):
		return written, true
	case slices.Contains(e.Models, bare):
		return bare, true
	case e.AnyModel:
		return written, len(e.Models) == 0
	}
	if rest, ok := strings.CutPrefix(written, name+"/"); ok && rest != "" {
		return rest, true
	}
	return bare, family(bare) == name
}
