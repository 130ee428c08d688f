package expr

import (
	"unicode/utf8"

	"github.com/agentloom/agentloom/internal/python"
)

// strMethods are the methods of strings. Positions and widths count code
// points, as in Python.
var strMethods = map[string]method{
	"capitalize": mapText(python.Capitalize),
	"casefold":   mapText(python.CaseFold),
	"lower":      mapText(python.Lower),
	"upper":      mapText(python.Upper),
	"swapcase":   mapText(python.SwapCase),
	"title":      mapText(python.Title),

	"isalnum":      testText(allRunes(isAlnum, false)),
	"isalpha":      testText(allRunes(python.IsAlpha, false)),
	"isascii":      testText(allRunes(func(r rune) bool { return r < utf8.RuneSelf }, true)),
	"isdecimal":    testText(allRunes(python.IsDecimal, false)),
	"isdigit":      testText(allRunes(python.IsDigit, false)),
	"isidentifier": testText(isIdentifier),
	"islower":      testText(isLower),
	"isnumeric":    testText(allRunes(python.IsNumeric, false)),
	"isprintable":  testText(allRunes(python.IsPrintable, true)),
	"isspace":      testText(allRunes(python.IsSpace, false)),
	"istitle":      testText(isTitle),
	"isupper":      testText(isUpper),

	"center": pad(center),
	"ljust":  pad(func(n, _ int) (int, int) { return 0, n }),
	"rjust":  pad(func(n, _ int) (int, int) { return n, 0 }),
	"zfill":  strZfill,

	"strip":        strip(true, true),
	"lstrip":       strip(true, false),
	"rstrip":       strip(false, true),
	"removeprefix": strRemovePrefix,
	"removesuffix": strRemoveSuffix,
	"expandtabs":   strExpandTabs,
	"replace":      strReplace,

	"startswith": affix(hasPrefix),
	"endswith":   affix(hasSuffix),
	"find":       position(find, false),
	"rfind":      position(rfind, false),
	"index":      position(find, true),
	"rindex":     position(rfind, true),
	"count":      strCount,

	"split":      split(splitLeft, splitSpaceLeft),
	"rsplit":     split(splitRight, splitSpaceRight),
	"splitlines": strSplitLines,
	"partition":  partition(false),
	"rpartition": partition(true),
	"join":       strJoin,
}

func mapText(f func(string) string) method {
	return func(m *machine, self any, a *arguments) (any, error) {
		if err := a.none("str"); err != nil {
			return nil, err
		}
		s := self.(string)
		if err := m.text(len(s)); err != nil {
			return nil, err
		}
		if err := m.takeString(len(s)); err != nil {
			return nil, err
		}
		out := f(s)
		return out, m.take(max(0, len(out)-len(s)))
	}
}

func testText(f func([]rune) bool) method {
	return func(m *machine, self any, a *arguments) (any, error) {
		if err := a.none("str"); err != nil {
			return nil, err
		}
		s := self.(string)
		if err := m.text(len(s)); err != nil {
			return nil, err
		}
		return f(python.Runes(s)), nil
	}
}

func allRunes(test func(rune) bool, empty bool) func([]rune) bool {
	return func(rs []rune) bool {
		for _, r := range rs {
			if !test(r) {
				return false
			}
		}
		return empty || len(rs) > 0
	}
}

func isAlnum(r rune) bool { return python.IsAlpha(r) || python.IsNumeric(r) }

func isIdentifier(rs []rune) bool {
	if len(rs) == 0 || rs[0] != '_' && !python.IsIdentStart(rs[0]) {
		return false
	}
	return allRunes(python.IsIdentContinue, true)(rs[1:])
}

func isLower(rs []rune) bool {
	cased := false
	for _, r := range rs {
		if python.IsUpper(r) || python.IsTitle(r) {
			return false
		}
		cased = cased || python.IsLower(r)
	}
	return cased
}

func isUpper(rs []rune) bool {
	cased := false
	for _, r := range rs {
		if python.IsLower(r) || python.IsTitle(r) {
			return false
		}
		cased = cased || python.IsUpper(r)
	}
	return cased
}

// isTitle tells whether each word starts with a capital and goes on in small
// letters.
func isTitle(rs []rune) bool {
	cased, inWord := false, false
	for _, r := range rs {
		capital := python.IsUpper(r) || python.IsTitle(r)
		small := !capital && python.IsLower(r)
		if capital && inWord || small && !inWord {
			return false
		}
		inWord = capital || small
		cased = cased || inWord
	}
	return cased
}
