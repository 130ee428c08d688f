package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/internal/python"
)

// within fails unless there are low to high positional arguments and no others,
// in the words of the methods that take positions.
func (a *arguments) within(low, high int) error {
	if len(a.kw) > 0 {
		return python.TypeErrorf("%s() takes no keyword arguments", a.name)
	}
	n := len(a.pos)
	bound, want := "least", low
	switch {
	case n > high:
		bound, want = "most", high
	case n >= low:
		return nil
	}
	s := "s"
	if want == 1 {
		s = ""
	}
	return python.TypeErrorf("%s() takes at %s %d argument%s (%d given)", a.name, bound, want, s, n)
}

// A window is the part of a string between two positions.
type window struct {
	text  string
	start int  // where text starts in the whole string, in code points
	ok    bool // false when the end lies before the start: nothing is found, not even ""
}

// window cuts the string to the positions in the arguments from the second on.
func (m *machine) window(s string, a *arguments) (window, error) {
	if err := m.work.SpendText(len(s)); err != nil {
		return window{}, err
	}
	if len(a.pos) == 1 {
		return window{text: s, ok: true}, nil
	}
	var bounds [2]any
	copy(bounds[:], a.pos[1:])
	from, to, err := python.Bounds(bounds[0], bounds[1], utf8.RuneCountInString(s))
	if err != nil || from > to {
		return window{}, err
	}
	low := byteOffset(s, from)
	return window{text: s[low : low+byteOffset(s[low:], to-from)], start: from, ok: true}, nil
}

// byteOffset returns where the code point number n starts.
func byteOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// find returns the byte offset of the first occurrence, or -1.
func find(s, sub string) int { return strings.Index(s, sub) }

func rfind(s, sub string) int { return strings.LastIndex(s, sub) }

// position is find, rfind, index and rindex; the latter two raise.
func position(search func(s, sub string) int, raise bool) method {
	return func(m *machine, self any, a *arguments) (any, error) {
		if err := a.within(1, 3); err != nil {
			return nil, err
		}
		w, err := m.window(self.(string), a)
		if err != nil {
			return nil, err
		}
		sub, ok := a.pos[0].(string)
		if !ok {
			return nil, python.TypeErrorf("must be str, not %s", python.TypeName(a.pos[0]))
		}
		if i := search(w.text, sub); w.ok && i >= 0 {
			return int64(w.start + utf8.RuneCountInString(w.text[:i])), nil
		}
		if raise {
			return nil, python.ValueErrorf("substring not found")
		}
		return int64(-1), nil
	}
}

func strCount(m *machine, self any, a *arguments) (any, error) {
	if err := a.within(1, 3); err != nil {
		return nil, err
	}
	w, err := m.window(self.(string), a)
	if err != nil {
		return nil, err
	}
	sub, ok := a.pos[0].(string)
	if !ok {
		return nil, python.TypeErrorf("must be str, not %s", python.TypeName(a.pos[0]))
	}
	if !w.ok {
		return int64(0), nil
	}
	return int64(strings.Count(w.text, sub)), nil
}

func hasPrefix(s, affix string) bool { return strings.HasPrefix(s, affix) }
func hasSuffix(s, affix string) bool { return strings.HasSuffix(s, affix) }

// affix is startswith and endswith, for one string or any of a tuple.
func affix(has func(s, affix string) bool) method {
	return func(m *machine, self any, a *arguments) (any, error) {
		if err := a.within(1, 3); err != nil {
			return nil, err
		}
		w, err := m.window(self.(string), a)
		if err != nil {
			return nil, err
		}
		switch want := a.pos[0].(type) {
		case string:
			return w.ok && has(w.text, want), nil
		case python.Tuple:
			for _, e := range want {
				s, ok := e.(string)
				if !ok {
					return nil, python.TypeErrorf("tuple for %s must only contain str, not %s", a.name, python.TypeName(e))
				}
				if w.ok && has(w.text, s) {
					return true, nil
				}
			}
			return false, nil
		}
		return nil, python.TypeErrorf("%s first arg must be str or a tuple of str, not %s",
			a.name, python.TypeName(a.pos[0]))
	}
}

// partition cuts at the first or last separator: (before, separator, after).
func partition(last bool) method {
	return func(m *machine, self any, a *arguments) (any, error) {
		if err := a.one("str"); err != nil {
			return nil, err
		}
		sep, ok := a.pos[0].(string)
		if !ok {
			return nil, python.TypeErrorf("must be str, not %s", python.TypeName(a.pos[0]))
		}
		if sep == "" {
			return nil, python.ValueErrorf("empty separator")
		}
		s := self.(string)
		if err := m.work.SpendText(len(s)); err != nil {
			return nil, err
		}
		search := find
		if last {
			search = rfind
		}
		switch i := search(s, sep); {
		case i >= 0:
			return python.Tuple{s[:i], sep, s[i+len(sep):]}, nil
		case last:
			return python.Tuple{"", "", s}, nil
		}
		return python.Tuple{s, "", ""}, nil
	}
}
