// Package anthropic is the provider for Anthropic's Messages API and for the
// services that speak the same language.
//
// It goes through the vendor's SDK, whose retries and traces are off, so that
// there is one retry policy, the step's. Nothing is read from the environment.
//
// What the service and its models do not have is mapped to the nearest thing:
//
//   - The API demands a limit for the answer. A request without one gets 16384
//     tokens (4096 for models from before Claude 3.7 and for those that are not
//     Claude's), and more where a thinking budget needs it.
//   - Models up to Claude 4.5 get a thinking budget: the request's own, at least
//     1024, or that of its level: low 1024, medium 8192, high 24576 tokens. A
//     budget that the request's MaxTokens has no room for is halved to it, or
//     left out. Later models choose their budget themselves and get an effort:
//     the level, or low up to a budget of 2048, medium up to 16384, else high.
//   - Models that can't stop thinking get the effort low for thinking that is
//     turned off; Sonnet 5.5 thinks between tools only.
//   - Thinking and a temperature exclude each other, and so do thinking and a
//     tool that must be called: the temperature gives way to thinking, thinking
//     to the tool. The models from Claude 4.7 on have no temperature. What a
//     request asked for and was left out stands in the response's Raw, as
//     "left_out".
//   - The API's structured output takes a part of JSON Schema. A schema within
//     it, or one that can be loosened to it, is sent; any other is left to the
//     caller, as are all for models from before Claude 4.5.
//   - There are no embeddings, and audio is refused.
//
// What comes back is made the same for all providers: a refusal by the
// service's safety has the finish reason "content_filter", a full context
// window "length". Signed and redacted thinking is kept in Native and sent back
// as it came.
package anthropic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// DefaultBaseURL is Anthropic's own service.
const DefaultBaseURL = "https://api.anthropic.com"

const (
	// longAnswer is the limit above which an answer may take more than ten
	// minutes to write. Connections that are silent so long are cut on the way,
	// so such an answer is fetched as a stream even when nobody wants one.
	longAnswer = 21_333
	// wholeTimeout bounds the wait for an answer that is not streamed.
	wholeTimeout = 15 * time.Minute
)

// Config is what a Provider needs.
type Config struct {
	// Name is the provider's name in workflow files and results; default
	// "anthropic".
	Name string
	// APIKey is sent as a bearer token. Anthropic itself demands one; with a
	// BaseURL of another service it may be empty, and nothing is sent then.
	// White space around it is dropped.
	APIKey string
	// BaseURL is where the API is, without /v1 (which is dropped); default
	// DefaultBaseURL. Its scheme is http or https, and it holds no user, no
	// query and no fragment.
	BaseURL string
	// KeyVar and BaseVar are the variables, or settings, that errors tell the
	// user to check; default ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL.
	KeyVar, BaseVar string
	// HTTPClient makes the calls; redirects are not followed, whatever it
	// says. Default: one with a transport tuned for many parallel calls.
	HTTPClient *http.Client
	// Proxy chooses the proxy of the default client's requests, as
	// http.ProxyFromEnvironment does; nil is none. It is not used with an
	// HTTPClient.
	Proxy func(*http.Request) (*url.URL, error)
}

// Provider is one service that speaks the Messages API. It is safe for
// concurrent use.
type Provider struct {
	service  httpapi.Service
	messages sdk.MessageService
	own      *http.Transport // nil with a client of the caller's
}

// New returns a provider. Its errors are *fault.Error of kind Invalid and say
// which setting is wrong.
func New(cfg Config) (*Provider, error) {
	cfg = cfg.withDefaults()
	base, err := cfg.baseURL()
	if err != nil {
		return nil, err
	}
	if err := cfg.access().CheckKey(isAnthropic(base.Hostname())); err != nil {
		return nil, err
	}
	p := &Provider{service: httpapi.Service{
		Name:    cfg.Name,
		Host:    base.Scheme + "://" + base.Host,
		Key:     cfg.APIKey,
		KeyVar:  cfg.KeyVar,
		BaseVar: cfg.BaseVar,
	}}
	client := cfg.HTTPClient
	if client == nil {
		p.own = httpapi.NewTransport(cfg.Proxy)
		client = &http.Client{Transport: p.own}
	}
	options := []option.RequestOption{
		option.WithBaseURL(base.String()),
		option.WithHTTPClient(httpapi.NoRedirects(client)),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(), // which would ask the environment
		option.WithMiddleware(p.check),
	}
	if cfg.APIKey != "" {
		options = append(options, option.WithAPIKey(cfg.APIKey))
	}
	// The service, unlike the SDK's client, takes nothing from the environment.
	p.messages = sdk.NewMessageService(options...)
	return p, nil
}

