package gateway

import (
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

// catalogue is the price list that is built into the program. The zero
// catalogue reads it, some milliseconds of work, when it is first asked.
//
// A model of a provider is looked for, in this order, first by its exact name
// and then by its name without a version's date, with - for . in numbers:
//
//   - in the list of that provider, if the catalogue has one of its name
//     ("google" is "gemini" there);
//   - with a vendor's prefix, as OpenRouter and others name models
//     ("anthropic/claude-sonnet-4"): in OpenRouter's list, then without the
//     prefix in the vendor's;
//   - with a name of a vendor's family ("gpt-4o" at a service with a base URL
//     of its own): in the vendor's list, then in OpenRouter's under the vendor.
//
// So gpt-4o-mini-2024-07-18 costs what gpt-4o-mini costs, while a version that
// is listed by itself has its own price. A fine-tuned model (ft:…) is not
// known.
type catalogue struct {
	once  sync.Once
	ready atomic.Bool
	exact map[string]map[string]tariff // list, then model
	plain map[string]map[string]tariff // by names as plainName makes them
}

const openRouter = "openrouter"

func (c *catalogue) load() {
	c.once.Do(func() {
		lists := embedded.GetAll()
		c.exact = make(map[string]map[string]tariff, len(lists))
		c.plain = make(map[string]map[string]tariff, len(lists))
		for _, l := range lists {
			c.add(string(l.ID), l.Models)
		}
		c.ready.Store(true)
	})
}

func (c *catalogue) add(list string, models []catwalk.Model) {
	exact := make(map[string]tariff, len(models))
	plain := make(map[string]tariff, len(models))
	version := make(map[string]string, len(models)) // of those in plain
	for _, m := range models {
		t, ok := tariffOf(m)
		if !ok {
			continue
		}
		name := strings.ToLower(m.ID)
		exact[name] = t
		// Of several versions under one name the undated one stands for it, else
		// the newest.
		key := plainName(name)
		date := name[len(undated(name)):]
		if had, ok := version[key]; !ok || date == "" || had != "" && date > had {
			plain[key], version[key] = t, date
		}
	}
	c.exact[list], c.plain[list] = exact, plain
}

// tariffOf reads one line of the list. A price of 0 is one only where the name
// says that the model is free: otherwise it stands for a subscription, or for
// nobody's knowing.
func tariffOf(m catwalk.Model) (tariff, bool) {
	t := tariff{input: m.CostPer1MIn, output: m.CostPer1MOut, cached: m.CostPer1MIn, window: m.ContextWindow, answer: m.DefaultMaxTokens}
	if t.input < 0 || t.output < 0 || t.input == 0 && t.output == 0 && !strings.HasSuffix(m.ID, "free") {
		return tariff{}, false
	}
	// The lists disagree on which of these two fields is the price of reading
	// from the cache; the other is 0 or the price of writing to it, which is
	// no lower than the input's.
	for _, p := range []float64{m.CostPer1MInCached, m.CostPer1MOutCached} {
		if p > 0 && p < t.cached {
			t.cached = p
		}
	}
	return t, true
}

func (c *catalogue) find(provider, name string) (tariff, bool) {
	c.load()
	places := places(strings.ToLower(provider), strings.ToLower(name))
	for _, p := range places {
		if t, ok := c.exact[p.list][p.name]; ok {
			return t, true
		}
	}
	for _, p := range places {
		if t, ok := c.plain[p.list][plainName(p.name)]; ok {
			return t, true
		}
	}
	return tariff{}, false
}

type place struct{ list, name string }

func places(provider, name string) []place {
	all := []place{{listName(provider), name}}
	if vendor, rest, ok := strings.Cut(name, "/"); ok {
		return append(all, place{openRouter, name}, place{listName(vendor), rest})
	}
	if vendor := family(name); vendor != "" {
		all = append(all, place{listName(vendor), name}, place{openRouter, vendor + "/" + name})
	}
	return all
}

// listName is what the catalogue calls a provider.
func listName(provider string) string {
	if provider == "google" {
		return "gemini"
	}
	return provider
}

var versionDate = regexp.MustCompile(`([-@](19|20)\d\d-?[01]\d-?[0-3]\d|-latest)$`)

// undated cuts off a version's date, as in -2024-07-18, -20250514 and
// @20250514, or the word that stands for the newest.
func undated(name string) string {
	if at := versionDate.FindStringIndex(name); at != nil && at[0] > 0 {
		return name[:at[0]]
	}
	return name
}

func plainName(name string) string { return strings.ReplaceAll(undated(name), ".", "-") }
