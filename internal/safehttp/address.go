package safehttp

import "net/netip"

// checkAddress returns a *BlockedError unless a connection to at is allowed. named means that an exception
// allows the name that resolved to it.
func (p *Policy) checkAddress(at netip.AddrPort, named bool) error {
	addr := at.Addr().Unmap()
	at = netip.AddrPortFrom(addr, at.Port())
	host := addr.String()
	covered := p.allowsAddress(at)
	excepted := covered || named
	switch {
	case p.isOwn(host, at.Port(), excepted), addr.IsLoopback() && p.isOwn("localhost", at.Port(), excepted):
		if !p.isOwn(host, at.Port(), true) && !p.isOwnLoopback(at.Port()) { // another server there
			return newBlockedError(host, "The address %s is Patchbay's own machine and is blocked.")
		}
		return newBlockedError(host, "Patchbay doesn't connect to itself (%s).")
	case covered:
		return nil
	case named && !addr.IsUnspecified() && !addr.IsMulticast() && !addr.IsLinkLocalUnicast():
		return nil
	case p.local && addr.IsLoopback():
		return nil
	}
	if p.guardian.SafeAddr(addr) != nil {
		return newBlockedError(host, "The address %s "+describeAddress(addr)+". The operator can allow it in PATCHBAY_EGRESS_ALLOW.")
	}
	if p.guardian.SafeAddrPort(at) != nil {
		return newBlockedError(host, "The port of %s is blocked. The operator can allow it in PATCHBAY_EGRESS_ALLOW.")
	}
	return nil
}

// describeAddress describes what kind an address is that is not global.
func describeAddress(addr netip.Addr) string {
	switch {
	case addr.IsLoopback():
		return "is loopback"
	case addr.IsPrivate():
		return "is private"
	case addr.IsLinkLocalUnicast():
		return "is link-local"
	case addr.IsUnspecified():
		return "is unspecified"
	case addr.IsMulticast():
		return "is multicast"
	}
	return "is not public"
}
