package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"pgregory.net/rapid"
)

// open allows everything but internal addresses.
func open() Network { return Network{Use: "attachment", AllowNetwork: true, DenyInternal: true} }

// addresses is a resolver that knows every name by the same addresses.
type addresses []netip.Addr

func (a addresses) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	if len(a) == 0 {
		return nil, errors.New("no such host")
	}
	return a, nil
}

func resolves(text ...string) addresses {
	var all addresses
	for _, t := range text {
		all = append(all, netip.MustParseAddr(t))
	}
	return all
}

// internalHosts are spellings of hosts that must be refused whatever a
// resolver says.
func internalHosts() []string {
	hosts := []string{
		"localhost", "LOCALHOST", "LocalHost", "localhost.", "api.localhost", "a.b.localhost.", "ｌｏｃａｌｈｏｓｔ", "localhost。", "LOCALHOST．",
		"127.1", "127.0.1", "127.0.0.1.", "0x7f000001", "0X7F000001", "2130706433", "017700000001", "0177.0.0.1", "0177.1", "0x7f.1",
		"127.0x0.0.01", "0x7f.0x0.0x0.0x1", "00000177.0.0.1", "0x000000007f.0.0.1", "127.65535", "127.0.65535", "127.16777215",
		"１２７.０.０.１", "１２７。０。０。１", "127｡0｡0｡1", "①②⑦.⓪.⓪.①", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "２１３０７０６４３３", "０ｘ７ｆ．１", "127.0.0.1。",
		"0", "0.0", "0.0.0.0", "00", "0x0", "000.000.000.000",
		"169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.254.43518", "169.16689662", "0xA9.0xFE.0xA9.0xFE",
		"10.1", "10.0.0.1", "012.1", "192.168.257", "172.16.0.1", "100.64.0.1", "255.255.255.255", "4294967295", "0xffffffff", "037777777777",
		"224.0.0.1", "240.1", "198.18.0.1", "192.0.2.1", "192.0.0.8",
		"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]",
		"[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::127.0.0.1]",
		"[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fe80::1%25eth0]", "[::1%25lo]", "[2606:4700::1%25eth0]", "[fc00::1]", "[fd00:ec2::254]",
		"[fec0::1]", "[ff02::1]", "[2001:db8::1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]",
	}
	for a := range 256 { // whole blocks, spelled in four ways
		for _, b := range []byte{0, 10, 127, 224, 255} {
			hosts = append(hosts,
				fmt.Sprintf("%d.%d", b, a),
				fmt.Sprintf("%#x", uint32(b)<<24|uint32(a)),
				fmt.Sprintf("%#o", uint32(b)<<24|uint32(a)),
				fmt.Sprintf("[::ffff:%x:%x]", uint32(b)<<8, a))
		}
	}
	return hosts
}

