package ollama

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

const defaultPort = "11434"

var errNoHost = errors.New("names no host, such as localhost or 192.168.1.5:11434")

// ParseHost makes a base URL of what OLLAMA_HOST and OLLAMA_BASE_URL hold: a
// host, a host and a port, a port (":11434"), an IPv6 address with or without
// brackets, or a URL with http or https, which may have a path; "" is
// DefaultBaseURL. Without a scheme the scheme is http (https for ollama.com)
// and the port 11434; with one, the port is the scheme's own. 0.0.0.0 and ::,
// which a server listens on, become this machine's own address. A /v1 or /api
// at the end is dropped. Errors complete a sentence that begins with the
// setting's name, and don't print the text, which may hold a password.
func ParseHost(text string) (string, error) {
	text = strings.Trim(strings.TrimSpace(text), `"'`)
	if text == "" {
		return DefaultBaseURL, nil
	}
	scheme, rest, given := strings.Cut(text, "://")
	port := ""
	if !given {
		scheme, rest, port = "http", text, defaultPort
		if host, _, _ := strings.Cut(rest, "/"); strings.EqualFold(host, "ollama.com") {
			scheme, port = "https", ""
		}
	}
	if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return "", errors.New("must be a host, or a URL that begins with http:// or https://")
	}
	if strings.ContainsAny(rest, "@?#") {
		return "", errors.New("must hold no user, password, query or fragment")
	}
	hostPort, path, _ := strings.Cut(rest, "/")
	host, port, err := splitHost(hostPort, port)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(scheme + "://" + joinHost(host, port) + "/" + path)
	if err != nil || u.Hostname() == "" {
		return "", errNoHost
	}
	for before := u.Path + "/"; before != u.Path; {
		before = u.Path
		u.Path = strings.TrimRight(u.Path, "/")
		u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/v1"), "/api")
	}
	u.RawPath = ""
	return u.String(), nil
}

// splitHost splits a host from its port, which may be missing.
func splitHost(hostPort, defaultPort string) (host, port string, err error) {
	host, port = hostPort, defaultPort
	if h, p, err := net.SplitHostPort(hostPort); err == nil {
		host, port = h, p
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return "", "", errors.New("has a port that is no number from 1 to 65535")
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
		host = strings.TrimSuffix(inner, "]")
	}
	if strings.ContainsAny(host, "[]") {
		return "", "", errNoHost
	}
	if host == "" {
		return "localhost", port, nil
	}
	if a, err := netip.ParseAddr(host); err == nil && a.IsUnspecified() {
		if host = "127.0.0.1"; a.Is6() {
			host = "::1"
		}
	}
	return host, port, nil
}

func joinHost(host, port string) string {
	switch {
	case port != "":
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}

// hostOf is a base URL without its path.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	return u.Scheme + "://" + u.Host
}
