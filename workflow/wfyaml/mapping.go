package wfyaml

import (
	"go.yaml.in/yaml/v4"

	"github.com/agentloom/agentloom/workflow"
)

// entry is one key of a mapping, those that merge keys bring in included.
type entry struct {
	key   string
	text  bool // the key is a string, not a number, boolean or null
	name  *yaml.Node
	value *yaml.Node
}

// follow returns the node that an alias stands for, or the node itself.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// entries returns the keys of a mapping in order. As in PyYAML, those of merge
// keys come first; the mapping's own win over them, and of several merged
// mappings the earlier one wins.
func (d *decoder) entries(n *yaml.Node, p *path) []entry {
	if es, ok := d.flat[n]; ok {
		return es
	}
	own, merged := d.ownEntries(n, p)
	if len(merged) > 0 {
		all := newEntrySet(len(own))
		for i := len(merged) - 1; i >= 0; i-- {
			for _, e := range d.entries(merged[i], p) {
				all.put(e)
			}
		}
		for _, e := range own {
			all.put(e)
		}
		own = all.list
	}
	if n.Anchor != "" {
		if d.flat == nil {
			d.flat = map[*yaml.Node][]entry{}
		}
		d.flat[n] = own
	}
	return own
}

// ownEntries returns the keys written in a mapping, and the mappings that its
// merge keys name, in order.
func (d *decoder) ownEntries(n *yaml.Node, p *path) (own []entry, merged []*yaml.Node) {
	all := newEntrySet(len(n.Content) / 2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, val := n.Content[i], n.Content[i+1]
		k := follow(name)
		if isMerge(k) {
			merged = append(merged, d.mergeSources(val, p)...)
			continue
		}
		if k.Kind != yaml.ScalarNode {
			d.noKey(name, p, "a list or mapping cannot be a key", "a text that starts with [ or { needs quotes")
			continue
		}
		text := surelyText(k)
		if !text {
			v, problem := scalarOf(k)
			if problem != "" {
				d.noKey(name, p, problem, "")
				continue
			}
			_, text = v.(string)
		}
		e := entry{k.Value, text, name, val}
		if first, ok := all.get(e.key); ok {
			d.badKey("duplicate_key", e, p, "remove one of them", "the key %s is already on line %d", shown(e.key), first.name.Line)
			continue
		}
		all.put(e)
	}
	return all.list, merged
}

// noKey reports what can't be a key at all, in the mapping at path p.
func (d *decoder) noKey(n *yaml.Node, p *path, problem, suggestion string) {
	if d.news(workflow.SeverityError, "invalid_key", n, "") {
		d.put(workflow.SeverityError, "invalid_key", at(n), p, problem, suggestion)
	}
}

// isMerge reports whether a key is the merge key, a plain <<.
func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && !quoted(k) && k.Style&yaml.TaggedStyle == 0 && k.Tag != "!"
}

// mergeSources returns the mappings that a merge key's value names.
func (d *decoder) mergeSources(val *yaml.Node, p *path) []*yaml.Node {
	it := item{path: p}.key("<<", val)
	switch n := follow(val); n.Kind {
	case yaml.MappingNode:
		return []*yaml.Node{n}
	case yaml.SequenceNode:
		var out []*yaml.Node
		for i, c := range n.Content {
			if m := follow(c); m.Kind == yaml.MappingNode {
				out = append(out, m)
				continue
			}
			d.wrong("wrong_type", it.index(i, c), "", "expected a mapping to merge, found %s", described{c})
		}
		return out
	}
	d.wrong("wrong_type", it, "`<<` is YAML's merge key; put quotes around it if you mean the text",
		"expected a mapping to merge or a list of them, found %s", described{val})
	return nil
}

// indexFrom is the number of keys from which looking one up by hash is faster.
const indexFrom = 16

// entrySet is an ordered set of entries by key.
type entrySet struct {
	list  []entry
	index map[string]int
}

func newEntrySet(n int) *entrySet {
	s := &entrySet{list: make([]entry, 0, n)}
	if n >= indexFrom {
		s.index = make(map[string]int, n)
	}
	return s
}

func (s *entrySet) find(key string) int {
	if s.index != nil {
		if i, ok := s.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range s.list {
		if s.list[i].key == key {
			return i
		}
	}
	return -1
}

func (s *entrySet) get(key string) (entry, bool) {
	if i := s.find(key); i >= 0 {
		return s.list[i], true
	}
	return entry{}, false
}

// put adds an entry, or replaces the one of its key in place.
func (s *entrySet) put(e entry) {
	if i := s.find(e.key); i >= 0 {
		s.list[i] = e
		return
	}
	if s.index == nil && len(s.list) >= indexFrom {
		s.index = make(map[string]int, 2*len(s.list))
		for i := range s.list {
			s.index[s.list[i].key] = i
		}
	}
	if s.index != nil {
		s.index[e.key] = len(s.list)
	}
	s.list = append(s.list, e)
}

// lookup returns a mapping's entry.
func lookup(es []entry, key string) (entry, bool) {
	for _, e := range es {
		if e.key == key {
			return e, true
		}
	}
	return entry{}, false
}
