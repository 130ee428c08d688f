package python

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// MaxFormatWidth is the largest width and the largest precision that Format
// takes, in characters and digits: more would only serve to fill memory.
const MaxFormatWidth = 10_000

// Format returns format(v, spec), as str.format and f-strings print a value
// under a format spec such as ">8", ",.2f" or "#x". An empty spec is Str. Only
// strings, booleans, integers and floats take another; for the rest it is a
// TypeError. Errors are *Error with CPython's class and text, apart from a
// width or precision above MaxFormatWidth, which is a ValueError of our own.
// The locale of the type "n" is always C.
func Format(v any, spec string) (string, error) {
	if spec == "" {
		return formatPlain(v)
	}
	switch v := v.(type) {
	case string:
		return formatStr(v, spec)
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		return formatInt(big.NewInt(n), "bool", spec)
	case int64:
		return formatInt(big.NewInt(v), "int", spec)
	case *big.Int:
		return formatInt(v, "int", spec)
	case float64:
		return formatFloat(v, spec)
	}
	return "", TypeErrorf("unsupported format string passed to %s.__format__", TypeName(v))
}

func formatPlain(v any) (string, error) {
	if x, ok := v.(*big.Int); ok {
		if err := CheckDigits(x); err != nil {
			return "", err
		}
	}
	return Str(v), nil
}

func formatStr(s, spec string) (string, error) {
	f, err := parseSpec(spec, "str", 's', '<')
	if err != nil {
		return "", err
	}
	if f.kind != 's' {
		return "", f.unknownType("str")
	}
	switch {
	case f.sign == ' ':
		return "", ValueErrorf("Space not allowed in string format specifier")
	case f.sign != 0:
		return "", ValueErrorf("Sign not allowed in string format specifier")
	case f.noNegZero:
		return "", ValueErrorf("Negative zero coercion (z) not allowed in string format specifier")
	case f.alternate:
		return "", ValueErrorf("Alternate form (#) not allowed in string format specifier")
	case f.align == '=':
		return "", ValueErrorf("'=' alignment not allowed in string format specifier")
	}
	if f.precision >= 0 {
		s, _ = firstRunes(s, f.precision)
	}
	_, n := firstRunes(s, max(f.width, 0))
	left, right := f.padding(f.width - n)
	return strings.Repeat(f.fill, left) + s + strings.Repeat(f.fill, right), nil
}

// firstRunes returns the first n characters of s and how many they are. It
// reads no further, so that a short precision of a long text costs little.
func firstRunes(s string, n int) (string, int) {
	end, count := 0, 0
	for count < n && end < len(s) {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
		count++
	}
	return s[:end], count
}
