package tool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

// named is a tool that has a name and returns it.
type named string

func (n named) Spec() tool.Spec { return tool.Spec{Name: string(n)} }

func (n named) Call(context.Context, *value.Map) (any, error) { return string(n), nil }

// pointer is a tool whose methods need a value behind the pointer.
type pointer struct{ named }

func names(r *tool.Registry) []string {
	var out []string
	for _, t := range r.All() {
		out = append(out, t.Spec().Name)
	}
	return out
}

func newRegistry(t *testing.T, tools ...tool.Tool) (*tool.Registry, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	r := tool.NewRegistry(tool.RegistryOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, tl := range tools {
		if err := r.Register(tl); err != nil {
			t.Fatal(err)
		}
	}
	return r, &log
}

func TestRegistryFindsToolsInNameOrder(t *testing.T) {
	r, _ := newRegistry(t, named("b"), named("a-1"), named("C_2"))
	if d := cmp.Diff([]string{"C_2", "a-1", "b"}, names(r)); d != "" {
		t.Error(d)
	}
	if got, ok := r.Get("b"); !ok || got != named("b") {
		t.Errorf("got %v, %v", got, ok)
	}
	if got, ok := r.Get("B"); ok {
		t.Errorf("found %v", got)
	}
}

func TestRegisteringATakenName(t *testing.T) {
	first := tool.Func("same", "first", func(context.Context, struct{}) (any, error) { return nil, nil })
	second := tool.Func("same", "second", func(context.Context, struct{}) (any, error) { return nil, nil })
	r, log := newRegistry(t, first)
	if log.Len() > 0 {
		t.Errorf("a first registration logged %s", log)
	}
	if err := r.Replace(second); err != nil {
		t.Fatal(err)
	}
	if got, _ := r.Get("same"); got != second || log.Len() > 0 {
		t.Errorf("Replace: got %v and the log %s", got.Spec(), log)
	}
	if err := r.Register(first); err != nil {
		t.Fatal(err)
	}
	if got, _ := r.Get("same"); got != first {
		t.Errorf("Register: got %v", got.Spec())
	}
	if s := log.String(); !strings.Contains(s, "level=WARN") || !strings.Contains(s, "tool=same") {
		t.Errorf("the log holds %q", s)
	}
}

func TestRegistryRefuses(t *testing.T) {
	r, _ := newRegistry(t)
	tests := []struct {
		tool tool.Tool
		want string
	}{
		{nil, "a nil tool cannot be registered"},
		{(*pointer)(nil), "the Spec method of a *tool_test.pointer panicked: "},
		{named(""), "a tool needs a name"},
		{named("a.b"), `the tool name "a.b" holds '.'; only letters, digits, _ and - are allowed`},
		{named("a b"), `the tool name "a b" holds ' '`},
		{named("grün"), `the tool name "grün" holds 'ü'`},
		{named("a\n"), `the tool name "a\n" holds '\n'`},
		{named(strings.Repeat("n", 65)), `the tool name "nnnnnnnnnnnnnnnnnnnn"… is 65 bytes long; at most 64 are allowed`},
		{tool.Func("f", "", func(context.Context, func()) (any, error) { return nil, nil }), `the tool "f" cannot be made: no JSON Schema can be derived from func()`},
		{tool.Func[struct{}]("f", "", nil), `the tool "f" cannot be made: its function is nil`},
	}
	for _, tt := range tests {
		for _, register := range []func(tool.Tool) error{r.Register, r.Replace} {
			if err := register(tt.tool); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
		}
	}
	if err := r.Register(named(strings.Repeat("n", 64))); err != nil {
		t.Errorf("a name of 64 bytes: %v", err)
	}
}

func TestRegistryClone(t *testing.T) {
	r, _ := newRegistry(t, named("a"))
	c := r.Clone()
	if err := c.Register(named("b")); err != nil {
		t.Fatal(err)
	}
	if err := r.Register(named("c")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a", "b"}, names(c)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a", "c"}, names(r)); d != "" {
		t.Error(d)
	}
}

func TestNilRegistryHasNoTools(t *testing.T) {
	var r *tool.Registry
	if _, ok := r.Get("a"); ok || len(r.All()) > 0 || len(r.Clone().All()) > 0 {
		t.Error("it has one")
	}
}

func TestRegistryIsSafeForConcurrentUse(t *testing.T) {
	r, _ := newRegistry(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := r.Replace(named(fmt.Sprint("t", i))); err != nil {
				t.Error(err)
			}
			r.All()
			r.Clone()
			r.Get("t0")
		})
	}
	all.Wait()
	if n := len(r.All()); n != 20 {
		t.Errorf("%d tools", n)
	}
}

func TestFindAsksResolveForWhatIsNotRegistered(t *testing.T) {
	far := tool.Func("far__away", "", func(context.Context, struct{}) (any, error) { return 1, nil })
	down := errors.New("the server is down")
	r := tool.NewRegistry(tool.RegistryOptions{Resolve: func(_ context.Context, name string) (tool.Tool, bool, error) {
		switch name {
		case "far__away":
			return far, true, nil
		case "far__down":
			return nil, false, down
		}
		return nil, false, nil
	}})
	near := tool.Func("near", "", func(context.Context, struct{}) (any, error) { return 1, nil })
	if err := r.Register(near); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"near": true, "far__away": true, "nowhere": false} {
		if got, ok, err := r.Clone().Find(t.Context(), name); ok != want || err != nil || ok && got.Spec().Name != name {
			t.Errorf("%s: %v, %v, %v", name, got, ok, err)
		}
	}
	if _, _, err := r.Find(t.Context(), "far__down"); !errors.Is(err, down) {
		t.Errorf("a server that is down: %v", err)
	}
	var none *tool.Registry
	if _, ok, err := none.Find(t.Context(), "near"); ok || err != nil {
		t.Errorf("a nil registry found something: %v", err)
	}
}
