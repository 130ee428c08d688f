package workdir_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentloom/agentloom/tool/workdir"
)

// answers is a client whose requests never leave the test.
type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

func page(status int, body string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

const duckPage = `<html><body><div id="links" class="results">
<div class="result result--ad"><h2><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=x">Buy!</a></h2><a class="result__snippet" href="x">An advertisement</a></div>
<div class="result"><h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fgo.dev%2Fdoc%2F%3Fa%3D1&amp;rut=abc">The <b>Go</b> &amp; more</a></h2>
<a class="result__snippet" href="#">Docs of
 <b>Go</b></a></div>
<div class="result"><a class="result__a" href="https://example.com/">Example</a><div class="result__snippet">Second</div></div>
<div class="result"><a class="result__a" href="javascript:alert(1)">Evil</a></div>
<div class="result"><a class="result__a" href="https://example.org/">Third</a></div>
</div></body></html>`

func TestWebSearchDuckDuckGo(t *testing.T) {
	var asked *http.Request
	var form string
	client := &http.Client{Transport: answers(func(r *http.Request) (*http.Response, error) {
		asked = r
		b, _ := io.ReadAll(r.Body)
		form = string(b)
		return page(200, duckPage)(r)
	})}
	w := workdir.WebSearch(workdir.WebSearchOptions{Client: client})
	want(t, run(t, w, "query", "go & docs"), "1. The Go & more\n   https://go.dev/doc/?a=1\n   Docs of Go\n2. Example\n   https://example.com/\n   Second\n3. Third\n   https://example.org/")
	if asked.URL.Host != "html.duckduckgo.com" || form != "q=go+%26+docs" {
		t.Errorf("asked %s with %q", asked.URL, form)
	}
	want(t, run(t, w, "query", "go", "max_results", int64(1)), "1. The Go & more\n   https://go.dev/doc/?a=1\n   Docs of Go")
	small := workdir.WebSearch(workdir.WebSearchOptions{Client: client, MaxResults: 2, Name: "look"})
	if got := run(t, small, "query", "go", "max_results", int64(9)); strings.Contains(got, "3.") || small.Spec().Name != "look" {
		t.Errorf("%s: %s", small.Spec().Name, got)
	}
}

func TestWebSearchSerper(t *testing.T) {
	var body bytes.Buffer
	client := &http.Client{Transport: answers(func(r *http.Request) (*http.Response, error) {
		_, _ = body.ReadFrom(r.Body)
		if r.URL.String() != "https://google.serper.dev/search" || r.Header.Get("X-API-KEY") != "k-canary" || r.Method != http.MethodPost {
			t.Errorf("asked %s %v", r.URL, r.Header)
		}
		return page(200, `{"organic":[{"title":"A","link":"https://a.example/","snippet":"one\ntwo"},{"title":"`+strings.Repeat("x", 5000)+`","link":"https://b.example/"}]}`)(r)
	})}
	w := workdir.WebSearch(workdir.WebSearchOptions{Client: client, SerperKey: "k-canary"})
	got := run(t, w, "query", "q")
	if !strings.HasPrefix(got, "1. A\n   https://a.example/\n   one two\n2. xxx") || len(got) > 1000 {
		t.Errorf("got %q", got)
	}
	want(t, body.String(), `{"num":5,"q":"q"}`)
}

func TestWebSearchFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		part   string
	}{
		"unreachable":  {func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") }, "it cannot be reached: no route to host"},
		"status":       {page(503, ""), "it answered with status 503"},
		"not followed": {page(302, ""), "it answered with status 302"},
		"no results":   {page(200, "<html>are you human?</html>"), ""},
		"too large":    {page(200, strings.Repeat("<p>", 1<<20)), "larger than 2097152 bytes"},
		"slow": {func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() },
			"no answer within 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range []string{"", "k-canary"} {
				got := run(t, workdir.WebSearch(workdir.WebSearchOptions{Client: &http.Client{Transport: answers(tt.answer)}, SerperKey: key, Timeout: 50 * time.Millisecond}), "query", "q")
				part := tt.part
				if name == "no results" {
					part = map[string]string{"": "its answer is no page of results", "k-canary": "its answer is no JSON"}[key]
				}
				wantError(t, got, part)
				if strings.Contains(got, "canary") {
					t.Errorf("the key is in %q", got)
				}
			}
		})
	}
	w := workdir.WebSearch(workdir.WebSearchOptions{Client: &http.Client{Transport: answers(page(200, duckPage))}})
	wantError(t, run(t, w, "query", " "), "query must hold")
	wantError(t, run(t, w, "query", strings.Repeat("x", 3000)), "query must hold")
	wantError(t, run(t, w, "query", "x", "max_results", int64(0)), "max_results must be 1 or more")
	want(t, run(t, workdir.WebSearch(workdir.WebSearchOptions{Client: &http.Client{Transport: answers(page(200, `<div class="no-results">none</div>`))}}), "query", "x"), "(no results)")
	wantError(t, run(t, workdir.WebSearch(workdir.WebSearchOptions{SerperKey: "a\nb"}), "query", "x"), "its key holds a character")
}
