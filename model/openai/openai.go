// Package openai is the provider for OpenAI's Chat Completions and for the many
// services that speak the same language (Groq, OpenRouter, vLLM, llama.cpp, …).
//
// It goes through the vendor's SDK, whose retries are off, so that there is
// one retry policy, the step's. Nothing is read from the environment.
//
// What comes back is made the same for all providers:
//
//   - A refusal (the service's own field for it) is the model's answer: its
//     text is the response's text and the finish reason is "content_filter".
//   - No text at all is a response with an empty Text; whether that will do is
//     for the step to judge.
//   - An answer without any choice is a transient error, with a response
//     beside it when the service reported tokens.
package openai

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// DefaultBaseURL is OpenAI's own service.
const DefaultBaseURL = "https://api.openai.com/v1"

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
}

// Provider is one service that speaks Chat Completions. It is safe for
// concurrent use.
type Provider struct {
	model.NoEmbeddings
	service     httpapi.Service
	completions sdk.ChatCompletionService
	own         *http.Transport // nil with a client of the caller's
	openAI      bool            // whether the host is OpenAI's own
}

// New returns a provider. Its errors are *fault.Error of kind Invalid and say
// which setting is wrong.
func New(cfg Config) (*Provider, error) {
	cfg = cfg.withDefaults()
	base, err := parseBase(cfg)
	if err != nil {
		return nil, err
	}
	p := &Provider{openAI: isOpenAI(base.Hostname())}
	if err := checkKey(cfg, p.openAI); err != nil {
		return nil, err
	}
	client := cfg.HTTPClient
	if client == nil {
		p.own = httpapi.NewTransport(cfg.Proxy)
		client = &http.Client{Transport: p.own}
	}
	p.service = httpapi.Service{
		Name:    cfg.Name,
		Host:    base.Scheme + "://" + base.Host,
		Key:     cfg.APIKey,
		KeyVar:  cfg.KeyVar,
		BaseVar: cfg.BaseVar,
	}
	// The service, unlike the SDK's client, takes nothing from the environment.
	p.completions = sdk.NewChatCompletionService(
		option.WithBaseURL(base.String()),
		option.WithAPIKey(cfg.APIKey),
		option.WithHTTPClient(httpapi.NoRedirects(client)),
		option.WithMaxRetries(0),
		option.WithMiddleware(p.check),
	)
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

// parseBase reads the base URL. Its errors don't print the URL, which may hold
// a password.
func parseBase(cfg Config) (*url.URL, error) {
	u, err := url.Parse(cfg.BaseURL)
	switch {
	case err != nil:
		return nil, invalid(cfg, "%s is no URL", cfg.BaseVar)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, invalid(cfg, "%s must be a URL that begins with https:// or http:// and names a host, such as %s", cfg.BaseVar, DefaultBaseURL)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, invalid(cfg, "%s must hold no user, password, query or fragment; the key belongs in %s", cfg.BaseVar, cfg.KeyVar)
	}
	return u, nil
}

func checkKey(cfg Config, openAI bool) error {
	if cfg.APIKey == "" && openAI {
		return invalid(cfg, "there is no key: set %s", cfg.KeyVar)
	}
	for i := range len(cfg.APIKey) {
		if c := cfg.APIKey[i]; c < 0x21 || c > 0x7e {
			return invalid(cfg, "the key in %s holds a character that no key has (a space, a line break or one outside ASCII)", cfg.KeyVar)
		}
	}
	return nil
}

func invalid(cfg Config, format string, args ...any) error {
	return fault.New(fault.Invalid, "provider "+cfg.Name+": "+fmt.Sprintf(format, args...), nil)
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
func (p *Provider) Complete(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
	params, err := p.params(req)
	if err != nil {
		return nil, err
	}
	answer, err := p.completions.New(ctx, params)
	if err != nil {
		return nil, p.service.Failure(ctx, err)
	}
	return p.response(answer)
}

// check stands between the SDK and the connection: a status that is no success
// becomes an error here, with its headers at hand, and the answer's size is
// bounded before the SDK reads it whole.
func (p *Provider) check(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return nil, err
	}
	if err := p.service.Check(res); err != nil {
		return nil, err
	}
	if err := p.service.NotJSON(res); err != nil {
		return nil, err
	}
	p.service.Guard(res, httpapi.MaxAnswer)
	// Some services call their JSON something else, and the SDK is strict.
	res.Header.Set("Content-Type", "application/json")
	return res, nil
}
