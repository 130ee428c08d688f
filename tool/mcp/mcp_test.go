package mcp_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/mcp"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// def is a server of the name "x" that runs this test's program.
func def(t *testing.T, mode string, tools ...string) workflow.MCPServer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return workflow.MCPServer{Name: "x", Command: self, Env: value.MapOf(fakeMode, mode, "TOKEN", "canary-secret"), Tools: tools}
}

func within(s workflow.MCPServer, d time.Duration) workflow.MCPServer {
	seconds := d.Seconds()
	s.Timeout = &seconds
	return s
}

// open makes servers that end with the test, and checks that nothing is left.
func open(t *testing.T, opts mcp.Options, defs ...workflow.MCPServer) *mcp.Servers {
	t.Helper()
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := mcp.New(defs, opts)
	if err != nil {
		t.Fatal(err)
	}
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		s.Close()
		goleak.VerifyNone(t, ignore)
	})
	return s
}

func resolve(t *testing.T, s *mcp.Servers, name string) tool.Tool {
	t.Helper()
	found, ok, err := s.Resolve(t.Context(), name)
	if err != nil || !ok {
		t.Fatalf("resolving %s: %v, %v", name, ok, err)
	}
	return found
}

func call(t *testing.T, s *mcp.Servers, name string, args ...any) (any, error) {
	t.Helper()
	return tool.Invoke(t.Context(), resolve(t, s, name), value.MapOf(args...))
}

// wantError checks an error's kind and that it says each of the texts.
func wantError(t *testing.T, err error, kind fault.Kind, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	if got := fault.KindOf(err); got != kind {
		t.Errorf("the kind is %v, not %v: %v", got, kind, err)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error does not say %q: %v", text, err)
		}
	}
	if strings.Contains(err.Error(), "canary-secret") {
		t.Errorf("the error tells a secret: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	one := func(f func(*workflow.MCPServer)) []workflow.MCPServer {
		s := workflow.MCPServer{Name: "files", Command: "server"}
		f(&s)
		return []workflow.MCPServer{s}
	}
	minus := -1.0
	tests := []struct {
		name    string
		servers []workflow.MCPServer
		want    string
	}{
		{"no name", one(func(s *workflow.MCPServer) { s.Name = "" }), "needs a name"},
		{"a dot in the name", one(func(s *workflow.MCPServer) { s.Name = "a.b" }), "letters, digits"},
		{"a separator in the name", one(func(s *workflow.MCPServer) { s.Name = "a__b" }), `"__"`},
		{"an underscore that ends it", one(func(s *workflow.MCPServer) { s.Name = "a_" }), "nor end in _"},
		{"no room", one(func(s *workflow.MCPServer) { s.Name = strings.Repeat("a", 62) }), "no room"},
		{"neither", one(func(s *workflow.MCPServer) { s.Command = "" }), "command or a url"},
		{"both", one(func(s *workflow.MCPServer) { s.URL = "http://a" }), "command or a url"},
		{"a file's URL", one(func(s *workflow.MCPServer) { s.Command, s.URL = "", "file:///a" }), "http or https"},
		{"timeout", one(func(s *workflow.MCPServer) { s.Timeout = &minus }), "positive number of seconds"},
		{"env", one(func(s *workflow.MCPServer) { s.Env = value.MapOf("A", int64(1)) }), `its env must be texts`},
		{"headers", one(func(s *workflow.MCPServer) { s.Headers = value.MapOf("A\nB", "x") }), `its headers must be texts`},
		{"an empty tool", one(func(s *workflow.MCPServer) { s.Tools = []string{""} }), "empty name"},
		{"a tool twice", one(func(s *workflow.MCPServer) { s.Tools = []string{"a", "a"} }), "twice"},
		{"tools that collide", one(func(s *workflow.MCPServer) { s.Tools = []string{"a.b", "a_b"} }), `both be named "files__a_b"`},
		{"a long tool", one(func(s *workflow.MCPServer) { s.Tools = []string{strings.Repeat("a", 58)} }), "65 characters, 64 are allowed"},
		{"twins", append(one(func(*workflow.MCPServer) {}), one(func(*workflow.MCPServer) {})...), "two servers of this name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := mcp.New(tt.servers, mcp.Options{})
			wantError(t, err, fault.Invalid, tt.want)
		})
	}
}

