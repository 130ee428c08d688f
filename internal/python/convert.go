package python

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quotedText is how much of a text an error message repeats, in code points.
const quotedText = 200

// excerpt is repr(s), cut to what an error message has room for.
func excerpt(s string) string {
	if utf8.RuneCountInString(s) > quotedText {
		s = Join(Runes(s[:min(len(s), quotedText*utf8.UTFMax)])[:quotedText])
	}
	r := Runes(Repr(s))
	return Join(r[:min(len(r), quotedText)])
}

// Strip removes white space, as Python defines it, from both ends.
func Strip(s string) string { return strings.TrimFunc(s, IsSpace) }

// ToInt returns int(v) for one argument: a number is cut towards zero, a text
// read as ParseInt reads base 10.
func ToInt(v any) (any, error) {
	if i, ok := Integer(v); ok {
		return i, nil
	}
	switch v := v.(type) {
	case string:
		return ParseInt(v, 10)
	case float64:
		switch {
		case math.IsNaN(v):
			return nil, ValueErrorf("cannot convert float NaN to integer")
		case math.IsInf(v, 0):
			return nil, Errorf("OverflowError", "cannot convert float infinity to integer")
		}
		x, _ := big.NewFloat(v).Int(nil)
		return Normal(x), nil
	}
	return nil, TypeErrorf("int() argument must be a string, a bytes-like object or a real number, not '%s'", TypeName(v))
}

// ParseInt returns int(s, base): white space around, a sign, underscores
// between digits, digits of any script. Base 0 reads 0x, 0o and 0b. It fails
// with a ValueError, also at over MaxIntDigits digits in a base that is no
// power of two.
func ParseInt(s string, base int) (any, error) {
	if base != 0 && (base < 2 || base > 36) {
		return nil, ValueErrorf("int() base must be >= 2 and <= 36, or 0")
	}
	invalid := func() error {
		return ValueErrorf("invalid literal for int() with base %d: %s", base, excerpt(s))
	}
	t, ok := asciiDigits(Strip(s))
	if !ok {
		return nil, invalid()
	}
	sign := ""
	if strings.HasPrefix(t, "-") || strings.HasPrefix(t, "+") {
		sign, t = strings.TrimPrefix(t[:1], "+"), t[1:]
	}
	t, radix, ok := cutPrefix(t, base)
	if !ok {
		return nil, invalid()
	}
	digits, ok := dropUnderscores(t)
	if !ok || !allDigits(digits, radix) {
		return nil, invalid()
	}
	if base == 0 && radix == 10 && digits[0] == '0' && strings.Trim(digits, "0") != "" {
		return nil, invalid() // 010, which might have been meant as octal
	}
	if radix&(radix-1) != 0 && len(digits) > MaxIntDigits {
		return nil, ValueErrorf("Exceeds the limit (%d digits) for integer string conversion: value has %d digits; "+
			"use sys.set_int_max_str_digits() to increase the limit", MaxIntDigits, len(digits))
	}
	x, ok := new(big.Int).SetString(sign+digits, radix)
	if !ok {
		return nil, invalid()
	}
	return Normal(x), nil
}

// cutPrefix removes 0x, 0o or 0b where the base allows it, with the underscore
// that may follow it, and returns the base that the digits are in.
func cutPrefix(t string, base int) (string, int, bool) {
	if len(t) >= 2 && t[0] == '0' {
		radix := map[byte]int{'x': 16, 'o': 8, 'b': 2}[t[1]|0x20]
		if radix != 0 && (base == 0 || base == radix) {
			return strings.TrimPrefix(t[2:], "_"), radix, len(t) > 2
		}
	}
	if base == 0 {
		base = 10
	}
	return t, base, true
}

func allDigits(s string, base int) bool {
	for i := range len(s) {
		d := 99
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			d = int(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			d = int(c|0x20-'a') + 10
		}
		if d >= base {
			return false
		}
	}
	return s != ""
}

// asciiDigits turns decimal digits of any script into ASCII. It returns false
// when another character that is not ASCII remains.
func asciiDigits(s string) (string, bool) {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return s, true
	}
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		d, ok := DecimalValue(r)
		if !ok {
			return "", false
		}
		b.WriteByte(byte('0' + d))
	}
	return b.String(), true
}

// dropUnderscores removes underscores that stand between two other characters,
// and returns false when one stands elsewhere.
func dropUnderscores(s string) (string, bool) {
	if strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") {
		return "", false
	}
	return strings.ReplaceAll(s, "_", ""), true
}

// ToFloat returns float(v): a number converted, a text read as ParseFloat
// reads it.
func ToFloat(v any) (float64, error) {
	if s, ok := v.(string); ok {
		return ParseFloat(s)
	}
	if !IsNumber(v) {
		return 0, TypeErrorf("float() argument must be a string or a real number, not '%s'", TypeName(v))
	}
	return Float(v)
}

// ParseFloat returns float(s): white space around, a sign, digits of any
// script with underscores between them, an exponent; or inf, infinity, nan in
// any case. Too large a number is an infinity. It fails with a ValueError.
func ParseFloat(s string) (float64, error) {
	invalid := func() (float64, error) {
		return 0, ValueErrorf("could not convert string to float: %s", excerpt(s))
	}
	t, ok := asciiDigits(Strip(s))
	if !ok {
		return invalid()
	}
	body := strings.ToLower(strings.TrimLeft(t, "+-"))
	if len(t)-len(body) > 1 {
		return invalid()
	}
	switch body {
	case "inf", "infinity", "nan":
	default:
		if body, ok = floatSyntax(body); !ok {
			return invalid()
		}
	}
	f, _ := strconv.ParseFloat(body, 64) // out of range gives an infinity or zero
	if t[0] == '-' {
		f = -f
	}
	return f, nil
}

// floatSyntax checks `digits[.digits][e[sign]digits]`, and removes the
// underscores, each of which must stand between two digits.
func floatSyntax(s string) (string, bool) {
	isDigit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	out := make([]byte, 0, len(s))
	digits, point, exp := false, false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isDigit(i):
			digits = true
		case c == '_' && isDigit(i-1) && isDigit(i+1):
			continue
		case c == '.' && !point && !exp:
			point = true
		case c == 'e' && digits && !exp:
			exp, digits = true, false
		case (c == '+' || c == '-') && i > 0 && s[i-1] == 'e':
		default:
			return "", false
		}
		out = append(out, s[i])
	}
	return string(out), digits
}
