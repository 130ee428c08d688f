package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/internal/python"
)

func isDigitAt(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

// number reads a numeric literal: 12, 1_000, 0xff, 0o17, 0b1, 1.5, .5, 1e-3,
// and imaginary ones (2j), which are marked as refused.
func (l *lexer) number() error {
	start := l.pos
	if l.src[start] == '0' && start+1 < len(l.src) {
		if radix := map[byte]string{'x': "hexadecimal", 'o': "octal", 'b': "binary"}[l.src[start+1]|0x20]; radix != "" {
			return l.prefixed(radix)
		}
	}
	end, ok := digitsFrom(l.src, start)
	isFloat := false
	if ok && end < len(l.src) && l.src[end] == '.' {
		isFloat = true
		end++
		if isDigitAt(l.src, end) {
			end, ok = digitsFrom(l.src, end)
		}
	}
	if ok && end < len(l.src) && l.src[end]|0x20 == 'e' {
		exp := end + 1
		if exp < len(l.src) && (l.src[exp] == '+' || l.src[exp] == '-') {
			exp++
		}
		if isDigitAt(l.src, exp) {
			isFloat = true
			end, ok = digitsFrom(l.src, exp)
		}
	}
	if !ok {
		return syntaxErrorAt(start, "invalid decimal literal")
	}
	text := l.src[start:end]
	if end < len(l.src) && l.src[end]|0x20 == 'j' {
		return l.literal(token{kind: tokNumber, text: text, refused: "a complex number"}, end+1, "imaginary")
	}
	if isFloat {
		f, err := python.ParseFloat(text)
		if err != nil {
			return syntaxErrorAt(start, "invalid decimal literal")
		}
		return l.literal(token{kind: tokNumber, text: text, val: f}, end, "decimal")
	}
	return l.integer(text, 10, end, "decimal")
}

func (l *lexer) prefixed(radix string) error {
	base := map[string]int{"hexadecimal": 16, "octal": 8, "binary": 2}[radix]
	end := l.pos + 2
	for end < len(l.src) && (l.src[end] == '_' || digitBelow(l.src[end], base)) {
		end++
	}
	if isDigitAt(l.src, end) {
		return syntaxErrorAt(end, "invalid digit '%c' in %s literal", l.src[end], radix)
	}
	return l.integer(l.src[l.pos:end], base, end, radix)
}

func digitBelow(c byte, base int) bool {
	switch {
	case c >= '0' && c <= '9':
		return int(c-'0') < base
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return base == 16
	}
	return false
}

func (l *lexer) integer(text string, base, end int, radix string) error {
	if base == 10 && text[0] == '0' && strings.Trim(text, "0_") != "" {
		return syntaxErrorAt(l.pos, "leading zeros in decimal integer literals are not permitted; "+
			"use an 0o prefix for octal integers")
	}
	v, err := python.ParseInt(text, base)
	if err != nil {
		if len(text) > python.MaxIntDigits {
			return syntaxErrorAt(l.pos, "an integer literal of more than %d digits", python.MaxIntDigits)
		}
		return syntaxErrorAt(l.pos, "invalid %s literal", radix)
	}
	return l.literal(token{kind: tokNumber, text: text, val: v}, end, radix)
}

// literal emits a number, unless a name follows it at once: only a keyword may.
func (l *lexer) literal(t token, end int, radix string) error {
	rest := l.src[end:]
	follows := false
	for _, kw := range [...]string{"and", "else", "for", "if", "in", "is", "not", "or"} {
		follows = follows || strings.HasPrefix(rest, kw)
	}
	if r, _ := utf8.DecodeRuneInString(rest); rest != "" && !follows && python.IsIdentContinue(r) {
		return syntaxErrorAt(l.pos, "invalid %s literal", radix)
	}
	l.emit(t, end-l.pos)
	return nil
}

// digitsFrom returns where the digits from i on end, and false when an
// underscore among them does not stand between two digits.
func digitsFrom(s string, i int) (int, bool) {
	for i < len(s) {
		switch {
		case isDigitAt(s, i):
		case s[i] == '_' && isDigitAt(s, i+1):
		case s[i] == '_':
			return i, false
		default:
			return i, true
		}
		i++
	}
	return i, true
}
