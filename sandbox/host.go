package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// host is a URL's host, read once: what is checked is what is connected to.
type host struct {
	// name is the host as written, in lower case and in ASCII, without
	// brackets: what allowed_domains lists and the resolver is asked for.
	name string
	addr netip.Addr // the address it spells; not valid for a name
	port string     // "" is the scheme's own
}

// parseHost reads the host of a URL. An address may be written in any way that
// some resolver or browser takes, such as 127.1, 0x7f000001 or fullwidth
// digits; a host that ends in a number and is no address is refused, since
// readers differ about it.
func parseHost(u *url.URL) (host, error) {
	h := host{port: u.Port()}
	raw := u.Hostname()
	if raw == "" {
		return host{}, errors.New("the URL names no host")
	}
	if h.port != "" {
		if n, err := strconv.ParseUint(h.port, 10, 16); err != nil || n == 0 {
			return host{}, fmt.Errorf("the URL's port %s is none between 1 and 65535", quote(h.port))
		}
	}
	if strings.HasPrefix(u.Host, "[") {
		addr, err := netip.ParseAddr(raw)
		if err != nil || addr.Is4() {
			return host{}, fmt.Errorf("host %s is no IPv6 address", quote(raw))
		}
		h.name, h.addr = strings.ToLower(raw), addr
		return h, nil
	}
	name, err := toASCII(raw)
	if err != nil {
		return host{}, fmt.Errorf("host %s is no valid name", quote(raw))
	}
	h.name = name
	bare := strings.TrimSuffix(name, ".")
	if endsInNumber(bare) {
		addr, ok := parseIPv4(bare)
		if !ok {
			return host{}, fmt.Errorf("host %s ends in a number and is no IPv4 address", quote(raw))
		}
		h.addr = addr
		return h, nil
	}
	if !isName(bare) {
		return host{}, fmt.Errorf("host %s is no valid name", quote(raw))
	}
	return h, nil
}

// toASCII returns a host name in lower case and in the form that DNS knows.
func toASCII(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", errors.New("invalid UTF-8")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return idna.Lookup.ToASCII(name)
	}
	return strings.ToLower(name), nil
}

// endsInNumber reports whether the last label is a number, as the IPv4
// spellings end.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// parseIPv4 reads one to four numbers as inet_aton does: decimal, octal after
// 0 or hexadecimal after 0x, the last one filling the bytes that are left.
func parseIPv4(name string) (netip.Addr, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		n, err := parseNumber(part)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if err != nil || n>>bits != 0 {
			return netip.Addr{}, false
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

func parseNumber(text string) (uint64, error) {
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		return strconv.ParseUint(hex, 16, 64)
	}
	if len(text) > 1 && text[0] == '0' {
		return strconv.ParseUint(text[1:], 8, 64)
	}
	return strconv.ParseUint(text, 10, 64)
}

// isName reports whether a host name can be asked for: up to 253 characters in
// labels of 1 to 63.
func isName(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// isLocalhost reports whether a name means this host whatever the resolver
// says.
func (h host) isLocalhost() bool {
	name := strings.TrimSuffix(h.name, ".")
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// target returns the host and the port as they stand in a URL that is sent: an
// address in its one canonical spelling.
func (h host) target() string {
	name := h.name
	if h.addr.IsValid() {
		name = h.addr.String()
	}
	switch {
	case h.port != "":
		return net.JoinHostPort(name, h.port)
	case strings.Contains(name, ":"):
		return "[" + name + "]"
	}
	return name
}

// quote makes text from outside fit for an error.
func quote(text string) string {
	const most = 200
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strconv.Quote(text)
}
