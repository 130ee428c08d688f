package template

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/agentloom/agentloom/internal/python"
)

// maxDepth is how deep fields nest, as in CPython: a field in the text, and a
// field in that one's format spec.
const maxDepth = 2

const (
	doubleOpen  = "; write {{ for a literal brace"
	doubleClose = "; write }} for a literal brace"
)

// Parse reads a template. What str.format would refuse whatever its arguments,
// names that start with "_" and positional fields are an *Error.
func Parse(src string) (*Template, error) {
	p := parser{}
	parts, err := p.parts(src, 0, maxDepth)
	if err != nil {
		return nil, err
	}
	return &Template{parts: parts}, nil
}

type parser struct {
	fields int
}

func errorAt(offset int, format string, args ...any) *Error {
	return &Error{Offset: offset, Message: fmt.Sprintf(format, args...)}
}

// parts splits text into literals and fields. The text starts at base in the
// template, and fields may nest depth levels deep in it.
func (p *parser) parts(text string, base, depth int) ([]part, error) {
	var parts []part
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, part{literal: literal.String()})
			literal.Reset()
		}
	}
	for pos := 0; pos < len(text); {
		brace := strings.IndexAny(text[pos:], "{}")
		if brace < 0 {
			literal.WriteString(text[pos:])
			break
		}
		literal.WriteString(text[pos : pos+brace])
		pos += brace
		c := text[pos]
		if pos+1 < len(text) && text[pos+1] == c {
			literal.WriteByte(c)
			pos += 2
			continue
		}
		if c == '}' {
			return nil, errorAt(base+pos, "single '}' encountered in format string"+doubleClose)
		}
		if pos+1 == len(text) {
			return nil, errorAt(base+pos, "single '{' encountered in format string"+doubleOpen)
		}
		f, size, err := p.field(text[pos:], base+pos, depth)
		if err != nil {
			return nil, err
		}
		flush()
		parts = append(parts, part{field: f})
		pos += size
	}
	flush()
	return parts, nil
}

// field reads the field at the start of text, which stands at offset in the
// template, and returns its size.
func (p *parser) field(text string, offset, depth int) (*field, int, error) {
	if p.fields++; p.fields > MaxFields {
		return nil, 0, errorAt(offset, "more than %d fields, the most a template may have", MaxFields)
	}
	name, pos, err := fieldName(text, offset)
	if err != nil {
		return nil, 0, err
	}
	f := &field{offset: offset}
	if text[pos] == '!' {
		if f.conv, pos, err = conversion(text, pos, offset); err != nil {
			return nil, 0, err
		}
	}
	f.head = text[:pos]
	if text[pos] == ':' {
		f.head = text[:pos+1]
		end, err := specEnd(text, pos+1, offset)
		if err != nil {
			return nil, 0, err
		}
		if depth == 1 && strings.Contains(text[pos:end], "{") {
			return nil, 0, errorAt(offset, "max string recursion exceeded: a format spec's own fields can have no fields in their specs"+doubleOpen)
		}
		if f.spec, err = p.parts(text[pos+1:end], offset+pos+1, depth-1); err != nil {
			return nil, 0, err
		}
		pos = end
	}
	f.text = text[:pos+1]
	f.path, err = parseFieldPath(name, offset, f.text)
	return f, pos + 1, err
}

// fieldName returns what stands between a field's opening brace and its
// conversion, spec or closing brace, and where that starts.
func fieldName(text string, offset int) (string, int, error) {
	for pos := 1; pos < len(text); pos++ {
		switch text[pos] {
		case '{':
			return "", 0, errorAt(offset+pos, "unexpected '{' in field name"+doubleOpen)
		case '[':
			end := strings.IndexByte(text[pos:], ']')
			if end < 0 {
				return "", 0, unclosed(offset)
			}
			pos += end
		case '}', ':', '!':
			return text[1:pos], pos, nil
		}
	}
	return "", 0, unclosed(offset)
}

func unclosed(offset int) *Error {
	return errorAt(offset, "expected '}' before end of string"+doubleOpen)
}

// conversion reads the conversion whose "!" stands at pos, and returns where
// it ends: at a ":" or a "}".
func conversion(text string, pos, offset int) (byte, int, error) {
	if pos+1 == len(text) {
		return 0, 0, errorAt(offset+pos, "end of string while looking for conversion specifier"+doubleOpen)
	}
	r, size := utf8.DecodeRuneInString(text[pos+1:])
	end := pos + 1 + size
	switch {
	case end == len(text):
		return 0, 0, unmatchedSpec(offset)
	case text[end] != '}' && text[end] != ':':
		return 0, 0, errorAt(offset+end, "expected ':' after conversion specifier"+doubleOpen)
	case r != 'r' && r != 's' && r != 'a':
		return 0, 0, errorAt(offset+pos, "unknown conversion specifier %q: only !r, !s and !a exist"+doubleOpen, r)
	}
	return byte(r), end, nil
}

// specEnd returns where the closing brace of a field stands whose format spec
// starts at pos.
func specEnd(text string, pos, offset int) (int, error) {
	open := 1
	for ; pos < len(text); pos++ {
		switch text[pos] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return pos, nil
			}
		}
	}
	return 0, unmatchedSpec(offset)
}

func unmatchedSpec(offset int) *Error {
	return errorAt(offset, "unmatched '{' in format spec"+doubleOpen)
}

// parseFieldPath takes a field's name apart: root, then .name and [key].
func parseFieldPath(name string, offset int, text string) (Path, error) {
	fail := func(what string) (Path, error) {
		return Path{}, errorAt(offset, "%s in %s%s", what, shorten(text, shown), doubleOpen)
	}
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	p := Path{Root: name[:end]}
	if _, number := decimal(p.Root); number || p.Root == "" {
		return fail("fields have names here, such as {state.x}, and there is none")
	}
	for rest := name[end:]; rest != ""; {
		var seg Segment
		switch rest[0] {
		case '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			seg.Key, rest = rest[:end], rest[end:]
		case '[':
			end := strings.IndexByte(rest, ']') // there is one: fieldName looked
			seg.Key, rest = rest[1:end], rest[end+1:]
			n, number := index(seg.Key)
			if number && n == math.MaxInt {
				return fail("too many decimal digits")
			}
			seg.Index, seg.IsIndex = n, number
		default:
			return fail("something other than '.' or '[' follows ']'")
		}
		if seg.Key == "" {
			return fail("empty attribute")
		}
		p.Segments = append(p.Segments, seg)
	}
	if name, refused := p.refusedName(); refused {
		return Path{}, errorAt(offset, "%s in %s%s", refusal(name), shorten(text, shown), doubleOpen)
	}
	return p, nil
}

// decimal reads a whole string of decimal digits, of any script as CPython
// does. A number too big for an int is math.MaxInt.
func decimal(s string) (int, bool) {
	n := 0
	for _, r := range s {
		d, ok := python.DecimalValue(r)
		if !ok {
			return 0, false
		}
		if n > (math.MaxInt-d)/10 {
			n = math.MaxInt
			continue
		}
		n = 10*n + d
	}
	return n, s != ""
}

// index reads an index, which may count from the end.
func index(s string) (int, bool) {
	if digits, negative := strings.CutPrefix(s, "-"); negative {
		n, ok := decimal(digits)
		return -n, ok
	}
	return decimal(s)
}
