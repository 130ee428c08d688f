package wfyaml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// checkSource refuses what is no text or too much of it, with a message of our
// own, and returns the text without its byte order mark.
func (d *decoder) checkSource(src []byte) ([]byte, bool) {
	if len(src) > MaxBytes {
		d.fail("too_large", position{}, fmt.Sprintf("larger than %d MiB", MaxBytes>>20),
			"split it into subworkflows")
		return nil, false
	}
	if name := wideEncoding(src); name != "" {
		d.fail("encoding", position{1, 1}, "is "+name, "save it as UTF-8")
		return nil, false
	}
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if i, what := badCharacter(src); i >= 0 {
		d.fail("encoding", positionAt(src, i), what, "save it as plain UTF-8 text")
		return nil, false
	}
	if weigh(src) > maxWeight {
		d.fail("too_large", position{}, "holds too many lists, keys and values",
			"keep large data in a file of its own")
		return nil, false
	}
	return src, true
}

// wideEncoding names an encoding whose characters take more than a byte, by
// its byte order mark or by the zero bytes that Latin letters have in it.
func wideEncoding(src []byte) string {
	switch {
	case bytes.HasPrefix(src, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(src, []byte("\x00\x00\xfe\xff")):
		return "UTF-32"
	case bytes.HasPrefix(src, []byte("\xff\xfe")), bytes.HasPrefix(src, []byte("\xfe\xff")):
		return "UTF-16"
	case len(src) >= 4 && (src[0] == 0) != (src[1] == 0) && (src[2] == 0) != (src[3] == 0):
		return "UTF-16"
	}
	return ""
}

// badCharacter returns the offset of the first byte that is no UTF-8 or is a
// control character which YAML does not take, and what it is; -1 when all is
// well.
func badCharacter(src []byte) (int, string) {
	for i := 0; i < len(src); {
		c := src[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
				return i, fmt.Sprintf("control character U+%04X", c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return i, fmt.Sprintf("byte 0x%02X is no UTF-8", c)
		case r == 0xFFFE || r == 0xFFFF:
			return i, fmt.Sprintf("U+%04X is no character", r)
		}
		i += n
	}
	return -1, ""
}

// weigh bounds what parsing will cost before anything is parsed: every value
// follows one of these characters, and what is in flow collections or has
// comments can take the parser several times the memory of block lines. Prose
// weighs a tenth of its length or less.
func weigh(src []byte) int {
	w := 0
	for i, c := range src {
		switch c {
		case ',':
			w += 4
		case '[', '{', '#':
			w += 2
		case '\n', '\r':
			w++
		case '-', ':', '?':
			if i+1 == len(src) || src[i+1] <= ' ' || c == ':' && i > 0 && src[i-1] == '"' {
				w++
			}
		}
	}
	return w
}

// positionAt turns an offset into a line and a column in characters.
func positionAt(src []byte, offset int) position {
	before := src[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return position{
		line:   bytes.Count(before, []byte("\n")) + 1,
		column: utf8.RuneCount(before[start:]) + 1,
	}
}

func startsJSON(src []byte) bool {
	src = bytes.TrimLeft(src, " \t\r\n")
	return len(src) > 0 && (src[0] == '{' || src[0] == '[' || src[0] == '"')
}

// hasEqualKeys reports whether an object of a JSON text has two equal keys, or
// the text is broken.
func hasEqualKeys(src []byte) bool {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	type level struct {
		keys  map[string]bool // nil in a list
		value bool            // the next token is a value, not a key
	}
	var stack []level
	for {
		t, err := d.Token()
		if err != nil {
			return len(stack) > 0 || err.Error() != "EOF"
		}
		top := len(stack) - 1
		if key, ok := t.(string); ok && top >= 0 && stack[top].keys != nil && !stack[top].value {
			if stack[top].keys[key] {
				return true
			}
			stack[top].keys[key] = true
			stack[top].value = true
			continue
		}
		switch t {
		case json.Delim('{'):
			stack = append(stack, level{keys: map[string]bool{}})
			continue
		case json.Delim('['):
			stack = append(stack, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
			top--
		}
		if top >= 0 {
			stack[top].value = false
		}
	}
}
