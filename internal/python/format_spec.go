package python

import (
	"fmt"
	"unicode/utf8"
)

// A formatSpec is a format spec taken apart:
// [[fill]align][sign]["z"]["#"]["0"][width][grouping]["." precision][type].
type formatSpec struct {
	fill      string // one character
	align     byte   // one of < > ^ =
	sign      byte   // 0, '+', '-' or ' '
	noNegZero bool
	alternate bool
	width     int  // -1: none given
	grouping  byte // 0, ',' or '_'
	precision int  // -1: none given
	kind      rune // the type; 0 when the value's class has no default and none was given
}

// parseSpec reads a format spec for a value of the class typeName, whose type
// and alignment are kind and align unless the spec says otherwise.
func parseSpec(spec, typeName string, kind rune, align byte) (formatSpec, error) {
	f := formatSpec{fill: " ", align: align, width: -1, precision: -1, kind: kind}
	rest := f.alignment(spec)
	aligned := len(rest) < len(spec)
	filled := len(spec)-len(rest) > 1
	if rest != "" && (rest[0] == '+' || rest[0] == '-' || rest[0] == ' ') {
		f.sign, rest = rest[0], rest[1:]
	}
	f.noNegZero = skipByte(&rest, 'z')
	f.alternate = skipByte(&rest, '#')
	if !filled && skipByte(&rest, '0') {
		f.fill = "0"
		if !aligned && align == '>' {
			f.align = '='
		}
	}
	var err error
	if f.width, rest, err = specNumber(rest, "width"); err != nil {
		return f, err
	}
	if rest, err = f.groupingOf(rest); err != nil {
		return f, err
	}
	if skipByte(&rest, '.') {
		if f.precision, rest, err = specNumber(rest, "precision"); err != nil {
			return f, err
		}
		if f.precision < 0 {
			return f, ValueErrorf("Format specifier missing precision")
		}
	}
	if rest != "" {
		r, size := utf8.DecodeRuneInString(rest)
		if size < len(rest) {
			return f, ValueErrorf("Invalid format specifier '%s' for object of type '%s'", spec, typeName)
		}
		f.kind = r
	}
	return f, f.checkGrouping()
}

// alignment reads fill and alignment and returns what follows them.
func (f *formatSpec) alignment(spec string) string {
	_, size := utf8.DecodeRuneInString(spec)
	if size < len(spec) && isAlign(spec[size]) {
		f.fill, f.align = spec[:size], spec[size]
		return spec[size+1:]
	}
	if isAlign(spec[0]) {
		f.align = spec[0]
		return spec[1:]
	}
	return spec
}

func isAlign(c byte) bool { return c == '<' || c == '>' || c == '=' || c == '^' }

func skipByte(s *string, c byte) bool {
	if *s == "" || (*s)[0] != c {
		return false
	}
	*s = (*s)[1:]
	return true
}

// specNumber reads decimal digits, of any script as CPython does, and returns
// -1 where there are none.
func specNumber(s, what string) (int, string, error) {
	n, start := 0, s
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		d, ok := DecimalValue(r)
		if !ok {
			break
		}
		n = min(10*n+d, MaxFormatWidth+1)
		s = s[size:]
	}
	switch {
	case len(s) == len(start):
		return -1, s, nil
	case n > MaxFormatWidth:
		return 0, s, ValueErrorf("the %s in a format spec is above %d, the largest that is accepted", what, MaxFormatWidth)
	}
	return n, s, nil
}

func (f *formatSpec) groupingOf(s string) (string, error) {
	if skipByte(&s, ',') {
		f.grouping = ','
	}
	if s != "" && s[0] == '_' {
		if f.grouping != 0 {
			return s, ValueErrorf("Cannot specify both ',' and '_'.")
		}
		f.grouping, s = '_', s[1:]
	}
	if s != "" && s[0] == ',' && f.grouping == '_' {
		return s, ValueErrorf("Cannot specify both ',' and '_'.")
	}
	return s, nil
}

// checkGrouping refuses separators where the type has none.
func (f *formatSpec) checkGrouping() error {
	switch f.kind {
	case 0, 'd', 'e', 'E', 'f', 'F', 'g', 'G', '%':
		return nil
	case 'b', 'o', 'x', 'X':
		if f.grouping == '_' {
			return nil
		}
	}
	if f.grouping == 0 {
		return nil
	}
	return ValueErrorf("Cannot specify '%c' with '%s'.", f.grouping, f.kindName())
}

// kindName is the type as CPython's messages show it.
func (f *formatSpec) kindName() string {
	if f.kind > 32 && f.kind < 128 {
		return string(f.kind)
	}
	return fmt.Sprintf(`\x%x`, f.kind)
}

func (f *formatSpec) unknownType(typeName string) error {
	return ValueErrorf("Unknown format code '%s' for object of type '%s'", f.kindName(), typeName)
}

// groupSize is how many digits stand between two separators.
func (f *formatSpec) groupSize() int {
	switch f.kind {
	case 'b', 'o', 'x', 'X':
		return 4
	}
	return 3
}

// padding splits n characters of padding, none when it is negative, into what
// stands left and right of the text. "=" pads inside and is not for here.
func (f *formatSpec) padding(n int) (left, right int) {
	n = max(n, 0)
	switch f.align {
	case '>':
		return n, 0
	case '^':
		return n / 2, n - n/2
	}
	return 0, n
}
