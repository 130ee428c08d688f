package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/internal/python"
)

// pad is center, ljust and rjust: margins says how n missing characters are
// shared between left and right.
func pad(margins func(n, width int) (left, right int)) method {
	return func(m *machine, self any, a *arguments) (any, error) {
		if len(a.kw) > 0 {
			return nil, python.TypeErrorf("str.%s() takes no keyword arguments", a.name)
		}
		if err := a.between(1, 2); err != nil {
			return nil, err
		}
		width, err := size(a.pos[0])
		if err != nil {
			return nil, err
		}
		fill := " "
		if len(a.pos) == 2 {
			s, ok := a.pos[1].(string)
			if !ok {
				return nil, python.TypeErrorf("The fill character must be a unicode character, not %s",
					python.TypeName(a.pos[1]))
			}
			if utf8.RuneCountInString(s) != 1 {
				return nil, python.TypeErrorf("The fill character must be exactly one character long")
			}
			fill = s
		}
		s := self.(string)
		if err := m.work.SpendText(len(s)); err != nil {
			return nil, err
		}
		n := width - utf8.RuneCountInString(s)
		if n <= 0 {
			return s, nil
		}
		left, right := margins(n, width)
		return m.padded(s, fill, left, right)
	}
}

// center puts the odd character left when the width is odd, else right.
func center(n, width int) (left, right int) {
	left = n/2 + n&width&1
	return left, n - left
}

// padded puts characters around a string, after it was checked that the result
// has room. The counts may be as large as an int.
func (m *machine) padded(s, fill string, left, right int) (any, error) {
	if left > MaxString || right > MaxString {
		return nil, m.takeString(max(left, right))
	}
	if err := m.takeString(len(s) + (left+right)*len(fill)); err != nil {
		return nil, err
	}
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, right), nil
}

func strZfill(m *machine, self any, a *arguments) (any, error) {
	if err := a.one("str"); err != nil {
		return nil, err
	}
	width, err := size(a.pos[0])
	if err != nil {
		return nil, err
	}
	s := self.(string)
	if err := m.work.SpendText(len(s)); err != nil {
		return nil, err
	}
	n := width - utf8.RuneCountInString(s)
	if n <= 0 {
		return s, nil
	}
	sign := ""
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign, s = s[:1], s[1:]
	}
	out, err := m.padded(s, "0", n, 0)
	if err != nil {
		return nil, err
	}
	return sign + out.(string), nil
}

// strip removes white space, or any of the given characters, from the ends.
func strip(left, right bool) method {
	return func(m *machine, self any, a *arguments) (any, error) {
		if len(a.kw) > 0 {
			return nil, python.TypeErrorf("str.%s() takes no keyword arguments", a.name)
		}
		if err := a.between(0, 1); err != nil {
			return nil, err
		}
		s := self.(string)
		if err := m.text(len(s)); err != nil {
			return nil, err
		}
		drop := python.IsSpace
		if len(a.pos) == 1 && a.pos[0] != nil {
			chars, ok := a.pos[0].(string)
			if !ok {
				return nil, python.TypeErrorf("%s arg must be None or str", a.name)
			}
			set, err := m.runeSet(chars)
			if err != nil {
				return nil, err
			}
			drop = func(r rune) bool { return set[r] }
		}
		if left {
			s = strings.TrimLeftFunc(s, drop)
		}
		if right {
			s = strings.TrimRightFunc(s, drop)
		}
		return s, nil
	}
}

func (m *machine) runeSet(chars string) (map[rune]bool, error) {
	if err := m.text(len(chars)); err != nil {
		return nil, err
	}
	set := make(map[rune]bool)
	for _, r := range chars {
		set[r] = true
	}
	return set, nil
}

func strRemovePrefix(_ *machine, self any, a *arguments) (any, error) {
	affix, err := a.affix()
	return strings.TrimPrefix(self.(string), affix), err
}

