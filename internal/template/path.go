package template

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

// The roots that a path can have beside the name of a top-level key.
const (
	rootState = "state"
	rootSteps = "steps"
)

// A Path is a place in what templates read: a root and the way down from it.
type Path struct {
	Root     string // "state", "steps", or a bare name
	Segments []Segment
}

// A Segment is one step down: a key, or an index when IsIndex. An index is
// also looked up as a key, by its text, where an object stands.
type Segment struct {
	Key     string // as written, also that of an index
	Index   int    // from the end when negative
	IsIndex bool
}

// String writes the path as ParsePath reads it, but for keys that hold both
// kinds of quotes or a backslash, which a whole-string path cannot name.
func (p Path) String() string {
	var b strings.Builder
	b.WriteString(p.Root)
	writeSegments(&b, p.Segments)
	return b.String()
}

func writeSegments(b *strings.Builder, segments []Segment) {
	for _, s := range segments {
		switch {
		case s.IsIndex:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case nameLen(s.Key) == len(s.Key):
			b.WriteString("." + s.Key)
		default:
			b.WriteString("[" + python.Repr(s.Key) + "]")
		}
	}
}

// StateKey returns the top-level key of the state that the path reads, and
// false when it reads none in particular: steps, or the whole state.
func (p Path) StateKey() (string, bool) {
	switch {
	case p.Root == rootSteps, p.Root == rootState && len(p.Segments) == 0:
		return "", false
	case p.Root == rootState:
		return p.Segments[0].Key, true
	}
	return p.Root, true
}

// refusedName returns the first name of the path that starts with "_". It is
// the one check there is: fields, fields in format specs and whole-string
// paths all come here.
func (p Path) refusedName() (string, bool) {
	if strings.HasPrefix(p.Root, "_") {
		return p.Root, true
	}
	for _, s := range p.Segments {
		if strings.HasPrefix(s.Key, "_") {
			return s.Key, true
		}
	}
	return "", false
}

func refusal(name string) string {
	return fmt.Sprintf("names that start with _ are refused: %q", shorten(name, shown))
}

// ParsePath reads a string that is, as a whole, one path into the state:
// "state." and a name, then any of .name, [index], ['key'] and ["key"]; a key
// in quotes may also come first (state['a b']). Names are letters, digits, "_"
// and, inside, "-". It returns false for any other string, which is a template
// or plain text. A name that starts with "_" still makes a path; Lookup
// refuses it.
func ParsePath(s string) (Path, bool) {
	rest, ok := strings.CutPrefix(s, rootState)
	if !ok || rest == "" {
		return Path{}, false
	}
	p := Path{Root: rootState}
	for rest != "" {
		var seg Segment
		var size int
		if rest[0] == '.' {
			size = 1 + nameLen(rest[1:])
			seg.Key = rest[1:size]
			ok = seg.Key != ""
		} else {
			seg, size, ok = bracket(rest)
		}
		if !ok || seg.IsIndex && len(p.Segments) == 0 {
			return Path{}, false
		}
		p.Segments = append(p.Segments, seg)
		rest = rest[size:]
	}
	return p, true
}

// nameLen returns the length of the name at the start of s, 0 without one.
func nameLen(s string) int {
	end := 0
	for i, r := range s {
		switch {
		case python.IsIdentStart(r), r == '_', i > 0 && python.IsIdentContinue(r):
			end = i + utf8.RuneLen(r)
		case r == '-' && i > 0: // part of the name when more of it follows
		default:
			return end
		}
	}
	return end
}

// bracket reads [3], [-1], ['key'] or ["key"] at the start of s.
func bracket(s string) (seg Segment, size int, ok bool) {
	if len(s) < 3 || s[0] != '[' {
		return seg, 0, false
	}
	if quote := s[1]; quote == '\'' || quote == '"' {
		end := strings.IndexByte(s[2:], quote)
		if end < 0 || !strings.HasPrefix(s[2+end+1:], "]") || strings.Contains(s[2:2+end], `\`) {
			return seg, 0, false
		}
		return Segment{Key: s[2 : 2+end]}, end + 4, true
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return seg, 0, false
	}
	text := s[1:end]
	n, err := strconv.Atoi(text)
	if err != nil || text[0] == '+' {
		return seg, 0, false
	}
	return Segment{Key: text, Index: n, IsIndex: true}, end + 1, true
}

// Lookup returns the value at the path, with its type. When something on the
// way is missing, or a name is refused, the error is a permanent fault: it
// names the key, and the same state would fail again.
func (p Path) Lookup(s state.State) (any, error) {
	l := lookup{state: s}
	return l.get(p)
}

// get is find with a permanent fault for what Lookup refuses.
func (l *lookup) get(p Path) (any, error) {
	if name, refused := p.refusedName(); refused {
		return nil, fault.New(fault.Permanent, refusal(name), nil)
	}
	v, n, ok := l.find(p)
	switch {
	case l.read > maxRead:
		return nil, fault.New(fault.Permanent, readTooMuch, nil)
	case !ok:
		return nil, fault.New(fault.Permanent, p.missing(v, n), nil)
	}
	return v, nil
}

// missing says that v, which stands n segments down the path, lacks the next.
func (p Path) missing(v any, n int) string {
	full := shorten(p.String(), 2*shown)
	switch {
	case n < 0:
		return fmt.Sprintf("nothing is called %q here: write state.%s for a key of the state", p.Root, p.Root)
	case n == 0 && p.Root == rootSteps:
		return fmt.Sprintf("no step %q has succeeded, so %s has no value", p.Segments[0].Key, full)
	case n == 0 && p.Root == rootState:
		return fmt.Sprintf("the state has no key %q, which %s needs: set it in the workflow's state, "+
			"with -s, or as the output of an earlier step", shorten(p.Segments[0].Key, shown), full)
	}
	at := shorten(Path{p.Root, p.Segments[:n]}.String(), 2*shown)
	seg := p.Segments[n]
	key := shorten(seg.Key, shown)
	switch v := v.(type) {
	case *value.Map:
		return fmt.Sprintf("%s has no key %q, which %s needs", at, key, full)
	case []any:
		if seg.IsIndex {
			return fmt.Sprintf("%s has no item %d, which %s needs: its length is %d", at, seg.Index, full, len(v))
		}
		return fmt.Sprintf("%s is a list and has no key %q, which %s needs: write an index, such as [0]", at, key, full)
	}
	return fmt.Sprintf("%s is of type %s and has no %q, which %s needs", at, python.TypeName(v), key, full)
}
