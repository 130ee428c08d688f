package httpapi

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	space      = " \t\r\n"

	// Only so many bytes of white space are held back, so that a stream of
	// nothing else costs no time and no memory.
	maxLead  = 1024 // before the block
	maxTrail = 64   // before its end
)

// ThinkSplitter takes an inline <think>…</think> at the start of an answer's
// text out of it, as the pieces of the text come: not a letter of a tag or of
// the reasoning goes out as text. White space before the block and around its
// two parts is dropped; text without the block passes as it is. The zero value
// is ready; it is for one answer.
type ThinkSplitter struct {
	state thinkState
	held  string // what can't be told yet
}

type thinkState int

const (
	atStart thinkState = iota
	beginThinking
	thinking
	beginText
	inText
)

// Add takes the next piece of the text and returns what is certain by now:
// reasoning, and text that comes after it. Either may be "".
func (s *ThinkSplitter) Add(piece string) (reasoning, text string) {
	s.held += piece
	if s.state == atStart {
		rest := strings.TrimLeft(s.held, space)
		switch {
		case len(s.held)-len(rest) > maxLead:
			s.state = inText
		case strings.HasPrefix(rest, thinkOpen):
			s.state, s.held = beginThinking, rest[len(thinkOpen):]
		case strings.HasPrefix(thinkOpen, rest):
			return "", "" // may become the tag
		default:
			s.state = inText
		}
	}
	if s.state == beginThinking {
		s.skipSpace(thinking)
	}
	if s.state == thinking {
		reasoning = s.think()
	}
	if s.state == beginText {
		s.skipSpace(inText)
	}
	if s.state == inText {
		text, s.held = s.held, ""
	}
	return reasoning, text
}

func (s *ThinkSplitter) skipSpace(next thinkState) {
	s.held = strings.TrimLeft(s.held, space)
	if s.held != "" {
		s.state = next
	}
}

// think returns the reasoning that is held, up to the closing tag or to what
// may become it.
func (s *ThinkSplitter) think() string {
	if before, after, ok := strings.Cut(s.held, thinkClose); ok {
		s.state, s.held = beginText, after
		return before[:trailAt(before)]
	}
	cut := trailAt(s.held)
	// The tag may have begun, in white space or not.
	for n := min(len(s.held), len(thinkClose)-1); n > 0; n-- {
		if start := len(s.held) - n; strings.HasPrefix(thinkClose, s.held[start:]) {
			cut = trailAt(s.held[:start])
			break
		}
	}
	out := s.held[:cut]
	s.held = s.held[cut:]
	return out
}

// trailAt is where the white space at the text's end begins.
func trailAt(text string) int {
	tail := text[max(0, len(text)-maxTrail):]
	return len(text) - len(tail) + len(strings.TrimRight(tail, space))
}

// End returns what was still held when the text is over. A block that was not
// closed is reasoning to its end.
func (s *ThinkSplitter) End() (reasoning, text string) {
	held := s.held
	s.held = ""
	switch s.state {
	case beginThinking, thinking:
		return held[:trailAt(held)], ""
	case beginText:
		return "", ""
	}
	return "", held
}

// SplitThink does for a whole text what a ThinkSplitter does for pieces.
func SplitThink(whole string) (reasoning, text string) {
	var s ThinkSplitter
	r1, t1 := s.Add(whole)
	r2, t2 := s.End()
	return r1 + r2, t1 + t2
}
