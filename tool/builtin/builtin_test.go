package builtin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/value"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// tools returns the built-in tools of a fresh registry.
func tools(t *testing.T, opts builtin.Options) *tool.Registry {
	t.Helper()
	r := tool.NewRegistry(tool.RegistryOptions{})
	if err := builtin.Register(r, opts); err != nil {
		t.Fatal(err)
	}
	return r
}

// call invokes a built-in tool with key, value, … arguments.
func call(t *testing.T, r *tool.Registry, name string, args ...any) (any, error) {
	t.Helper()
	tl, ok := r.Get(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	return tool.Invoke(t.Context(), tl, value.MapOf(args...))
}

// show writes a result as JSON.
func show(t *testing.T, v any) string {
	t.Helper()
	b, err := value.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func field(t *testing.T, v any, name string) any {
	t.Helper()
	m, ok := v.(*value.Map)
	if !ok {
		t.Fatalf("the result is a %T", v)
	}
	f, ok := m.Get(name)
	if !ok {
		t.Fatalf("no %s in %s", name, show(t, v))
	}
	return f
}

func TestRegisterAddsFourTools(t *testing.T) {
	type summary struct {
		Name        string
		Parameters  string
		Effect      tool.Effect
		Destructive bool
	}
	var got []summary
	for _, tl := range tools(t, builtin.Options{}).All() {
		s := tl.Spec()
		if s.Description == "" {
			t.Errorf("%s has no description", s.Name)
		}
		properties, _ := s.Parameters.Get("properties")
		required, _ := s.Parameters.Get("required")
		names := ""
		for name, p := range properties.(*value.Map).All() {
			kind, _ := p.(*value.Map).Get("type")
			names += name + ":" + show(t, kind) + " "
			if d, _ := p.(*value.Map).Get("description"); d == nil {
				t.Errorf("%s of %s has no description", name, s.Name)
			}
		}
		got = append(got, summary{s.Name, names + show(t, required), s.Effect, s.Destructive})
	}
	want := []summary{
		{"file_read", `path:"string" encoding:"string" ["path"]`, "", false},
		{"file_write", `path:"string" content:"string" encoding:"string" ["path","content"]`, "", true},
		{"http_request", `url:"string" method:"string" headers:"object" body:null timeout:"number" ["url"]`, "", false},
		{"shell_command", `command:"string" timeout:"number" cwd:"string" ["command"]`, "", true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestRegisterRefusesNegativeLimit(t *testing.T) {
	r := tool.NewRegistry(tool.RegistryOptions{})
	if err := builtin.Register(r, builtin.Options{MaxReadBytes: -1}); err == nil {
		t.Error("no error")
	}
}

// Arguments come from models and from files: whatever their size, an error is
// a few lines.
func TestErrorsAreShort(t *testing.T) {
	r := tools(t, builtin.Options{Dir: t.TempDir()})
	huge := strings.Repeat("é", 1<<20)
	for _, tt := range []struct {
		tool string
		args []any
	}{
		{"file_read", []any{"path", huge}},
		{"file_read", []any{"path", "x", "encoding", huge}},
		{"file_read", []any{"path", "x", huge, "x"}},
		{"file_write", []any{"path", huge, "content", ""}},
		{"file_write", []any{"path", huge + "/x", "content", ""}},
		{"shell_command", []any{"command", "true", "cwd", huge}},
		{"http_request", []any{"url", huge}},
		{"http_request", []any{"url", "http://127.0.0.1:1/" + huge}},
		{"http_request", []any{"url", "http://" + huge + ".invalid/"}},
		{"http_request", []any{"url", "http://h", "method", huge}},
		{"http_request", []any{"url", "http://h", "headers", value.MapOf(huge, "")}},
		{"http_request", []any{"url", "http://h", "headers", value.MapOf(strings.Repeat("x", 1<<20), "\n")}},
	} {
		_, err := call(t, r, tt.tool, tt.args...)
		if err == nil || len(err.Error()) > 2000 {
			t.Errorf("%s %.30q: an error of %d bytes: %.200v", tt.tool, tt.args, len(err.Error()), err)
		}
	}
}
