// Package mock is the provider that answers from canned responses, without any
// service: for examples, tests, and runs without a network.
//
// # The file
//
// Responses are a JSON object. A call finds its response under the qualified
// id of its step ("review.summary" for the step summary of the subworkflow
// step review), else under the step's own id ("summary"), else under the
// SHA-256 of the request. Keys that start with "_", such as the _version and
// _tools of a recording, are metadata and ignored.
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
//	finish_reason  left out: "stop", or "tool_calls" when there are some
//	tool_calls     [{id, name, arguments}]; arguments is an object, or a string:
//	               the very text that the model wrote, be it JSON or not; left
//	               out: {}. An id that is left out, or that stands twice, is
//	               made up: call_1, call_2, …
//	reasoning      the trace of the model's thinking
//	embeddings     the vectors of a call for vectors, one for each text, all of
//	               one length
//
// A call that finds nothing gets the text "Mock response", zero tokens, cost 0
// and the finish reason "stop"; its Response.Raw holds the request's SHA-256. A
// call for vectors whose response has no embeddings gets vectors made up from
// the texts; see Vector.
//
// A call that streams gets its reasoning and text in words, with the latency
// spread evenly over them.
//
// # The hash of a request
//
// The SHA-256, in lower-case hexadecimal, is taken over the request as JSON in
// UTF-8: an object with the keys
//
//	model
//	messages     of each: role, text, tool_calls [{name, arguments}] (arguments
//	             as the model's text), tool_name, is_error, attachments [{type,
//	             media_type, data (base64), url}]
//	system, temperature, max_tokens
//	tools        of each: name, description, parameters
//	tool_choice  mode, name
//	thinking     enabled, budget_tokens, level
//	schema
//
// and for vectors model, inputs and dimensions. What the request does not have
// is left out (of an attachment, a tool and a tool_choice every key stands);
// keys are sorted, with no spaces, only what must be escaped escaped (and
// U+2028 and U+2029), and whole temperatures written with a point, as 1.0. That
// is what Python's json.dumps(request, sort_keys=True, separators=(",", ":"),
// ensure_ascii=False) writes. In a shell:
//
//	printf %s '{"messages":[{"role":"user","text":"Hi"}],"model":"gpt-4o-mini"}' | sha256sum
package mock

import (
	"cmp"
	"context"
	"crypto/sha256"
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
	// Strict makes a call without a canned response a permanent fault, for the
	// replay of a recording, which must not make anything up.
	Strict bool
}

// Provider answers from canned responses. It is safe for concurrent use, and
// meant for one run: it counts each step's calls.
type Provider struct {
	name      string
	responses map[string][]response
	latency   latency
	strict    bool

	mu    sync.Mutex
	calls map[string]int // by qualified step id and key
}

// New returns a provider. Its errors are *fault.Error of kind Invalid: what is
// wrong in the responses, with file, line and column, or in the settings.
func New(cfg Config) (*Provider, error) {
	p := &Provider{name: cmp.Or(cfg.Name, "mock"), strict: cfg.Strict, calls: map[string]int{}}
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

// Complete answers one call, after the wait that the latency model asks for, or
// word by word during it when there is a stream. A stream that ctx ends leaves
// the words that were handed on, without usage or cost.
func (p *Provider) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	canned, raw, err := p.find(req.StepID, func() string { return Hash(req) })
	if err != nil {
		return nil, err
	}
	took := p.latency.of(canned, func() [sha256.Size]byte { return requestSum(req) })
	r := canned.response(p.name, req.Model)
	r.Raw = raw
	if stream == nil {
		if err := wait(ctx, p.name, took); err != nil {
			return nil, err
		}
		return r, nil
	}
	return p.stream(ctx, r, took, stream)
}

// find returns a call's canned response, and detail for debugging when there
// is none.
func (p *Provider) find(stepID string, hash func() string) (response, json.RawMessage, error) {
	key, turns := p.lookup(stepID, hash)
	if turns == nil && p.strict {
		return response{}, nil, fault.New(fault.Permanent, fmt.Sprintf(
			"the recording has no answer for step %q; the workflow or its state is not the one that was recorded", stepID), nil)
	}
	if turns == nil {
		return defaultResponse(), json.RawMessage(fmt.Sprintf(`{"request_sha256":%q}`, hash())), nil
	}
	counter := stepID + "\x00" + key
	p.mu.Lock()
	n := p.calls[counter]
	p.calls[counter] = n + 1
	p.mu.Unlock()
	n = min(n, len(turns)-1)
	return turns[n], nil, nil
}

func (p *Provider) lookup(stepID string, hash func() string) (string, []response) {
	if len(p.responses) == 0 {
		return "", nil
	}
	own := stepID[strings.LastIndexByte(stepID, '.')+1:]
	for _, key := range []string{stepID, own} {
		if turns := p.responses[key]; turns != nil {
			return key, turns
		}
	}
	sum := hash()
	return sum, p.responses[sum]
}

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, fmt.Sprintf(format, args...), nil)
}
