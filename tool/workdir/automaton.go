package workdir

import (
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// An automaton says whether a line matches a regular expression, a step a byte:
// it makes the states of the expression's instructions as the text asks for
// them, and keeps them. Package regexp, which has no such states, takes some
// twenty times as long; it is asked about lines that are not ASCII, and about
// all where the states become too many. An automaton belongs to one goroutine.
type automaton struct {
	re     *regexp.Regexp
	prog   *syntax.Prog
	states []*state
	byKey  map[string]int32
	resets int
	// Scratch of step.
	marked []bool
	stack  []uint32
	runes  []uint32
}

// A state is where a match may have got to before the next byte.
type state struct {
	next   [endOfLine + 1]int32 // state after a byte, or one of the signs below
	insts  []uint32             // instructions to go on with, besides the start
	before rune                 // the byte before, or -1 at the line's start
}

const (
	endOfLine = utf8.RuneSelf // stands for a byte in state.next
	unknown   = -1
	matched   = -2
	maxStates = 1000
	maxResets = 10
)

func newAutomaton(re *regexp.Regexp, prog *syntax.Prog) *automaton {
	a := &automaton{re: re, prog: prog, marked: make([]bool, len(prog.Inst))}
	a.reset()
	return a
}

// reset forgets all states but the first.
func (a *automaton) reset() {
	a.states, a.byKey = nil, map[string]int32{}
	a.state(nil, -1)
}

func (a *automaton) match(line []byte) bool {
	if a.resets > maxResets {
		return a.re.Match(line)
	}
	at := int32(0)
	for _, c := range line {
		if c >= utf8.RuneSelf {
			return a.re.Match(line)
		}
		next := a.states[at].next[c]
		if next == unknown {
			next = a.step(at, int(c))
		}
		if next == matched {
			return true
		}
		at = next
	}
	next := a.states[at].next[endOfLine]
	if next == unknown {
		next = a.step(at, endOfLine)
	}
	return next == matched
}

// step works out what follows a state on a byte.
func (a *automaton) step(from int32, c int) int32 {
	s := a.states[from]
	after := rune(c)
	if c == endOfLine {
		after = -1
	}
	next := int32(matched)
	if !a.closure(s.insts, syntax.EmptyOpContext(s.before, after)) {
		var insts []uint32
		for _, pc := range a.runes {
			if in := &a.prog.Inst[pc]; takes(in, after) {
				insts = append(insts, in.Out)
			}
		}
		slices.Sort(insts)
		next = a.state(slices.Compact(insts), kind(after))
	}
	s.next[c] = next
	return next
}

// kind stands for all bytes that mean the same to what comes after them.
func kind(c rune) rune {
	switch {
	case c < 0:
		return -1
	case syntax.IsWordChar(c):
		return 'a'
	}
	return ' '
}

func takes(in *syntax.Inst, c rune) bool {
	if c < 0 {
		return false
	}
	switch in.Op {
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return c != '\n'
	}
	return in.MatchRune(c)
}

// closure follows the instructions that take no byte, from the given ones and
// from the start, as a match may begin anywhere. It leaves those that take one
// in runes, or says that the line matches.
func (a *automaton) closure(insts []uint32, here syntax.EmptyOp) bool {
	clear(a.marked)
	a.runes = a.runes[:0]
	a.stack = append(append(a.stack[:0], insts...), uint32(a.prog.Start))
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if a.marked[pc] {
			continue
		}
		a.marked[pc] = true
		switch in := &a.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^here == 0 {
				a.stack = append(a.stack, in.Out)
			}
		case syntax.InstFail:
		default:
			a.runes = append(a.runes, pc)
		}
	}
	return false
}

// state returns the number of a state, which is made when it is new.
func (a *automaton) state(insts []uint32, before rune) int32 {
	key := make([]byte, 0, 4*len(insts)+1)
	key = append(key, byte(before))
	for _, pc := range insts {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	if n, ok := a.byKey[string(key)]; ok {
		return n
	}
	if len(a.states) >= maxStates {
		a.resets++
		a.reset()
	}
	s := &state{insts: insts, before: before}
	for i := range s.next {
		s.next[i] = unknown
	}
	n := int32(len(a.states))
	a.states = append(a.states, s)
	a.byKey[string(key)] = n
	return n
}
