package cli

import (
	"net/http"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/attachment"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/model/recorder"
	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/tool/mcp"
	"github.com/agentloom/agentloom/workflow"
)

// newEngine wires providers, tools, attachments and recordings for one
// workflow. This is the one place that knows all the adapters. The caller
// closes what it returns beside the engine when the run has ended.
func (p *program) newEngine(def *workflow.Definition, o runOptions, set settings, c choice, rec *recorder.Recorder) (*agentloom.Engine, *mcp.Servers, error) {
	cfg := agentloom.Config{Gateway: gateway.Options{Prices: set.prices}}
	var err error
	if cfg.Providers, err = p.providers(def, set, c); err != nil {
		return nil, nil, err
	}
	policy, err := p.policy(def, o, set, c)
	if err != nil {
		return nil, nil, err
	}
	servers, err := p.mcpServers(def, set.env, policy)
	if err != nil {
		return nil, nil, err
	}
	if cfg.Tools, err = p.tools(set.env, policy, servers); err != nil {
		return nil, nil, err
	}
	cfg.Attach = attachment.New(attachment.Config{
		Dir:     p.workingDir(),
		Network: policy.Attachment(),
		Sandbox: policy,
		Options: sandbox.Options{Proxy: http.ProxyFromEnvironment},
	}).Load
	switch {
	case o.replay:
		if cfg.Tape, err = p.replayTape(c.responses); err != nil {
			return nil, nil, err
		}
	case rec != nil:
		cfg.Gateway.Wrap = rec.Wrap
		if o.recordTools {
			cfg.Tape = recorder.Tape{To: rec}
		}
	}
	engine, err := agentloom.New(cfg)
	if err != nil {
		servers.Close()
		return nil, nil, failed("%w", err)
	}
	return engine, servers, nil
}
