package python

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// numberParts is a number's text, ready to be laid out by a formatSpec.
type numberParts struct {
	negative bool
	prefix   string // 0x and the like
	digits   string // before the point; grouped and zero-filled
	rest     string // the point and all after it, or what are no digits; as is
}

// number lays the parts out:
// <left padding> <sign> <prefix> <inner padding> <digits> <rest> <right padding>.
func (f *formatSpec) number(p numberParts) string {
	sign := ""
	switch {
	case p.negative:
		sign = "-"
	case f.sign == '+' || f.sign == ' ':
		sign = string(f.sign)
	}
	fixed := len(sign) + len(p.prefix) + utf8.RuneCountInString(p.rest)
	digits := p.digits
	if digits != "" {
		minWidth := 0
		if f.fill == "0" && f.align == '=' {
			minWidth = f.width - fixed // zeros are digits: they are grouped too
		}
		digits = f.grouped(digits, minWidth)
	}
	missing := max(f.width-fixed-len(digits), 0)
	var left, inner, right int
	if f.align == '=' {
		inner = missing
	} else {
		left, right = f.padding(missing)
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(f.fill, left))
	b.WriteString(sign)
	b.WriteString(p.prefix)
	b.WriteString(strings.Repeat(f.fill, inner))
	b.WriteString(digits)
	b.WriteString(p.rest)
	b.WriteString(strings.Repeat(f.fill, right))
	return b.String()
}

