package safehttp

import (
	"net/netip"
	"strconv"
	"strings"

	"patchbay/internal/fault"
)

// Exception allows a destination in addition to the mode. With a host it allows that name with its scheme, its
// port and any unicast address, except link-local ones. With a prefix it allows those addresses, in a URL and
// as the result of a lookup.
type Exception struct {
	host   string       // lower case; empty: prefix counts
	prefix netip.Prefix // of addresses that are not IPv4-mapped
	port   uint16       // 0: any
}

// ParseAllow parses exceptions separated by commas, each "cidr:port" or "host:port". A single address is a
// prefix of one. IPv6 is in brackets ("[fd00::/8]:443"), and a port may be "*". The error is a *fault.Error.
func ParseAllow(csv string) ([]Exception, error) {
	var all []Exception
	for text := range strings.SplitSeq(csv, ",") {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		e, ok := parseException(text)
		if !ok {
			return nil, fault.Errorf(fault.Invalid,
				"%q isn't an egress exception: use cidr:port or host:port, IPv6 in brackets, like 10.0.0.0/8:443 or [fd00::/8]:*.", text)
		}
		all = append(all, e)
	}
	return all, nil
}

func parseException(text string) (e Exception, ok bool) {
	colon := strings.LastIndexByte(text, ':')
	if colon < 1 {
		return e, false
	}
	place, port := text[:colon], text[colon+1:]
	if port != "*" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return e, false
		}
		e.port = uint16(n)
	}
	bare, bracketed := strings.CutPrefix(place, "[")
	if bracketed {
		if bare, ok = strings.CutSuffix(bare, "]"); !ok {
			return e, false
		}
	} else if strings.Contains(place, ":") {
		return e, false
	}
	if prefix, ok := parsePrefix(bare); ok {
		e.prefix = prefix
		return e, prefix.Addr().Is6() == bracketed
	}
	e.host = strings.TrimSuffix(strings.ToLower(bare), ".")
	return e, !bracketed && hostDefect(e.host) == ""
}

func parsePrefix(text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" && !addr.Is4In6() {
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix.Masked(), err == nil && !prefix.Addr().Is4In6()
}

// matchesHost reports whether the exception allows this host and port.
func (e Exception) matchesHost(host string, port uint16) bool {
	return e.host != "" && e.host == host && e.matchesPort(port)
}

// matchesAddress reports whether the exception allows this address.
func (e Exception) matchesAddress(at netip.AddrPort) bool {
	return e.host == "" && e.prefix.Contains(at.Addr()) && e.matchesPort(at.Port())
}

func (e Exception) matchesPort(port uint16) bool { return e.port == 0 || e.port == port }
