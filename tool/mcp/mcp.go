// Package mcp makes the tools of MCP servers tools of a run. A server is a
// program that is started and spoken to over its standard input and output, or
// a streamable HTTP endpoint. It is started when one of its tools is first
// needed, started again when it died, and stopped with the run.
package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/workflow"
)

const (
	defaultTimeout   = 30 * time.Second
	defaultMaxResult = 8 << 20
	separator        = "__" // between a server's name and its tool's
)

// Options say how servers are started and reached. The zero value is ready to
// use, with an empty environment.
type Options struct {
	// Dir is the directory that programs run in and that a relative command
	// with a slash starts from; "" is the process's.
	Dir string
	// Environ is the environment to choose from, as os.Environ returns it.
	// Programs get of it what they need to find themselves (PATH, HOME, USER,
	// LANG, TMPDIR and the like), and the server's own `env`. Commands are
	// looked up in its PATH.
	Environ []string
	// Allow is asked each time before a server is started or connected to; its
	// error refuses the server. nil allows all. It does not see what a URL's
	// host resolves to later: that is the Transport's to check.
	Allow func(context.Context, workflow.MCPServer) error
	// Start starts a program, as (*exec.Cmd).Start does, which is what nil
	// means. It may confine it; it must keep the process group that the command
	// asks for.
	Start func(workflow.MCPServer, *exec.Cmd) error
	// Transport sends the HTTP requests; nil is a plain one that uses Proxy.
	// Redirects are never followed. One with timeouts of its own must let an
	// answer take as long as the server's timeout.
	Transport http.RoundTripper
	// Proxy chooses the proxy of a request when Transport is nil; nil is none.
	Proxy func(*http.Request) (*url.URL, error)
	// Stderr gets what programs print to standard error, a line at a time and
	// without control characters; nil drops it. It is called from several
	// goroutines. A line is cut at 4 KiB; after 1 MiB a program is not heard
	// any more.
	Stderr func(server, line string)
	// Logger gets warnings about tools that can't be used and servers that
	// died; nil is slog.Default.
	Logger *slog.Logger
	// ClientName and ClientVersion are what servers are told about the caller;
	// "" is "agentloom" and "0".
	ClientName, ClientVersion string
	// MaxResult is the most that a tool may return, in bytes of JSON: more is
	// an error. Default 8 MiB. One message of a server, a page of its list of
	// tools too, may be twice as large and a megabyte; a larger one ends the
	// connection.
	MaxResult int64
}

// Servers are the MCP servers of one run. It is safe for concurrent use. A nil
// Servers has none.
type Servers struct {
	opts   Options
	list   []*server
	byName map[string]*server
	life   context.Context // ends with Close
	end    context.CancelFunc
	work   sync.WaitGroup // everything that runs in the background
	once   sync.Once
}

// New returns the servers, none of which is started yet. It fails, with kind
// Invalid, on a server that can't have tools: without a name, with a name that
// no tool could have in front, with both or neither of a command and a URL, or
// with tools that can't be named.
func New(servers []workflow.MCPServer, opts Options) (*Servers, error) {
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	if opts.MaxResult <= 0 {
		opts.MaxResult = defaultMaxResult
	}
	if opts.Start == nil {
		opts.Start = func(_ workflow.MCPServer, cmd *exec.Cmd) error { return cmd.Start() }
	}
	if opts.ClientName == "" {
		opts.ClientName = "agentloom"
	}
	if opts.ClientVersion == "" {
		opts.ClientVersion = "0"
	}
	s := &Servers{opts: opts, byName: make(map[string]*server, len(servers))}
	s.life, s.end = context.WithCancel(context.Background())
	for _, def := range servers {
		one, err := s.newServer(def)
		if err == nil && s.byName[def.Name] != nil {
			err = fmt.Errorf("there are two servers of this name")
		}
		if err != nil {
			s.end()
			return nil, fault.New(fault.Invalid, fmt.Sprintf("MCP server %q: %v", def.Name, err), err)
		}
		s.list = append(s.list, one)
		s.byName[def.Name] = one
	}
	return s, nil
}

// Names returns the tools that are known without starting a server: those of
// servers with a `tools` list. They are in the order of the definition.
func (s *Servers) Names() []string {
	var names []string
	if s == nil {
		return nil
	}
	for _, one := range s.list {
		for _, name := range one.def.Tools {
			names = append(names, toolName(one.def.Name, name))
		}
	}
	return names
}

// Has says whether a tool's name belongs to one of the servers, without
// starting it. Whether the server has such a tool is not known yet.
func (s *Servers) Has(name string) bool {
	_, ok := s.serverOf(name)
	return ok
}

// Resolve returns the tool of a name such as "files__read_file". It starts that
// tool's server, and no other, unless it runs already. It is false, without an
// error, when no server goes by the name's first part. A server that can't be
// started and a tool that it does not have are errors.
func (s *Servers) Resolve(ctx context.Context, name string) (tool.Tool, bool, error) {
	one, ok := s.serverOf(name)
	if !ok {
		return nil, false, nil
	}
	tools, err := one.tools(ctx)
	if err != nil {
		return nil, true, err
	}
	if i := slices.IndexFunc(tools, func(t *remote) bool { return t.spec.Name == name }); i >= 0 {
		return tools[i], true, nil
	}
	return nil, true, one.noSuchTool(name, tools)
}

// Tools starts all servers and returns their tools, in the order of the
// definition and then of the server's list.
func (s *Servers) Tools(ctx context.Context) ([]tool.Tool, error) {
	if s == nil {
		return nil, nil
	}
	found := make([][]*remote, len(s.list))
	errs := make([]error, len(s.list))
	var all sync.WaitGroup
	for i, one := range s.list {
		all.Go(func() { found[i], errs[i] = one.tools(ctx) })
	}
	all.Wait()
	var out []tool.Tool
	for i := range s.list {
		if errs[i] != nil {
			return nil, errs[i]
		}
		for _, t := range found[i] {
			out = append(out, t)
		}
	}
	return out, nil
}

// Close stops the calls that run and the servers: their input is closed, after
// a second they are told to end, and after another second they are killed,
// with everything that they started in their process group. It returns when
// nothing of them runs any more. Tools then fail.
func (s *Servers) Close() {
	if s == nil {
		return
	}
	s.once.Do(func() {
		s.end()
		var all sync.WaitGroup
		for _, one := range s.list {
			all.Go(one.close)
		}
		all.Wait()
	})
	s.work.Wait()
}

// serverOf finds the server of a tool's name. The first separator ends the
// server's name, since that neither holds one nor ends in an underscore.
func (s *Servers) serverOf(name string) (*server, bool) {
	if s == nil {
		return nil, false
	}
	prefix, _, ok := strings.Cut(name, separator)
	if !ok {
		return nil, false
	}
	one, ok := s.byName[prefix]
	return one, ok
}

// client makes what speaks the protocol. It offers servers nothing: no
// sampling, no questions to the user, no roots.
func (s *Servers) client() *sdk.Client {
	return sdk.NewClient(
		&sdk.Implementation{Name: s.opts.ClientName, Version: s.opts.ClientVersion},
		&sdk.ClientOptions{
			Logger:         slog.New(slog.DiscardHandler),
			Capabilities:   &sdk.ClientCapabilities{},
			MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		})
}

// maxMessage bounds one message of a server, in bytes.
func (s *Servers) maxMessage() int { return int(2*s.opts.MaxResult + 1<<20) }
