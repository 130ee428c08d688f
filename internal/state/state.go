// Package state holds what steps read: the run's state and the results of the
// steps that succeeded. Both are persistent: a State never changes, taking a
// snapshot is copying a pointer, and a write shares all it does not touch.
//
// The order of keys does not depend on which of two parallel steps ended
// first: keys that the run started with come first, then those that steps
// write, in the order in which the file names them. So the same answers give
// the same prompts and the same final state, byte for byte.
package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benbjohnson/immutable"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/value"
)

// entry is a value and its key's place among the keys.
type entry struct {
	pos int
	val any
}

// StepResult is what `steps.<id>` shows of a step that succeeded.
type StepResult struct {
	Output any
	Status string // "success"
}

// State is one immutable moment of a run. The zero State is empty.
type State struct {
	keys  *immutable.Map[string, entry]
	steps *immutable.Map[string, StepResult]
	talks *immutable.Map[string, any]
	ranks map[string]int // of every path that may be written, from 1; never changes
}

// New returns a state with the keys of init, which may be nil. Outputs are the
// dotted paths that steps may write, in file order.
func New(init *value.Map, outputs ...string) State {
	b := immutable.NewMapBuilder[string, entry](nil)
	pos := 0
	for k, v := range init.All() {
		b.Set(k, entry{pos, v})
		pos++
	}
	return State{keys: b.Map(), ranks: rank(outputs)}
}

// rank numbers each path and the objects on the way to it by first mention.
func rank(outputs []string) map[string]int {
	ranks := make(map[string]int, len(outputs))
	for _, path := range outputs {
		for i, c := range path + "." {
			if c != '.' {
				continue
			}
			if _, known := ranks[path[:i]]; !known {
				ranks[path[:i]] = len(ranks) + 1
			}
		}
	}
	return ranks
}

// Get returns a top-level key's value.
func (s State) Get(key string) (any, bool) {
	if s.keys == nil {
		return nil, false
	}
	e, ok := s.keys.Get(key)
	return e.val, ok
}

// Len returns the number of top-level keys.
func (s State) Len() int {
	if s.keys == nil {
		return 0
	}
	return s.keys.Len()
}

// Map returns the whole state as one value. It costs n log n; use Get to read
// one key.
func (s State) Map() *value.Map {
	type pair struct {
		key string
		entry
	}
	pairs := make([]pair, 0, s.Len())
	if s.keys != nil {
		for it := s.keys.Iterator(); !it.Done(); {
			k, e, _ := it.Next()
			pairs = append(pairs, pair{k, e})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.pos, b.pos) })
	m := value.NewMap(len(pairs))
	for _, p := range pairs {
		m.Put(p.key, p.val)
	}
	return m
}

// Set returns the state with v written at a dotted path (`user.name`). Objects
// that are missing on the way are made. Writing through anything that is no
// object is a permanent fault that names the key and what stands there.
func (s State) Set(path string, v any) (State, error) {
	head, rest, nested := strings.Cut(path, ".")
	old, exists := s.Get(head)
	if nested {
		var err error
		if v, err = s.setIn(old, exists, rest, v, head); err != nil {
			return s, err
		}
	}
	next := s
	if next.keys == nil {
		next.keys = immutable.NewMap[string, entry](nil)
	}
	next.keys = next.keys.Set(head, entry{s.place(head), v})
	return next, nil
}

// place is where a top-level key stands: where it stood, or else after all
// that the run started with, by rank.
func (s State) place(key string) int {
	if s.keys != nil {
		if e, ok := s.keys.Get(key); ok {
			return e.pos
		}
	}
	const afterInitial = 1 << 40
	if r, ok := s.ranks[key]; ok {
		return afterInitial + r
	}
	return afterInitial + len(s.ranks) + 1 + s.Len()
}

func (s State) setIn(old any, exists bool, path string, v any, at string) (any, error) {
	m, isMap := old.(*value.Map)
	if exists && !isMap {
		return nil, fault.New(fault.Permanent, fmt.Sprintf(
			"cannot write output %q: state.%s is %s, not an object", at+"."+path, at, describe(old)), nil)
	}
	head, rest, nested := strings.Cut(path, ".")
	if nested {
		inner, has := m.Get(head)
		var err error
		if v, err = s.setIn(inner, has, rest, v, at+"."+head); err != nil {
			return nil, err
		}
	}
	return s.insert(m, at, head, v), nil
}

// insert sets a key of the object at a path: a new one stands after those that
// rank before it, and after those that no step writes.
func (s State) insert(m *value.Map, at, key string, v any) *value.Map {
	if _, has := m.Get(key); has {
		return m.With(key, v)
	}
	own, ranked := s.ranks[at+"."+key]
	out := value.NewMap(m.Len() + 1)
	for k, e := range m.All() {
		if ranked && s.ranks[at+"."+k] > own {
			out.Put(key, v)
			ranked = false
		}
		out.Put(k, e)
	}
	out.Put(key, v)
	return out
}

func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "a number"
}

// Step returns what a step that succeeded left under steps.<id>.
func (s State) Step(id string) (StepResult, bool) {
	if s.steps == nil {
		return StepResult{}, false
	}
	return s.steps.Get(id)
}

// WithStep returns the state with a step's result added.
func (s State) WithStep(id string, r StepResult) State {
	steps := s.steps
	if steps == nil {
		steps = immutable.NewMap[string, StepResult](nil)
	}
	s.steps = steps.Set(id, r)
	return s
}

// Steps returns the results of all steps that succeeded, ids sorted, as the
// value that the bare name `steps` has: {id: {output, status}}.
func (s State) Steps() *value.Map {
	m := value.NewMap(0)
	if s.steps == nil {
		return m
	}
	ids := make([]string, 0, s.steps.Len())
	for it := s.steps.Iterator(); !it.Done(); {
		id, _, _ := it.Next()
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		r, _ := s.steps.Get(id)
		m.Put(id, value.MapOf("output", r.Output, "status", r.Status))
	}
	return m
}

// Conversation returns what was said in a conversation, as it was put there;
// nil when nothing was.
func (s State) Conversation(name string) any {
	if s.talks == nil {
		return nil
	}
	said, _ := s.talks.Get(name)
	return said
}

// WithConversation returns the state with a conversation's history replaced.
func (s State) WithConversation(name string, said any) State {
	talks := s.talks
	if talks == nil {
		talks = immutable.NewMap[string, any](nil)
	}
	s.talks = talks.Set(name, said)
	return s
}
