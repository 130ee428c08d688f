package wfyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentloom/agentloom/workflow"
)

// decoder turns one document into values and collects what is wrong with it.
type decoder struct {
	file     string
	errors   list
	warnings list
	seen     map[finding]bool
	// broken are the values that could not be read, and the keys that a mapping
	// lacks for a reason already reported. What the semantic rules say about
	// them would be an echo.
	broken map[spot]bool
	flat   map[*yaml.Node][]entry // flattened mappings that have an anchor
	data   map[*yaml.Node]any     // free data that has an anchor
	tail   workflow.Diagnostics   // what comes after all others
}

// tooMany is the code of the line that says how many are not listed.
const tooMany = "too_many"

// list keeps the first MaxListed diagnostics and counts the others.
type list struct {
	kept    workflow.Diagnostics
	dropped int
}

// finding identifies a diagnostic: what stands below an anchor is met once for
// each alias and reported once. The detail tells apart what one rule can say of
// one node.
type finding struct {
	node         *yaml.Node
	code, detail string
}

// spot is a value, or with a key that key's absence from a mapping.
type spot struct {
	node *yaml.Node
	key  string
}

// position is a place in the file, from 1, the column in characters; the zero
// position is the whole file.
type position struct{ line, column int }

func at(n *yaml.Node) position { return position{n.Line, n.Column} }

// item is a node and its path.
type item struct {
	node *yaml.Node // as written; may be an alias
	path *path
}

// path is the way to a node, innermost part first, so that it costs next to
// nothing until a diagnostic needs its text.
type path struct {
	up    *path
	key   string
	index int // from 0, of a list's item; -1: a key
}

func (it item) key(key string, n *yaml.Node) item {
	return item{n, &path{it.path, key, -1}}
}

func (it item) index(i int, n *yaml.Node) item {
	return item{n, &path{it.path, "", i}}
}

func (p *path) String() string {
	var parts []string
	for ; p != nil; p = p.up {
		if p.index >= 0 {
			parts = append(parts, "["+strconv.Itoa(p.index)+"]")
		} else {
			parts = append(parts, keyPart(p.key, p.up == nil))
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// keyPart writes a key as part of a path; a key that would not read as one is
// quoted in brackets.
func keyPart(key string, first bool) string {
	for _, r := range key {
		if r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return "[" + show(key) + "]"
		}
	}
	switch {
	case key == "" || len(key) > shownLength:
		return "[" + show(key) + "]"
	case first:
		return key
	}
	return "." + key
}

// shownLength is how many characters of the file's text a message repeats.
const shownLength = 60

// show quotes text from the file for a message, cut and with control and
// direction characters escaped.
func show(s string) string { return shown(s).String() }

// shown is show, made only where the message is.
type shown string

func (s shown) String() string {
	n := 0
	for i := range s {
		if n++; n > shownLength {
			return strconv.Quote(string(s[:i])) + "…"
		}
	}
	return strconv.Quote(string(s))
}

// fail reports an error that ends the reading.
func (d *decoder) fail(code string, pos position, message, suggestion string) {
	d.put(workflow.SeverityError, code, pos, nil, message, suggestion)
}

// wrong reports an error in an item's value, worded as by fmt.Sprintf, and
// marks the value as unreadable.
func (d *decoder) wrong(code string, it item, suggestion, format string, args ...any) {
	if d.news(workflow.SeverityError, code, it.node, "") {
		d.put(workflow.SeverityError, code, at(it.node), it.path, fmt.Sprintf(format, args...), suggestion)
		d.mark(spot{node: it.node})
	}
}

// badKey reports an error in a key, which stands in the section at path p.
func (d *decoder) badKey(code string, e entry, p *path, suggestion, format string, args ...any) {
	if d.news(workflow.SeverityError, code, e.name, "") {
		it := item{path: p}.key(e.key, e.name)
		d.put(workflow.SeverityError, code, at(e.name), it.path, fmt.Sprintf(format, args...), suggestion)
	}
}

func (d *decoder) mark(s spot) {
	if d.broken == nil {
		d.broken = map[spot]bool{}
	}
	d.broken[s] = true
}

// news reports whether a diagnostic is to be put on its list: one that has room
// for it and does not have it yet. It is asked before anybody spends time on the
// wording: a hostile file has a mistake in every byte, and aliases to repeat
// them a million times.
func (d *decoder) news(s workflow.Severity, code string, n *yaml.Node, detail string) bool {
	if l := d.list(s); len(l.kept) >= MaxListed {
		l.dropped++
		return false
	}
	f := finding{n, code, detail}
	if d.seen[f] {
		return false
	}
	if d.seen == nil {
		d.seen = map[finding]bool{}
	}
	d.seen[f] = true
	return true
}

func (d *decoder) put(s workflow.Severity, code string, pos position, p *path, message, suggestion string) {
	l := d.list(s)
	l.kept = append(l.kept, workflow.Diagnostic{
		Severity: s, Code: code, Path: p.String(), Message: message, Suggestion: suggestion,
		File: d.file, Line: pos.line, Column: pos.column,
	})
}

func (d *decoder) list(s workflow.Severity) *list {
	if s == workflow.SeverityWarning {
		return &d.warnings
	}
	return &d.errors
}

// failed reports whether there is an error.
func (d *decoder) failed() bool { return len(d.errors.kept) > 0 }

// diagnostics returns everything reported, in file order.
func (d *decoder) diagnostics() workflow.Diagnostics {
	out := slices.Concat(d.errors.kept, d.warnings.kept)
	slices.SortStableFunc(out, func(a, b workflow.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for _, s := range []workflow.Severity{workflow.SeverityError, workflow.SeverityWarning} {
		if n := d.list(s).dropped; n > 0 {
			out = append(out, workflow.Diagnostic{
				Severity: s, Code: tooMany, File: d.file,
				Message: fmt.Sprintf("%d more like these are not listed", n),
			})
		}
	}
	return append(out, d.tail...)
}
