package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentloom/agentloom/internal/nearest"
)

const (
	// maxDiagnostics bounds how many errors, and how many warnings, are kept:
	// a hostile file has a mistake in every byte.
	maxDiagnostics = 1000
	// maxSuggestions bounds the searches for a similar word, each of which
	// looks at every candidate.
	maxSuggestions = 20
	// maxQuoted is how many characters of a user's text a message repeats.
	maxQuoted = 60
)

// report collects diagnostics.
type report struct {
	kept      Diagnostics
	errors    int
	warnings  int
	suggested int
}

// full counts one diagnostic and reports whether as many of its severity are
// kept already. Who adds one asks this before anything is worded: a file of a
// hundred kilobytes, whose aliases repeat a list, can have millions of mistakes.
func (r *report) full(s Severity) bool {
	count := &r.errors
	if s == SeverityWarning {
		count = &r.warnings
	}
	*count++
	return *count > maxDiagnostics
}

// enoughWarnings reports whether a further warning would not be kept, so that
// looking for one is a waste.
func (r *report) enoughWarnings() bool { return r.warnings > maxDiagnostics }

// errorf adds an error. Its arguments are worded only if it is kept; a user's
// text among them is to be quoted.
func (r *report) errorf(p place, code, suggestion, format string, args ...any) {
	if !r.full(SeverityError) {
		r.kept = append(r.kept, Diagnostic{SeverityError, code, p.String(), fmt.Sprintf(format, args...), suggestion, "", 0, 0})
	}
}

// warnf adds a warning, as errorf does an error.
func (r *report) warnf(p place, code, suggestion, format string, args ...any) {
	if !r.full(SeverityWarning) {
		r.kept = append(r.kept, Diagnostic{SeverityWarning, code, p.String(), fmt.Sprintf(format, args...), suggestion, "", 0, 0})
	}
}

// result returns what was collected, and says how much was not kept. Of
// warnings that is the least there are: the search ends where the list is full.
func (r *report) result() Diagnostics {
	if n := r.errors - maxDiagnostics; n > 0 {
		r.kept = append(r.kept, Diagnostic{Severity: SeverityError, Code: "too_many", Message: fmt.Sprintf("%d more errors are not shown", n)})
	}
	if n := r.warnings - maxDiagnostics; n > 0 {
		r.kept = append(r.kept, Diagnostic{Severity: SeverityWarning, Code: "too_many", Message: fmt.Sprintf("at least %d more warnings are not shown", n)})
	}
	return r.kept
}

// didYouMean suggests the candidate that is most like a word, "" for none.
func (r *report) didYouMean(word string, candidates []string) string {
	if r.suggested++; r.suggested > maxSuggestions {
		return ""
	}
	if near := nearest.Of(word, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// place is where in a definition something stands. Its text is made only when
// there is something to report.
type place struct {
	up    *place
	name  string // a key's
	index int    // an item's, where isItem
	// isItem tells an item of a list from a key.
	isItem bool
}

func wholeFile() place { return place{} }

func configPart() place { return place{name: "config"} }

func allSteps() place { return place{name: "steps"} }

func stepAt(i int) place { return allSteps().item(i) }

func (p place) key(name string) place { return place{up: &p, name: name} }

func (p place) item(i int) place { return place{up: &p, index: i, isItem: true} }

// String returns the path, such as `steps[2].retry.max_retries`.
func (p place) String() string {
	chain := make([]place, 0, 8)
	for q := &p; q != nil; q = q.up {
		chain = append(chain, *q)
	}
	var b strings.Builder
	for _, q := range slices.Backward(chain) {
		if q.isItem {
			fmt.Fprintf(&b, "[%d]", q.index)
			continue
		}
		b.WriteString(keyPart(q.name, b.Len() == 0))
	}
	return b.String()
}

// keyPart writes a key as part of a path; one that would not read as a key is
// quoted in brackets.
func keyPart(key string, first bool) string {
	switch {
	case first && key == "":
		return ""
	case key == "" || len(key) > maxQuoted || !isWord(key):
		return "[" + quoted(key).String() + "]"
	case first:
		return key
	}
	return "." + key
}

// quoted is a user's text in a message: in quotes, nothing unprintable, and not
// all of it when it is long. It is made only where the message is.
type quoted string

func (q quoted) String() string {
	n := 0
	for i := range q {
		if n++; n > maxQuoted {
			return strconv.Quote(string(q[:i])) + "…"
		}
	}
	return strconv.Quote(string(q))
}

// oneOf lists words in a message: "a", "b" or "c".
type oneOf []string

func (words oneOf) String() string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(w))
	}
	return b.String()
}
