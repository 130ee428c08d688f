package workdir

import "strings"

// simpleCommand is a part of a command line that runs one program.
type simpleCommand struct {
	words  []string // without quotes
	writes []string // files that its output is directed to
	here   string   // its here-document
}

// splitCommands takes a command line apart as a shell does, well enough to see
// which programs it names. Whatever is in a substitution counts as commands of
// its own. What a shell would refuse does no harm; ok is false only where
// substitutions are nested too deep.
func splitCommands(line string) (commands []simpleCommand, ok bool) {
	s := splitter{in: line}
	s.run()
	return s.out, !s.tooDeep
}

// maxNested is how deep substitutions between quotes may be nested: each level
// is read once more.
const maxNested = 8

func (s *splitter) run() {
	for s.at < len(s.in) && !s.tooDeep {
		s.step()
	}
	s.endCommand()
}

type splitter struct {
	in  string
	at  int
	out []simpleCommand

	depth   int // of substitutions around this text
	tooDeep bool

	current   simpleCommand
	word      strings.Builder
	inWord    bool
	direction byte     // '>' when the next word is written to, '<' when it is read, else 0
	ends      []string // the words that end the here-documents to come
	docs      []int    // the commands in out that they belong to
	heredoc   bool     // the next word is such a word
}

func (s *splitter) put(text string) {
	s.word.WriteString(text)
	s.inWord = true
}

// step takes the next character, or what belongs to it.
func (s *splitter) step() {
	c := s.in[s.at]
	s.at++
	switch c {
	case ' ', '\t', '\r':
		s.endWord()
	case '\n':
		s.endCommand()
		s.documents()
	case ';', '|', '(', ')', '`':
		s.endCommand()
	case '&':
		if s.direction == 0 && !(s.at < len(s.in) && s.in[s.at] == '>') { // &> and >& direct
			s.endCommand()
		}
	case '$':
		if s.at < len(s.in) && s.in[s.at] == '(' {
			s.put("$()")
			s.endCommand()
			return
		}
		s.put("$")
	case '>', '<':
		s.redirect(c)
	case '#':
		if s.inWord {
			s.put("#")
			return
		}
		s.at += lineLength(s.in[s.at:])
	case '\\':
		if s.at < len(s.in) {
			if s.in[s.at] != '\n' {
				s.put(s.in[s.at : s.at+1])
			}
			s.at++
		}
	case '\'':
		s.single()
	case '"':
		s.double()
	default:
		s.put(s.in[s.at-1 : s.at])
	}
}

func (s *splitter) single() {
	end := strings.IndexByte(s.in[s.at:], '\'')
	if end < 0 {
		end = len(s.in) - s.at
	}
	s.put(s.in[s.at : s.at+end])
	s.at = min(s.at+end+1, len(s.in))
}

func (s *splitter) double() {
	s.put("")
	for s.at < len(s.in) {
		c := s.in[s.at]
		s.at++
		switch {
		case c == '"':
			return
		case c == '\\' && s.at < len(s.in) && strings.IndexByte("\"\\$`\n", s.in[s.at]) >= 0:
			s.put(s.in[s.at : s.at+1])
			s.at++
		case c == '`' || c == '$' && s.at < len(s.in) && s.in[s.at] == '(':
			s.substitution(c)
		default:
			s.put(string(c))
		}
	}
}

// substitution takes the commands in a substitution between double quotes, up
// to its closing mark, as commands of their own.
func (s *splitter) substitution(open byte) {
	start, depth := s.at, 0
	for s.at < len(s.in) {
		c := s.in[s.at]
		s.at++
		if open == '`' && c == '`' {
			break
		}
		if c == '(' {
			depth++
		} else if c == ')' {
			if depth--; open == '$' && depth == 0 {
				break
			}
		}
	}
	inner := splitter{in: strings.TrimRight(strings.TrimPrefix(s.in[start:s.at], "("), "`)"), depth: s.depth + 1}
	if inner.tooDeep = inner.depth > maxNested; !inner.tooDeep {
		inner.run()
	}
	s.out = append(s.out, inner.out...)
	s.tooDeep = inner.tooDeep
	s.put("$()")
}

func (s *splitter) redirect(c byte) {
	if s.inWord && strings.Trim(s.word.String(), "0123456789") == "" {
		s.word.Reset() // the number of a descriptor
		s.inWord = false
	}
	s.endWord()
	s.direction = c
	rest := s.in[s.at:]
	switch {
	case c == '<' && strings.HasPrefix(rest, "<<"):
		s.at += 2 // a here-string
	case c == '<' && strings.HasPrefix(rest, "<"):
		s.at++
		s.heredoc = true
		if strings.HasPrefix(s.in[s.at:], "-") {
			s.at++
		}
	case strings.HasPrefix(rest, ">"), strings.HasPrefix(rest, "|"), strings.HasPrefix(rest, "&"):
		s.at++
	case c == '<' && strings.HasPrefix(rest, ">"):
		s.at++
		s.direction = '>'
	}
}

func (s *splitter) endWord() {
	if !s.inWord {
		return
	}
	word := s.word.String()
	s.word.Reset()
	s.inWord = false
	switch {
	case s.heredoc:
		s.heredoc = false
		s.ends, s.docs = append(s.ends, word), append(s.docs, len(s.out))
	case s.direction == '>':
		s.current.writes = append(s.current.writes, word)
	case s.direction == 0:
		s.current.words = append(s.current.words, word)
	}
	s.direction = 0
}

func (s *splitter) endCommand() {
	s.endWord()
	s.direction = 0
	if len(s.current.words) > 0 || len(s.current.writes) > 0 {
		s.out = append(s.out, s.current)
	}
	s.current = simpleCommand{}
}

// documents takes the here-documents that start at this line.
func (s *splitter) documents() {
	for i, end := range s.ends {
		start := s.at
		body := len(s.in)
		for s.at < len(s.in) {
			n := lineLength(s.in[s.at:])
			line := s.in[s.at : s.at+n]
			from := s.at
			s.at = min(s.at+n+1, len(s.in))
			if strings.TrimLeft(line, "\t") == end {
				body = from
				break
			}
		}
		if doc := s.docs[i]; doc < len(s.out) {
			s.out[doc].here += s.in[start:body]
		}
	}
	s.ends, s.docs = nil, nil
}

func lineLength(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}
