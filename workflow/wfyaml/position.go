package wfyaml

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentloom/agentloom/workflow"
)

// adopt takes over what the semantic rules found, with positions. What they
// say about a value that could not be read is left out.
func (d *decoder) adopt(root *yaml.Node, ds workflow.Diagnostics) {
	for _, g := range ds {
		if g.File = d.file; g.Code == tooMany {
			d.tail = append(d.tail, g)
			continue
		}
		if d.covered(g.Path) {
			continue
		}
		l := d.list(g.Severity)
		if len(l.kept) >= MaxListed {
			l.dropped++
			continue
		}
		pos := d.locate(root, g.Path)
		g.Line, g.Column = pos.line, pos.column
		l.kept = append(l.kept, g)
	}
}

// covered reports whether a path is, or lies below, one whose value is broken.
func (d *decoder) covered(path string) bool {
	for len(d.broken) > 0 && path != "" {
		if d.broken[path] {
			return true
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return false
}

// locate finds the position of a path such as `steps[3].depends_on[0]`: that
// of its value, or of the last mapping or list on the way that exists.
func (d *decoder) locate(root *yaml.Node, path string) position {
	n := root
	for path != "" {
		child, rest := d.descend(follow(n), path)
		if child == nil {
			break
		}
		n, path = child, rest
	}
	return at(n)
}

// descend takes the first part of a path. A mapping may also be counted: the
// definition has the agents as a list.
func (d *decoder) descend(n *yaml.Node, path string) (child *yaml.Node, rest string) {
	if inner, after, ok := strings.Cut(strings.TrimPrefix(path, "["), "]"); ok && path[0] == '[' {
		if i, err := strconv.Atoi(inner); err == nil && i >= 0 {
			return d.nth(n, i), after
		}
	}
	if n.Kind != yaml.MappingNode {
		return nil, ""
	}
	length := -1
	for _, e := range d.entries(n, nil) {
		for _, part := range []string{e.key, "." + e.key, keyPart(e.key, false)} {
			if after, ok := strings.CutPrefix(path, part); ok && len(part) > length && (after == "" || after[0] == '.' || after[0] == '[') {
				child, rest, length = e.value, after, len(part)
			}
		}
	}
	return child, rest
}

// nth returns an item of a list or a value of a mapping of names, or nil.
func (d *decoder) nth(n *yaml.Node, i int) *yaml.Node {
	if n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return n.Content[i]
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for _, e := range d.entries(n, nil) {
		if strings.HasPrefix(e.key, "x-") {
			continue
		}
		if i == 0 {
			return e.value
		}
		i--
	}
	return nil
}
