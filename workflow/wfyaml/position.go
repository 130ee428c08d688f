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
		pos, broken := d.locate(root, g.Path)
		if broken {
			continue
		}
		l := d.list(g.Severity)
		if len(l.kept) >= MaxListed {
			l.dropped++
			continue
		}
		g.Line, g.Column = pos.line, pos.column
		l.kept = append(l.kept, g)
	}
}

// locate finds the position of a path such as `steps[3].depends_on[0]`: that
// of its value, or of the last mapping or list on the way that exists. It also
// reports whether the path is, or lies below, a value that is broken.
func (d *decoder) locate(root *yaml.Node, path string) (pos position, broken bool) {
	n := root
	for path != "" {
		inside := follow(n)
		child, rest := d.descend(inside, path)
		if child == nil {
			broken = broken || d.broken[spot{inside, firstKey(path)}]
			break
		}
		n, path = child, rest
		broken = broken || d.broken[spot{node: n}]
	}
	return at(n), broken
}

// firstKey returns the first part of a path, where that is a plain key.
func firstKey(path string) string {
	path = strings.TrimPrefix(path, ".")
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end]
	}
	return path
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
