package cli

import (
	"fmt"
	"net/http"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/attachment"
	"github.com/agentloom/agentloom/model/gateway"
	"github.com/agentloom/agentloom/model/recorder"
	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/workflow"
)

// newEngine wires providers, tools, attachments and recordings for one
// workflow. This is the one place that knows all the adapters.
func (p *program) newEngine(def *workflow.Definition, o runOptions, set settings, c choice, rec *recorder.Recorder) (*agentloom.Engine, error) {
	cfg := agentloom.Config{Gateway: gateway.Options{
		Prices: set.prices,
		Warn:   p.warn,
		OnBreaker: func(provider, from, to string) {
			p.warn(fmt.Sprintf("the circuit of provider %s is %s (it was %s)", provider, to, from))
		},
	}}
	var err error
	if cfg.Providers, err = p.providers(def, set, c); err != nil {
		return nil, err
	}
	if cfg.Tools, err = p.tools(set.env); err != nil {
		return nil, err
	}
	cfg.Attach = attachment.New(attachment.Config{
		Dir:     p.workingDir(),
		Network: sandbox.AttachmentNetwork(def.Config.Sandbox),
		Options: sandbox.Options{Proxy: http.ProxyFromEnvironment},
	}).Load
	switch {
	case o.replay:
		if cfg.Tape, err = p.replayTape(c.responses); err != nil {
			return nil, err
		}
	case rec != nil:
		cfg.Gateway.Wrap = rec.Wrap
		if o.recordTools {
			cfg.Tape = recorder.Tape{To: rec}
		}
	}
	engine, err := agentloom.New(cfg)
	if err != nil {
		return nil, failed("%w", err)
	}
	return engine, nil
}
