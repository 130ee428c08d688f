package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/internal/python"
)

// parameter takes a parameter that may be given by position or by name.
func (a *arguments) parameter(i int, name string, missing any) (any, error) {
	v, named := a.keyword(name)
	switch {
	case i < len(a.pos) && named:
		return nil, python.TypeErrorf("argument for %s() given by name ('%s') and position (%d)", a.name, name, i+1)
	case i < len(a.pos):
		return a.pos[i], nil
	case named:
		return v, nil
	}
	return missing, nil
}

// atMost fails when there are more than n arguments of both kinds.
func (a *arguments) atMost(n int) error {
	if given := len(a.pos) + len(a.kw); given > n {
		s := "s"
		if n == 1 {
			s = ""
		}
		return python.TypeErrorf("%s() takes at most %d argument%s (%d given)", a.name, n, s, given)
	}
	return nil
}

// size reads an argument that must be an int. One beyond the machine's size
// becomes an OverflowError, as in CPython.
func size(v any) (int, error) {
	i, ok := python.Integer(v)
	if !ok {
		return 0, notInteger(v)
	}
	n, ok := i.(int64)
	if !ok {
		return 0, python.Errorf("OverflowError", "Python int too large to convert to C ssize_t")
	}
	return int(n), nil
}

// pieces collects what a split gives, and accounts for it.
type pieces struct {
	m   *machine
	out []any
	err error
}

func (p *pieces) add(s string) bool {
	if p.err == nil {
		p.err = p.m.take(2 * elemSize)
	}
	if p.err == nil {
		p.err = p.m.work.Spend(1)
	}
	if p.err == nil {
		p.out = append(p.out, s)
	}
	return p.err == nil
}

func (p *pieces) list() (any, error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.out == nil {
		p.out = make([]any, 0, 1)
	}
	return p.out, nil
}

// split is split and rsplit: at a separator, or at runs of white space.
func split(at func(p *pieces, s, sep string, most int), spaces func(p *pieces, s string, most int)) method {
	return func(m *machine, self any, a *arguments) (any, error) {
		if err := a.atMost(2); err != nil {
			return nil, err
		}
		sep, err := a.parameter(0, "sep", nil)
		if err != nil {
			return nil, err
		}
		limit, err := a.parameter(1, "maxsplit", int64(-1))
		if err != nil {
			return nil, err
		}
		if err := a.unknownKeywords(); err != nil {
			return nil, err
		}
		most, err := size(limit)
		if err != nil {
			return nil, err
		}
		s := self.(string)
		if err := m.text(len(s)); err != nil {
			return nil, err
		}
		if most < 0 {
			most = len(s) + 1 // never reached
		}
		p := &pieces{m: m}
		switch sep := sep.(type) {
		case nil:
			spaces(p, s, most)
		case string:
			if sep == "" {
				return nil, python.ValueErrorf("empty separator")
			}
			at(p, s, sep, most)
		default:
			return nil, python.TypeErrorf("must be str or None, not %s", python.TypeName(sep))
		}
		return p.list()
	}
}

func splitLeft(p *pieces, s, sep string, most int) {
	for ; most > 0; most-- {
		i := strings.Index(s, sep)
		if i < 0 || !p.add(s[:i]) {
			break
		}
		s = s[i+len(sep):]
	}
	p.add(s)
}

func splitRight(p *pieces, s, sep string, most int) {
	for ; most > 0; most-- {
		i := strings.LastIndex(s, sep)
		if i < 0 || !p.add(s[i+len(sep):]) {
			break
		}
		s = s[:i]
	}
	p.add(s)
	p.reverse()
}

func (p *pieces) reverse() {
	for i, j := 0, len(p.out)-1; i < j; i, j = i+1, j-1 {
		p.out[i], p.out[j] = p.out[j], p.out[i]
	}
}

// splitSpaceLeft splits at runs of white space; what is left after the last
// allowed split keeps the space at its end.
func splitSpaceLeft(p *pieces, s string, most int) {
	for s = strings.TrimLeftFunc(s, python.IsSpace); s != ""; s = strings.TrimLeftFunc(s, python.IsSpace) {
		i := strings.IndexFunc(s, python.IsSpace)
		if most == 0 || i < 0 {
			p.add(s)
			return
		}
		if !p.add(s[:i]) {
			return
		}
		s = s[i:]
		most--
	}
}

func splitSpaceRight(p *pieces, s string, most int) {
	defer p.reverse()
	for s = strings.TrimRightFunc(s, python.IsSpace); s != ""; s = strings.TrimRightFunc(s, python.IsSpace) {
		i := strings.LastIndexFunc(s, python.IsSpace)
		if most == 0 || i < 0 {
			p.add(s)
			return
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		if !p.add(s[i+size:]) {
			return
		}
		s = s[:i]
		most--
	}
}

func strSplitLines(m *machine, self any, a *arguments) (any, error) {
	if err := a.atMost(1); err != nil {
		return nil, err
	}
	keep, err := a.parameter(0, "keepends", false)
	if err != nil {
		return nil, err
	}
	if err := a.unknownKeywords(); err != nil {
		return nil, err
	}
	if _, ok := python.Integer(keep); !ok {
		return nil, notInteger(keep)
	}
	s := self.(string)
	if err := m.text(len(s)); err != nil {
		return nil, err
	}
	p := &pieces{m: m}
	for s != "" {
		end, size := lineEnd(s)
		cut := end
		if python.Truth(keep) {
			cut += size
		}
		if !p.add(s[:cut]) {
			break
		}
		s = s[end+size:]
	}
	return p.list()
}

// lineEnd returns where the first line ends, and the length of what ends it.
func lineEnd(s string) (at, size int) {
	for i, r := range s {
		switch r {
		case '\r':
			if strings.HasPrefix(s[i+1:], "\n") {
				return i, 2
			}
			return i, 1
		case '\n', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
			return i, utf8.RuneLen(r)
		}
	}
	return len(s), 0
}
