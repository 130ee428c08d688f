package builtin_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/value"
)

// serve starts a server that is closed with the test.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// echo answers with the request as it came.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s host=%s\n", r.Method, r.RequestURI, r.Host)
	_ = r.Header.Write(w)
	fmt.Fprintf(w, "length=%d\n%s", r.ContentLength, body)
}

func TestHTTPRequestIsSentAsWritten(t *testing.T) {
	s := serve(t, echo)
	host := strings.TrimPrefix(s.URL, "http://")
	r := tools(t, builtin.Options{UserAgent: "agentloom/1.2"})
	const usual = "Accept: */*\r\nAccept-Encoding: gzip, deflate\r\n"
	const agent = "User-Agent: agentloom/1.2\r\n"
	body := value.MapOf("z", int64(1), "a", []any{1.5, "<ü>", nil})
	tests := []struct {
		name string
		args []any
		want string
	}{
		{"defaults", []any{"url", s.URL + "/x?q=1#part"},
			"GET /x?q=1 host=" + host + "\n" + usual + agent + "length=0\n"},
		{"a string is sent as it is, without content type", []any{"url", s.URL, "method", "POST", "body", `{"a": 1}`},
			"POST / host=" + host + "\n" + usual + "Content-Length: 8\r\n" + agent + `length=8` + "\n" + `{"a": 1}`},
		{"an empty string", []any{"url", s.URL, "method", "PUT", "body", ""},
			"PUT / host=" + host + "\n" + usual + "Content-Length: 0\r\n" + agent + "length=0\n"},
		{"a mapping is JSON in its order", []any{"url", s.URL, "method", "PUT", "body", body},
			"PUT / host=" + host + "\n" + usual + "Content-Length: 29\r\nContent-Type: application/json\r\n" + agent +
				"length=29\n" + `{"z":1,"a":[1.5,"<ü>",null]}`},
		{"a list is JSON", []any{"url", s.URL, "method", "POST", "body", []any{int64(1)}},
			"POST / host=" + host + "\n" + usual + "Content-Length: 3\r\nContent-Type: application/json\r\n" + agent + "length=3\n[1]"},
		{"lower case method, no body", []any{"url", s.URL, "method", "delete"},
			"DELETE / host=" + host + "\n" + usual + agent + "length=0\n"},
		{"headers", []any{"url", s.URL, "headers", value.MapOf("x-one", "1", "Host", "example.com", "user-agent", "me", "accept", "text/plain")},
			"GET / host=example.com\nAccept: text/plain\r\nAccept-Encoding: gzip, deflate\r\nUser-Agent: me\r\nX-One: 1\r\nlength=0\n"},
		{"own content type", []any{"url", s.URL, "method", "POST", "body", value.MapOf(), "headers", value.MapOf("content-type", "application/ld+json")},
			"POST / host=" + host + "\n" + usual + "Content-Length: 2\r\nContent-Type: application/ld+json\r\n" + agent + "length=2\n{}"},
		{"user and password", []any{"url", strings.Replace(s.URL, "//", "//me:pa%20ss@", 1)},
			"GET / host=" + host + "\n" + usual + "Authorization: Basic bWU6cGEgc3M=\r\n" + agent + "length=0\n"},
		{"spaces and letters are escaped", []any{"url", s.URL + "/a b/ü?q=a b&r=ü%20"},
			"GET /a%20b/%C3%BC?q=a%20b&r=%C3%BC%20 host=" + host + "\n" + usual + agent + "length=0\n"},
		{"null is left out", []any{"url", s.URL, "method", nil, "headers", nil, "body", nil, "timeout", nil},
			"GET / host=" + host + "\n" + usual + agent + "length=0\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := call(t, r, "http_request", tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, field(t, got, "body")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestHTTPRequestResult(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Date"] = nil
		h.Set("Content-Type", "text/plain")
		h.Add("X-Many", "1")
		h.Add("X-Many", "2")
		for _, name := range []string{"WWW-Authorization", "Set-Cookie", "X-CSRF-Token", "Client-SECRET", "X-Api-Key", "Monkeys"} {
			h.Set(name, "hidden")
		}
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	})
	got, err := call(t, tools(t, builtin.Options{}), "http_request", "url", s.URL)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"status_code":418,"headers":{"content-length":"15","content-type":"text/plain","x-many":"1, 2"},"body":"short and stout"}`
	if s := show(t, got); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

func TestHTTPRequestAnyStatusIsAResult(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.WriteHeader(status)
	})
	r := tools(t, builtin.Options{})
	for _, status := range []int64{200, 204, 304, 400, 401, 404, 429, 500, 503, 599} {
		got, err := call(t, r, "http_request", "url", fmt.Sprintf("%s/%d", s.URL, status))
		if err != nil {
			t.Errorf("%d: %v", status, err)
		} else if code := field(t, got, "status_code"); code != status {
			t.Errorf("got %v, want %d", code, status)
		}
	}
}

func TestHTTPRequestDoesNotFollowRedirects(t *testing.T) {
	followed := false
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/target":
			followed = true
		case "/broken":
			w.Header().Set("Location", "http://[broken")
			w.WriteHeader(http.StatusFound)
		default:
			http.Redirect(w, r, "/target", http.StatusTemporaryRedirect)
		}
	})
	r := tools(t, builtin.Options{})
	for path, want := range map[string]string{"/": "/target", "/broken": "http://[broken"} {
		got, err := call(t, r, "http_request", "url", s.URL+path)
		if err != nil {
			t.Fatal(err)
		}
		location, _ := field(t, got, "headers").(*value.Map).Get("location")
		if code := field(t, got, "status_code").(int64); code/100 != 3 || location != want {
			t.Errorf("got %d, location %v", code, location)
		}
	}
	if followed {
		t.Error("a redirect was followed")
	}
}

func TestHTTPRequestKeepsNoCookies(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		_, _ = io.WriteString(w, r.Header.Get("Cookie"))
	})
	r := tools(t, builtin.Options{})
	for range 2 {
		if got, err := call(t, r, "http_request", "url", s.URL); err != nil || field(t, got, "body") != "" {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestHTTPRequestBodyText(t *testing.T) {
	tests := []struct{ contentType, body, want string }{
		{"", "grün", "grün"},
		{"text/plain; charset=utf-8", "grün", "grün"},
		{"text/plain; charset=ISO-8859-1", "gr\xfcn", "grün"},
		{"text/plain; charset=windows-1252", "\x80", "€"},
		{"text/plain; charset=us-ascii", "a\xfc", "a\uFFFD"},
		{`text/plain; charset="UTF-16"`, "\xff\xfea\x00", "a"},
		{"text/plain; charset=klingon", "grün", "grün"},
		{"text/plain; charset", "grün", "grün"},
		{"image/png", "\x89PNG", "\uFFFDPNG"},
	}
	for _, tt := range tests {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", tt.contentType)
			_, _ = io.WriteString(w, tt.body)
		})
		got, err := call(t, tools(t, builtin.Options{}), "http_request", "url", s.URL)
		if err != nil {
			t.Fatal(err)
		}
		if body := field(t, got, "body"); body != tt.want {
			t.Errorf("%s: got %q, want %q", tt.contentType, body, tt.want)
		}
	}
}

func packed(t *testing.T, text string, open func(io.Writer) (io.WriteCloser, error)) string {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTTPRequestDecompresses(t *testing.T) {
	zipped := func(s string) string {
		return packed(t, s, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	}
	zlibbed := packed(t, "text", func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil })
	bare := packed(t, "text", func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 1) })
	tests := []struct{ coding, body, want, wantErr string }{
		{"gzip", zipped("text"), "text", ""},
		{"X-GZip", zipped("text"), "text", ""},
		{"deflate", zlibbed, "text", ""},
		{"deflate", bare, "text", ""},
		{"gzip, gzip", zipped(zipped("text")), "text", ""},
		{"identity", "text", "text", ""},
		{"br", "text", "text", ""},
		{"gzip", "", "", ""},
		{"gzip", zipped("one ") + zipped("") + zipped("two"), "one two", ""},
		{"gzip", zipped("text") + "\x00\x00\x00", "text", ""},
		{"gzip", zipped("text") + "junk", "text", ""},
		{"gzip", zipped("text") + zipped("cut")[:15], "", "reading failed: the server closed the connection too early"},
		{"gzip", "no gzip at all", "", "reading failed: the response body is no valid gzip"},
		{"gzip", zipped("text")[:15], "", "reading failed: the server closed the connection too early"},
		{"gzip, gzip, gzip, gzip, gzip, gzip", "text", "", "6 content encodings; at most 5"},
	}
	for _, tt := range tests {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", tt.coding)
			_, _ = io.WriteString(w, tt.body)
		})
		got, err := call(t, tools(t, builtin.Options{}), "http_request", "url", s.URL)
		if tt.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("%s: got error %v", tt.coding, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.coding, err)
			continue
		}
		coding, _ := field(t, got, "headers").(*value.Map).Get("content-encoding")
		if body := field(t, got, "body"); body != tt.want || coding != tt.coding {
			t.Errorf("%s: got %q, %v", tt.coding, body, coding)
		}
	}
}

func TestHTTPRequestBodySize(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bomb" {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, big)
			_ = z.Close()
			return
		}
		_, _ = io.WriteString(w, big)
	})
	got, err := call(t, tools(t, builtin.Options{}), "http_request", "url", s.URL)
	if err != nil || field(t, got, "body") != big {
		t.Errorf("a body of 5 MiB did not arrive: %v", err)
	}
	if te, _ := field(t, got, "headers").(*value.Map).Get("transfer-encoding"); te != "chunked" {
		t.Errorf("transfer-encoding is %v", te)
	}
	limited := tools(t, builtin.Options{MaxReadBytes: 1 << 20})
	for _, path := range []string{"/plain", "/bomb"} {
		_, err := call(t, limited, "http_request", "url", s.URL+path)
		want := "GET " + s.URL + path + ": the response body is too large: more than max_read_bytes, which is 1048576"
		if err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}

func TestHTTPRequestBadArguments(t *testing.T) {
	r := tools(t, builtin.Options{})
	const noURL = `argument "url" is no URL; it should look like https://example.com/path, with every special character percent-encoded`
	tests := []struct {
		args []any
		want string
	}{
		{[]any{}, `argument "url" is missing`},
		{[]any{"url", int64(1)}, `argument "url" must be a string, not an integer`},
		{[]any{"url", "ftp://example.com"}, `argument "url" must start with http:// or https://`},
		{[]any{"url", "file:///etc/passwd"}, `argument "url" must start with http:// or https://`},
		{[]any{"url", "example.com/path"}, `argument "url" must start with http:// or https://`},
		{[]any{"url", ""}, `argument "url" must start with http:// or https://`},
		{[]any{"url", "http:///path"}, `argument "url" names no host`},
		{[]any{"url", "https://:443/"}, `argument "url" names no host`},
		{[]any{"url", "http:opaque"}, `argument "url" names no host`},
		{[]any{"url", "http://h/\r\nX-Evil: 1"}, `argument "url" holds a line break or another control character`},
		{[]any{"url", "https://me:pa/55w0rd@h/"}, noURL},
		{[]any{"url", "http://a\u202eb.example/"}, `argument "url": its host is no valid name`},
		{[]any{"url", "https://h/100%"}, noURL},
		{[]any{"url", "http://h", "method", "PATCH"}, `argument "method" must be GET, POST, PUT or DELETE, not "PATCH"`},
		{[]any{"url", "http://h", "method", ""}, `argument "method" must be GET, POST, PUT or DELETE, not ""`},
		{[]any{"url", "http://h", "timeout", int64(0)}, `argument "timeout" must be a number of seconds above 0, not 0`},
		{[]any{"url", "http://h", "timeout", "30"}, `argument "timeout" must be a number, not a string`},
		{[]any{"url", "http://h", "headers", "X: 1"}, `argument "headers" must be an object, not a string`},
		{[]any{"url", "http://h", "headers", value.MapOf("X", int64(1))}, `argument "headers.X" must be a string, not an integer`},
		{[]any{"url", "http://h", "headers", value.MapOf("X Y", "1")}, `argument "headers": "X Y" is no header name`},
		{[]any{"url", "http://h", "headers", value.MapOf("", "1")}, `argument "headers": "" is no header name`},
		{[]any{"url", "http://h", "headers", value.MapOf("X", "s3cret\r\nY: 1")}, `argument "headers": the value of X holds a line break or another control character`},
		{[]any{"url", "http://h", "headers", value.MapOf("Host", "evil host")}, `argument "headers": the value of Host is no host name`},
		{[]any{"url", "http://h", "headers", value.MapOf("host", "a/b")}, `argument "headers": the value of host is no host name`},
		{[]any{"url", "http://h", "headers", value.MapOf("Host", "me@a")}, `argument "headers": the value of Host is no host name`},
		{[]any{"url", "http://h", "body", value.MapOf("x", []any{1.5, math.Inf(1)})}, `argument "body.x[1]" must be a finite number`},
		{[]any{"url", "http://h", "body", int64(5)}, `argument "body" must be a string, an object or an array, not a number`},
		{[]any{"url", "http://h", "body", false}, `argument "body" must be a string, an object or an array, not a boolean`},
		{[]any{"url", "http://h", "json", value.MapOf()}, `argument "json" is unknown; the known ones are url, method, headers, body, timeout`},
	}
	for _, tt := range tests {
		_, err := call(t, r, "http_request", tt.args...)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q: got error %v, want %s", tt.args, err, tt.want)
		}
	}
}

// The name that is connected to and the one that is sent are one.
func TestHTTPRequestHostsOfAnyLanguage(t *testing.T) {
	s := serve(t, echo)
	through, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := tools(t, builtin.Options{Proxy: http.ProxyURL(through)})
	for written, want := range map[string]string{
		"BÜCHER.Example:81": "xn--bcher-kva.example:81",
		"bücher.example":    "xn--bcher-kva.example",
		"①②⑦.⓪.⓪.①":         "127.0.0.1",
		"ｅｘａｍｐｌｅ。com":       "example.com",
		"EXAMPLE.com":       "EXAMPLE.com",
	} {
		got, err := call(t, r, "http_request", "url", "http://"+written+"/")
		if err != nil {
			t.Error(err)
			continue
		}
		body := field(t, got, "body").(string)
		if line := "GET http://" + want + "/ host=" + want + "\n"; !strings.HasPrefix(body, line) {
			t.Errorf("got %.100s, want %s", body, line)
		}
	}
}
