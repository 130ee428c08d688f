package tool

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
)

// maxName is the longest tool name that every model service takes, in bytes.
const maxName = 64

// RegistryOptions configures a Registry. The zero value is ready to use.
type RegistryOptions struct {
	// Logger gets a warning when Register replaces a tool; nil is slog.Default.
	Logger *slog.Logger
	// Resolve finds tools that are not registered, such as those of a server
	// that starts when it is first needed; nil finds none. The error is for a
	// tool that should be there and can't be reached.
	Resolve func(ctx context.Context, name string) (t Tool, found bool, err error)
}

// A Registry finds tools by name. It is safe for concurrent use. A nil
// Registry has no tools.
type Registry struct {
	logger  *slog.Logger
	resolve func(context.Context, string) (Tool, bool, error)
	mu      sync.RWMutex
	tools   map[string]Tool
}

// NewRegistry returns an empty registry.
func NewRegistry(opts RegistryOptions) *Registry {
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	return &Registry{logger: opts.Logger, resolve: opts.Resolve, tools: map[string]Tool{}}
}

// Register adds a tool under the name its Spec gives. A tool that has the name
// already is replaced, with a warning. It fails on a nil tool, on a name that
// is not 1 to 64 letters, digits, _ and -, and on a tool that Func could not
// make.
func (r *Registry) Register(t Tool) error {
	name, replaced, err := r.put(t)
	if err == nil && replaced {
		r.logger.Warn("a tool was replaced by another of the same name", "tool", name)
	}
	return err
}

// Replace is Register without the warning.
func (r *Registry) Replace(t Tool) error {
	_, _, err := r.put(t)
	return err
}

func (r *Registry) put(t Tool) (name string, replaced bool, err error) {
	if t == nil {
		return "", false, fmt.Errorf("a nil tool cannot be registered")
	}
	spec, err := specOf(t)
	if err != nil {
		return "", false, err
	}
	if err := checkName(spec.Name); err != nil {
		return "", false, err
	}
	if b, ok := t.(interface{ broken() error }); ok && b.broken() != nil {
		return "", false, b.broken()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, replaced = r.tools[spec.Name]
	r.tools[spec.Name] = t
	return spec.Name, replaced, nil
}

// Find returns the tool of a name, be it registered or found by Resolve.
func (r *Registry) Find(ctx context.Context, name string) (t Tool, found bool, err error) {
	if t, ok := r.Get(name); ok || r == nil || r.resolve == nil {
		return t, ok, nil
	}
	return r.resolve(ctx, name)
}

// Get returns the registered tool of a name, and whether there is one.
func (r *Registry) Get(name string) (Tool, bool) {
	if r == nil {
		return nil, false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.tools[name]
	return t, ok
}

// All returns the tools in the order of their names. The slice is a copy.
func (r *Registry) All() []Tool {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]Tool, 0, len(r.tools))
	for _, name := range slices.Sorted(maps.Keys(r.tools)) {
		out = append(out, r.tools[name])
	}
	return out
}

// Clone returns a registry with the same tools and logger; adding to one does
// not change the other.
func (r *Registry) Clone() *Registry {
	if r == nil {
		return NewRegistry(RegistryOptions{})
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return &Registry{logger: r.logger, resolve: r.resolve, tools: maps.Clone(r.tools)}
}

// specOf asks a tool for its Spec; a tool that panics, as a nil pointer inside
// the interface does, is an error.
func specOf(t Tool) (spec Spec, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Spec method of a %T panicked: %s", t, panicText(p))
		}
	}()
	return t.Spec(), nil
}

func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("a tool needs a name")
	}
	if len(name) > maxName {
		return fmt.Errorf("the tool name %.20q… is %d bytes long; at most %d are allowed", name, len(name), maxName)
	}
	for _, c := range name {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return fmt.Errorf("the tool name %q holds %q; only letters, digits, _ and - are allowed", name, c)
		}
	}
	return nil
}
