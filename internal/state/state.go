// Package state holds what steps read: the run's state and the results of the
// steps that succeeded. Both are persistent: a State never changes, taking a
// snapshot is copying a pointer, and a write shares all it does not touch.
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

// entry is a value and the position at which its key was first set.
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
}

// New returns a state with the keys of init, which may be nil.
func New(init *value.Map) State {
	b := immutable.NewMapBuilder[string, entry](nil)
	pos := 0
	for k, v := range init.All() {
		b.Set(k, entry{pos, v})
		pos++
	}
	return State{keys: b.Map()}
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

// Map returns the whole state as one value, keys in the order they were first
// set. It costs n log n; use Get to read one key.
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
		if v, err = setIn(old, exists, rest, v, head); err != nil {
			return s, err
		}
	}
	keys := s.keys
	if keys == nil {
		keys = immutable.NewMap[string, entry](nil)
	}
	pos := keys.Len()
	if e, ok := keys.Get(head); ok {
		pos = e.pos
	}
	return State{keys: keys.Set(head, entry{pos, v}), steps: s.steps}, nil
}

func setIn(old any, exists bool, path string, v any, at string) (any, error) {
	m, isMap := old.(*value.Map)
	if exists && !isMap {
		return nil, fault.New(fault.Permanent, fmt.Sprintf(
			"cannot write output %q: state.%s is %s, not an object", at+"."+path, at, describe(old)), nil)
	}
	head, rest, nested := strings.Cut(path, ".")
	if nested {
		inner, has := m.Get(head)
		var err error
		if v, err = setIn(inner, has, rest, v, at+"."+head); err != nil {
			return nil, err
		}
	}
	return m.With(head, v), nil
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
	return State{keys: s.keys, steps: steps.Set(id, r)}
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
