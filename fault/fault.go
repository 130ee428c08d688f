// Package fault gives errors a kind, decided once, where the error is born.
// Retries, fallbacks, HTTP statuses and exit codes look at the kind and never
// at the text.
package fault

import (
	"errors"
	"time"
)

// Kind says what can be done about an error.
type Kind uint8

// The kinds. The zero Kind is that of an error nobody classified.
const (
	// Permanent: the same call would fail again, so it is not retried.
	Permanent Kind = iota + 1
	// Transient: the same call may work later, so it is retried.
	Transient
	// Timeout: the call's own time ran out; it is retried, and the attempt ends
	// "timeout" rather than "failed".
	Timeout
	// Refused: the sandbox or a permission said no.
	Refused
	// Invalid: what the user wrote is wrong; the message says where.
	Invalid
	// Cancelled: somebody stopped the run.
	Cancelled
	// Budget: the run has no money left for the call.
	Budget
)

// String returns the kind's name in lower case, as it stands in events.
func (k Kind) String() string {
	names := [...]string{"unclassified", "permanent", "transient", "timeout", "refused", "invalid", "cancelled", "budget"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Error is an error with a kind.
type Error struct {
	Kind    Kind
	Message string // what happened and what to do, in lower case
	// Status is the HTTP status that a service answered, 0 where there was none.
	Status int
	// RetryAfter is how long the service asked to wait, 0 where it did not.
	RetryAfter time.Duration
	Err        error // the cause, may be nil; its text is not printed by Error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of a kind, with cause err, which may be nil. The
// message must say all that the user needs: the cause's text is not added.
func New(kind Kind, message string, err error) *Error {
	return &Error{Kind: kind, Message: message, Err: err}
}

// KindOf returns the kind of the outermost classified error in err's chain, or
// 0 when none is classified.
func KindOf(err error) Kind {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Kind
	}
	return 0
}
