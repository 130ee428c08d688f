package sandbox

import (
	"net/url"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
	"github.com/google/go-cmp/cmp"
)

// sandboxOf is a sandbox block with its defaults and a change.
func sandboxOf(change func(*workflow.Sandbox)) *workflow.Sandbox {
	s := &workflow.Sandbox{AllowNetwork: true, AllowedSchemes: []string{"http", "https"}, Kernel: "auto"}
	if change != nil {
		change(s)
	}
	return s
}

// TestWhatItCovers is the table of what the sandbox covers, row by row.
func TestWhatItCovers(t *testing.T) {
	both := []string{"http", "https"}
	listed := []string{"api.example.com"}
	cases := []struct {
		name string
		of   func(*workflow.Sandbox) Network
		s    *workflow.Sandbox
		want Network
	}{
		{"attachments without a sandbox", AttachmentNetwork, nil,
			Network{Use: "attachment", AllowNetwork: true, DenyInternal: true}},
		{"attachments, disabled: the network's switch and the list hold", AttachmentNetwork,
			sandboxOf(func(s *workflow.Sandbox) { s.AllowNetwork, s.AllowedDomains = false, listed }),
			Network{Use: "attachment", AllowedDomains: listed, DenyInternal: true}},
		{"attachments, enabled: the same", AttachmentNetwork,
			sandboxOf(func(s *workflow.Sandbox) { s.Enabled, s.AllowedDomains = true, listed }),
			Network{Use: "attachment", AllowNetwork: true, AllowedDomains: listed, DenyInternal: true}},
		{"requests without a sandbox", RequestNetwork, nil, Network{Use: "http_request", AllowNetwork: true}},
		{"requests, disabled: any URL", RequestNetwork,
			sandboxOf(func(s *workflow.Sandbox) { s.AllowNetwork, s.AllowedDomains, s.DenyInternalHosts = false, listed, true }),
			Network{Use: "http_request", AllowNetwork: true}},
		{"requests, enabled without a list", RequestNetwork,
			sandboxOf(func(s *workflow.Sandbox) { s.Enabled = true }),
			Network{Use: "http_request", AllowNetwork: true, AllowedSchemes: both, DenyInternal: true}},
		{"requests, enabled with a list: a listed host may be internal", RequestNetwork,
			sandboxOf(func(s *workflow.Sandbox) { s.Enabled, s.AllowedDomains = true, listed }),
			Network{Use: "http_request", AllowNetwork: true, AllowedSchemes: both, AllowedDomains: listed}},
		{"requests, deny_internal_hosts holds with a list too", RequestNetwork,
			sandboxOf(func(s *workflow.Sandbox) { s.Enabled, s.AllowedDomains, s.DenyInternalHosts = true, listed, true }),
			Network{Use: "http_request", AllowNetwork: true, AllowedSchemes: both, AllowedDomains: listed, DenyInternal: true}},
		{"webhooks without a sandbox", WebhookNetwork, nil, Network{Use: "webhook", AllowNetwork: true, DenyInternal: true}},
		{"webhooks, disabled: internal ones when allowed", WebhookNetwork,
			sandboxOf(func(s *workflow.Sandbox) { s.AllowNetwork, s.AllowInternalWebhookTargets = false, true }),
			Network{Use: "webhook", AllowNetwork: true}},
		{"webhooks, enabled: every rule, and a list opens nothing internal", WebhookNetwork,
			sandboxOf(func(s *workflow.Sandbox) { s.Enabled, s.AllowedDomains = true, listed }),
			Network{Use: "webhook", AllowNetwork: true, AllowedSchemes: both, AllowedDomains: listed, DenyInternal: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.of(c.s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckURL(t *testing.T) {
	list := Network{Use: "http_request", AllowNetwork: true, AllowedDomains: []string{"API.example.com", "bücher.example", "10.0.0.5", "[::1]", "localhost"}}
	strict := list
	strict.DenyInternal = true
	cases := []struct {
		name    string
		network Network
		url     string
		refusal string // part of it; "" passes
	}{
		{"the zero value allows nothing", Network{Use: "attachment"}, "https://example.com", `Sandbox violation (attachment): the network is off (allow_network: false), so "example.com" can't be reached`},
		{"a listed host, in any case", list, "https://api.EXAMPLE.com/x", ""},
		{"a listed international host", list, "https://xn--bcher-kva.example/", ""},
		{"a listed international host in Unicode", list, "https://BÜCHER.example/", ""},
		{"a subdomain is another host", list, "https://eu.api.example.com", `Sandbox violation (http_request): host "eu.api.example.com" is not in allowed_domains`},
		{"so is the parent", list, "https://example.com", `host "example.com" is not in allowed_domains`},
		{"and a longer name", list, "https://api.example.com.evil.test", "not in allowed_domains"},
		{"a user is no host", list, "https://api.example.com@evil.test", `host "evil.test" is not in allowed_domains`},
		{"a listed internal address", list, "http://10.0.0.5/", ""},
		{"a listed IPv6 address", list, "http://[::1]:80/", ""},
		{"a listed name of this host", list, "http://localhost/", ""},
		{"another spelling is not listed", list, "http://10.5/", `host "10.5" is not in allowed_domains`},
		{"internal addresses denied though listed", strict, "http://10.0.0.5/", `host "10.0.0.5" is an internal address`},
		{"localhost denied though listed", strict, "http://localhost/", `host "localhost" is an internal address`},
		{"a scheme that is not listed", Network{Use: "x", AllowNetwork: true, AllowedSchemes: []string{"HTTPS"}}, "http://example.com", `scheme "http" is not in allowed_schemes (HTTPS)`},
		{"a scheme in another case", Network{Use: "x", AllowNetwork: true, AllowedSchemes: []string{"HTTPS"}}, "https://example.com", ""},
		{"a scheme that never works", Network{Use: "x", AllowNetwork: true, AllowedSchemes: []string{"ftp"}}, "ftp://example.com", `scheme "ftp" is neither http nor https`},
		{"no internal addresses", open(), "http://127.1/", `Sandbox violation (attachment): host "127.1" is an internal address`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			u, err := url.Parse(c.url)
			if err != nil {
				t.Fatal(err)
			}
			err = c.network.CheckURL(u)
			if c.refusal == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if fault.KindOf(err) != fault.Refused || !strings.Contains(err.Error(), c.refusal) {
				t.Errorf("got %v, want a refusal with %s", err, c.refusal)
			}
		})
	}
}

// TestRefusalsHideSecrets: a URL's user, path and query may hold some.
func TestRefusalsHideSecrets(t *testing.T) {
	g := NewGuard(open(), Options{Resolver: addresses{}})
	for _, text := range []string{
		"http://canary:canary@127.0.0.1/canary?canary", "http://canary:canary@no.such.host/canary?k=canary#canary",
		"http://user:canary@[::1/", "ftp://canary@example.com/canary", "http://canary@example.com:99999/",
	} {
		err := g.Check(t.Context(), text)
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
