package schema

import (
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// A validator follows a schema's references and alternatives wherever they
// lead, on the stack: one that leads back to itself would end the process, and
// a few that each try two others would take years. So a schema's loops are
// refused before a model is asked, and each answer's work is counted before it
// is done.
const (
	maxSchemaChain = 200       // schemas in a row that apply to one and the same value
	maxSchemaDepth = 2_000     // schemas inside of each other at one place of a value
	maxSchemaWork  = 5_000_000 // values looked at, each as often as a schema looks at it
	textPerWork    = 64        // bytes of a text that count as one value
)

// checkLoops refuses a schema that asks itself about one and the same value.
func (g *graph) checkLoops() error {
	const open = -1
	chain := map[*jsonschema.Schema]int{} // the longest that begins here
	var longest func(s *jsonschema.Schema, above int) (int, error)
	longest = func(s *jsonschema.Schema, above int) (int, error) {
		switch n := chain[s]; {
		case n == open:
			return 0, errors.New("a reference leads back to itself without going deeper into the value")
		case n > 0:
			return n, nil
		case above > maxSchemaChain:
			return 0, tooLong()
		}
		chain[s] = open
		most := 0
		for _, p := range g.parts[s] {
			if p.to != toSame {
				continue
			}
			n, err := longest(p.schema, above+1)
			if err != nil {
				return 0, err
			}
			most = max(most, n)
		}
		if most+1 > maxSchemaChain {
			return 0, tooLong()
		}
		chain[s] = most + 1
		return most + 1, nil
	}
	for s := range g.parts {
		if _, err := longest(s, 0); err != nil {
			return err
		}
	}
	return nil
}

func tooLong() error {
	return fmt.Errorf("more than %d schemas in a row apply to the same value", maxSchemaChain)
}

// survey counts what a validator would do with a value.
type survey struct {
	graph *graph
	left  int
}

var errTooMuchWork = errors.New("checking the answer would take too long: the schema's alternatives look at its parts again and again")

// bound refuses a value, as encoding/json decodes it, that takes too much work
// to validate. It counts every alternative, also those that a validator would
// not come to.
func (g *graph) bound(v any) error {
	s := survey{g, maxSchemaWork}
	return s.visit(g.root, v, 0)
}

func (s *survey) visit(schema *jsonschema.Schema, v any, depth int) error {
	if depth > maxSchemaDepth {
		return errors.New("the answer is nested too deep for its schema")
	}
	if !s.look(v) {
		return errTooMuchWork
	}
	if !mayBe(schema, v) {
		return nil // a validator looks no further
	}
	for _, p := range s.graph.parts[schema] {
		if err := s.apply(p, v, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// apply visits what a part of a schema applies to.
func (s *survey) apply(p part, v any, depth int) error {
	switch p.to {
	case toSame:
		return s.visit(p.schema, v, depth)
	case toElements:
		list, _ := v.([]any)
		if p.index >= 0 {
			list = list[min(p.index, len(list)):min(p.index+1, len(list))]
		}
		for _, e := range list {
			if err := s.visit(p.schema, e, depth); err != nil {
				return err
			}
		}
	case toMembers, toNames:
		object, _ := v.(map[string]any)
		if p.one {
			if e, ok := object[p.name]; ok {
				return s.visit(p.schema, e, depth)
			}
			return nil
		}
		for name, e := range object {
			if p.to == toNames {
				e = name
			}
			if err := s.visit(p.schema, e, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// look counts a value with all that is in it, since what is said of a mismatch
// holds it whole; it reports whether any work is left.
func (s *survey) look(v any) bool {
	s.left--
	switch v := v.(type) {
	case string:
		s.left -= len(v) / textPerWork
	case []any:
		for _, e := range v {
			if s.left <= 0 || !s.look(e) {
				return false
			}
		}
	case map[string]any:
		for name, e := range v {
			s.left -= len(name) / textPerWork
			if s.left <= 0 || !s.look(e) {
				return false
			}
		}
	}
	return s.left > 0
}

// mayBe reports whether a value's type is one that the schema asks for.
func mayBe(s *jsonschema.Schema, v any) bool {
	if s.Ref != "" { // which is looked at before the type
		return true
	}
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	for _, t := range types {
		if isType(t, v) {
			return true
		}
	}
	return types == nil
}

func isType(t string, v any) bool {
	switch v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return t == "number" || t == "integer"
}
