// Package openai is the provider for OpenAI's Chat Completions and for the many
// services that speak the same language (Groq, OpenRouter, vLLM, llama.cpp, …).
//
// The vendor's SDK makes the requests, once for each of the service's paths;
// a call is sent as a copy with a body of its own, and without retries, so that
// there is one retry policy, the step's. Nothing is read from the environment,
// and nothing is told of the machine it runs on. Bodies are written and read
// here: the SDK's pipeline and types would cost more time than all the rest of
// a call, and memory that an answer could make grow without bound.
//
// What comes back is made the same for all providers:
//
//   - A refusal (the service's own field for it) is the model's answer: its
//     text is the response's text and the finish reason is "content_filter".
//   - No text at all is a response with an empty Text; whether that will do is
//     for the step to judge.
//   - An answer without any choice is a transient error, with a response
//     beside it when the service reported tokens.
//   - A trace that compatible services send in fields of their own
//     ("reasoning_content", "reasoning", parts of the type "thinking") or as
//     inline <think> text is the response's Reasoning. Of a turn with tool
//     calls these fields go back to the service, as some demand.
//   - A stream is whole once it gave a finish reason. What it says after that
//     (the usage) is read, but not waited for beyond the connection's end.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// DefaultBaseURL is OpenAI's own service.
const DefaultBaseURL = "https://api.openai.com/v1"

// usualAnswer is a size, in bytes, that few answers exceed.
const usualAnswer = 64 << 10

// Config is what a Provider needs.
type Config struct {
	// Name is the provider's name in workflow files and results; default
	// "openai".
	Name string
	// APIKey is sent as a bearer token. OpenAI itself demands one; with a
	// BaseURL of another service it may be empty, and nothing is sent then.
	// White space around it is dropped.
	APIKey string
	// BaseURL is where the API is, with /v1 where the service has that;
	// default DefaultBaseURL. Its scheme is http or https, and it holds no
	// user, no query and no fragment.
	BaseURL string
	// KeyVar and BaseVar are the variables, or settings, that errors tell the
	// user to check; default OPENAI_API_KEY and OPENAI_BASE_URL.
	KeyVar, BaseVar string
	// HTTPClient makes the calls; redirects are not followed, whatever it
	// says. Default: one with a transport tuned for many parallel calls.
	HTTPClient *http.Client
	// Proxy chooses the proxy of the default client's requests, as
	// http.ProxyFromEnvironment does; nil is none. It is not used with an
	// HTTPClient.
	Proxy func(*http.Request) (*url.URL, error)
	// NoSchema says that the service does not take a JSON Schema for its
	// answers, so that a request's Schema is left to the caller. Hosts that are
	// known for it need no such setting.
	NoSchema bool
}

// Provider is one service that speaks Chat Completions. It is safe for
// concurrent use.
type Provider struct {
	service httpapi.Service
	send    func(*http.Request) (*http.Response, error)
	own     *http.Transport // nil with a client of the caller's
	openAI  bool            // whether the host is OpenAI's own
	quirks  quirks
	// What calls to the service's paths are copies of.
	completions, embeddings *http.Request
}

// New returns a provider. Its errors are *fault.Error of kind Invalid and say
// which setting is wrong.
func New(cfg Config) (*Provider, error) {
	cfg = cfg.withDefaults()
	base, err := cfg.access().URL()
	if err != nil {
		return nil, err
	}
	p := &Provider{openAI: isOpenAI(base.Hostname()), quirks: quirksOf(base.Hostname())}
	p.quirks.noSchema = p.quirks.noSchema || cfg.NoSchema
	if err := cfg.access().CheckKey(p.openAI); err != nil {
		return nil, err
	}
	if cfg.HTTPClient != nil {
		p.send = httpapi.NoRedirects(cfg.HTTPClient).Do
	} else {
		p.own = httpapi.NewTransport(cfg.Proxy)
		p.send = httpapi.Send(p.own)
	}
	p.service = httpapi.Service{
		Name:    cfg.Name,
		Host:    base.Scheme + "://" + base.Host,
		Key:     cfg.APIKey,
		KeyVar:  cfg.KeyVar,
		BaseVar: cfg.BaseVar,
	}
	if p.completions, err = newRequest(cfg, base, "chat/completions"); err == nil {
		p.embeddings, err = newRequest(cfg, base, "embeddings")
	}
	if err != nil {
		return nil, cfg.access().Invalid("no request can be made: %s", httpapi.Clean(err.Error(), cfg.APIKey))
	}
	return p, nil
}

func (c Config) withDefaults() Config {
	c.APIKey = strings.TrimSpace(c.APIKey)
	c.Name = cmp.Or(c.Name, "openai")
	c.BaseURL = cmp.Or(strings.TrimSpace(c.BaseURL), DefaultBaseURL)
	c.KeyVar = cmp.Or(c.KeyVar, "OPENAI_API_KEY")
	c.BaseVar = cmp.Or(c.BaseVar, "OPENAI_BASE_URL")
	return c
}

func (c Config) access() httpapi.Access {
	return httpapi.Access{
		Name: c.Name, Key: c.APIKey, Base: c.BaseURL, KeyVar: c.KeyVar, BaseVar: c.BaseVar, Example: DefaultBaseURL,
	}
}

// isOpenAI reports whether a host is OpenAI's own, regional ones included.
func isOpenAI(host string) bool {
	host = strings.ToLower(host)
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}

// Name is the provider's name.
func (p *Provider) Name() string { return p.service.Name }

// TakesAnyModel reports whether the service is not OpenAI's own, so that it
// may have models of every name.
func (p *Provider) TakesAnyModel() bool { return !p.openAI }

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
	body, err := p.request(req)
	if err != nil {
		return nil, err
	}
	if stream != nil {
		return p.stream(ctx, body, stream)
	}
	res, err := p.post(ctx, p.completions, body)
	if err != nil {
		return nil, err
	}
	src, err := p.whole(ctx, res, httpapi.MaxAnswer)
	if err != nil {
		return nil, err
	}
	return p.response(ctx, src)
}

// post makes the HTTP call and returns the answer, which is a success, with its
// body unread.
func (p *Provider) post(ctx context.Context, to *http.Request, body any) (*http.Response, error) {
	src, err := encode(body)
	if err != nil {
		return nil, p.service.Failure(ctx, err)
	}
	req := to.WithContext(ctx)
	req.Header = to.Header.Clone() // a transport or a cookie jar may add to it
	req.ContentLength = int64(len(src))
	req.Body = io.NopCloser(bytes.NewReader(src))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
	res, err := p.send(req)
	if err != nil {
		return nil, p.service.Failure(ctx, err)
	}
	if err := p.service.Check(res); err != nil {
		return nil, p.service.Failure(ctx, err)
	}
	if err := p.service.NotJSON(res); err != nil {
		return nil, err
	}
	return res, nil
}

// whole reads an answer that comes in one piece, of at most max bytes.
func (p *Provider) whole(ctx context.Context, res *http.Response, max int64) ([]byte, error) {
	defer func() { _ = res.Body.Close() }()
	p.service.Guard(res, max)
	var src bytes.Buffer
	// As a service may say anything, no more than a usual answer's size is
	// believed before it has come.
	if n := res.ContentLength; n > 0 { // else it is not told
		src.Grow(bytes.MinRead + int(min(n, usualAnswer)))
	}
	if _, err := src.ReadFrom(res.Body); err != nil {
		return nil, p.service.Failure(ctx, err)
	}
	return src.Bytes(), nil
}