func strRemoveSuffix(_ *machine, self any, a *arguments) (any, error) {
	affix, err := a.affix()
	return strings.TrimSuffix(self.(string), affix), err
}

func (a *arguments) affix() (string, error) {
	if err := a.one("str"); err != nil {
		return "", err
	}
	s, ok := a.pos[0].(string)
	if !ok {
		return "", python.TypeErrorf("%s() argument must be str, not %s", a.name, argumentType(a.pos[0]))
	}
	return s, nil
}

// argumentType names a type as some of CPython's messages do: None by its own
// name.
func argumentType(v any) string {
	if v == nil {
		return "None"
	}
	return python.TypeName(v)
}

func strReplace(m *machine, self any, a *arguments) (any, error) {
	if len(a.kw) > 0 {
		return nil, python.TypeErrorf("str.replace() takes no keyword arguments")
	}
	if err := a.between(2, 3); err != nil {
		return nil, err
	}
	var texts [2]string
	for i := range texts {
		s, ok := a.pos[i].(string)
		if !ok {
			return nil, python.TypeErrorf("replace() argument %d must be str, not %s", i+1, argumentType(a.pos[i]))
		}
		texts[i] = s
	}
	most := -1
	if len(a.pos) == 3 {
		var err error
		if most, err = size(a.pos[2]); err != nil {
			return nil, err
		}
	}
	s, before, after := self.(string), texts[0], texts[1]
	if err := m.text(len(s)); err != nil {
		return nil, err
	}
	n := strings.Count(s, before)
	if most >= 0 {
		n = min(n, most)
	}
	// Each factor is below 2^32, so the product can't overflow.
	if err := m.takeString(len(s) + n*(len(after)-len(before))); err != nil {
		return nil, err
	}
	return strings.Replace(s, before, after, n), nil
}

func strJoin(m *machine, self any, a *arguments) (any, error) {
	if err := a.one("str"); err != nil {
		return nil, err
	}
	elems, err := m.elems(a.pos[0])
	if err != nil {
		if python.TypeName(a.pos[0]) == "NoneType" || python.IsNumber(a.pos[0]) {
			return nil, python.TypeErrorf("can only join an iterable")
		}
		return nil, err
	}
	sep := self.(string)
	total := 0
	parts := make([]string, len(elems))
	for i, e := range elems {
		s, ok := e.(string)
		if !ok {
			return nil, python.TypeErrorf("sequence item %d: expected str instance, %s found", i, python.TypeName(e))
		}
		if i > 0 {
			total += len(sep)
		}
		if total += len(s); total > MaxString {
			return nil, m.takeString(total)
		}
		parts[i] = s
	}
	if err := m.takeString(total); err != nil {
		return nil, err
	}
	return strings.Join(parts, sep), m.work.SpendText(total)
}

func strExpandTabs(m *machine, self any, a *arguments) (any, error) {
	if err := a.atMost(1); err != nil {
		return nil, err
	}
	v, err := a.parameter(0, "tabsize", int64(8))
	if err != nil {
		return nil, err
	}
	if err := a.unknownKeywords(); err != nil {
		return nil, err
	}
	tab, err := size(v)
	if err != nil {
		return nil, err
	}
	s := self.(string)
	if err := m.text(len(s)); err != nil {
		return nil, err
	}
	return m.expandTabs(s, tab)
}

func (m *machine) expandTabs(s string, tab int) (any, error) {
	var b strings.Builder
	column := 0
	for i, r := range s {
		switch {
		case r != '\t':
			_, size := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+size])
			column++
			if r == '\n' || r == '\r' {
				column = 0
			}
		case tab > 0:
			n := tab - column%tab
			if n > MaxString || b.Len()+n > MaxString {
				return nil, m.takeString(max(n, b.Len()+n))
			}
			b.WriteString(strings.Repeat(" ", n))
			column += n
		}
	}
	return b.String(), m.takeString(b.Len())
}
