package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/idna"

	"github.com/agentloom/agentloom/sandbox"
	"github.com/agentloom/agentloom/value"
)

// client sends requests. Its connections are kept for later calls.
type client struct {
	transport *http.Transport
	userAgent string
	max       int64 // bytes of a decompressed body, 0: no limit
	// guard makes the client of one call with the sandbox enabled; nil: none is.
	guard func(timeout time.Duration) *sandbox.Guard
}

type requestArgs struct {
	URL     string            `json:"url" jsonschema:"The URL, http or https."`
	Method  *string           `json:"method,omitempty" jsonschema:"GET, POST, PUT or DELETE; GET when left out."`
	Headers map[string]string `json:"headers,omitempty" jsonschema:"Request headers by name."`
	Body    json.RawMessage   `json:"body,omitempty" jsonschema:"The request body: a string is sent as it is, so set its Content-Type header; an object or a list is sent as JSON."`
	Timeout *float64          `json:"timeout,omitempty" jsonschema:"Seconds for each phase of the request (connecting, sending, reading); 30 when left out."`
}

// request is the http_request tool. It speaks HTTP/1.1, keeps no cookies and
// follows no redirects.
func (c *client) request(ctx context.Context, in requestArgs) (any, error) {
	timeout, err := seconds(in.Timeout)
	if err != nil {
		return nil, err
	}
	req, err := c.newRequest(in)
	if err != nil {
		return nil, err
	}
	send, w := c.sender(ctx, timeout)
	defer w.end()
	ctx = context.WithValue(w.ctx, watchKey{}, w)
	req = req.WithContext(httptrace.WithClientTrace(ctx, w.trace()))
	resp, err := send.RoundTrip(req)
	if err != nil {
		return nil, w.explain(req, err)
	}
	defer resp.Body.Close()
	body, err := c.body(resp)
	if err != nil {
		return nil, w.explain(req, err)
	}
	return value.MapOf("status_code", int64(resp.StatusCode), "headers", shownHeaders(resp), "body", body), nil
}

// sender returns what sends a call's request and what watches it. A guard keeps
// the time limits itself.
func (c *client) sender(ctx context.Context, timeout time.Duration) (http.RoundTripper, *watcher) {
	if c.guard == nil {
		return c.transport, watch(ctx, timeout)
	}
	w := watch(ctx, timeout)
	w.timer.Stop()
	w.guarded = true
	return c.guard(timeout), w
}

// newRequest checks the arguments and makes the request of them.
func (c *client) newRequest(in requestArgs) (*http.Request, error) {
	target, err := parseURL(in.URL)
	if err != nil {
		return nil, err
	}
	method := http.MethodGet
	if in.Method != nil {
		method = strings.ToUpper(*in.Method)
	}
	if !slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}, method) {
		return nil, fmt.Errorf(`argument "method" must be GET, POST, PUT or DELETE, not %q`, short(method))
	}
	body, isJSON, err := requestBody(in.Body)
	if err != nil {
		return nil, err
	}
	req := &http.Request{Method: method, URL: target, Host: target.Host, Header: http.Header{}}
	if in.Body != nil {
		setBody(req, body)
	}
	if err := c.setHeaders(req, in.Headers); err != nil {
		return nil, err
	}
	if isJSON && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// setBody lets the transport send the body again on a fresh connection when a
// kept one turns out to be closed.
func setBody(req *http.Request, body []byte) {
	req.ContentLength = int64(len(body))
	if len(body) == 0 {
		req.Body = http.NoBody
		return
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
}

// requestBody returns what is sent, and whether it is JSON.
func requestBody(arg json.RawMessage) (body []byte, isJSON bool, err error) {
	if len(arg) == 0 {
		return nil, false, nil
	}
	switch arg[0] {
	case '"':
		var text string
		err := json.Unmarshal(arg, &text)
		return []byte(text), false, err
	case '{', '[':
		return arg, true, nil
	}
	kind := "a number"
	if arg[0] == 't' || arg[0] == 'f' {
		kind = "a boolean"
	}
	return nil, false, fmt.Errorf(`argument "body" must be a string, an object or an array, not %s`, kind)
}

// setHeaders takes the caller's headers and adds what every request has. The
// headers that frame the message, such as Content-Length, stay the client's.
func (c *client) setHeaders(req *http.Request, headers map[string]string) error {
	req.Header.Set("Accept", "*/*")
	req.Header.Set("Accept-Encoding", "gzip, deflate")
	req.Header.Set("User-Agent", c.userAgent)
	if u := req.URL.User; u != nil {
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		v := headers[name]
		if !isToken(name) {
			return fmt.Errorf(`argument "headers": %q is no header name`, short(name))
		}
		if strings.ContainsFunc(v, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			return fmt.Errorf(`argument "headers": the value of %s holds a line break or another control character`, short(name))
		}
		req.Header.Set(name, v)
		if strings.EqualFold(name, "Host") {
			if u, err := url.Parse("http://" + v); err != nil || u.Host != v || u.User != nil {
				return fmt.Errorf(`argument "headers": the value of %s is no host name`, short(name))
			}
			req.Host = v
		}
	}
	return nil
}

func isToken(name string) bool {
	const signs = "!#$%&'*+-.^_`|~"
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		return !letter && !strings.ContainsRune(signs, c)
	})
}

// parseURL reads a URL argument. The errors never repeat it, since it may hold
// a password.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return nil, fmt.Errorf(`argument "url" holds a line break or another control character`)
	case err != nil:
		return nil, fmt.Errorf(`argument "url" is no URL; it should look like https://example.com/path, with every special character percent-encoded`)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf(`argument "url" must start with http:// or https://`)
	case u.Hostname() == "":
		return nil, fmt.Errorf(`argument "url" names no host`)
	}
	if u.Host, err = asciiHost(u); err != nil {
		return nil, err
	}
	u.RawQuery = escapeQuery(u.RawQuery)
	return u, nil
}

// asciiHost is a URL's host in the form that is looked up, with its port, so
// that what is connected to and what is sent are one name: net/http reads a
// host of other letters, or digits such as ①, in two ways.
func asciiHost(u *url.URL) (string, error) {
	name := u.Hostname()
	if !strings.ContainsFunc(name, func(c rune) bool { return c > unicode.MaxASCII }) || strings.Contains(name, ":") {
		return u.Host, nil // or an IPv6 address
	}
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", errors.New(`argument "url": its host is no valid name`)
	}
	if port := u.Port(); port != "" {
		ascii += ":" + port
	}
	return ascii, nil
}

// escapeQuery percent-encodes what may not stand in a query. Text from
// templates comes with spaces and letters of any language.
func escapeQuery(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// secretHeaders are the parts of a header's name that keep it out of results.
func secretHeaders() []string { return []string{"authorization", "cookie", "token", "secret", "key"} }

// shownHeaders returns the response's headers by lower case name, sorted, the
// values of a repeated one joined.
func shownHeaders(resp *http.Response) *value.Map {
	all := map[string]string{}
	for name, values := range resp.Header {
		all[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	if len(resp.TransferEncoding) > 0 { // net/http takes it out of the headers
		all["transfer-encoding"] = strings.Join(resp.TransferEncoding, ", ")
	}
	names := make([]string, 0, len(all))
	for name := range all {
		secret := slices.ContainsFunc(secretHeaders(), func(part string) bool { return strings.Contains(name, part) })
		if !secret {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := value.NewMap(len(names))
	for _, name := range names {
		text, _ := decodeUTF8([]byte(all[name]))
		out.Put(name, text)
	}
	return out
}
