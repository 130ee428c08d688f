package expr

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// stringLiteral reads a string literal whose quotes start at quoteAt, after the
// given lower-case prefix.
func (l *lexer) stringLiteral(quoteAt int, prefix string) error {
	quote := l.src[quoteAt : quoteAt+1]
	if strings.HasPrefix(l.src[quoteAt:], strings.Repeat(quote, 3)) {
		quote = l.src[quoteAt : quoteAt+3]
	}
	bodyAt := quoteAt + len(quote)
	end, err := l.stringEnd(bodyAt, quote)
	if err != nil {
		return err
	}
	body := strings.ReplaceAll(strings.ReplaceAll(l.src[bodyAt:end], "\r\n", "\n"), "\r", "\n")
	t := token{kind: tokString, text: "string"}
	t.format = strings.Contains(prefix, "f")
	t.bytes = strings.Contains(prefix, "b")
	switch {
	case t.format:
	case t.bytes:
		t.refused = "a bytes literal"
		if strings.IndexFunc(body, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
			return syntaxErrorAt(l.pos, "bytes can only contain ASCII literal characters")
		}
	case strings.Contains(prefix, "r"):
		t.val = body
	default:
		text, refused, err := unescape(body, bodyAt)
		if err != nil {
			return err
		}
		t.val, t.refused = text, refused
	}
	l.emit(t, end+len(quote)-l.pos)
	return nil
}

// stringEnd finds the closing quote.
func (l *lexer) stringEnd(i int, quote string) (int, error) {
	for i < len(l.src) {
		switch {
		case l.src[i] == '\\' && newlineLen(l.src[i+1:]) > 0:
			i += 1 + newlineLen(l.src[i+1:])
		case l.src[i] == '\\':
			i += 2
		case strings.HasPrefix(l.src[i:], quote):
			return i, nil
		case len(quote) == 1 && newlineLen(l.src[i:]) > 0:
			return 0, syntaxErrorAt(l.pos, "unterminated string literal")
		default:
			i++
		}
	}
	if len(quote) == 3 {
		return 0, syntaxErrorAt(l.pos, "unterminated triple-quoted string literal")
	}
	return 0, syntaxErrorAt(l.pos, "unterminated string literal")
}

// unescape resolves the escapes of a string literal. A name (\N{…}) or half of
// a surrogate pair is refused: the first needs Unicode's list of names, the
// second is no text that UTF-8 can hold.
func unescape(s string, off int) (text, refused string, err error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, "", nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		r, size, kind := escape(s[i+1:])
		switch kind {
		case escapeKept:
			b.WriteByte('\\')
		case escapeNothing:
		case escapeBroken:
			return "", "", syntaxErrorAt(off+i, "(unicode error) truncated or illegal \\%c escape", s[i+1])
		case escapeName:
			refused = `a \N{…} escape; write the character or \u with its number`
		case escapeRune:
			if r >= 0xD800 && r <= 0xDFFF {
				refused = "half of a surrogate pair; write the whole character"
			}
			b.WriteRune(r)
		}
		i += 1 + size
	}
	return b.String(), refused, nil
}

type escapeKind uint8

const (
	escapeRune    escapeKind = iota // stands for one code point
	escapeNothing                   // a line end, which vanishes
	escapeKept                      // no escape: the backslash stays
	escapeName                      // \N{…}
	escapeBroken
)

// escape reads what follows a backslash, and returns how many bytes it took.
func escape(s string) (rune, int, escapeKind) {
	if s == "" {
		return 0, 0, escapeKept
	}
	if i := strings.IndexByte(`\'"abfnrtv`, s[0]); i >= 0 {
		return rune("\\'\"\a\b\f\n\r\t\v"[i]), 1, escapeRune
	}
	switch c := s[0]; {
	case c == '\n':
		return 0, 1, escapeNothing
	case c >= '0' && c <= '7':
		n := 1
		for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		r, _ := strconv.ParseUint(s[:n], 8, 32)
		return rune(r), n, escapeRune
	case c == 'x':
		return hexEscape(s, 2)
	case c == 'u':
		return hexEscape(s, 4)
	case c == 'U':
		return hexEscape(s, 8)
	case c == 'N':
		end := strings.IndexByte(s, '}')
		if len(s) < 4 || s[1] != '{' || end < 3 {
			return 0, 0, escapeBroken
		}
		return 0, end + 1, escapeName
	}
	return 0, 0, escapeKept
}

func hexEscape(s string, digits int) (rune, int, escapeKind) {
	if len(s) < 1+digits {
		return 0, 0, escapeBroken
	}
	n, err := strconv.ParseUint(s[1:1+digits], 16, 32)
	if err != nil || n > utf8.MaxRune {
		return 0, 0, escapeBroken
	}
	return rune(n), 1 + digits, escapeRune
}
