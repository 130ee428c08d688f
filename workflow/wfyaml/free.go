package wfyaml

import (
	"go.yaml.in/yaml/v4"

	"github.com/agentloom/agentloom/value"
)

// free reads data of any shape. What stands below an anchor is read once and
// shared by its aliases, since values never change.
func (d *decoder) free(it item) any {
	n := follow(it.node)
	if v, ok := d.data[n]; ok {
		return v
	}
	v := d.freeNode(n, it)
	if n.Anchor != "" {
		if d.data == nil {
			d.data = map[*yaml.Node]any{}
		}
		d.data[n] = v
	}
	return v
}

func (d *decoder) freeNode(n *yaml.Node, it item) any {
	switch n.Kind {
	case yaml.SequenceNode:
		d.collectionTag(n, it, "!!seq")
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			out[i] = d.free(it.index(i, c))
		}
		return out
	case yaml.MappingNode:
		d.collectionTag(n, it, "!!map")
		es := d.entries(n, it.path)
		m := value.NewMap(len(es))
		for _, e := range es {
			m.Put(e.key, d.free(it.key(e.key, e.value)))
		}
		return m
	}
	v, problem := scalarOf(n)
	if problem != "" {
		d.wrong("invalid_value", it, "", "%s", problem)
		return nil
	}
	d.warnBoolean(it, false)
	return v
}
