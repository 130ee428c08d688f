// Package mock is the provider that answers from canned responses, without any
// service: for examples, tests, and runs without a network.
//
// # The file
//
// Responses are a JSON object. A call finds its response under the qualified
// id of its step ("review.summary" for the step summary of the subworkflow
// step review), else under the step's own id ("summary"), else under the
// SHA-256 of the request. Keys that start with "_" are metadata and ignored.
//
//	{
//	  "_note": "written by hand",
//	  "classify": {"content": "billing", "usage": {"prompt_tokens": 12, "completion_tokens": 1}},
//	  "draft": [{"content": "first turn"}, {"content": "every later turn"}]
//	}
//
// A value is one response or a list of at least one; each call of a step takes
// the next of the list, a retried attempt too, and the last one repeats. The
// count is kept for each qualified step id, so a Provider is for one run. A
// response has these fields, all optional, where null is the same as leaving
// out, save for cost_usd:
//
//	content        the text; left out: no text
//	model          the model that answered; left out: the one that was asked
//	usage          {prompt_tokens, completion_tokens, total_tokens,
//	               reasoning_tokens, cached_tokens}; total_tokens left out: the
//	               sum of the first two
//	cost_usd       the price; left out: 0, for a mock call costs nothing; null:
//	               not known
//	latency_ms     how long the call takes with the latency model "replay"
//	finish_reason  left out: "stop"
//	tool_calls, reasoning, embeddings
//	               checked, but not supported yet: a file that has them is
//	               refused
//
// A call that finds nothing gets the text "Mock response", zero tokens, cost 0
// and the finish reason "stop"; its Response.Raw holds the request's SHA-256.
//
// # The hash of a request
//
// The SHA-256, in lower-case hexadecimal, is taken over the request as JSON in
// UTF-8: an object with the keys model, messages (each {"role", "text"}),
// system, temperature and max_tokens, those left out that the request does not
// have; keys sorted, no spaces, only what must be escaped escaped (and U+2028
// and U+2029), and whole temperatures written with a point, as 1.0. That is
// what Python's json.dumps(request, sort_keys=True, separators=(",", ":"),
// ensure_ascii=False) writes. In a shell:
//
//	printf %s '{"messages":[{"role":"user","text":"Hi"}],"model":"gpt-4o-mini"}' | sha256sum
package mock

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// DefaultText is the answer to a call that has no canned response.
const DefaultText = "Mock response"

// Config is what a Provider needs.
type Config struct {
	// Name is the provider's name in results; default "mock".
	Name string
	// Responses is the JSON of the canned responses; empty: every call gets
	// the default answer.
	Responses []byte
	// File names the responses in errors; default "the mock responses".
	File string
	// LatencyModel says how long calls take: Constant (LatencyMS each), Normal
	// (normally distributed around LatencyMS with a standard deviation of a
	// fifth of it, the same for the same request on every run, never below 0)
	// or Replay (each response's own latency_ms, else LatencyMS). Default: no
	// wait, or Constant when LatencyMS is set.
	LatencyModel string
	// LatencyMS is in milliseconds, 0 to MaxLatencyMS; Constant and Normal
	// need it.
	LatencyMS *float64
}

// Provider answers from canned responses. It is safe for concurrent use, and
// meant for one run: it counts each step's calls.
type Provider struct {
	model.NoEmbeddings
	name      string
	responses map[string][]response
	latency   latency

	mu    sync.Mutex
	calls map[string]int // by qualified step id and key
}

// New returns a provider. Its errors are *fault.Error of kind Invalid: what is
// wrong in the responses, with file, line and column, or in the settings.
func New(cfg Config) (*Provider, error) {
	p := &Provider{name: cmp.Or(cfg.Name, "mock"), calls: map[string]int{}}
	var err error
	if p.latency, err = newLatency(cfg); err != nil {
		return nil, err
	}
	if len(cfg.Responses) > 0 {
		if p.responses, err = parse(cfg.Responses, cmp.Or(cfg.File, "the mock responses")); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Name is the provider's name.
func (p *Provider) Name() string { return p.name }

// Complete answers one call, after the wait that the latency model asks for.
func (p *Provider) Complete(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
	canned, raw := p.find(req)
	if err := p.latency.wait(ctx, p.name, canned, req); err != nil {
		return nil, err
	}
	r := canned.response(p.name, req.Model)
	r.Raw = raw
	return r, nil
}

// find returns the call's canned response, and where it was found.
func (p *Provider) find(req *model.Request) (response, json.RawMessage) {
	key, turns := p.lookup(req)
	if turns == nil {
		return defaultResponse(), json.RawMessage(fmt.Sprintf(`{"request_sha256":%q}`, Hash(req)))
	}
	counter := req.StepID + "\x00" + key
	p.mu.Lock()
	n := p.calls[counter]
	p.calls[counter] = n + 1
	p.mu.Unlock()
	n = min(n, len(turns)-1)
	return turns[n], nil
}

func (p *Provider) lookup(req *model.Request) (string, []response) {
	if len(p.responses) == 0 {
		return "", nil
	}
	own := req.StepID[strings.LastIndexByte(req.StepID, '.')+1:]
	for _, key := range []string{req.StepID, own} {
		if turns := p.responses[key]; turns != nil {
			return key, turns
		}
	}
	hash := Hash(req)
	return hash, p.responses[hash]
}

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, fmt.Sprintf(format, args...), nil)
}