func TestServersStartWhenFirstNeeded(t *testing.T) {
	asked := map[string]int{}
	opts := mcp.Options{Allow: func(_ context.Context, s workflow.MCPServer) error { asked[s.Name]++; return nil }}
	y := def(t, "ok", "echo", "admin.list")
	y.Name = "y"
	s := open(t, opts, def(t, "ok"), y)
	if diff := cmp.Diff([]string{"y__echo", "y__admin_list"}, s.Names()); diff != "" {
		t.Error(diff)
	}
	if !s.Has("x__anything") || s.Has("z__echo") || s.Has("echo") {
		t.Error("Has does not know the servers")
	}
	if _, ok, err := s.Resolve(t.Context(), "z__echo"); ok || err != nil {
		t.Errorf("a server that is not there: %v, %v", ok, err)
	}
	if len(asked) != 0 {
		t.Errorf("started too early: %v", asked)
	}
	if got, err := call(t, s, "x__echo", "n", int64(3)); err != nil || got != `{"n":3}` {
		t.Errorf("echo: %v, %v", got, err)
	}
	if _, err := call(t, s, "x__media"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]int{"x": 1}, asked); diff != "" {
		t.Errorf("which servers started:\n%s", diff)
	}
}

func TestSpec(t *testing.T) {
	s := open(t, mcp.Options{}, def(t, "ok"))
	spec := resolve(t, s, "x__echo").Spec()
	schema, err := value.EncodeJSON(spec.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"properties":{"n":{"default":5,"type":"integer"}},"type":"object"}`; string(schema) != want {
		t.Errorf("the schema is %s", schema)
	}
	if spec.Name != "x__echo" || spec.Description != "does echo" || spec.Destructive {
		t.Errorf("the spec is %+v", spec)
	}
	if !resolve(t, s, "x__env").Spec().Destructive {
		t.Error("a tool that is not marked read-only must count as destructive")
	}
	_, ok, err := s.Resolve(t.Context(), "x__nothing")
	if !ok {
		t.Error("the server is known")
	}
	wantError(t, err, fault.Permanent, `MCP server "x"`, "x__nothing", "x__echo")
}

func TestResults(t *testing.T) {
	s := open(t, mcp.Options{MaxResult: 1500}, def(t, "ok"))
	got, err := call(t, s, "x__whole")
	if err != nil {
		t.Fatal(err)
	}
	if src, _ := value.EncodeJSON(got); string(src) != `{"z":9007199254740993,"a":1.0}` {
		t.Errorf("the structured content is %s", src)
	}
	got, err = call(t, s, "x__media")
	if err != nil {
		t.Fatal(err)
	}
	want := "one\n[image: image/png, 5 bytes]\n[resource: a file:///a]\nthe text of b\n[resource: file:///c, x/y, 6 bytes]\n[content of type \"hologram\"]"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	failures := []struct {
		tool string
		kind fault.Kind
		text string
	}{
		{"fail", fault.Transient, "no such file; token ***"},
		{"rpcerror", fault.Transient, "error -32000: busy"},
		{"invalid", fault.Permanent, "error -32602: n is missing"},
		{"big", fault.Permanent, "more than the 1500 that are allowed"},
		{"input", fault.Permanent, "asks for further input"},
	}
	for _, f := range failures {
		_, err := call(t, s, "x__"+f.tool)
		wantError(t, err, f.kind, `MCP server "x": calling "`+f.tool+`": `, f.text)
	}
	if got, err := call(t, s, "x__echo"); err != nil || got != "{}" {
		t.Errorf("after failures: %v, %v", got, err)
	}
}

func TestEnvironmentIsMinimal(t *testing.T) {
	d := def(t, "ok")
	dir := t.TempDir()
	if err := os.Symlink(d.Command, filepath.Join(dir, "server")); err != nil {
		t.Fatal(err)
	}
	d.Command = "server"
	s := open(t, mcp.Options{Environ: []string{"PATH=.:" + dir, "HOME=/home/h", "OPENAI_API_KEY=sk-1", "TOKEN=theirs"}}, d)
	got, err := call(t, s, "x__env")
	if err != nil {
		t.Fatal(err)
	}
	want := fakeMode + "=ok\nHOME=/home/h\nPATH=.:" + dir + "\nTOKEN=canary-secret"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStartFails(t *testing.T) {
	tests := []struct {
		name string
		def  workflow.MCPServer
		kind fault.Kind
		want []string
	}{
		{"no such command", workflow.MCPServer{Name: "x", Command: "no-such-program"}, fault.Permanent, []string{`"no-such-program"`, "no such program"}},
		{"no such file", workflow.MCPServer{Name: "x", Command: "./nothing"}, fault.Permanent, []string{`"./nothing"`, "no such file"}},
		{"dies", def(t, "dies"), fault.Transient, []string{"exit status 3", "token *** is wrong[31m"}},
		{"hangs", within(def(t, "hangs"), 300*time.Millisecond), fault.Timeout, []string{"did not start within 300ms"}},
		{"garbage", def(t, "garbage"), fault.Permanent, []string{"no valid JSON", `"{]"`}},
		{"chatters", def(t, "chatters"), fault.Permanent, []string{"does not speak MCP", `"this is no message"`}},
		{"endless", def(t, "endless"), fault.Permanent, []string{"message of more than"}},
		{"lists without end", def(t, "loops"), fault.Permanent, []string{"never ends"}},
		{"lists too many", def(t, "many"), fault.Permanent, []string{"at most 1000"}},
		{"lists a tool twice", def(t, "twice"), fault.Permanent, []string{`"a" and "a"`}},
		{"tools collide", def(t, "collides"), fault.Permanent, []string{`"a.b" and "a/b" would both be named "x__a_b"`}},
		{"tools that it does not have", def(t, "ok", "echo", "gone"), fault.Permanent, []string{`no tool "gone"`, `"echo"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hear := func(_, line string) {
				if strings.Contains(line, "canary-secret") || strings.ContainsRune(line, '\x1b') {
					t.Errorf("a line of standard error: %q", line)
				}
			}
			s := open(t, mcp.Options{Environ: []string{"PATH=/usr/bin:/bin"}, MaxResult: 1 << 16, Stderr: hear}, tt.def)
			since := time.Now()
			_, err := s.Tools(t.Context())
			wantError(t, err, tt.kind, append(tt.want, `MCP server "x"`)...)
			if d := time.Since(since); d > soon/2 {
				t.Errorf("it took %v", d)
			}
		})
	}
}

