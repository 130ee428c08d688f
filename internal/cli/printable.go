package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What comes from outside (model text, ids, service errors) may hold escape
// codes that move the cursor or bidirectional marks that make a line read as
// something else. A person sees those spelled out.

// line makes a text safe to print inside one line.
func line(s string) string { return escape(s, false) }

// block makes a text of several lines safe to print: newlines and tabs stay,
// and a line that ends in CR LF ends in LF.
func block(s string) string {
	return escape(strings.ReplaceAll(s, "\r\n", "\n"), true)
}

// maxLine is the longest message in a log line, in characters.
const maxLine = 2000

// shortLine is line, cut where a log would become unreadable.
func shortLine(s string) string {
	n := utf8.RuneCountInString(s)
	if n <= maxLine {
		return line(s)
	}
	end := 0
	for range maxLine {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return line(s[:end]) + fmt.Sprintf("… (%d more characters)", n-maxLine)
}

func escape(s string, multiline bool) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return unsafe(r, multiline) }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == utf8.RuneError || !unsafe(r, multiline):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += size
	}
	return b.String()
}

func unsafe(r rune, multiline bool) bool {
	switch {
	case r == '\n' || r == '\t':
		return !multiline
	case r == utf8.RuneError: // also an invalid byte, which escape tells apart
		return true
	case unicode.IsControl(r):
		return true
	case r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\u061c':
		return true
	case r >= '\u200e' && r <= '\u200f', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true
	case r >= 0xe0000 && r <= 0xe007f: // invisible copies of ASCII
		return true
	}
	return false
}
