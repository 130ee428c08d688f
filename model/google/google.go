// Package google is the provider for Google's Gemini API.
//
// It goes through the vendor's SDK, which writes and sends the requests; its
// retries and its continued answers are off, so that there is one retry
// policy, the step's. Nothing is taken from the environment. Answers are read
// here, as they come from the wire: the SDK reads them into maps, which would
// lose the order and the digits of what the model wrote, break on odd answers
// and need many times their size in memory.
//
// What comes back is made the same for all providers:
//
//   - An answer that a filter stopped (SAFETY, RECITATION, BLOCKLIST and the
//     like) has what came until then and the finish reason "content_filter".
//   - A prompt that the service blocks is a permanent error, with a response of
//     that finish reason beside it: the same prompt is blocked again, but
//     another provider may answer it.
//   - A tool call that the service could not read (MALFORMED_FUNCTION_CALL) is
//     a transient error with a response beside it: the model may write a better
//     one next time.
//   - An answer without any candidate is a transient error, with a response
//     beside it when the service reported tokens.
package google

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"google.golang.org/genai"

	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// DefaultBaseURL is Google's own service.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// defaultVersion is the version of the API that has all that is used here.
const defaultVersion = "v1beta"

// Config is what a Provider needs.
type Config struct {
	// Name is the provider's name in workflow files and results; default
	// "google".
	Name string
	// APIKey is sent in a header, never in a URL. Google itself demands one;
	// with a BaseURL of another host it may be empty, and nothing is sent then.
	// White space around it is dropped.
	APIKey string
	// BaseURL is where the API is; default DefaultBaseURL. Where it ends in a
	// version, such as /v1, that is used in place of v1beta. Its scheme is http
	// or https, and it holds no user, no query and no fragment.
	BaseURL string
	// KeyVar and BaseVar are the variables, or settings, that errors tell the
	// user to check; default GOOGLE_API_KEY and GOOGLE_BASE_URL.
	KeyVar, BaseVar string
	// HTTPClient makes the calls; redirects are not followed, whatever it
	// says. Default: one with a transport tuned for many parallel calls.
	HTTPClient *http.Client
	// Proxy chooses the proxy of the default client's requests, as
	// http.ProxyFromEnvironment does; nil is none. It is not used with an
	// HTTPClient.
	Proxy func(*http.Request) (*url.URL, error)
}

// Provider is the Gemini API at one host. It is safe for concurrent use.
type Provider struct {
	service httpapi.Service
	models  *genai.Models
	own     *http.Transport // nil with a client of the caller's
	google  bool            // whether the host is Google's own
}

// New returns a provider. Its errors are *fault.Error of kind Invalid and say
// which setting is wrong.
func New(cfg Config) (*Provider, error) {
	cfg = cfg.withDefaults()
	base, err := cfg.access().URL()
	if err != nil {
		return nil, err
	}
	p := &Provider{google: strings.EqualFold(base.Hostname(), "generativelanguage.googleapis.com")}
	if err := cfg.access().CheckKey(p.google); err != nil {
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
	client = httpapi.NoRedirects(client)
	client.Transport = &wire{next: client.Transport, service: p.service}
	version := defaultVersion
	if last := path.Base(base.Path); versionPattern.MatchString(last) {
		version = last
		base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), last)
	}
	// All that the SDK would else look up in the environment is given. It does
	// not get the key: wire sends that.
	sdk, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey:      "unused",
		Backend:     genai.BackendGeminiAPI,
		HTTPClient:  client,
		HTTPOptions: genai.HTTPOptions{BaseURL: base.String(), APIVersion: version},
	})
	if err != nil {
		return nil, cfg.access().Invalid("the vendor's SDK refuses the settings")
	}
	p.models = sdk.Models
	return p, nil
}

var versionPattern = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]*)?$`)

func (c Config) withDefaults() Config {
	c.APIKey = strings.TrimSpace(c.APIKey)
	c.Name = cmp.Or(c.Name, "google")
	c.BaseURL = cmp.Or(strings.TrimSpace(c.BaseURL), DefaultBaseURL)
	c.KeyVar = cmp.Or(c.KeyVar, "GOOGLE_API_KEY")
	c.BaseVar = cmp.Or(c.BaseVar, "GOOGLE_BASE_URL")
	return c
}

func (c Config) access() httpapi.Access {
	return httpapi.Access{
		Name: c.Name, Key: c.APIKey, Base: c.BaseURL, KeyVar: c.KeyVar, BaseVar: c.BaseVar, Example: DefaultBaseURL,
	}
}

// Name is the provider's name.
func (p *Provider) Name() string { return p.service.Name }

// TakesAnyModel reports whether the service is not Google's own, so that it
// may have models of every name.
func (p *Provider) TakesAnyModel() bool { return !p.google }

// Close drops the connections that are kept open between calls. The provider
// can still be used.
func (p *Provider) Close() error {
	if p.own != nil {
		p.own.CloseIdleConnections()
	}
	return nil
}
