package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLineSpellsOutWhatMovesTheCursor(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain, ünïcode, 日本, 👩‍🚀", "plain, ünïcode, 日本, 👩‍🚀"},
		{"a\nb\r\tc", `a\nb\r\tc`},
		{"\x1b[31mred\x07", `\x1b[31mred\x07`},
		{"\u009b2J\x7f", `\x9b2J\x7f`},
		{"a\u202eb\u2066c\u200f\u061c", `a\u202eb\u2066c\u200f\u061c`},
		{"\u2028\ufeff", `\u2028\ufeff`},
		{"x\U000e0041", `x\U000e0041`},
		{"bad \xff\xfe byte", `bad \xff\xfe byte`},
		{"kept \ufffd", "kept \ufffd"},
	} {
		if got := line(tt.in); got != tt.want {
			t.Errorf("line(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestBlockKeepsNewlinesAndTabs(t *testing.T) {
	if got, want := block("a\r\n\tb\rc\x1b"), "a\n\tb\\rc\\x1b"; got != want {
		t.Errorf("block = %q, want %q", got, want)
	}
}

func TestNothingUnsafeGetsThrough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		for _, r := range line(s) {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Fatalf("line(%q) lets %U through", s, r)
			}
		}
		if !utf8.ValidString(block(s)) {
			t.Fatalf("block(%q) is no UTF-8", s)
		}
	})
}

func TestShortLineCutsByCharacters(t *testing.T) {
	long := strings.Repeat("é", maxLine+5)
	if got, want := shortLine(long), strings.Repeat("é", maxLine)+"… (5 more characters)"; got != want {
		t.Errorf("shortLine cut to %d characters, ends %q", utf8.RuneCountInString(got), got[len(got)-30:])
	}
	if exact := long[:2*maxLine]; shortLine(exact) != exact {
		t.Error("a line of the full length is cut")
	}
}
