// Package builtin has the four tools that every run has: http_request,
// shell_command, file_read and file_write. Without an enabled sandbox they have
// the access of the process that runs them: any command, any file and any host.
package builtin

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/tool"
)

// Options configures the built-in tools. The zero value is ready to use.
type Options struct {
	// Dir is where relative paths and commands start from; "" is the process's
	// working directory at the time of the call.
	Dir string
	// Sandbox holds the tools to its rules; nil, or one that is not enabled: no
	// checks. With one that is enabled, relative paths and commands start from
	// its directory and not from Dir.
	Sandbox *sandbox.Policy
	// Environ is what commands inherit, as "name=value"; nil is the process's
	// own environment. A command gets one variable more, whose name starts with
	// _AGENTLOOM_COMMAND_: its processes are known by it at the timeout. With
	// the sandbox enabled a command gets PATH, HOME, LANG, LC_ALL and TZ of it
	// and nothing else.
	Environ []string
	// Proxy chooses the proxy of a request, as http.ProxyFromEnvironment does;
	// nil is none.
	Proxy func(*http.Request) (*url.URL, error)
	// TLS is the configuration of https connections; nil trusts the system's
	// certificate authorities.
	TLS *tls.Config
	// UserAgent is sent by http_request unless a call sets the header;
	// "" is "agentloom".
	UserAgent string
	// MaxReadBytes makes it an error when a response body (decompressed), one
	// of a command's two output streams or a file that is read is larger. 0 is
	// no limit. The max_read_bytes of Sandbox, enabled or not, is a limit too.
	MaxReadBytes int64
	// Resolver resolves the host names of requests under an enabled sandbox; nil
	// is the system's.
	Resolver sandbox.Resolver
}

// defaultTimeout is that of http_request and shell_command, in seconds.
const defaultTimeout = 30

// Register adds the four built-in tools to r. They declare no effect, so they
// run at least once. shell_command and file_write are destructive; whether an
// http_request is depends on its method, which a permission has to look at.
// It fails on a negative MaxReadBytes, a Dir that has no absolute path, and a
// sandbox that requires of the kernel what it does not have.
func Register(r *tool.Registry, opts Options) error {
	if opts.MaxReadBytes < 0 {
		return fmt.Errorf("MaxReadBytes is %d; it must be 0 or more", opts.MaxReadBytes)
	}
	if opts.Dir != "" {
		dir, err := filepath.Abs(opts.Dir)
		if err != nil {
			return fmt.Errorf("the directory %q of the built-in tools: %w", opts.Dir, err)
		}
		opts.Dir = dir
	}
	if opts.UserAgent == "" {
		opts.UserAgent = "agentloom"
	}
	if err := applySandbox(&opts); err != nil {
		return err
	}
	files := files{dir: opts.Dir, max: opts.MaxReadBytes, policy: opts.Sandbox}
	shell := shell{dir: opts.Dir, environ: opts.Environ, max: opts.MaxReadBytes, policy: opts.Sandbox}
	client := newClient(opts)
	for _, t := range []tool.Tool{
		tool.Func("http_request", "Send an HTTP request. Returns status_code, headers and body; any status is a "+
			"result, and redirects are not followed.", client.request),
		tool.Func("shell_command", shell.about()+" Returns returncode, stdout and stderr; a non-zero exit code is a "+
			"result.", shell.command, tool.Destructive()),
		tool.Func("file_read", "Read a whole text file.", files.read),
		tool.Func("file_write", "Write a text file, replacing it when it exists. Returns the number of bytes written "+
			"and the path.", files.write, tool.Destructive()),
	} {
		if err := r.Register(t); err != nil {
			return err
		}
	}
	return nil
}

// seconds turns a timeout argument into a duration.
func seconds(arg *float64) (time.Duration, error) {
	if arg == nil {
		return defaultTimeout * time.Second, nil
	}
	if math.IsNaN(*arg) || *arg <= 0 {
		return 0, fmt.Errorf(`argument "timeout" must be a number of seconds above 0, not %v`, *arg)
	}
	if *arg >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64, nil
	}
	return max(1, time.Duration(*arg*float64(time.Second))), nil
}

// resolve makes a path argument start from dir. It does not clean the path:
// in "link/../x", only the kernel knows what ".." is.
func resolve(dir, name, path string) (string, error) {
	switch {
	case path == "":
		return "", fmt.Errorf("argument %q is empty", name)
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("argument %q holds a NUL character", name)
	case dir == "" || filepath.IsAbs(path):
		return path, nil
	}
	return dir + string(filepath.Separator) + path, nil
}

// short cuts an argument for an error: it may be a model's whole answer.
func short(text string) string {
	const most = 500
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// errTooLarge says that more came than Options.MaxReadBytes allows.
var errTooLarge = errors.New("too large")

// tooLarge names the limit that something broke.
func tooLarge(what string, limit int64) error {
	return fmt.Errorf("%s is %w: more than max_read_bytes, which is %d", what, errTooLarge, limit)
}