// grouped fills digits with zeros from the left to minWidth, separators
// included, and puts the separators in. A separator never comes first: one
// zero more is written instead.
func (f *formatSpec) grouped(digits string, minWidth int) string {
	if f.grouping == 0 {
		return strings.Repeat("0", max(minWidth-len(digits), 0)) + digits
	}
	size := f.groupSize()
	n := len(digits)
	if minWidth > n+(n-1)/size {
		n = minWidth - minWidth/(size+1)
		if minWidth%(size+1) == 0 {
			n++ // the separator would come first
		}
	}
	digits = strings.Repeat("0", max(n-len(digits), 0)) + digits
	var b strings.Builder
	b.Grow(n + n/size)
	for i := range digits {
		if i > 0 && (n-i)%size == 0 {
			b.WriteByte(f.grouping)
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

// formatInt formats an int, or a bool as one.
func formatInt(x *big.Int, typeName, spec string) (string, error) {
	f, err := parseSpec(spec, typeName, 'd', '>')
	if err != nil {
		return "", err
	}
	switch f.kind {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		v, _ := new(big.Float).SetInt(x).Float64()
		if math.IsInf(v, 0) {
			return "", Errorf("OverflowError", "int too large to convert to float")
		}
		return f.float(v), nil
	case 'b', 'c', 'd', 'n', 'o', 'x', 'X':
	default:
		return "", f.unknownType(typeName)
	}
	if f.precision >= 0 {
		return "", ValueErrorf("Precision not allowed in integer format specifier")
	}
	if f.noNegZero {
		return "", ValueErrorf("Negative zero coercion (z) not allowed in integer format specifier")
	}
	if f.kind == 'c' {
		return f.character(x)
	}
	return f.integer(x)
}

func (f *formatSpec) integer(x *big.Int) (string, error) {
	base, prefix := 10, ""
	switch f.kind {
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x', 'X':
		base, prefix = 16, "0"+string(f.kind)
	default:
		if err := CheckDigits(x); err != nil {
			return "", err
		}
	}
	if !f.alternate {
		prefix = ""
	}
	digits := strings.TrimPrefix(x.Text(base), "-")
	if f.kind == 'X' {
		digits = strings.ToUpper(digits)
	}
	return f.number(numberParts{negative: x.Sign() < 0, prefix: prefix, digits: digits}), nil
}

// character formats an int as the character of that code point.
func (f *formatSpec) character(x *big.Int) (string, error) {
	switch {
	case f.sign != 0:
		return "", ValueErrorf("Sign not allowed with integer format specifier 'c'")
	case f.alternate:
		return "", ValueErrorf("Alternate form (#) not allowed with integer format specifier 'c'")
	case !x.IsInt64():
		return "", Errorf("OverflowError", "Python int too large to convert to C long")
	}
	n := x.Int64()
	if n < 0 || n > utf8.MaxRune {
		return "", Errorf("OverflowError", "%%c arg not in range(0x110000)")
	}
	if !utf8.ValidRune(rune(n)) {
		return "", ValueErrorf("%#x is half of a surrogate pair, which no text can hold", n)
	}
	return f.number(numberParts{rest: string(rune(n))}), nil
}

func formatFloat(v float64, spec string) (string, error) {
	f, err := parseSpec(spec, "float", 0, '>')
	if err != nil {
		return "", err
	}
	switch f.kind {
	case 0, 'e', 'E', 'f', 'F', 'g', 'G', 'n', '%':
		return f.float(v), nil
	}
	return "", f.unknownType("float")
}

func (f *formatSpec) float(v float64) string {
	if f.kind == '%' {
		v *= 100
	}
	p := numberParts{negative: math.Signbit(v)}
	switch {
	case math.IsNaN(v):
		p.negative = false
		p.rest = f.cased("nan")
	case math.IsInf(v, 0):
		p.rest = f.cased("inf")
	default:
		text := f.cased(f.floatText(math.Abs(v)))
		if p.negative && f.noNegZero && isZero(text) {
			p.negative = false
		}
		end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(text)
		}
		p.digits, p.rest = text[:end], text[end:]
	}
	if f.kind == '%' {
		p.rest += "%"
	}
	return f.number(p)
}

func (f *formatSpec) cased(s string) string {
	switch f.kind {
	case 'E', 'F', 'G':
		return strings.ToUpper(s)
	}
	return s
}

// isZero tells whether a printed number shows no digit but 0.
func isZero(text string) bool {
	mantissa := strings.TrimRightFunc(text, func(r rune) bool { return r != 'e' && r != 'E' })
	if mantissa == "" {
		mantissa = text
	}
	return !strings.ContainsAny(mantissa, "123456789")
}

// floatText prints a finite float without sign, as the type says.
func (f *formatSpec) floatText(v float64) string {
	precision := f.precision
	if precision < 0 {
		precision = 6
	}
	switch f.kind {
	case 'f', 'F', '%':
		return f.withPoint(strconv.FormatFloat(v, 'f', precision, 64))
	case 'e', 'E':
		return f.withPoint(strconv.FormatFloat(v, 'e', precision, 64))
	case 0:
		return f.generalText(v, f.precision, true)
	}
	return f.generalText(v, precision, false)
}

// withPoint adds the point that "#" asks for where there is none.
func (f *formatSpec) withPoint(s string) string {
	if !f.alternate || strings.Contains(s, ".") {
		return s
	}
	if e := strings.IndexByte(s, 'e'); e >= 0 {
		return s[:e] + "." + s[e:]
	}
	return s + "."
}

// generalText is the types g and n and the absent one: the given number of
// significant digits, or as many as tell the float apart when it is negative,
// with an exponent where the number is very small or has more digits than
// that. keepZero writes 1.0 rather than 1, and takes the exponent one digit
// earlier to make room for it.
func (f *formatSpec) generalText(v float64, precision int, keepZero bool) string {
	if precision == 0 {
		precision = 1
	}
	digits, point := significantDigits(v, precision)
	limit := precision
	switch {
	case precision < 0:
		limit = 16
	case keepZero:
		limit = precision - 1
	}
	if f.alternate && precision > 0 {
		digits += strings.Repeat("0", max(precision-len(digits), 0))
	}
	if point <= -4 || point > limit {
		mantissa := digits[:1]
		if len(digits) > 1 {
			mantissa += "." + digits[1:]
		}
		return f.withPoint(mantissa + exponentText(point-1))
	}
	if point <= 0 {
		return "0." + strings.Repeat("0", -point) + digits
	}
	digits += strings.Repeat("0", max(point-len(digits), 0))
	switch whole, fraction := digits[:point], digits[point:]; {
	case fraction != "":
		return whole + "." + fraction
	case keepZero:
		return whole + ".0"
	default:
		return f.withPoint(whole)
	}
}

// significantDigits returns v's significant digits, without zeros at the end, and
// where the decimal point stands, counted from the first of them.
func significantDigits(v float64, precision int) (digits string, point int) {
	if precision > 0 {
		precision--
	}
	s := strconv.FormatFloat(v, 'e', precision, 64)
	mantissa, exp, _ := strings.Cut(s, "e")
	digits = strings.TrimRight(strings.Replace(mantissa, ".", "", 1), "0")
	if digits == "" {
		return "0", 1
	}
	n, err := strconv.Atoi(exp)
	if err != nil {
		return digits, 1 // cannot happen: FormatFloat wrote it
	}
	return digits, n + 1
}

func exponentText(n int) string {
	sign := "+"
	if n < 0 {
		sign, n = "-", -n
	}
	if n < 10 {
		return "e" + sign + "0" + strconv.Itoa(n)
	}
	return "e" + sign + strconv.Itoa(n)
}
