package expr

import (
	"errors"
	"fmt"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/python"
)

// Names of the errors that this package adds to Python's own or raises itself.
const (
	securityError = "SecurityError" // a construct, function, method or attribute that is refused
	syntaxError   = "SyntaxError"   // the text is no Python
	memoryError   = "MemoryError"   // a result would be too large
)

// An Error says why an expression was not accepted or has no value. Error
// returns "Name: message", as a Python traceback ends. Its fault.Kind is
// Invalid where the text is at fault, else Permanent: the same state would
// give the same error again.
type Error struct {
	// Name is the exception's class: SecurityError, SyntaxError or NameError from
	// Compile; TypeError, AttributeError, ValueError and so on from Eval, and
	// MemoryError or TimeoutError at a limit.
	Name    string
	Message string
	// Offset is where in the source the error was found, in bytes from 0.
	Offset int
}

func (e *Error) Error() string { return e.Name + ": " + e.Message }

// Unwrap returns the error's classification, a *fault.Error.
func (e *Error) Unwrap() error {
	kind := fault.Permanent
	switch e.Name {
	case securityError, syntaxError, "NameError":
		kind = fault.Invalid
	}
	return fault.New(kind, e.Error(), nil)
}

func errorAt(off int, name, format string, args ...any) *Error {
	return &Error{Name: name, Message: fmt.Sprintf(format, args...), Offset: off}
}

func syntaxErrorAt(off int, format string, args ...any) *Error {
	return errorAt(off, syntaxError, format, args...)
}

// located gives an exception from the evaluation its place in the source. The
// innermost place is kept.
func located(err error, off int) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if p, ok := errors.AsType[*python.Error](err); ok {
		return &Error{Name: p.Name, Message: p.Message, Offset: off}
	}
	return &Error{Name: "RuntimeError", Message: err.Error(), Offset: off}
}
