package attachment

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// longestPath is the length from which text is no path.
const longestPath = 1024

var errNoBase64 = errors.New("no base64 text")

func isNoBase64(err error) bool { return errors.Is(err, errNoBase64) }

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// isURL reports whether a source begins with a scheme and "://".
func isURL(source string) bool {
	scheme, _, found := strings.Cut(source, "://")
	if !found || scheme == "" || strings.IndexByte("+-.0123456789", scheme[0]) >= 0 {
		return false
	}
	return !strings.ContainsFunc(scheme, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !letter && !strings.ContainsRune("+-.0123456789", r)
	})
}

// parseURL reads an attachment's URL. Its errors don't repeat it, since it may
// hold a password.
func parseURL(source string) (*url.URL, error) {
	u, err := url.Parse(source)
	if err != nil {
		return nil, permanent(nil, "an attachment's URL can't be read; it should look like https://example.com/cat.png, with every special character percent-encoded")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, permanent(nil, "an attachment's URL has scheme %s; it should be http, https or data", quote(u.Scheme))
	}
	if u.Hostname() == "" {
		return nil, permanent(nil, "an attachment's URL names no host; it should look like https://example.com/cat.png")
	}
	return u, nil
}

// decodeDataURL returns the bytes of "data:[media type][;…][;base64],…".
func (l *Loader) decodeDataURL(source string) ([]byte, error) {
	head, body, found := strings.Cut(source[len("data:"):], ",")
	if !found {
		return nil, permanent(nil, "an attachment's data URL has no comma; it should look like data:image/png;base64,…")
	}
	if strings.Contains(body, "%") {
		text, err := url.PathUnescape(body)
		if err != nil {
			return nil, permanent(nil, "an attachment's data URL has a %% without two hexadecimal digits after it")
		}
		body = text
	}
	if i := strings.LastIndexByte(head, ';'); i >= 0 && strings.EqualFold(strings.TrimSpace(head[i+1:]), "base64") {
		data, err := l.decodeBase64(body)
		if isNoBase64(err) {
			err = permanent(err, "an attachment's data URL holds no base64 text after its comma")
		}
		return data, err
	}
	if int64(len(body)) > l.max {
		return nil, l.tooLarge("the attachment's data URL")
	}
	return []byte(body), nil
}

// decodeBase64 reads base64 text in either alphabet, with or without padding
// and white space. The error is errNoBase64 when it is none.
func (l *Loader) decodeBase64(text string) ([]byte, error) {
	if int64(len(text))/4 > l.max {
		return nil, l.tooLarge("the attachment's base64 text")
	}
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	if int64(base64.RawStdEncoding.DecodedLen(len(text))) > l.max {
		return nil, l.tooLarge("the attachment's base64 text")
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	data, err := encoding.DecodeString(text)
	if err != nil {
		return nil, errNoBase64
	}
	return data, nil
}

// quote makes text from outside fit for an error.
func quote(text string) string {
	const most = 200
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strconv.Quote(text)
}
