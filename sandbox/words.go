package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxCommand is the longest command in bytes: what Linux takes as one argument,
// and so what "sh -c" can run.
const maxCommand = 128<<10 - 1

// findOperator returns the first shell operator or line break of a command,
// inside quotes or not; "" is none. "$(", "<(" and ">(" are found by their
// first character.
func findOperator(command string) string {
	for i, r := range command {
		switch r {
		case '|', ';', '&', '`', '<', '>', '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
			return command[i : i+utf8.RuneLen(r)]
		case '$':
			if strings.HasPrefix(command[i:], "$(") {
				return "$("
			}
		}
	}
	return ""
}

// findExpansion returns the first shell expansion of a command, inside quotes
// or not; "" is none.
func findExpansion(command string) string {
	var braces []bool // the open ones: whether a list or a range was seen inside
	for i := range len(command) {
		switch c := command[i]; {
		case strings.IndexByte("$*?[", c) >= 0:
			return string(c)
		case c == '~' && startsHome(command[:i]):
			return "~"
		case c == '{':
			braces = append(braces, false)
		case len(braces) == 0:
		case c == ',' || c == '.' && command[i-1] == '.':
			braces[len(braces)-1] = true
		case c == '}':
			if braces[len(braces)-1] {
				return "{…}"
			}
			braces = braces[:len(braces)-1]
		}
	}
	return ""
}

// startsHome reports whether a "~" after this text may mean a home directory:
// it starts a word or follows "=" or ":", quoting aside.
func startsHome(before string) bool {
	before = strings.TrimRight(before, `'"\`)
	return before == "" || strings.IndexByte(" \t=:", before[len(before)-1]) >= 0
}

// splitWords reads a command as sh does when it has neither operators nor
// expansions: words between spaces and tabs, '…', "…" and \. What sh takes for
// syntax, and what two readers may take differently, is an error.
func splitWords(command string) ([]string, error) {
	if err := checkText(command); err != nil {
		return nil, err
	}
	var words []string
	for rest := strings.TrimLeft(command, " \t"); rest != ""; rest = strings.TrimLeft(rest, " \t") {
		var word string
		var err error
		if word, rest, err = cutWord(rest); err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return nil, errors.New("it is empty")
	}
	return words, nil
}

// checkText refuses what no reader shows: NUL and other control characters,
// invalid UTF-8, and characters that turn the direction of writing.
func checkText(command string) error {
	if !utf8.ValidString(command) {
		return errors.New("it is no valid UTF-8")
	}
	for _, r := range command {
		if unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Errorf("it holds the control character %U", r)
		}
	}
	return nil
}

// cutWord reads one word from text that starts with it.
func cutWord(text string) (word, rest string, err error) {
	if text[0] == '#' {
		return "", "", errors.New("a # that starts a word starts a comment: quote it")
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case ' ', '\t':
			return b.String(), text[i:], nil
		case '\'':
			part, _, ok := strings.Cut(text[i+1:], "'")
			if !ok {
				return "", "", errors.New("a ' is not closed")
			}
			b.WriteString(part)
			i += len(part) + 2
		case '"':
			n, err := unquoteDouble(&b, text[i+1:])
			if err != nil {
				return "", "", err
			}
			i += n + 1
		case '\\':
			if i++; i == len(text) {
				return "", "", errors.New(`it ends in a \`)
			}
			_, size := utf8.DecodeRuneInString(text[i:])
			b.WriteString(text[i : i+size])
			i += size
		case '(', ')':
			return "", "", fmt.Errorf("a %c outside quotes is shell syntax: quote it", c)
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
				return "", "", fmt.Errorf("it holds %U, a space of another kind, outside quotes", r)
			}
			b.WriteString(text[i : i+size])
			i += size
		}
	}
	return b.String(), "", nil
}

// unquoteDouble reads what follows a " up to the closing one, and returns how
// many bytes it read. Without expansions, \ is special before \ and " only.
func unquoteDouble(b *strings.Builder, text string) (int, error) {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return i + 1, nil
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == '\\' || text[i+1] == '"'):
			i++
		}
		b.WriteByte(text[i])
	}
	return 0, errors.New(`a " is not closed`)
}

// isAssignment reports whether sh may take a first word for NAME=value.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
