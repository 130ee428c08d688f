package template

import (
	"unicode/utf8"

	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

// maxRead bounds the work of indexes into texts, in bytes walked over.
const maxRead = 256 << 20

const readTooMuch = "indexes walk over more than 256 MiB of text, the cap for one rendering"

// A lookup finds the values of paths.
type lookup struct {
	state state.State
	extra map[string]any
	read  int // bytes of text that indexes have walked over
}

// find returns the value at the path. When ok is false, v has nothing at
// segment n; an n of -1 means that the root itself is unknown.
func (l *lookup) find(p Path) (v any, n int, ok bool) {
	if p.Root == rootState || p.Root == rootSteps {
		if len(p.Segments) == 0 {
			return l.whole(p.Root), 0, true
		}
		if v, ok = l.top(p.Root, p.Segments[0].Key); !ok {
			return nil, 0, false
		}
		n = 1
	} else if v, ok = l.bare(p.Root); !ok {
		return nil, -1, false
	}
	for ; n < len(p.Segments); n++ {
		next, ok := l.down(v, p.Segments[n])
		if !ok {
			return v, n, false
		}
		v = next
	}
	return v, n, true
}

func (l *lookup) whole(root string) any {
	if root == rootState {
		return l.state.Map()
	}
	return l.state.Steps()
}

func (l *lookup) top(root, key string) (any, bool) {
	if root == rootState {
		return l.state.Get(key)
	}
	r, ok := l.state.Step(key)
	if !ok {
		return nil, false
	}
	return value.MapOf("output", r.Output, "status", r.Status), true
}

func (l *lookup) bare(name string) (any, bool) {
	if v, ok := l.extra[name]; ok {
		return v, true
	}
	return l.state.Get(name)
}

func (l *lookup) down(v any, seg Segment) (any, bool) {
	switch v := v.(type) {
	case *value.Map:
		return v.Get(seg.Key)
	case []any:
		i := seg.Index
		if i < 0 {
			i += len(v)
		}
		if seg.IsIndex && i >= 0 && i < len(v) {
			return v[i], true
		}
	case string:
		if seg.IsIndex {
			return l.character(v, seg.Index)
		}
	}
	return nil, false
}

// character returns the i-th character of s, from the end when i is negative.
func (l *lookup) character(s string, i int) (any, bool) {
	rest := s
	defer func() { l.read += len(s) - len(rest) }()
	for ; i > 0 && rest != ""; i-- {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	for ; i < -1 && rest != ""; i++ {
		_, size := utf8.DecodeLastRuneInString(rest)
		rest = rest[:len(rest)-size]
	}
	switch {
	case rest == "":
		return nil, false
	case i == 0:
		_, size := utf8.DecodeRuneInString(rest)
		return rest[:size], true
	}
	_, size := utf8.DecodeLastRuneInString(rest)
	return rest[len(rest)-size:], true
}
