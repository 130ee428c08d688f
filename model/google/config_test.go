package google_test

import (
	"bytes"
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
	"github.com/agentloom/agentloom/model/google"
)

// TestOnlyTheConfigCounts sets every variable that the SDK knows and checks
// that none has an effect.
func TestOnlyTheConfigCounts(t *testing.T) {
	const canary = "from-the-environment"
	for _, name := range []string{"GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION"} {
		t.Setenv(name, canary)
	}
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_GENAI_USE_ENTERPRISE", "true")
	for _, name := range []string{"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_BASE_URL"} {
		t.Setenv(name, "http://127.0.0.1:1/"+canary)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file")
	var logged bytes.Buffer
	defer log.SetOutput(log.Writer())
	log.SetOutput(&logged)

	root, requests := serve(t, 200, kind, ok)
	p := newProvider(t, google.Config{BaseURL: root})
	if _, err := p.Complete(t.Context(), ask(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Complete(t.Context(), ask(), none); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{":generateContent", ":streamGenerateContent?alt=sse"} {
		r := <-requests
		for name, values := range r.header {
			if strings.Contains(strings.Join(values, " "), canary) {
				t.Errorf("header %s came from the environment", name)
			}
		}
		if r.header.Get("X-Goog-Api-Key") != "" || r.header.Get("Authorization") != "" {
			t.Errorf("a key was sent, though none was given: %v", r.header)
		}
		if r.url != "/v1beta/models/gemini-2.5-flash"+path {
			t.Errorf("sent to %s", r.url)
		}
	}
	if logged.Len() > 0 {
		t.Errorf("the SDK logged: %s", &logged)
	}
}

func TestBaseURL(t *testing.T) {
	tests := map[string]string{
		"":          "/v1beta/models/m:generateContent",
		"/":         "/v1beta/models/m:generateContent",
		"/v1":       "/v1/models/m:generateContent",
		"/v1beta/":  "/v1beta/models/m:generateContent",
		"/v1alpha":  "/v1alpha/models/m:generateContent",
		"/proxy":    "/proxy/v1beta/models/m:generateContent",
		"/x/v1beta": "/x/v1beta/models/m:generateContent",
		"/version":  "/version/v1beta/models/m:generateContent",
	}
	for path, want := range tests {
		root, requests := serve(t, 200, kind, ok)
		p := newProvider(t, google.Config{APIKey: "k", BaseURL: root + path})
		req := ask()
		req.Model = "m"
		if _, err := p.Complete(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if got := (<-requests).url; got != want {
			t.Errorf("%q: sent to %s, want %s", path, got, want)
		}
	}
}

func TestModelNames(t *testing.T) {
	names := map[string]string{
		"gemini-2.5-flash":        "/v1beta/models/gemini-2.5-flash:generateContent",
		"models/gemini-2.5-flash": "/v1beta/models/gemini-2.5-flash:generateContent",
		"tunedModels/my-own_1":    "/v1beta/tunedModels/my-own_1:generateContent",
	}
	for name, want := range names {
		root, requests := serve(t, 200, kind, ok)
		req := ask()
		req.Model = name
		if _, err := newProvider(t, google.Config{BaseURL: root}).Complete(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if got := (<-requests).url; got != want {
			t.Errorf("%q: sent to %s, want %s", name, got, want)
		}
	}
	p := newProvider(t, google.Config{BaseURL: "http://127.0.0.1:1"})
	for _, name := range []string{"../files", "a/../b", "m?key=x", "m#x", "m&x", "a//b", "/m", "m/", "a b", "m%2e", "m\n", "ü", "..", ".", "a..b"} {
		req := ask()
		req.Model = name
		_, err := p.Complete(t.Context(), req, nil)
		_, errEmbed := p.Embed(t.Context(), &model.EmbedRequest{Model: name, Inputs: []string{"x"}})
		for _, err := range []error{err, errEmbed} {
			if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "model called") {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
}

func TestBadConfig(t *testing.T) {
	const secret = "AIza-secret-0123456789"
	tests := map[string]struct {
		cfg  google.Config
		want string
	}{
		"no key for Google":   {google.Config{}, "set GOOGLE_API_KEY"},
		"upper case":          {google.Config{BaseURL: "https://GenerativeLanguage.googleapis.com/v1"}, "set GOOGLE_API_KEY"},
		"own variable":        {google.Config{Name: "eu", KeyVar: "EU_KEY"}, "provider eu: there is no key: set EU_KEY"},
		"blank key":           {google.Config{APIKey: " \n"}, "set GOOGLE_API_KEY"},
		"line break in a key": {google.Config{APIKey: secret + "\nX-Evil: 1"}, "character that no key has"},
		"no URL":              {google.Config{APIKey: secret, BaseURL: "http://[" + secret}, "GOOGLE_BASE_URL is no URL"},
		"no scheme":           {google.Config{APIKey: secret, BaseURL: "localhost:8080"}, "begins with https://"},
		"other scheme":        {google.Config{APIKey: secret, BaseURL: "file:///etc/passwd"}, "begins with https://"},
		"no host":             {google.Config{APIKey: secret, BaseURL: "http:///v1"}, "names a host"},
		"password":            {google.Config{APIKey: secret, BaseURL: "https://me:" + secret + "@example.com"}, "GOOGLE_BASE_URL must hold no user"},
		"query":               {google.Config{APIKey: secret, BaseURL: "https://example.com/?key=" + secret}, "GOOGLE_BASE_URL must hold no user"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := google.New(test.cfg)
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v, want an invalid setting with %q and without the key", err, test.want)
			}
		})
	}
}

func TestTakesAnyModel(t *testing.T) {
	for base, want := range map[string]bool{"": false, "https://generativelanguage.googleapis.com/v1": false, "https://example.com": true} {
		if p := newProvider(t, google.Config{APIKey: "k", BaseURL: base}); p.TakesAnyModel() != want {
			t.Errorf("%q: takes any model: %v", base, !want)
		}
	}
}

// TestProxy checks that the default client goes through the proxy it is given,
// and through none otherwise.
func TestProxy(t *testing.T) {
	root, _ := serve(t, 200, kind, ok)
	t.Setenv("HTTP_PROXY", root)
	proxy, err := url.Parse(root)
	if err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, google.Config{BaseURL: "http://service.invalid", Proxy: http.ProxyURL(proxy)})
	if r, err := p.Complete(t.Context(), ask(), nil); err != nil || r.Text != "ok" {
		t.Errorf("got %+v, %v", r, err)
	}
	direct := newProvider(t, google.Config{BaseURL: "http://127.0.0.1:1"})
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
	_, err := newProvider(t, google.Config{APIKey: modeltest.Key, BaseURL: server.URL}).Complete(t.Context(), ask(), nil)
	if fault.KindOf(err) != fault.Transient || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v, want a transient error about the certificate", err)
	}
}

// TestOwnClient checks that a client of the caller's is used, and its redirects
// are not.
func TestOwnClient(t *testing.T) {
	root, requests := serve(t, 200, kind, ok)
	client := &http.Client{Transport: asHost{root}, CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
	p := newProvider(t, google.Config{APIKey: modeltest.Key, HTTPClient: client})
	if _, err := p.Complete(t.Context(), ask(), nil); err != nil {
		t.Fatal(err)
	}
	if r := <-requests; r.header.Get("X-Goog-Api-Key") != modeltest.Key || strings.Contains(r.url, modeltest.Key) {
		t.Errorf("sent %s with %v", r.url, r.header)
	}
	if client.Transport != (asHost{root}) {
		t.Error("the caller's client was changed")
	}
}

// asHost sends every request to a test server, whatever host it is for.
type asHost struct{ root string }

func (a asHost) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", strings.TrimPrefix(a.root, "http://")
	return http.DefaultTransport.RoundTrip(r)
}
