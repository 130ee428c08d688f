package gateway

import (
	"context"
	"sync"
)

// Warned remembers the models whose unknown price was told. The zero Warned
// has told of none; it is safe for concurrent use.
type Warned struct {
	mu     sync.Mutex
	models map[string]bool
}

// maxWarned bounds the models that a warning is remembered for, and so the
// warnings.
const maxWarned = 1000

// first reports whether a model has not been told of, and notes it. A nil
// Warned remembers nothing.
func (w *Warned) first(name string) bool {
	if w == nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.models[name] || len(w.models) >= maxWarned {
		return false
	}
	if w.models == nil {
		w.models = map[string]bool{}
	}
	w.models[name] = true
	return true
}

// notices are what one call is told of: the Selection's Warn and Warned. They
// go through the decorators in the call's context.
type notices struct {
	warn   func(message string)
	warned *Warned
}

type noticesKey struct{}

func withNotices(ctx context.Context, sel Selection) context.Context {
	if sel.Warn == nil {
		return ctx
	}
	return context.WithValue(ctx, noticesKey{}, notices{sel.Warn, sel.Warned})
}

// noticesOf returns the call's notices; their warn is nil for one that wants
// none.
func noticesOf(ctx context.Context) notices {
	n, _ := ctx.Value(noticesKey{}).(notices)
	return n
}