func (c Config) withDefaults() Config {
	c.APIKey = strings.TrimSpace(c.APIKey)
	c.Name = cmp.Or(c.Name, "anthropic")
	c.BaseURL = cmp.Or(strings.TrimSpace(c.BaseURL), DefaultBaseURL)
	c.KeyVar = cmp.Or(c.KeyVar, "ANTHROPIC_API_KEY")
	c.BaseVar = cmp.Or(c.BaseVar, "ANTHROPIC_BASE_URL")
	return c
}

func (c Config) access() httpapi.Access {
	return httpapi.Access{
		Name: c.Name, Key: c.APIKey, Base: c.BaseURL, KeyVar: c.KeyVar, BaseVar: c.BaseVar, Example: DefaultBaseURL,
	}
}

// baseURL reads the base URL. Other services' end in /v1, so that many write it
// here too; the SDK adds its own.
func (c Config) baseURL() (*url.URL, error) {
	u, err := c.access().URL()
	if err != nil {
		return nil, err
	}
	u.Path, u.RawPath = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1"), ""
	return u, nil
}

// isAnthropic reports whether a host is Anthropic's own.
func isAnthropic(host string) bool {
	host = strings.ToLower(host)
	return host == "anthropic.com" || strings.HasSuffix(host, ".anthropic.com")
}

// Name is the provider's name.
func (p *Provider) Name() string { return p.service.Name }

// Close drops the connections that are kept open between calls. The provider
// can still be used.
func (p *Provider) Close() error {
	if p.own != nil {
		p.own.CloseIdleConnections()
	}
	return nil
}

// Complete makes one model call. An answer that may be long is fetched as a
// stream also without a stream function.
func (p *Provider) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	c, err := p.newCall(req)
	if err != nil {
		return nil, err
	}
	out := httpapi.Collect(stream)
	if stream != nil || c.params.MaxTokens > longAnswer {
		return p.stream(ctx, c, out)
	}
	return p.whole(ctx, c, out)
}

// Embed returns a permanent fault: the service has no embedding models.
func (p *Provider) Embed(context.Context, *model.EmbedRequest) (*model.EmbedResponse, error) {
	return nil, fault.New(fault.Permanent,
		p.Name()+" has no embedding models: set the step's `provider` and `model` to ones that have", model.ErrNoEmbeddings)
}

// send makes the HTTP call and returns the answer with its body unread.
func (p *Provider) send(ctx context.Context, c *call, stream bool) (*http.Response, error) {
	var res *http.Response
	var err error
	if stream {
		err = p.messages.NewStreaming(ctx, c.params, append(c.options, option.WithResponseInto(&res))...).Err()
	} else {
		// With a timeout of our own, the SDK sets none by a guess of its own.
		_, err = p.messages.New(ctx, c.params, append(c.options, option.WithResponseBodyInto(&res), option.WithRequestTimeout(wholeTimeout))...)
	}
	if err != nil {
		return nil, p.failure(ctx, err)
	}
	return res, nil
}

func (p *Provider) failure(ctx context.Context, err error) error {
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Transient, fmt.Sprintf("%s did not answer within %v", p.Name(), wholeTimeout), err)
	}
	return p.service.Failure(ctx, err)
}

// check stands between the SDK and the connection: a status that is no success
// becomes an error here, with its headers at hand, and the answer's size is
// bounded before anything of it is read.
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
	if isType(res, "text/event-stream") {
		p.service.GuardEvents(res, httpapi.MaxAnswer, httpapi.MaxEvent)
	} else {
		p.service.Guard(res, httpapi.MaxAnswer)
	}
	return res, nil
}

func isType(res *http.Response, want string) bool {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err == nil && kind == want
}
