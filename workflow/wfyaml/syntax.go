package wfyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// errDeep stops the parser where the nesting gets too deep.
var errDeep = errors.New("nested too deep")

// marker goes before a document that begins with { or [, as JSON does. Such a
// document could turn out to be a key, so the parser would keep all of it as
// tokens, at six times the memory; after a marker it cannot be one.
const marker = "--- "

// parseYAML parses exactly one document.
func (d *decoder) parseYAML(src []byte) (*yaml.Node, bool) {
	src = readableVersion(src)
	before := ""
	if len(src) > 0 && (src[0] == '{' || src[0] == '[') {
		before = marker
	}
	docs, err := documents(io.MultiReader(strings.NewReader(before), bytes.NewReader(src)))
	if before != "" {
		for _, doc := range docs {
			unshift(doc)
		}
	}
	switch {
	case err != nil:
		d.syntaxError(src, err, len(before))
		return nil, false
	case len(docs) == 0:
		d.fail("empty_file", position{}, "the file is empty", "")
		return nil, false
	case len(docs) > 1:
		d.fail("several_documents", at(docs[1]), "a second document starts here; a file holds one",
			"remove the `---` line, or make two files")
		return nil, false
	}
	root := docs[0].Content[0]
	if follow(root).Kind == yaml.ScalarNode && follow(root).Value == "" && !quoted(root) {
		d.fail("empty_file", position{}, "the file is empty", "")
		return nil, false
	}
	return root, true
}

// readableVersion turns the directive %YAML 1.2 into %YAML 1.1, the only one that
// the library takes: it matters to nothing that the library does here, since
// scalars are read by our own rules.
func readableVersion(src []byte) []byte {
	for start := 0; start < len(src); {
		line, _, _ := bytes.Cut(src[start:], []byte("\n"))
		version, is := bytes.CutPrefix(line, []byte("%YAML 1.2"))
		switch {
		case is && len(bytes.TrimLeft(version, " \t\r")) == 0 || is && bytes.HasPrefix(bytes.TrimLeft(version, " \t"), []byte("#")):
			src = bytes.Clone(src)
			src[start+len("%YAML 1.")] = '1'
			return src
		case len(bytes.TrimSpace(line)) > 0 && line[0] != '#' && line[0] != '%':
			return src
		}
		start += len(line) + 1
	}
	return src
}

