package anthropic_test

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/modeltest"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/anthropic"
)

// serve answers every request with a body, and passes on what was sent.
func serve(t testing.TB, body string) (root string, sent func() (http.Header, []byte)) {
	t.Helper()
	type seen struct {
		header http.Header
		body   []byte
	}
	requests := make(chan seen, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("request: %v", err)
		}
		requests <- seen{r.Header, b}
		kind := "application/json"
		if strings.HasPrefix(body, "event:") || strings.HasPrefix(body, "data:") {
			kind = "text/event-stream; charset=utf-8"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() (http.Header, []byte) {
		s := <-requests
		return s.header, s.body
	}
}

func ask() *model.Request {
	return &model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Text: "Hello"}}}
}

// TestOnlyTheConfigCounts sets every variable that the SDK knows and checks
// that none has an effect.
func TestOnlyTheConfigCounts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_WEBHOOK_SIGNING_KEY", "ANTHROPIC_FEDERATION_RULE_ID",
		"ANTHROPIC_ORGANIZATION_ID", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_SERVICE_ACCOUNT_ID", "ANTHROPIC_WORKSPACE_ID",
		"ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE",
	} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/from-the-environment")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Custom: from-the-environment")
	t.Setenv("ANTHROPIC_CONFIG_DIR", dir)
	t.Setenv("ANTHROPIC_OPEN_TELEMETRY", "true")
	root, sent := serve(t, writeAnswer(modeltest.Answer{Text: "ok"}))
	if _, err := newProvider(t, anthropic.Config{BaseURL: root}).Complete(t.Context(), ask(), nil); err != nil {
		t.Fatal(err)
	}
	header, _ := sent()
	for name, values := range header {
		if strings.Contains(strings.Join(values, " "), "from-the-environment") {
			t.Errorf("header %s came from the environment", name)
		}
	}
	if header.Get("Authorization")+header.Get("X-Api-Key")+header.Get("Traceparent") != "" {
		t.Errorf("sent %v, though no key was given", header)
	}
}

func TestBadConfig(t *testing.T) {
	const secret = "sk-secret-0123456789"
	tests := map[string]struct {
		cfg  anthropic.Config
		want string
	}{
		"no key for Anthropic": {anthropic.Config{}, "set ANTHROPIC_API_KEY"},
		"no key for its own":   {anthropic.Config{BaseURL: "https://API.anthropic.com/v1"}, "set ANTHROPIC_API_KEY"},
		"own variable":         {anthropic.Config{Name: "eu", KeyVar: "EU_KEY"}, "provider eu: there is no key: set EU_KEY"},
		"blank key":            {anthropic.Config{APIKey: " \n"}, "set ANTHROPIC_API_KEY"},
		"line break in a key":  {anthropic.Config{APIKey: secret + "\nX-Evil: 1"}, "character that no key has"},
		"umlaut in a key":      {anthropic.Config{APIKey: secret + "ü"}, "character that no key has"},
		"no URL":               {anthropic.Config{APIKey: secret, BaseURL: "http://[" + secret}, "ANTHROPIC_BASE_URL is no URL"},
		"no scheme":            {anthropic.Config{APIKey: secret, BaseURL: "localhost:8080"}, "begins with https://"},
		"other scheme":         {anthropic.Config{APIKey: secret, BaseURL: "file:///etc/passwd"}, "begins with https://"},
		"no host":              {anthropic.Config{APIKey: secret, BaseURL: "http:///v1"}, "names a host"},
		"password":             {anthropic.Config{APIKey: secret, BaseURL: "https://me:" + secret + "@example.com"}, "ANTHROPIC_BASE_URL must hold no user"},
		"query":                {anthropic.Config{APIKey: secret, BaseURL: "https://example.com?key=" + secret}, "ANTHROPIC_BASE_URL must hold no user"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := anthropic.New(test.cfg)
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v, want an invalid setting with %q and without the key", err, test.want)
			}
		})
	}
}

// TestBaseURL checks the forms that users write.
func TestBaseURL(t *testing.T) {
	for suffix, want := range map[string]string{
		"": "/v1/messages", "/": "/v1/messages", "/v1": "/v1/messages", "/v1/": "/v1/messages",
		"/anthropic": "/anthropic/v1/messages", "/a/b/": "/a/b/v1/messages", "/api/v1": "/api/v1/messages",
	} {
		var path string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path = r.URL.Path
			_, _ = io.WriteString(w, writeAnswer(modeltest.Answer{Text: "ok"}))
		}))
		_, err := newProvider(t, anthropic.Config{BaseURL: server.URL + suffix}).Complete(t.Context(), ask(), nil)
		server.Close()
		if err != nil || path != want {
			t.Errorf("%q: called %s, %v; want %s", suffix, path, err, want)
		}
	}
}

// TestAdvice checks that errors name what to check.
func TestAdvice(t *testing.T) {
	tests := map[string]struct {
		status int
		key    string
		want   string
	}{
		"rejected key": {401, "some-long-key", "check the key in MY_KEY"},
		"no key":       {401, "", "no key was sent: set MY_KEY"},
		"not found":    {404, "k", "check the model's name and MY_BASE"},
		"redirect":     {308, "k", "check MY_BASE"},
		"overloaded":   {529, "k", "mine answered 529"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) }))
			defer server.Close()
			p := newProvider(t, anthropic.Config{Name: "mine", APIKey: test.key, BaseURL: server.URL, KeyVar: "MY_KEY", BaseVar: "MY_BASE"})
			_, err := p.Complete(t.Context(), ask(), nil)
			if err == nil || !strings.HasPrefix(err.Error(), "mine answered ") || !strings.Contains(err.Error(), test.want) {
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
	p := newProvider(t, anthropic.Config{BaseURL: "http://service.invalid", Proxy: http.ProxyURL(proxy)})
	if r, err := p.Complete(t.Context(), ask(), nil); err != nil || r.Text != "by proxy" {
		t.Errorf("got %+v, %v", r, err)
	}
	sent()
	direct := newProvider(t, anthropic.Config{BaseURL: "http://127.0.0.1:1"})
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
	_, err := newProvider(t, anthropic.Config{APIKey: modeltest.Key, BaseURL: server.URL}).Complete(t.Context(), ask(), nil)
	if fault.KindOf(err) != fault.Transient || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v, want a transient error about the certificate", err)
	}
}

func TestNoEmbeddings(t *testing.T) {
	_, err := newProvider(t, anthropic.Config{APIKey: "k"}).Embed(t.Context(), &model.EmbedRequest{Model: "m", Inputs: []string{"x"}})
	if !errors.Is(err, model.ErrNoEmbeddings) || fault.KindOf(err) != fault.Permanent {
		t.Errorf("got %v", err)
	}
}
