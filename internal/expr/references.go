package expr

import "slices"

// A Reference is a place in the state or among the steps' results that an
// expression reads.
type Reference struct {
	// Root is "state" or "steps".
	Root string
	// Path is the chain of keys after the root, up to the first index that is no
	// string: ["user", "name"] for state.user.name[0]. For steps, Path[0] is the
	// step's id. It is empty where the root is used as a whole.
	Path []string
	// Offset is where the root stands in the source, in bytes from 0.
	Offset int
}

// References returns the places that the expression reads, in the order in
// which they stand, repetitions included; also those in branches that an
// evaluation would not take. The slice is shared and must not be changed.
func (p *Program) References() []Reference { return p.refs }

func references(root *node) []Reference {
	var out []Reference
	var walk func(n *node)
	walk = func(n *node) {
		if n == nil {
			return
		}
		if ref, ok := reference(n); ok {
			out = append(out, ref)
			return
		}
		if n.kind == kCall && n.kids[0].kind == kAttribute {
			walk(n.kids[0].kids[0]) // the attribute is a method, not a key
			n = &node{kids: n.kids[1:]}
		}
		for _, k := range n.kids {
			walk(k)
		}
	}
	walk(root)
	return out
}

// reference reads a chain of attributes, indexes and get('key') calls that
// starts at a root.
func reference(n *node) (Reference, bool) {
	var path []string // from the end
	for n.kind != kName {
		key, isString := n.text, true
		switch {
		case n.kind == kAttribute:
		case n.kind == kSubscript:
			key, isString = n.kids[1].val.(string)
		case n.kind == kCall && len(n.kids) == 2 && n.kids[0].kind == kAttribute && n.kids[0].text == "get":
			key, isString = n.kids[1].val.(string)
			n = n.kids[0]
			if !isString {
				return Reference{}, false
			}
		default:
			return Reference{}, false
		}
		if !isString {
			path = path[:0] // what follows is not told apart
		} else {
			path = append(path, key)
		}
		n = n.kids[0]
	}
	if n.text != "state" && n.text != "steps" {
		return Reference{}, false
	}
	slices.Reverse(path)
	return Reference{Root: n.text, Path: path, Offset: n.off}, true
}