// documents parses the first two documents of a stream at most. The library
// reports errors by panicking inside and may have a panic left that it does
// not catch: that is the only reason for recover here.
func documents(src io.Reader) (docs []*yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the YAML parser gave up: %v", p)
		}
	}()
	limits := loaderlimits.New(loaderlimits.DepthFunc(func(depth int, _ *yaml.DepthContext) error {
		if depth > MaxDepth {
			return errDeep
		}
		return nil
	}))
	loader, err := yaml.NewLoader(src, yaml.WithPlugin(limits))
	if err != nil {
		return nil, err
	}
	for len(docs) < 2 {
		doc := new(yaml.Node)
		switch err := loader.Load(doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		case len(doc.Content) == 1:
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

// unshift takes the marker out of the columns of the first line.
func unshift(n *yaml.Node) {
	if n.Line > 1 {
		return
	}
	n.Column = max(n.Column-len(marker), 1)
	for _, c := range n.Content {
		unshift(c)
	}
}

// syntaxError reports the parser's error in our words. The first line that the
// parser saw was longer than the file's by shift characters.
func (d *decoder) syntaxError(src []byte, err error, shift int) {
	le, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		d.fail("syntax", position{}, "is no YAML: "+err.Error(), "")
		return
	}
	for _, m := range []*yaml.Mark{&le.Mark, &le.ContextMark} {
		if m.Line == 1 {
			m.Column = max(m.Column-shift, 1)
		}
	}
	pos := position{le.Mark.Line, le.Mark.Column}
	if strings.Contains(le.Message, errDeep.Error()) {
		d.fail("too_deep", pos, fmt.Sprintf("nested more than %d levels deep", MaxDepth), "")
		return
	}
	if name, ok := strings.CutPrefix(le.Message, "unknown anchor '"); ok {
		name = strings.TrimSuffix(name, "' referenced")
		d.fail("unknown_anchor", pos, fmt.Sprintf("no anchor %s stands before this alias", show("&"+name)),
			"a text that starts with * needs quotes")
		return
	}
	line := lineOf(src, pos.line)
	if tab := tabIn(line); tab >= 0 {
		d.fail("syntax", position{pos.line, tab + 1}, "a tab indents this line", "indent with spaces")
		return
	}
	if opened := (position{le.ContextMark.Line, le.ContextMark.Column}); startsThere(le) {
		pos = opened
	}
	message, suggestion := explain(le, line)
	d.fail("syntax", pos, message, suggestion)
}

// startsThere reports whether the mistake is where the thing begins that the
// parser was reading, rather than where it gave up.
func startsThere(le *yaml.LoadError) bool {
	return strings.Contains(le.Message, "unexpected end of stream") ||
		strings.Contains(le.Message, "unexpected document indicator") ||
		strings.HasPrefix(le.Message, "could not find expected ':'")
}

// explain words a syntax error; line is the text of the line where it is.
func explain(le *yaml.LoadError, line []byte) (message, suggestion string) {
	opened := fmt.Sprintf("line %d", le.ContextMark.Line)
	switch m := le.Message; {
	case strings.Contains(m, "expected key"):
		if len(bytes.TrimSpace(line[:min(le.Mark.Column-1, len(line))])) > 0 {
			return "text after the end of a value", "a text that starts with {, [ or a quote is to be quoted as a whole"
		}
		return "this line fits no list or mapping above it", "check its indentation"
	case strings.Contains(m, "expected '-'"):
		return "expected an item of the list that starts on " + opened, "start it with `- `"
	case strings.Contains(m, "',' or ']'"):
		return "the [ on " + opened + " is not closed", "add a comma or ]"
	case strings.Contains(m, "',' or '}'"):
		return "the { on " + opened + " is not closed", "add a comma or }; a text that starts with { needs quotes"
	case strings.Contains(m, "cannot start any token"):
		return "a text cannot start with " + show(characterAt(line, le.Mark.Column)), "put quotes around it"
	}
	for _, e := range explanations() {
		if strings.Contains(le.Message, e.part) || strings.Contains(le.ContextMsg, e.part) {
			return e.message, e.suggestion
		}
	}
	return "this cannot be read as YAML", ""
}

type explanation struct {
	part                string // of what the parser says
	message, suggestion string
}

// explanations are looked through in order.
func explanations() []explanation {
	return []explanation{
		{"mapping values", "a colon that cannot stand here", "put quotes around a text that holds `: `, and check the indentation"},
		{"expected ':'", "this line is a key without a colon", ""},
		{"node content", "a value or a closing bracket is missing here", ""},
		{"document start", "text after the end of the document", ""},
		{"document-end", "text after the end of the document", ""},
		{"unexpected end of stream", "the quote that opens here is not closed", ""},
		{"unexpected document indicator", "the quote that opens here is not closed", ""},
		{"unknown escape", "a backslash with a letter that is no escape", "write two backslashes, or use single quotes"},
		{"hexadecimal number", "an escape without its hexadecimal digits", ""},
		{"Unicode character escape", "an escape that is no character (half of a pair)", `write the character itself, or as \U and eight digits`},
		{"block sequence entries", "a list cannot start here", "put it on lines of its own"},
		{"mapping keys", "a key cannot stand here", "put it on a line of its own"},
		{"indentation indicator", "a block text cannot be indented by 0", "write 1 to 9 after | or >, or nothing"},
		{"incompatible YAML", "the file asks for another version of YAML", "remove the %YAML line"},
		{"directive", "a broken directive", "a line cannot start with %; put quotes around the text"},
		{"tag", "a broken tag", "a text that starts with ! needs quotes"},
		{"comment", "unexpected text here", "put a space before #, and nothing but a comment after | or >"},
		{"anchor", "a broken anchor", "a text that starts with & needs quotes"},
		{"alias", "a broken alias", "a text that starts with * needs quotes"},
	}
}

// lineOf returns a line of the text, from 1, without its end.
func lineOf(src []byte, n int) []byte {
	for ; n > 1; n-- {
		_, rest, ok := bytes.Cut(src, []byte("\n"))
		if !ok {
			return nil
		}
		src = rest
	}
	line, _, _ := bytes.Cut(src, []byte("\n"))
	return line
}

// tabIn returns the index of the first tab in a line's indentation, or -1.
func tabIn(line []byte) int {
	for i, c := range line {
		switch c {
		case '\t':
			return i
		case ' ', '-':
		default:
			return -1
		}
	}
	return -1
}

// characterAt returns the character at a column, from 1.
func characterAt(line []byte, column int) string {
	for i, r := range string(line) {
		if column--; column == 0 {
			return string(line)[i : i+len(string(r))]
		}
	}
	return ""
}
