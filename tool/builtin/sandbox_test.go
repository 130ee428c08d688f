//go:build unix

package builtin_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// sandboxed returns the policy of a block for a run in dir.
func sandboxed(t *testing.T, dir string, block workflow.Sandbox) *sandbox.Policy {
	t.Helper()
	block.Enabled = true
	p, err := sandbox.New(&block, sandbox.PolicyOptions{Dir: dir, Path: "/usr/bin:/bin"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func wantRefused(t *testing.T, err error, want string) {
	t.Helper()
	if fault.KindOf(err) != fault.Refused || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want the refusal %s", err, want)
	}
}

// nameOf resolves every host to one address.
type nameOf string

func (n nameOf) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(string(n))}, nil
}

// TestNamesThatResolveInside: a name of the inside is told only when it is
// resolved.
func TestNamesThatResolveInside(t *testing.T) {
	var reached atomic.Bool
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer inside.Close()
	_, port, err := net.SplitHostPort(inside.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r := tools(t, builtin.Options{Sandbox: sandboxed(t, t.TempDir(), workflow.Sandbox{AllowNetwork: true}), Resolver: nameOf("127.0.0.1")})
	_, err = call(t, r, "http_request", "url", "http://inside.test:"+port+"/")
	wantRefused(t, err, `Sandbox violation (http_request): host "inside.test" is or resolves to an internal address`)
	if reached.Load() {
		t.Error("the inside was reached")
	}
}

// TestGuardedRequestsTimeOut: each phase has its time under a sandbox too.
func TestGuardedRequestsTimeOut(t *testing.T) {
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer slow.Close()
	defer close(release)
	r := tools(t, builtin.Options{Sandbox: sandboxed(t, t.TempDir(), workflow.Sandbox{
		AllowNetwork: true, AllowedDomains: []string{"127.0.0.1"},
	})})
	_, err := call(t, r, "http_request", "url", slow.URL+"/x", "timeout", 0.1)
	if err == nil || !strings.HasSuffix(err.Error(), "reading timed out after 0.1s") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("enough")) })
	found, _ := r.Get("http_request")
	if _, err = tool.Invoke(ctx, found, value.MapOf("url", slow.URL)); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("a cancelled call: %v", err)
	}
}

// TestFilesAreSwapped: a directory that is swapped for a link in a loop never
// leads a tool outside.
func TestFilesAreSwapped(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "x"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	good, bad, name := filepath.Join(dir, "good"), filepath.Join(dir, "bad"), filepath.Join(dir, "in")
	if err := os.Mkdir(good, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(good, "x"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, bad); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, from := range []string{good, bad} {
				_ = os.Rename(from, name)
				_ = os.Rename(name, from)
			}
		}
	}()
	r := tools(t, builtin.Options{Sandbox: sandboxed(t, dir, workflow.Sandbox{AllowedPaths: []string{"."}})})
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
		if got, err := call(t, r, "file_read", "path", "in/x"); err == nil && got == "secret" {
			t.Error("the outside was read")
		}
		_, _ = call(t, r, "file_write", "path", "in/x", "content", "mine")
	}
	close(stop)
	<-stopped
	if b, err := os.ReadFile(filepath.Join(outside, "x")); err != nil || string(b) != "secret" {
		t.Errorf("the outside is %q, %v", b, err)
	}
	if left, _ := filepath.Glob(outside + "/*"); len(left) != 1 {
		t.Errorf("the outside has %v", left)
	}
}

// TestCheckedFiles: the file tools do under a sandbox what they do without.
func TestCheckedFiles(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	r := tools(t, builtin.Options{Dir: "/", Sandbox: sandboxed(t, dir, workflow.Sandbox{AllowedPaths: []string{"."}})})
	for _, path := range []string{"old", "a/b/new"} {
		if _, err := call(t, r, "file_write", "path", path, "content", "new"); err != nil {
			t.Error(err)
		}
		if got, err := call(t, r, "file_read", "path", path); got != "new" || err != nil {
			t.Errorf("%s is %v, %v", path, got, err)
		}
	}
	if info, err := os.Stat(old); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	for _, path := range []string{"a", "a/", "old/"} {
		if _, err := call(t, r, "file_write", "path", path, "content", "x"); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if left, _ := filepath.Glob(dir + "/.agentloom-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	_, err := call(t, r, "file_read", "path", "/etc/passwd")
	wantRefused(t, err, `Sandbox violation (file_read): path "/etc/passwd" is not under`)
}

func TestKernelGaps(t *testing.T) {
	off := sandboxed(t, t.TempDir(), workflow.Sandbox{Kernel: "off", AllowedCommands: []string{"ls"}})
	if gaps, err := builtin.KernelGaps(off); gaps != nil || err != nil {
		t.Errorf("off: %v, %v", gaps, err)
	}
	none := sandboxed(t, t.TempDir(), workflow.Sandbox{})
	if gaps, err := builtin.KernelGaps(none); gaps != nil || err != nil {
		t.Errorf("without commands: %v, %v", gaps, err)
	}
	auto := sandboxed(t, t.TempDir(), workflow.Sandbox{AllowedCommands: []string{"ls"}})
	gaps, err := builtin.KernelGaps(auto)
	if err != nil {
		t.Fatal(err)
	}
	require := sandboxed(t, t.TempDir(), workflow.Sandbox{Kernel: "require", AllowedCommands: []string{"ls"}})
	_, err = builtin.KernelGaps(require)
	if (err != nil) != (len(gaps) > 0) {
		t.Errorf("under auto %q is missing, and under require the error is %v", gaps, err)
	}
	registered := builtin.Register(tool.NewRegistry(tool.RegistryOptions{}), builtin.Options{Sandbox: require})
	if (registered != nil) != (err != nil) {
		t.Errorf("registering: %v", registered)
	}
}

// TestCheckedCommandsStart: the current directory is the checked one, and a
// program that can't be executed is an error.
func TestCheckedCommandsStart(t *testing.T) {
	dir := t.TempDir()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "broken"), []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	block := workflow.Sandbox{Enabled: true, AllowedCommands: []string{"pwd", "broken"}, AllowedPaths: []string{"."}}
	p, err := sandbox.New(&block, sandbox.PolicyOptions{Dir: dir, Path: "/usr/bin:/bin:" + bin})
	if err != nil {
		t.Fatal(err)
	}
	r := tools(t, builtin.Options{Sandbox: p})
	got, err := call(t, r, "shell_command", "command", "pwd")
	if err != nil || field(t, got, "stdout") != p.Dir()+"\n" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err = call(t, r, "shell_command", "command", "broken"); err == nil || !strings.HasPrefix(err.Error(), "the command could not be started: exec format error") {
		t.Errorf("got %v", err)
	}
	if _, err = call(t, r, "shell_command", "command", "pwd", "cwd", ""); err == nil || err.Error() != `argument "cwd" is empty` {
		t.Errorf("got %v", err)
	}
}
