package python

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// caseMapping maps one code point to one or more.
type caseMapping struct {
	from rune
	to   string
}

func special(table []caseMapping, r rune) (string, bool) {
	i, ok := slices.BinarySearchFunc(table, r, func(m caseMapping, r rune) int { return cmp.Compare(m.from, r) })
	if !ok {
		return "", false
	}
	return table[i].to, true
}

// IsPrintable tells whether repr shows a code point as it is. All spaces but
// the ASCII one, control and format characters, and what Unicode 14 had not
// assigned are escaped.
func IsPrintable(r rune) bool {
	return r <= unicode.MaxRune && !isSurrogate(r) && !unicode.Is(&notPrintable, r)
}

func isSurrogate(r rune) bool { return r >= 0xD800 && r <= 0xDFFF }

// IsAlpha tells whether str.isalpha accepts a code point.
func IsAlpha(r rune) bool { return unicode.Is(&alphas, r) }

// IsLower tells whether str.islower accepts a code point.
func IsLower(r rune) bool { return unicode.Is(&lowers, r) }

// IsUpper tells whether str.isupper accepts a code point.
func IsUpper(r rune) bool { return unicode.Is(&uppers, r) }

// IsTitle tells whether a code point is a titlecase letter, such as ǅ.
func IsTitle(r rune) bool { return unicode.Is(&titles, r) }

// IsDecimal tells whether str.isdecimal accepts a code point.
func IsDecimal(r rune) bool { return unicode.Is(&decimals, r) }

// IsDigit tells whether str.isdigit accepts a code point: decimals and such
// digits as ².
func IsDigit(r rune) bool { return unicode.Is(&digits, r) }

// IsNumeric tells whether str.isnumeric accepts a code point: digits and such
// numbers as ½.
func IsNumeric(r rune) bool { return unicode.Is(&numerics, r) }

// IsSpace tells whether str.isspace accepts a code point, and str.strip and
// str.split take it for white space.
func IsSpace(r rune) bool { return unicode.Is(&spaces, r) }

// IsIdentStart tells whether a code point may start an identifier.
func IsIdentStart(r rune) bool { return unicode.Is(&idStarts, r) }

// IsIdentContinue tells whether a code point may stand inside an identifier.
func IsIdentContinue(r rune) bool { return unicode.Is(&idContinues, r) }

// IsIdentVariant tells whether CPython writes a code point of an identifier
// otherwise (by Unicode's NFKC), such as a full-width letter or underscore.
func IsIdentVariant(r rune) bool { return unicode.Is(&idVariants, r) }

// DecimalValue returns the value, 0 to 9, of a decimal digit of any script,
// and false for any other code point.
func DecimalValue(r rune) (int, bool) {
	if r >= '0' && r <= '9' {
		return int(r - '0'), true
	}
	if r < 0x80 {
		return 0, false
	}
	// Decimal digits stand in runs of ten, in order.
	for _, g := range decimals.R16 {
		if rune(g.Lo) <= r && r <= rune(g.Hi) {
			return int(r-rune(g.Lo)) % 10, true
		}
	}
	for _, g := range decimals.R32 {
		if rune(g.Lo) <= r && r <= rune(g.Hi) {
			return int(r-rune(g.Lo)) % 10, true
		}
	}
	return 0, false
}

// Upper returns str.upper().
func Upper(s string) string { return mapped(s, upperSpecials, unicode.ToUpper) }

// CaseFold returns str.casefold().
func CaseFold(s string) string { return mapped(s, foldSpecials, unicode.ToLower) }

// Lower returns str.lower(). A capital sigma that ends a word becomes ς.
func Lower(s string) string {
	rs := Runes(s)
	var b strings.Builder
	b.Grow(len(s))
	for i := range rs {
		lowerAt(&b, rs, i)
	}
	return b.String()
}

// Title returns str.title(): the first letter of each run of letters in
// titlecase, the others lower.
func Title(s string) string {
	rs := Runes(s)
	var b strings.Builder
	b.Grow(len(s))
	inWord := false
	for i, r := range rs {
		if inWord {
			lowerAt(&b, rs, i)
		} else {
			one(&b, r, titleSpecials, unicode.ToTitle)
		}
		inWord = isCased(r)
	}
	return b.String()
}

// Capitalize returns str.capitalize(): the first code point in titlecase, the
// others lower.
func Capitalize(s string) string {
	rs := Runes(s)
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range rs {
		if i == 0 {
			one(&b, r, titleSpecials, unicode.ToTitle)
			continue
		}
		lowerAt(&b, rs, i)
	}
	return b.String()
}

// SwapCase returns str.swapcase().
func SwapCase(s string) string {
	rs := Runes(s)
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range rs {
		switch {
		case IsUpper(r):
			lowerAt(&b, rs, i)
		case IsLower(r):
			one(&b, r, upperSpecials, unicode.ToUpper)
		default:
			b.WriteString(Join(rs[i : i+1]))
		}
	}
	return b.String()
}

func mapped(s string, table []caseMapping, simple func(rune) rune) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range Runes(s) {
		one(&b, r, table, simple)
	}
	return b.String()
}

func one(b *strings.Builder, r rune, table []caseMapping, simple func(rune) rune) {
	if r < utf8.RuneSelf {
		b.WriteByte(byte(simple(r)))
		return
	}
	switch to, ok := special(table, r); {
	case ok:
		b.WriteString(to)
	case isSurrogate(r):
		b.WriteString(Join([]rune{r}))
	default:
		b.WriteRune(simple(r))
	}
}

const (
	capitalSigma = 'Σ'
	finalSigma   = 'ς'
	smallSigma   = 'σ'
)

func lowerAt(b *strings.Builder, rs []rune, i int) {
	if rs[i] != capitalSigma {
		one(b, rs[i], lowerSpecials, unicode.ToLower)
		return
	}
	if endsWord(rs, i) {
		b.WriteRune(finalSigma)
		return
	}
	b.WriteRune(smallSigma)
}

// endsWord tells whether a letter stands before rs[i] and none after it, both
// seen through case-ignorable characters such as apostrophes.
func endsWord(rs []rune, i int) bool {
	j := i - 1
	for j >= 0 && unicode.Is(&caseIgnorables, rs[j]) {
		j--
	}
	if j < 0 || !isCased(rs[j]) {
		return false
	}
	j = i + 1
	for j < len(rs) && unicode.Is(&caseIgnorables, rs[j]) {
		j++
	}
	return j == len(rs) || !isCased(rs[j])
}

func isCased(r rune) bool { return IsLower(r) || IsUpper(r) || IsTitle(r) }