func TestInternalHosts(t *testing.T) {
	g := NewGuard(open(), Options{Resolver: resolves("93.184.216.34")})
	for _, h := range internalHosts() {
		for _, form := range []string{"http://%s/", "https://%s:8443/a?b#c", "http://user:pass@%s"} {
			text := fmt.Sprintf(form, h)
			if err := g.Check(t.Context(), text); fault.KindOf(err) != fault.Refused {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// TestMalformedHosts are URLs that readers differ about.
func TestMalformedHosts(t *testing.T) {
	g := NewGuard(open(), Options{Resolver: resolves("93.184.216.34")})
	for _, text := range []string{
		"", "http:", "http://", "http:///x", "http://:80/", "//example.com/", "example.com", "http:example.com", "http://.", "http://..",
		"http://1.2.3.4.5/", "http://256.1.1.1/", "http://1.2.3.256", "http://4294967296/", "http://0x100000000/", "http://08.8.8.8/", "http://0x/",
		"http://1..2/", "http://8.8.8.8../", "http://8.8.8.09", "http://a.1/", "http://example.com.1/", "http://example.0x1f/",
		"http://[8.8.8.8]/", "http://[::1", "http://::1/", "http://[::g]/", "http://[]/", "http://[localhost]/", "http://[::ffff:127.1]/",
		"http://a..b/", "http://.a/", "http://exa mple.com/", "http://exam\tple.com/", "http://example.com\n/", "http://a\\@127.0.0.1/",
		"http://127%2e0%2e0%2e1/", "http://%6cocalhost/", "http://a.com%00.b/", "http://a_b*c/", "http://a,b/", "http://a!b.com/", "http://" + strings.Repeat("a", 64) + ".com/",
		"http://" + strings.Repeat("a.", 127) + "com/", "http://example.com:0/", "http://example.com:65536/", "http://example.com:a/", "http://example.com:99999999999999999999/",
		"http://\xff\xfe/", "http://ex\u202eample.com/", "http://a\u200bb.com\u0000/", "http://xn--\u00e4/",
		"ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "javascript:alert(1)", "unix:///run/x.sock", "data:,x",
	} {
		if err := g.Check(t.Context(), text); fault.KindOf(err) != fault.Refused {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPublicHosts(t *testing.T) {
	g := NewGuard(open(), Options{Resolver: resolves("93.184.216.34", "2606:2800:220:1::1")})
	for _, text := range []string{
		"http://example.com", "HTTPS://EXAMPLE.COM:443/x?y#z", "http://example.com./", "http://example.com:/", "http://a_b.example.com/",
		"http://8.8.8.8/", "http://8.8.8.8./", "http://134744072/", "http://0x08080808/", "http://010.010.010.010/", "http://[::ffff:8.8.8.8]/",
		"http://[2606:4700:4700::1111]:8080/", "https://bücher.example/", "https://xn--bcher-kva.example/", "http://127.0.0.1.example.com/",
		"http://localhost.example.com/", "http://notlocalhost/", "http://1password.com/", "http://0x7f.example/", "http://user:p%40ss@example.com/",
	} {
		if err := g.Check(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSpellingsOfOneAddress spells an IPv4 address in any way that inet_aton
// reads, and must get it back.
func TestSpellingsOfOneAddress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address"))
		count := rapid.IntRange(1, 4).Draw(t, "parts")
		var parts []string
		for i := range count {
			n := uint32(b[i])
			if i == count-1 {
				n = 0
				for _, x := range b[i:] {
					n = n<<8 | uint32(x)
				}
			}
			form := rapid.SampledFrom([]string{"%d", "0%o", "0x%x", "0X%X", "000%o", "0x00%x"}).Draw(t, "form")
			parts = append(parts, fmt.Sprintf(form, n))
		}
		dot := rapid.SampledFrom([]string{".", "。", "．"}).Draw(t, "dot")
		text := strings.Join(parts, dot)
		h, err := parseHost(&url.URL{Host: text})
		if err != nil || h.addr != netip.AddrFrom4(b) {
			t.Fatalf("%s is %v (%v), want %v", text, h.addr, err, b)
		}
	})
}

// FuzzURL: whatever passes is a name that no reader takes for an address, or a
// public address, and reads the same when it is sent.
func FuzzURL(f *testing.F) {
	for _, h := range internalHosts()[:100] {
		f.Add("http://" + h + "/")
	}
	f.Add("https://user:pass@bücher.example:8080/a?b#c")
	f.Add("http://[::ffff:8.8.8.8]:1/")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil {
			return
		}
		h, err := open().check(u)
		if err != nil {
			if fault.KindOf(err) != fault.Refused {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		sent, err := url.Parse("http://" + h.target() + "/")
		if err != nil {
			t.Fatalf("%q is sent as %q: %v", text, h.target(), err)
		}
		again, err := open().check(sent)
		if err != nil || again.addr != h.addr || !h.addr.IsValid() && again != h {
			t.Fatalf("%q is sent as %q, which reads %v (%v)", text, h.target(), again, err)
		}
		if h.addr.IsValid() {
			mustBePublic(t, h.addr.Unmap())
			return
		}
		bare := strings.TrimSuffix(h.name, ".")
		if net.ParseIP(bare) != nil || strings.HasSuffix(bare, "localhost") && !strings.HasSuffix(bare, "-localhost") && strings.HasSuffix("."+bare, ".localhost") {
			t.Fatalf("%q passes as the name %q", text, h.name)
		}
	})
}
