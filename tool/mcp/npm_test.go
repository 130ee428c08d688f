package mcp_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/mcp"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// others returns Node.js and the script of a server that others wrote, from the
// packages of test/mcp. It reaches for the network only when the environment
// says that the tests may use services; a test that may then never skips.
func others(t *testing.T, name string) (node, script string) {
	t.Helper()
	must := os.Getenv("AGENTLOOM_TEST_SERVICES") == "1"
	node, err := exec.LookPath("node")
	if err != nil {
		if must {
			t.Fatalf("Node.js is missing: %v", err)
		}
		t.Skipf("Node.js is missing (%v); install it and set AGENTLOOM_TEST_SERVICES=1", err)
	}
	dir, err := filepath.Abs(filepath.Join("..", "..", "test", "mcp"))
	if err != nil {
		t.Fatal(err)
	}
	script = filepath.Join(dir, "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
	if _, err := os.Stat(script); err == nil {
		return node, script
	}
	if !must {
		t.Skip("the server is not installed; set AGENTLOOM_TEST_SERVICES=1, which runs `npm ci` in test/mcp and needs the network")
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return node, script
}

// nodeOptions are what a program of Node.js needs: most find it by PATH.
func nodeOptions(node string) mcp.Options {
	return mcp.Options{Environ: []string{"PATH=" + filepath.Dir(node) + ":/usr/bin:/bin", "SECRET=canary-secret"}}
}

func TestServerEverythingOverStdio(t *testing.T) {
	node, script := others(t, "server-everything")
	everything(t, nodeOptions(node), workflow.MCPServer{Name: "all", Command: "node", Args: []string{script, "stdio"}})
}

func TestServerEverythingOverHTTP(t *testing.T) {
	node, script := others(t, "server-everything")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(node, script, "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }() // it is killed below
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-exited })
	for late := time.After(time.Minute); ; {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			break
		}
		select {
		case <-exited:
			t.Fatalf("the server ended:\n%s", out.String())
		case <-late:
			t.Fatal("the server does not listen after a minute")
		case <-time.After(20 * time.Millisecond):
		}
	}
	everything(t, mcp.Options{}, workflow.MCPServer{Name: "all", URL: "http://" + address + "/mcp"})
}

// everything tries what server-everything can do.
func everything(t *testing.T, opts mcp.Options, d workflow.MCPServer) {
	t.Helper()
	s := open(t, opts, within(d, time.Minute))
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string) bool {
		return slices.ContainsFunc(tools, func(one tool.Tool) bool { return one.Spec().Name == name })
	}
	if !named("all__echo") || !named("all__get-sum") {
		t.Fatalf("%d tools, without echo or get-sum", len(tools))
	}
	if named("all__trigger-sampling-request") || named("all__get-roots-list") {
		t.Error("the server was offered sampling or roots")
	}
	if p, _ := resolve(t, s, "all__get-sum").Spec().Parameters.Get("required"); p == nil {
		t.Error("get-sum has a schema without required arguments")
	}
	texts := []struct {
		tool string
		args []any
		want string
	}{
		{"all__echo", []any{"message", "grüße\n\u2028\"<&>"}, "grüße\n\u2028\"<&>"},
		{"all__get-sum", []any{"a", int64(2), "b", 3.5}, "5.5"},
		{"all__get-tiny-image", nil, "[image: image/png, "},
		{"all__get-resource-links", []any{"count", int64(2)}, "[resource: "},
		{"all__trigger-long-running-operation", []any{"duration", 0.2, "steps", int64(4)}, "completed"},
	}
	for _, c := range texts {
		got, err := call(t, s, c.tool, c.args...)
		if text, _ := got.(string); err != nil || !strings.Contains(text, c.want) {
			t.Errorf("%s: %v, %v", c.tool, got, err)
		}
	}
	got, err := call(t, s, "all__get-structured-content", "location", "New York")
	if m, ok := got.(*value.Map); err != nil || !ok || m.Len() != 3 {
		t.Errorf("the structured content: %v, %v", got, err)
	}
	if d.Command != "" {
		if got, err := call(t, s, "all__get-env"); err != nil || strings.Contains(got.(string), "canary-secret") {
			t.Errorf("the environment: %v, %v", got, err)
		}
	}
	_, err = call(t, s, "all__echo")
	wantError(t, err, fault.Transient, `MCP server "all": calling "echo": `, "message")
	ctx, cancel := context.WithCancel(t.Context())
	long := resolve(t, s, "all__trigger-long-running-operation")
	stopped := make(chan error, 1)
	go func() {
		_, err := tool.Invoke(ctx, long, value.MapOf("duration", int64(600), "steps", int64(1)))
		stopped <- err
	}()
	if got, err := call(t, s, "all__echo", "message", "meanwhile"); err != nil || got != "Echo: meanwhile" {
		t.Errorf("a call beside another: %v, %v", got, err)
	}
	cancel()
	wantError(t, <-stopped, fault.Cancelled)
}

func TestServerFilesystem(t *testing.T) {
	node, script := others(t, "server-filesystem")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("what stands in a"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := workflow.MCPServer{Name: "fs", Command: node, Args: []string{script, dir}, Tools: []string{"read_text_file", "write_file"}}
	s := open(t, nodeOptions(node), within(d, time.Minute))
	read := resolve(t, s, "fs__read_text_file")
	if read.Spec().Destructive || !resolve(t, s, "fs__write_file").Spec().Destructive {
		t.Error("reading should be no danger, and writing one")
	}
	got, err := tool.Invoke(t.Context(), read, value.MapOf("path", filepath.Join(dir, "a.txt")))
	if m, ok := got.(*value.Map); err != nil || !ok {
		t.Errorf("reading: %v, %v", got, err)
	} else if text, _ := m.Get("content"); text != "what stands in a" {
		t.Errorf("reading: %v", text)
	}
	if _, err := call(t, s, "fs__write_file", "path", filepath.Join(dir, "b.txt"), "content", "b"); err != nil {
		t.Error(err)
	}
	if src, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(src) != "b" {
		t.Errorf("the written file: %q, %v", src, err)
	}
	_, err = tool.Invoke(t.Context(), read, value.MapOf("path", "/etc/passwd"))
	wantError(t, err, fault.Transient, "Access denied")
	_, _, err = s.Resolve(t.Context(), "fs__edit_file")
	wantError(t, err, fault.Permanent, `"fs__edit_file"`, `"fs__read_text_file"`)
}
