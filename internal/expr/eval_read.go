package expr

import (
	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/value"
)

// attribute reads a key of a dict, or what a number shows of itself.
func (m *machine) attribute(n *node) (any, error) {
	if v, ok := m.ofRoot(n.kids[0], n.text); ok {
		return v, nil
	}
	of, err := m.eval(n.kids[0])
	if err != nil {
		return nil, err
	}
	switch of := of.(type) {
	case *value.Map:
		v, _ := of.Get(n.text)
		return v, nil
	case *python.Dict:
		v, _, err := of.Get(n.text)
		return v, err
	case nil:
		if isStep(n.kids[0]) && (n.text == "output" || n.text == "status") {
			return nil, nil
		}
	}
	if v, ok := numberAttribute(of, n.text); ok {
		return v, nil
	}
	if hasMethod(of, n.text) {
		return nil, python.Errorf(securityError, "%s is a method: it can only be called", n.text)
	}
	return nil, noAttribute(of, n.text)
}

func noAttribute(of any, name string) error {
	return python.Errorf("AttributeError", "'%s' object has no attribute '%s'", python.TypeName(of), name)
}

// ofRoot reads a key of state or steps without making a dict of the whole.
func (m *machine) ofRoot(of *node, key string) (any, bool) {
	switch {
	case of.kind != kName:
		return nil, false
	case of.text == "state":
		v, _ := m.state.Get(key)
		return v, true
	}
	r, ok := m.state.Step(key)
	if !ok {
		return nil, true
	}
	return value.MapOf("output", r.Output, "status", r.Status), true
}

// isStep tells whether a node reads one step: steps.x or steps['x'].
func isStep(n *node) bool {
	return (n.kind == kAttribute || n.kind == kSubscript) && n.kids[0].kind == kName && n.kids[0].text == "steps"
}

func (m *machine) subscript(n *node) (any, error) {
	index := n.kids[1]
	if index.kind == kSlice {
		return m.slice(n)
	}
	if key, ok := index.val.(string); ok {
		if v, ok := m.ofRoot(n.kids[0], key); ok {
			return v, nil
		}
	}
	of, err := m.eval(n.kids[0])
	if err != nil {
		return nil, err
	}
	if of == nil && isStep(n.kids[0]) && (index.val == "output" || index.val == "status") {
		return nil, nil
	}
	key, err := m.eval(index)
	if err != nil {
		return nil, err
	}
	if s, ok := of.(string); ok {
		if err := m.text(len(s)); err != nil {
			return nil, err
		}
	}
	v, found, err := python.Index(of, key)
	if _, displayed := of.(*python.Dict); err == nil && !found && displayed {
		return nil, python.Errorf("KeyError", "%s", excerpt(key))
	}
	return v, err
}

// text accounts for work that looks at each of n bytes and copies them.
func (m *machine) text(n int) error { return m.work.Spend(1 + n/8) }

func (m *machine) slice(n *node) (any, error) {
	of, err := m.eval(n.kids[0])
	if err != nil {
		return nil, err
	}
	var bounds [3]any
	for i, b := range n.kids[1].kids {
		if b == nil {
			continue
		}
		if bounds[i], err = m.eval(b); err != nil {
			return nil, err
		}
	}
	switch of := of.(type) {
	case string:
		if err := m.text(len(of)); err != nil {
			return nil, err
		}
		if err := m.take(len(of)); err != nil {
			return nil, err
		}
	case []any, python.Tuple:
		size, _ := python.Len(of)
		if r, err := python.SliceRange(bounds[0], bounds[1], bounds[2], size); err == nil {
			if err := m.take(elemSize * (r.Count + 1)); err != nil {
				return nil, err
			}
		}
	}
	return python.Slice(of, bounds[0], bounds[1], bounds[2])
}
