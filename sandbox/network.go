// Package sandbox says what a workflow's steps may run, read, write and reach.
// A Policy is config.sandbox: it turns a command line into the argument list
// that is executed, and a path into the place that is opened, so that what is
// checked is what is used. A Guard is an HTTP client that keeps the network's
// rules on the connection itself.
//
// The rules see a command as it is written, not what an allowed program does
// with its arguments: they guard against mistakes.
//
// A refusal is a *fault.Error of kind Refused that reads "Sandbox violation
// (USE): …" and names the rule and the part that broke it. Whether a refused
// step is tried again is its caller's to say: a step that is gives the refusal
// a kind of its own, as in fault.New(fault.Transient, refusal.Message, refusal).
package sandbox

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
)

// Network is what one use of the network may reach. The zero Network allows
// nothing.
type Network struct {
	// Use is what reaches out, as a refusal names it: "attachment",
	// "http_request" or "webhook".
	Use string
	// AllowNetwork is false where nothing may be reached.
	AllowNetwork bool
	// AllowedDomains are the hosts that may be reached, each exactly, without
	// regard to case: example.com does not admit www.example.com. An
	// international name is the same in Unicode and in ASCII. Empty: any host.
	AllowedDomains []string
	// AllowedSchemes are the schemes that may be used. Empty: http and https;
	// others never work.
	AllowedSchemes []string
	// DenyInternal refuses internal addresses (see IsInternal and
	// Options.Interfaces), in any spelling, and names that resolve to one.
	DenyInternal bool
}

// AttachmentNetwork is what attachments are downloaded from, with the sandbox
// enabled or not: allow_network and allowed_domains hold, and internal
// addresses are refused always. s may be nil.
func AttachmentNetwork(s *workflow.Sandbox) Network {
	n := Network{Use: "attachment", AllowNetwork: true, DenyInternal: true}
	if s != nil {
		n.AllowNetwork, n.AllowedDomains = s.AllowNetwork, s.AllowedDomains
	}
	return n
}

// RequestNetwork is what http_request reaches: anything without an enabled
// sandbox. With one, an internal address must stand in allowed_domains, and
// deny_internal_hosts refuses it even then. s may be nil.
func RequestNetwork(s *workflow.Sandbox) Network {
	if s == nil || !s.Enabled {
		return Network{Use: "http_request", AllowNetwork: true}
	}
	n := enabled(s, "http_request")
	n.DenyInternal = len(s.AllowedDomains) == 0 || s.DenyInternalHosts
	return n
}

// WebhookNetwork is what webhooks reach: no internal address without
// allow_internal_webhook_targets; with the sandbox enabled allow_network,
// allowed_schemes and allowed_domains hold as well. s may be nil.
func WebhookNetwork(s *workflow.Sandbox) Network {
	n := Network{Use: "webhook", AllowNetwork: true}
	if s != nil && s.Enabled {
		n = enabled(s, "webhook")
	}
	n.DenyInternal = s == nil || !s.AllowInternalWebhookTargets
	return n
}

func enabled(s *workflow.Sandbox, use string) Network {
	return Network{Use: use, AllowNetwork: s.AllowNetwork, AllowedDomains: s.AllowedDomains, AllowedSchemes: s.AllowedSchemes}
}

// CheckURL checks what a URL says by itself: the scheme, the host, and whether
// the host is an internal address in some spelling. It resolves nothing;
// Guard.Check does. The error is a refusal.
func (n Network) CheckURL(u *url.URL) error {
	_, err := n.check(u)
	return err
}

func (n Network) check(u *url.URL) (host, error) {
	if !n.AllowNetwork {
		return host{}, n.refuse(nil, "the network is off (allow_network: false), so %s can't be reached", quote(u.Hostname()))
	}
	schemes := n.AllowedSchemes
	if len(schemes) == 0 {
		schemes = []string{"http", "https"}
	}
	same := func(s string) bool { return strings.EqualFold(s, u.Scheme) }
	switch {
	case !slices.ContainsFunc(schemes, same):
		return host{}, n.refuse(nil, "scheme %s is not in allowed_schemes (%s)", quote(u.Scheme), strings.Join(schemes, ", "))
	case !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https"):
		return host{}, n.refuse(nil, "scheme %s is neither http nor https, and no other works", quote(u.Scheme))
	}
	h, err := parseHost(u)
	if err != nil {
		return host{}, n.refuse(nil, "%s", err)
	}
	if len(n.AllowedDomains) > 0 && !slices.ContainsFunc(n.AllowedDomains, h.isListedAs) {
		return host{}, n.refuse(nil, "host %s is not in allowed_domains", quote(h.name))
	}
	if n.DenyInternal && (h.isLocalhost() || h.addr.IsValid() && IsInternal(h.addr)) {
		return host{}, n.refuse(nil, "host %s is an internal address", quote(h.name))
	}
	return h, nil
}

// isListedAs compares the host with an entry of allowed_domains.
func (h host) isListedAs(entry string) bool {
	name, err := listedName(entry)
	return err == nil && name == h.name
}

func listedName(entry string) (string, error) {
	return toASCII(strings.TrimSuffix(strings.TrimPrefix(entry, "["), "]"))
}

func (n Network) refuse(cause error, format string, args ...any) *fault.Error {
	return fault.New(fault.Refused, "Sandbox violation ("+n.Use+"): "+fmt.Sprintf(format, args...), cause)
}
