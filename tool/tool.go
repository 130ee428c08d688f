// Package tool is the seam to tools: what one is, the registry that finds it
// by name, and Func, which makes one of a Go function.
package tool

import (
	"context"

	"github.com/agentloom/agentloom/value"
)

// Effect says what happens to the world when a tool runs twice.
type Effect string

// The effects a tool may declare. The empty Effect is undeclared: the call is
// made at least once.
const (
	// Pure tools change nothing.
	Pure Effect = "pure"
	// Idempotent tools may be called again with the same IdempotencyKey.
	Idempotent Effect = "idempotent"
	// Once marks tools whose call must never be repeated silently.
	Once Effect = "once"
)

// Spec describes a tool to people and to models.
type Spec struct {
	Name        string // letters, digits, _ and -; at most 64, as model services demand
	Description string
	Parameters  *value.Map // JSON Schema of the arguments, an object schema; nil: {"type": "object"}
	Effect      Effect
	// Destructive tools can lose or change data: permissions ask before a
	// model runs one.
	Destructive bool
}

// Tool is something a step or a model can call. Implementations are safe for
// concurrent use and stop when ctx ends.
type Tool interface {
	Spec() Spec
	// Call runs the tool. The arguments are a copy that the tool may keep;
	// they were not checked against the parameters. The result is any Go value
	// with a JSON form; nil is None. An error fails a tool step's attempt. That
	// is retried when the error's fault.Kind is Transient or Timeout, or it has
	// none; an error with an HTTP status, when the step's policy lists the
	// status. The error's RetryAfter counts where it is longer than the step's
	// own wait. In a model's tool call the error goes back to the model. A panic
	// is an error.
	Call(ctx context.Context, args *value.Map) (any, error)
}

type idempotencyKey struct{}

// WithIdempotencyKey returns a context in which a tool finds a key that is the
// same for each attempt of one call.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, key)
}

// IdempotencyKey returns the key of the call that ctx belongs to, or "".
func IdempotencyKey(ctx context.Context) string {
	k, _ := ctx.Value(idempotencyKey{}).(string)
	return k
}
