package sandbox

import "net/netip"

// IsInternal reports whether an address is anything but a public unicast one:
//
//   - IPv4: this network (0/8), loopback, private, link-local with the cloud
//     metadata address 169.254.169.254, shared (100.64/10), IETF assignments
//     (192.0.0/24), documentation, 6to4 relays, benchmarking (198.18/15),
//     multicast, reserved (240/4), broadcast, and Azure's metadata host
//     168.63.129.16, which is routed like a public one.
//   - IPv6: all that is outside 2000::/3, such as loopback, unique local,
//     link-local, site-local, multicast, NAT64 (64:ff9b::/96 and
//     64:ff9b:1::/48), SIIT and IPv4-compatible addresses; inside it IETF
//     assignments (2001::/23, with Teredo), documentation and 6to4; ISATAP
//     addresses around an internal IPv4 address.
//
// An IPv4 address mapped into IPv6 is judged as the IPv4 address. The zero
// Addr and an address with a zone are internal. The addresses of the host's
// own interfaces are not known here: a Guard adds them.
func IsInternal(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return true
	}
	addr = addr.Unmap()
	if addr.Is4() {
		return internal4(addr.As4())
	}
	return internal6(addr.As16())
}

func internal4(b [4]byte) bool {
	switch {
	case b[0] == 0, b[0] == 10, b[0] == 127, b[0] >= 224:
		return true
	case b[0] == 100: // shared: 100.64/10
		return b[1]&0xc0 == 64
	case b[0] == 168:
		return b == [4]byte{168, 63, 129, 16}
	case b[0] == 169:
		return b[1] == 254
	case b[0] == 172:
		return b[1]&0xf0 == 16
	case b[0] == 192 && b[1] == 0: // assignments, documentation
		return b[2] == 0 || b[2] == 2
	case b[0] == 192 && b[1] == 88: // 6to4 relays
		return b[2] == 99
	case b[0] == 192:
		return b[1] == 168
	case b[0] == 198: // benchmarking, documentation
		return b[1]&0xfe == 18 || b[1] == 51 && b[2] == 100
	case b[0] == 203:
		return b[1] == 0 && b[2] == 113
	}
	return false
}

func internal6(b [16]byte) bool {
	switch {
	case b[0]&0xe0 != 0x20: // only 2000::/3 is given out as public
		return true
	case b[0] == 0x20 && b[1] == 0x01 && b[2]&0xfe == 0: // 2001::/23
		return true
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8: // documentation
		return true
	case b[0] == 0x20 && b[1] == 0x02: // 6to4
		return true
	case b[0] == 0x3f && b[1] == 0xff && b[2]&0xf0 == 0: // documentation
		return true
	case b[8]&0xfd == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return internal4([4]byte(b[12:]))
	}
	return false
}
