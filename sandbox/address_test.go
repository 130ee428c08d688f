package sandbox

import (
	"net"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// internalRanges are the ranges that are internal, each of which is tried at
// both ends and just outside of them.
var internalRanges = []struct {
	prefix string
	// before and after are whether the neighbours are public.
	before, after bool
}{
	{"0.0.0.0/8", false, true},
	{"10.0.0.0/8", true, true},
	{"100.64.0.0/10", true, true},
	{"127.0.0.0/8", true, true},
	{"168.63.129.16/32", true, true},
	{"169.254.0.0/16", true, true},
	{"172.16.0.0/12", true, true},
	{"192.0.0.0/24", true, true},
	{"192.0.2.0/24", true, true},
	{"192.88.99.0/24", true, true},
	{"192.168.0.0/16", true, true},
	{"198.18.0.0/15", true, true},
	{"198.51.100.0/24", true, true},
	{"203.0.113.0/24", true, true},
	{"224.0.0.0/4", true, false},
	{"240.0.0.0/4", false, false},
	{"::/3", false, true},
	{"2001::/23", true, true},
	{"2001:db8::/32", true, true},
	{"2002::/16", true, true},
	{"3fff::/20", true, true},
	{"4000::/2", true, false},
	{"8000::/1", false, false},
	{"::ffff:10.0.0.0/104", false, false},
}

func last(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

func TestInternalRanges(t *testing.T) {
	for _, r := range internalRanges {
		p := netip.MustParsePrefix(r.prefix)
		first, last := p.Masked().Addr(), last(p)
		for _, a := range []netip.Addr{first, last} {
			if !IsInternal(a) {
				t.Errorf("%s of %s is public", a, p)
			}
		}
		if a := first.Prev(); a.IsValid() && !a.Is4In6() && r.before == IsInternal(a) {
			t.Errorf("%s, before %s: internal is %v", a, p, !r.before)
		}
		if a := last.Next(); a.IsValid() && !a.Is4In6() && r.after == IsInternal(a) {
			t.Errorf("%s, after %s: internal is %v", a, p, !r.after)
		}
	}
}

func TestInternalAddresses(t *testing.T) {
	internal := []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.31.255.255", "192.168.1.1",
		"169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16", // metadata of clouds
		"255.255.255.255", "224.0.0.1", "239.255.255.250", "198.19.255.255", "240.0.0.1",
		"::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "::ffff:7f00:1",
		"::ffff:169.254.169.254", "::ffff:0.0.0.0",
		"64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::a00:1", "64:ff9b:1:ffff::1",
		"100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1", "2001:20::1",
		"2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff:fff::1", "5f00::1",
		"fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "feff::1",
		"ff01::1", "ff02::1", "ff0e::1", "2606:4700::1%1",
		"2a00:1::5efe:127.0.0.1", "2a00:1::200:5efe:10.0.0.1",
	}
	for _, text := range internal {
		if !IsInternal(netip.MustParseAddr(text)) {
			t.Errorf("%s is public", text)
		}
	}
	public := []string{
		"1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1",
		"192.0.1.1", "192.167.1.1", "198.17.0.1", "198.20.0.1", "223.255.255.255", "11.0.0.1", "168.63.129.17",
		"::ffff:8.8.8.8", "2606:4700:4700::1111", "2001:4860:4860::8888", "2001:200::1", "2a00:1450:4001::1",
		"2003::1", "2620:fe::fe", "3ffe::1", "2a00:1::5efe:8.8.8.8",
	}
	for _, text := range public {
		if IsInternal(netip.MustParseAddr(text)) {
			t.Errorf("%s is internal", text)
		}
	}
	if !IsInternal(netip.Addr{}) {
		t.Error("the zero address is public")
	}
}

// TestInternalAgainstNet checks that nothing the standard library calls
// special is public, in IPv4 and mapped into IPv6.
func TestInternalAgainstNet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{4, 16}).Draw(t, "size")
		b := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "bytes")
		if size == 16 && rapid.Bool().Draw(t, "in 2000::/3") {
			b[0] = 0x20 | b[0]&0x1f
		}
		addr, _ := netip.AddrFromSlice(b)
		if !IsInternal(addr) {
			mustBePublic(t, addr)
		}
		if size == 4 {
			mapped, _ := netip.AddrFromSlice(net.IP(b).To16())
			if IsInternal(mapped) != IsInternal(addr) {
				t.Fatalf("%s and %s differ", mapped, addr)
			}
		}
	})
}

type failer interface {
	Fatalf(format string, args ...any)
}

func mustBePublic(t failer, addr netip.Addr) {
	ip := net.IP(addr.AsSlice())
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() ||
		ip.IsMulticast() || ip.Equal(net.IPv4bcast) || addr.Zone() != "" {
		t.Fatalf("%s is special and passes for public", addr)
	}
}
