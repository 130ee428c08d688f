package wfyaml

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// size is what a node would be with every alias below it written out. An
// alias never is: its value is decoded once and shared.
type size struct {
	nodes, bytes, depth int
	open                bool // still being measured: an alias to it is recursive
}

// measure refuses a tree whose aliases expand too far or lead back to
// themselves. It takes time linear in the tree as written, because an anchor
// always stands before its aliases.
func (d *decoder) measure(root *yaml.Node) bool {
	m := measurer{d: d, anchors: map[*yaml.Node]size{}}
	s, ok := m.node(root)
	switch {
	case !ok:
		return false
	case s.bytes > MaxExpandedBytes || s.nodes > maxExpandedNodes:
		d.fail("alias_expansion", at(root),
			fmt.Sprintf("the aliases expand to more than %d MiB or %d values", MaxExpandedBytes>>20, maxExpandedNodes), "")
		return false
	case s.depth > MaxDepth:
		d.fail("too_deep", at(root), fmt.Sprintf("the aliases nest more than %d levels deep", MaxDepth), "")
		return false
	}
	return true
}

type measurer struct {
	d       *decoder
	anchors map[*yaml.Node]size
}

func (m *measurer) node(n *yaml.Node) (size, bool) {
	if n.Kind == yaml.AliasNode {
		s := m.anchors[n.Alias]
		if s.open {
			m.d.fail("recursive_alias", at(n), fmt.Sprintf("the alias %s holds itself", show("*"+n.Value)), "")
			return size{}, false
		}
		return s, true
	}
	if n.Anchor != "" {
		m.anchors[n] = size{open: true}
	}
	s := size{nodes: 1, bytes: len(n.Value) + 1}
	for _, c := range n.Content {
		cs, ok := m.node(c)
		if !ok {
			return size{}, false
		}
		// Saturate: a sum of capped sizes cannot overflow.
		s.nodes = min(s.nodes+cs.nodes, maxExpandedNodes+1)
		s.bytes = min(s.bytes+cs.bytes, MaxExpandedBytes+1)
		s.depth = max(s.depth, cs.depth)
	}
	if len(n.Content) > 0 {
		s.depth++
	}
	if n.Anchor != "" {
		m.anchors[n] = s
	}
	return s, true
}
