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

func (r *report) add(d Diagnostic) {
	count := &r.errors
	if d.Severity == SeverityWarning {
		count = &r.warnings
	}
	if *count++; *count <= maxDiagnostics {
		r.kept = append(r.kept, d)
	}
}

func (r *report) errorf(p place, code, suggestion, format string, args ...any) {
	r.add(Diagnostic{SeverityError, code, p.String(), fmt.Sprintf(format, args...), suggestion, "", 0, 0})
}

func (r *report) warnf(p place, code, suggestion, format string, args ...any) {
	r.add(Diagnostic{SeverityWarning, code, p.String(), fmt.Sprintf(format, args...), suggestion, "", 0, 0})
}

// result returns what was collected, and says how much was not kept.
func (r *report) result() Diagnostics {
	if n := r.errors - maxDiagnostics; n > 0 {
		r.kept = append(r.kept, Diagnostic{Severity: SeverityError, Code: "too_many", Message: fmt.Sprintf("%d more errors are not shown", n)})
	}
	if n := r.warnings - maxDiagnostics; n > 0 {
		r.kept = append(r.kept, Diagnostic{Severity: SeverityWarning, Code: "too_many", Message: fmt.Sprintf("%d more warnings are not shown", n)})
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

var (
	wholeFile  = place{}
	allSteps   = place{name: "steps"}
	configPart = place{name: "config"}
)

func stepAt(i int) place { return place{up: &allSteps, index: i, isItem: true} }

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
		return "[" + quote(key) + "]"
	case first:
		return key
	}
	return "." + key
}

// quote prints a user's text in a message: quoted, nothing unprintable, and
// not all of it when it is long.
func quote(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxQuoted {
			return strconv.Quote(s[:i]) + "…"
		}
	}
	return strconv.Quote(s)
}

// oneOf lists words in a message: "a", "b" or "c".
func oneOf(words []string) string {
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
