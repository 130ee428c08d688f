package workflow

import (
	"fmt"
	"strings"
)

// Severity says whether a diagnostic stops the load.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Diagnostic is one thing wrong, or doubtful, in a workflow.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	// Code names the rule in snake case, such as "unknown_key"; it stays the
	// same from version to version.
	Code string `json:"code"`
	// Path is the key's path, such as `steps[2].retry.max_retries`; "" is the
	// whole file.
	Path string `json:"path"`
	// Message says what is wrong, lower case, without position.
	Message string `json:"message"`
	// Suggestion says what to do; may be "".
	Suggestion string `json:"suggestion,omitempty"`

	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`   // from 1; 0: no position (built in Go)
	Column int    `json:"column,omitempty"` // from 1, in characters
}

// String formats the diagnostic as one line, as compilers do:
// `file:line:column: error: message (path); suggestion`.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File)
		if d.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", d.Line, d.Column)
		}
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s: %s", d.Severity, d.Message)
	if d.Path != "" {
		fmt.Fprintf(&b, " (%s)", d.Path)
	}
	if d.Suggestion != "" {
		b.WriteString("; " + d.Suggestion)
	}
	return b.String()
}

// Diagnostics are all of a workflow's, in file order.
type Diagnostics []Diagnostic

// Errors returns those that stop the load.
func (ds Diagnostics) Errors() Diagnostics { return ds.filter(SeverityError) }

// Warnings returns those that do not.
func (ds Diagnostics) Warnings() Diagnostics { return ds.filter(SeverityWarning) }

func (ds Diagnostics) filter(s Severity) Diagnostics {
	var out Diagnostics
	for _, d := range ds {
		if d.Severity == s {
			out = append(out, d)
		}
	}
	return out
}

// Err returns an *InvalidError when there is an error among them, else nil.
func (ds Diagnostics) Err() error {
	if errs := ds.Errors(); len(errs) > 0 {
		return &InvalidError{Diagnostics: errs}
	}
	return nil
}

// InvalidError is a workflow that cannot run, with every reason.
type InvalidError struct{ Diagnostics Diagnostics }

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Diagnostics))
	for i, d := range e.Diagnostics {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}
