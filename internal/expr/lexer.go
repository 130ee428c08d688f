package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/internal/python"
)

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokNewline
	tokName
	tokKeyword
	tokNumber
	tokString
	tokOp
)

// A token is one word of the source. For numbers and strings, val is what the
// literal stands for; refused is set when it is a literal that expressions
// don't have, and says what kind.
type token struct {
	kind    tokenKind
	text    string
	off     int
	val     any
	refused string
	bytes   bool // a bytes literal
	format  bool // an f-string
}

// operators, longest first, so that the first match is the right one.
var operators = [...]string{
	"**=", "//=", ">>=", "<<=", "...",
	"**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", "+=", "-=", "*=", "/=", "%=", "@=", "&=", "|=", "^=", ":=",
	"+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=",
}

func isKeyword(s string) bool {
	switch s {
	case "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
		"del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
		"nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield":
		return true
	}
	return false
}

type lexer struct {
	src   string
	pos   int
	depth int // open brackets: inside them, line ends are white space
	out   []token
}

// lex splits the source into tokens, the last of which is tokEnd.
func lex(src string) ([]token, error) {
	if !utf8.ValidString(src) {
		return nil, syntaxErrorAt(0, "the expression is not valid UTF-8")
	}
	if i := strings.IndexByte(src, 0); i >= 0 {
		return nil, syntaxErrorAt(i, "source code cannot contain null bytes")
	}
	l := &lexer{src: src}
	for l.pos < len(src) {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	l.out = append(l.out, token{kind: tokEnd, off: len(src)})
	return l.out, nil
}

func (l *lexer) next() error {
	c := l.src[l.pos]
	switch {
	case c == ' ' || c == '\t' || c == '\f':
		l.pos++
	case c == '#':
		for l.pos < len(l.src) && l.src[l.pos] != '\n' && l.src[l.pos] != '\r' {
			l.pos++
		}
	case c == '\n' || c == '\r':
		if l.depth == 0 {
			l.emit(token{kind: tokNewline, text: "end of line"}, 1)
			return nil
		}
		l.pos++
	case c == '\\':
		return l.continuation()
	case c >= '0' && c <= '9' || c == '.' && isDigitAt(l.src, l.pos+1):
		return l.number()
	case c == '"' || c == '\'':
		return l.stringLiteral(l.pos, "")
	default:
		if r, _ := utf8.DecodeRuneInString(l.src[l.pos:]); r == '_' || python.IsIdentStart(r) {
			return l.word()
		}
		return l.operator()
	}
	return nil
}

func (l *lexer) emit(t token, size int) {
	t.off = l.pos
	l.pos += size
	l.out = append(l.out, t)
}

// continuation joins a line that ends in a backslash with the next.
func (l *lexer) continuation() error {
	rest := l.src[l.pos+1:]
	n := newlineLen(rest)
	if n == 0 {
		return syntaxErrorAt(l.pos, "unexpected character after line continuation character")
	}
	if len(rest) == n {
		return syntaxErrorAt(l.pos, "unexpected EOF while parsing")
	}
	l.pos += 1 + n
	return nil
}

// newlineLen returns the length of the line end that s starts with.
func newlineLen(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case s != "" && (s[0] == '\n' || s[0] == '\r'):
		return 1
	}
	return 0
}

// word reads a name, a keyword, or the prefix of a string literal with it.
func (l *lexer) word() error {
	end := l.pos
	for end < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[end:])
		if !python.IsIdentContinue(r) {
			break
		}
		end += size
	}
	text := l.src[l.pos:end]
	if end < len(l.src) && (l.src[end] == '\'' || l.src[end] == '"') && isStringPrefix(text) {
		return l.stringLiteral(end, strings.ToLower(text))
	}
	kind := tokName
	if isKeyword(text) {
		kind = tokKeyword
	}
	l.emit(token{kind: kind, text: text}, len(text))
	return nil
}

func isStringPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "u", "b", "br", "rb", "f", "fr", "rf":
		return true
	}
	return false
}

func (l *lexer) operator() error {
	rest := l.src[l.pos:]
	for _, op := range operators {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		switch op {
		case "(", "[", "{":
			l.depth++
		case ")", "]", "}":
			l.depth = max(0, l.depth-1)
		}
		l.emit(token{kind: tokOp, text: op}, len(op))
		return nil
	}
	r, _ := utf8.DecodeRuneInString(rest)
	if r < utf8.RuneSelf {
		return syntaxErrorAt(l.pos, "invalid syntax at %s", python.Repr(string(r)))
	}
	return syntaxErrorAt(l.pos, "invalid character %s (U+%04X)", python.Repr(string(r)), r)
}
