package cli

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/tool/mcp"
	"github.com/agentloom/agentloom/workflow"
)

// mcpServers returns a workflow's MCP servers, which start when one of their
// tools is first needed. The caller closes them when the run has ended.
func (p *program) mcpServers(def *workflow.Definition, env environment, policy *sandbox.Policy) (*mcp.Servers, error) {
	opts := mcp.Options{
		Dir:           p.workingDir(),
		Environ:       env.list(),
		Proxy:         http.ProxyFromEnvironment,
		Stderr:        func(server, text string) { p.say("%s\n", p.err.dim(line(server+": "+text))) },
		Logger:        slog.New(warnings{p.warn}),
		ClientVersion: agentloom.Version,
	}
	if policy.Enabled() {
		own := policy.As("mcp_servers")
		opts.Allow = func(ctx context.Context, s workflow.MCPServer) error {
			if s.Command != "" {
				return own.CheckCommand(s.Command, ".")
			}
			return own.CheckURL(ctx, s.URL)
		}
		opts.Transport = sandbox.NewGuard(own.Request(), sandbox.Options{Timeout: longest(def.MCPServers)})
	}
	servers, err := mcp.New(def.MCPServers, opts)
	if err != nil {
		return nil, &failure{exitFailed, err}
	}
	return servers, nil
}

// longest is the longest of the servers' timeouts, and at least the default.
func longest(servers []workflow.MCPServer) time.Duration {
	most := 30.0
	for _, s := range servers {
		if s.Timeout != nil {
			most = max(most, *s.Timeout)
		}
	}
	return time.Duration(most * float64(time.Second))
}

// warnings is a log handler that makes each warning a line of the run's log.
type warnings struct{ warn func(string) }

// Enabled is true for warnings and worse.
func (warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle writes the record's line.
func (w warnings) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	w.warn(text)
	return nil
}

// WithAttrs and WithGroup keep the handler as it is: nothing here uses them.
func (w warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup is like WithAttrs.
func (w warnings) WithGroup(string) slog.Handler { return w }
