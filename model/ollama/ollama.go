// Package ollama is the provider for Ollama's own API, /api/chat and
// /api/embed, on this machine, on another, or at ollama.com.
//
// It is a thin client of its own and does not use the vendor's Go package,
// github.com/ollama/ollama/api (looked at in v0.17.4), for these reasons:
//
//   - It takes a stream that breaks off for a whole answer: the error of its
//     line scanner is dropped, and so is the lack of a last message.
//   - It sets aside 8 MiB for each streamed call, 1.6 GB for 200 parallel ones,
//     and ends a longer line as if the answer had ended.
//   - It reads the environment and, for ollama.com, a private key from the home
//     directory; an adapter here takes nothing that it is not given.
//   - Its type for a tool's parameters drops what it doesn't know of a JSON
//     Schema, and its type for arguments refuses an answer whose arguments are
//     no object and turns whole numbers into floats.
//   - Its module is the whole server's: 57 MB of sources, an SSH client, and
//     the server's advisories in every scan.
//
// What comes back is made the same for all providers:
//
//   - Costs are 0, and so are reasoning and cached tokens, which Ollama does
//     not count apart.
//   - Calls of tools get made-up ids where the server gives none.
//   - The trace of a model that thinks is kept in Response.Native too and goes
//     back with the turn, as models such as gpt-oss want it between tool calls.
//
// And of what is asked:
//
//   - Ollama has no tool choice. "none" sends no tools; "required" and a tool's
//     name have no effect, so that the model decides.
//   - A schema becomes Ollama's format, but not in a call that offers tools:
//     the format would keep the model from calling any.
//   - Thinking is on or off. Its level reaches the models that have levels
//     (gpt-oss); for others a level or a budget means on.
//   - An image goes with its data. Ollama fetches no URLs, and takes no PDF and
//     no audio: these are permanent errors.
package ollama

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// DefaultBaseURL is where Ollama listens when nobody says otherwise.
const DefaultBaseURL = "http://localhost:11434"

// Config is what a Provider needs; the zero Config is Ollama on this machine.
type Config struct {
	// Name is the provider's name in workflow files and results; default
	// "ollama".
	Name string
	// BaseURL is where Ollama is, in any form that ParseHost takes; default
	// DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token, for ollama.com and for a proxy that
	// wants one; "" sends none. White space around it is dropped.
	APIKey string
	// KeyVar and BaseVar are the variables, or settings, that errors tell the
	// user to check; default OLLAMA_API_KEY and OLLAMA_BASE_URL.
	KeyVar, BaseVar string
	// HTTPClient makes the calls; redirects are not followed, whatever it
	// says. Default: one with a transport tuned for many parallel calls.
	HTTPClient *http.Client
	// Proxy chooses the proxy of the default client's requests, as
	// http.ProxyFromEnvironment does; nil is none. It is not used with an
	// HTTPClient.
	Proxy func(*http.Request) (*url.URL, error)
}

// Provider is one Ollama server. It is safe for concurrent use.
type Provider struct {
	service httpapi.Service
	base    string
	client  *http.Client
	own     *http.Transport // nil with a client of the caller's
}

// New returns a provider. Its errors are *fault.Error of kind Invalid and say
// which setting is wrong. It does not ask whether the server is there.
func New(cfg Config) (*Provider, error) {
	cfg.Name = cmp.Or(cfg.Name, "ollama")
	cfg.KeyVar = cmp.Or(cfg.KeyVar, "OLLAMA_API_KEY")
	cfg.BaseVar = cmp.Or(cfg.BaseVar, "OLLAMA_BASE_URL")
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	base, err := ParseHost(cfg.BaseURL)
	if err != nil {
		return nil, invalid(cfg, "%s %v", cfg.BaseVar, err)
	}
	for i := range len(cfg.APIKey) {
		if c := cfg.APIKey[i]; c < 0x21 || c > 0x7e {
			return nil, invalid(cfg, "the key in %s holds a character that no key has (a space, a line break or one outside ASCII)", cfg.KeyVar)
		}
	}
	p := &Provider{base: base}
	client := cfg.HTTPClient
	if client == nil {
		p.own = httpapi.NewTransport(cfg.Proxy)
		client = &http.Client{Transport: p.own}
	}
	p.client = httpapi.NoRedirects(client)
	p.service = httpapi.Service{
		Name:    cfg.Name,
		Host:    hostOf(base),
		Key:     cfg.APIKey,
		KeyVar:  cfg.KeyVar,
		BaseVar: cfg.BaseVar,
	}
	return p, nil
}

func invalid(cfg Config, format string, args ...any) error {
	return fault.New(fault.Invalid, "provider "+cfg.Name+": "+fmt.Sprintf(format, args...), nil)
}