func TestRefusedServers(t *testing.T) {
	no := fault.New(fault.Refused, "Sandbox violation (mcp): server is not allowed", nil)
	s := open(t, mcp.Options{Allow: func(context.Context, workflow.MCPServer) error { return no }}, def(t, "ok"))
	if _, _, err := s.Resolve(t.Context(), "x__echo"); !errors.Is(err, no) {
		t.Errorf("the error is %v", err)
	}
}

func TestStartStartsThePrograms(t *testing.T) {
	var ran []string
	opts := mcp.Options{Start: func(s workflow.MCPServer, cmd *exec.Cmd) error { ran = append(ran, s.Name); return cmd.Start() }}
	s := open(t, opts, def(t, "ok"))
	if _, err := call(t, s, "x__echo"); err != nil || len(ran) != 1 || ran[0] != "x" {
		t.Errorf("started %q: %v", ran, err)
	}
	opts.Start = func(workflow.MCPServer, *exec.Cmd) error {
		return fault.New(fault.Refused, "Sandbox violation (mcp): no", nil)
	}
	_, err := open(t, opts, def(t, "ok")).Tools(t.Context())
	wantError(t, err, fault.Refused, "Sandbox violation (mcp): no")
}

func TestToolLists(t *testing.T) {
	tests := []struct {
		mode  string
		tools []string
		want  []string
	}{
		{"pages", nil, []string{"x__tool", "x__toolx", "x__toolxx", "x__toolxxx"}},
		{"odd", nil, []string{"x__admin_list", "x__gr__e"}},
		{"collides", []string{"a.b", "c"}, []string{"x__a_b", "x__c"}},
		{"banner", []string{"echo"}, []string{"x__echo"}},
		{"modern", []string{"echo"}, []string{"x__echo"}},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			var log strings.Builder
			s := open(t, mcp.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, def(t, tt.mode, tt.tools...))
			tools, err := s.Tools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, one := range tools {
				names = append(names, one.Spec().Name)
			}
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Error(diff)
			}
			if left := strings.Count(log.String(), "was left out"); tt.mode == "odd" && left != 2 {
				t.Errorf("%d tools were left out with a warning, not 2:\n%s", left, log.String())
			}
			if _, err := tool.Invoke(t.Context(), tools[0], nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAChangedListIsReadAgain(t *testing.T) {
	s := open(t, mcp.Options{}, def(t, "ok"))
	if _, _, err := s.Resolve(t.Context(), "x__extra"); err == nil {
		t.Fatal("extra is there already")
	}
	if got, err := call(t, s, "x__change"); err != nil || got != "1" {
		t.Fatalf("the list was read %v times: %v", got, err)
	}
	if got, err := call(t, s, "x__extra"); err != nil || got != "extra" {
		t.Errorf("extra: %v, %v", got, err)
	}
	if got, err := call(t, s, "x__change"); err != nil || got != "2" {
		t.Errorf("the list was read %v times: %v", got, err)
	}
}

func TestServersAreOfferedNothing(t *testing.T) {
	s := open(t, mcp.Options{}, def(t, "ok"))
	got, err := call(t, s, "x__ask")
	if err != nil {
		t.Fatal(err)
	}
	want := "ping refused: false\nroots/list refused: true\nsampling/createMessage refused: true\nelicitation/create refused: true\nnonsense refused: true"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNilServersHaveNoTools(t *testing.T) {
	var s *mcp.Servers
	if tools, err := s.Tools(t.Context()); tools != nil || err != nil || s.Has("a__b") || s.Names() != nil {
		t.Error("a nil Servers has something")
	}
	s.Close()
}
