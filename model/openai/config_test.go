package openai_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model/openai"
)

// TestOnlyTheConfigCounts sets every variable that the SDK knows and checks
// that none has an effect.
func TestOnlyTheConfigCounts(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET"} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/from-the-environment")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: from-the-environment")
	root, sent := serve(t, writeAnswer(modeltest.Answer{Text: "ok"}))
	if _, err := newProvider(t, openai.Config{BaseURL: root}).Complete(t.Context(), ask(), nil); err != nil {
		t.Fatal(err)
	}
	header, _ := sent()
	for name, values := range header {
		if strings.Contains(strings.Join(values, " "), "from-the-environment") {
			t.Errorf("header %s came from the environment", name)
		}
	}
	if header.Get("Authorization") != "" {
		t.Error("a key was sent, though none was given")
	}
}

// asHost sends every request to a test server, whatever host it is for.
type asHost struct{ root string }

func (a asHost) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", strings.TrimPrefix(a.root, "http://")
	return http.DefaultTransport.RoundTrip(r)
}

func TestMaxTokensField(t *testing.T) {
	tests := map[string]string{
		"":                               "max_completion_tokens",
		"https://api.openai.com/v1":      "max_completion_tokens",
		"https://API.openai.com/v1/":     "max_completion_tokens",
		"https://eu.api.openai.com/v1":   "max_completion_tokens",
		"https://api.openai.com.evil/v1": "max_tokens",
		"https://notapi.openai.com.x/v1": "max_tokens",
		"https://openrouter.ai/api/v1":   "max_tokens",
		"http://localhost:8080/v1":       "max_tokens",
	}
	for base, want := range tests {
		t.Run(base, func(t *testing.T) {
			root, sent := serve(t, writeAnswer(modeltest.Answer{Text: "ok"}))
			p := newProvider(t, openai.Config{APIKey: "k", BaseURL: base, HTTPClient: &http.Client{Transport: asHost{root}}})
			if p.TakesAnyModel() == (want == "max_completion_tokens") {
				t.Errorf("takes any model: %v", p.TakesAnyModel())
			}
			req, n := ask(), int64(64)
			req.MaxTokens = &n
			if _, err := p.Complete(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			_, body := sent()
			var got []string
			for _, field := range []string{"max_tokens", "max_completion_tokens"} {
				if v, ok := body[field]; ok && v == 64.0 {
					got = append(got, field)
				}
			}
			if !slices.Equal(got, []string{want}) {
				t.Errorf("sent %v, want %s", got, want)
			}
		})
	}
}

func TestBadConfig(t *testing.T) {
	const secret = "sk-secret-0123456789"
	tests := map[string]struct {
		cfg  openai.Config
		want string
	}{
		"no key for OpenAI":   {openai.Config{}, "set OPENAI_API_KEY"},
		"own variable":        {openai.Config{Name: "eu", KeyVar: "EU_KEY"}, "provider eu: there is no key: set EU_KEY"},
		"blank key":           {openai.Config{APIKey: " \n"}, "set OPENAI_API_KEY"},
		"line break in a key": {openai.Config{APIKey: secret + "\nX-Evil: 1"}, "character that no key has"},
		"umlaut in a key":     {openai.Config{APIKey: secret + "ü"}, "character that no key has"},
		"no URL":              {openai.Config{APIKey: secret, BaseURL: "http://[" + secret}, "OPENAI_BASE_URL is no URL"},
		"no scheme":           {openai.Config{APIKey: secret, BaseURL: "localhost:8080/v1"}, "begins with https://"},
		"other scheme":        {openai.Config{APIKey: secret, BaseURL: "file:///etc/passwd"}, "begins with https://"},
		"no host":             {openai.Config{APIKey: secret, BaseURL: "http:///v1"}, "names a host"},
		"password":            {openai.Config{APIKey: secret, BaseURL: "https://me:" + secret + "@example.com"}, "OPENAI_BASE_URL must hold no user"},
		"query":               {openai.Config{APIKey: secret, BaseURL: "https://example.com/v1?key=" + secret}, "OPENAI_BASE_URL must hold no user"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := openai.New(test.cfg)
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v, want an invalid setting with %q and without the key", err, test.want)
			}
		})
	}
}

// TestAdvice checks that errors name what to check.
func TestAdvice(t *testing.T) {
	tests := map[string]struct {
		status int
		key    string
		want   string
	}{
		"rejected key": {401, "some-long-key", "check the key in GROQ_API_KEY"},
		"forbidden":    {403, "some-long-key", "check the key in GROQ_API_KEY"},
		"no key":       {401, "", "no key was sent: set GROQ_API_KEY"},
		"not found":    {404, "k", "check the model's name and providers.groq.base_url"},
		"redirect":     {308, "k", "check providers.groq.base_url"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) }))
			defer server.Close()
			p := newProvider(t, openai.Config{
				Name: "groq", APIKey: test.key, BaseURL: server.URL, KeyVar: "GROQ_API_KEY", BaseVar: "providers.groq.base_url",
			})
			_, err := p.Complete(t.Context(), ask(), nil)
			if err == nil || !strings.HasPrefix(err.Error(), "groq answered ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestProxy checks that the default client goes through the proxy it is given,
// and through none otherwise.
func TestProxy(t *testing.T) {
	root, sent := serve(t, writeAnswer(modeltest.Answer{Text: "by proxy"}))
	t.Setenv("HTTP_PROXY", root)
	proxy, err := url.Parse(root)
	if err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, openai.Config{BaseURL: "http://service.invalid/v1", Proxy: http.ProxyURL(proxy)})
	if r, err := p.Complete(t.Context(), ask(), nil); err != nil || r.Text != "by proxy" {
		t.Errorf("got %+v, %v", r, err)
	}
	sent()
	direct := newProvider(t, openai.Config{BaseURL: "http://127.0.0.1:1/v1"})
	if _, err := direct.Complete(t.Context(), ask(), nil); fault.KindOf(err) != fault.Transient {
		t.Errorf("got %v, want a refused connection", err)
	}
}

// TestUnknownCertificate checks that TLS is verified, and that its failure is a
// network fault.
func TestUnknownCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request came through") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	_, err := newProvider(t, openai.Config{APIKey: modeltest.Key, BaseURL: server.URL}).Complete(t.Context(), ask(), nil)
	if fault.KindOf(err) != fault.Transient || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v, want a transient error about the certificate", err)
	}
}