// Name is the provider's name.
func (p *Provider) Name() string { return p.service.Name }

// TakesAnyModel reports that Ollama may have models of every name.
func (p *Provider) TakesAnyModel() bool { return true }

// Close drops the connections that are kept open between calls. The provider
// can still be used.
func (p *Provider) Close() error {
	if p.own != nil {
		p.own.CloseIdleConnections()
	}
	return nil
}

// Complete makes one model call.
func (p *Provider) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	body, err := p.request(req, stream != nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	collect := httpapi.Collect(stream)
	res, err := p.post(ctx, "/api/chat", req.Model, body, httpapi.MaxAnswer)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // the answer is read, or given up
	a := answer{provider: p, collect: collect}
	if stream == nil {
		err = a.readWhole(res.Body)
	} else {
		err = a.readStream(res.Body, cancel)
	}
	if err != nil {
		err = p.service.Failure(ctx, err)
	}
	return a.response(err)
}

// Embed turns texts into vectors.
func (p *Provider) Embed(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	if req.Model == "" || len(req.Inputs) == 0 {
		return nil, p.refuse("a call needs a model and at least one text")
	}
	res, err := p.post(ctx, "/api/embed", req.Model, embedRequest{req.Model, req.Inputs, req.Dimensions}, httpapi.MaxVectors)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // the answer is read, or given up
	var a embedAnswer
	if err := p.decode(res.Body, &a); err != nil {
		return nil, p.service.Failure(ctx, err)
	}
	out := &model.EmbedResponse{Model: cmp.Or(a.Model, req.Model), Provider: p.Name(), CostUSD: new(float64)}
	if c := a.PromptTokens; c.sent {
		out.Usage = httpapi.CleanUsage(model.Usage{PromptTokens: c.n})
	}
	if err := p.service.CheckVectors(a.Embeddings, len(req.Inputs)); err != nil {
		if out.Usage == nil {
			return nil, err
		}
		return out, err
	}
	out.Vectors = a.Embeddings
	return out, nil
}

// post sends a request and returns a successful answer, its body of at most max
// bytes.
func (p *Provider) post(ctx context.Context, path, modelName string, body any, max int64) (*http.Response, error) {
	if ctx.Err() != nil {
		return nil, httpapi.Ended(ctx, p.Name())
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, p.service.Failure(ctx, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+path, &b)
	if err != nil {
		return nil, p.service.Failure(ctx, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if p.service.Key != "" {
		req.Header.Set("Authorization", "Bearer "+p.service.Key)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, p.unreached(ctx, err)
	}
	if err := p.service.Check(res); err != nil {
		return nil, p.missing(err, modelName)
	}
	if err := p.notJSON(res); err != nil {
		return nil, err
	}
	p.service.Guard(res, max)
	return res, nil
}

// unreached says what is most often the matter when nobody listens.
func (p *Provider) unreached(ctx context.Context, err error) error {
	failed := p.service.Failure(ctx, err)
	if f, ok := errors.AsType[*fault.Error](failed); ok && errors.Is(err, syscall.ECONNREFUSED) && ctx.Err() == nil {
		f.Message += fmt.Sprintf(" (is Ollama running? start it with `ollama serve`, or set %s)", p.service.BaseVar)
	}
	return failed
}

// missing adds the cure to the error for a model that is not there.
func (p *Provider) missing(err error, modelName string) error {
	f, ok := errors.AsType[*fault.Error](err)
	if ok && f.Status == http.StatusNotFound && strings.Contains(f.Message, "model") && strings.Contains(f.Message, "not found") {
		f.Message += fmt.Sprintf(" (get it with `ollama pull %s`)", httpapi.Clean(modelName, p.service.Key))
	}
	return err
}

// notJSON is httpapi's with our own advice: Ollama's base URL has no /v1.
func (p *Provider) notJSON(res *http.Response) error {
	s := p.service
	s.BaseVar = ""
	err := s.NotJSON(res)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		f.Message += fmt.Sprintf(" (check %s)", p.service.BaseVar)
	}
	return err
}

// decode reads one JSON document.
func (p *Provider) decode(body io.Reader, into any) error {
	src, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(src, into); err != nil {
		return p.notWhole(err)
	}
	return nil
}

func (p *Provider) notWhole(err error) error {
	return fault.New(fault.Transient, p.Name()+" answered no whole JSON document of its kind", err)
}

// refuse is the error for what can't be asked of Ollama.
func (p *Provider) refuse(format string, args ...any) error {
	return fault.New(fault.Permanent, "provider "+p.Name()+": "+fmt.Sprintf(format, args...), nil)
}
