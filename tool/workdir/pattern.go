package workdir

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// What a pattern may cost: matching takes time in proportion to its
// instructions times the length of a line.
const (
	maxPattern      = 4 << 10 // bytes
	maxInstructions = 4000
	maxSteps        = 1 << 28 // in one line
	maxLine         = 1 << 20 // bytes of a line that are searched, at most
	minLine         = 64 << 10
)

// A pattern finds lines. Most lines are told by a text that they would have to
// hold, before the regular expression is asked.
type pattern struct {
	re    *regexp.Regexp
	prog  *syntax.Prog
	texts [][]byte // a line that matches holds one of them; nil: nothing known
	fold  bool     // texts are in lower case, and case does not matter
	// fragile texts have letters that are equal, case aside, to one that is not
	// ASCII: K and the Kelvin sign, s and the long s.
	fragile bool
	whole   bool // a line that holds the text matches
	longest int  // bytes of a line that are searched
}

func newPattern(source string, ignoreCase bool) (*pattern, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	flags := syntax.Perl
	if ignoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(source, flags)
	if err != nil {
		return nil, fmt.Errorf("the pattern cannot be read: %s", short(strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	size := instructions(tree)
	if size > maxInstructions {
		return nil, errors.New("the pattern is too large: its repetitions stand for too much")
	}
	if ignoreCase {
		source = "(?i)" + source
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("the pattern cannot be read: %s", short(err.Error()))
	}
	p := &pattern{re: re, longest: min(maxLine, max(minLine, maxSteps/max(1, size)))}
	tree = tree.Simplify()
	if p.prog, err = syntax.Compile(tree); err != nil {
		return nil, fmt.Errorf("the pattern cannot be read: %s", short(err.Error()))
	}
	texts, fold := required(tree)
	for _, t := range texts {
		if fold {
			t = strings.ToLower(t)
			p.fragile = p.fragile || strings.ContainsAny(t, "ks")
		}
		p.texts = append(p.texts, []byte(t))
	}
	p.fold = fold
	p.whole = tree.Op == syntax.OpLiteral && texts != nil && !fold
	return p, nil
}

// instructions estimates a pattern's size before its repetitions are spelled
// out, up to a bit over the limit.
func instructions(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n, maxInstructions+1)
}

// required returns texts of which a match holds at least one, and whether their
// case matters not; nil when none are known.
func required(re *syntax.Regexp) (texts []string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		fold = re.Flags&syntax.FoldCase != 0
		if len(text) < 2 || strings.ContainsRune(text, utf8.RuneError) || strings.Contains(text, "\n") ||
			fold && strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf }) {
			return nil, false
		}
		return []string{text}, fold
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if t, f := required(sub); shortest(t) > shortest(texts) {
				texts, fold = t, f
			}
		}
		return texts, fold
	case syntax.OpAlternate:
		const most = 8
		for _, sub := range re.Sub {
			t, f := required(sub)
			if texts = append(texts, t...); t == nil || len(texts) > most {
				return nil, false
			}
			fold = fold || f
		}
		if fold && strings.ContainsFunc(strings.Join(texts, ""), func(c rune) bool { return c >= utf8.RuneSelf }) {
			return nil, false
		}
		return texts, fold
	}
	return nil, false
}

func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	n := len(texts[0])
	for _, t := range texts {
		n = min(n, len(t))
	}
	return n
}

// A finder goes through the lines of one piece of text after the other. It
// belongs to one goroutine.
type finder struct {
	*pattern
	piece []byte
	seen  []byte // the piece as texts are looked up in it; nil: they can't be
	next  []int  // where each text comes next, len(piece) for nowhere
	lower []byte
	auto  *automaton
}

func newFinder(p *pattern) *finder {
	return &finder{pattern: p, next: make([]int, len(p.texts)), auto: newAutomaton(p.re, p.prog)}
}

// start begins with a piece of whole lines.
func (f *finder) start(piece []byte) {
	f.piece, f.seen = piece, nil
	if f.texts == nil {
		return
	}
	f.seen = piece
	if f.fold {
		var ascii bool
		f.lower, ascii = lowered(f.lower[:0], piece)
		f.seen = f.lower
		if f.fragile && !ascii {
			f.seen = nil
		}
	}
	for i := range f.next {
		f.next[i] = -1
	}
}

// line returns the bounds of the first line from at on that matches; at is a
// line's start. ok is false when there is none. stop may end a search early.
func (f *finder) line(at int, stop func() bool) (start, end int, ok bool) {
	for at < len(f.piece) {
		start = at
		if f.seen != nil {
			hit := f.hit(at)
			if hit == len(f.piece) {
				return 0, 0, false
			}
			start = at + bytes.LastIndexByte(f.piece[at:hit], '\n') + 1
		}
		end = len(f.piece)
		if n := bytes.IndexByte(f.piece[start:], '\n'); n >= 0 {
			end = start + n
		}
		if f.seen != nil && f.whole || f.auto.match(withoutCR(f.piece[start:end])) {
			return start, end, true
		}
		if stop() {
			return 0, 0, false
		}
		at = end + 1
	}
	return 0, 0, false
}

// hit is where the next of the texts is, from at on.
func (f *finder) hit(at int) int {
	first := len(f.piece)
	for i, text := range f.texts {
		if f.next[i] < at {
			f.next[i] = len(f.piece)
			if n := bytes.Index(f.seen[at:], text); n >= 0 {
				f.next[i] = at + n
			}
		}
		first = min(first, f.next[i])
	}
	return first
}

func withoutCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\r")) }

// lowered appends b with the ASCII letters in lower case, and says whether it
// is all ASCII.
func lowered(to, b []byte) (lower []byte, ascii bool) {
	to = append(to, b...)
	var high byte
	for i, c := range to {
		high |= c
		if c-'A' < 26 {
			to[i] = c | 0x20
		}
	}
	return to, high < utf8.RuneSelf
}
