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
			return newBlockedError(host, "The address %s is that of Patchbay's own machine; Patchbay does not connect to it.")
		}
		return newBlockedError(host, "The address %s is Patchbay itself; it does not connect there.")
	case covered:
		return nil
	case named && !addr.IsUnspecified() && !addr.IsMulticast() && !addr.IsLinkLocalUnicast():
		return nil
	case p.local && addr.IsLoopback():
		return nil
	}
	if p.guardian.SafeAddr(addr) != nil {
		return newBlockedError(host, "The address %s "+describeAddress(addr)+"; Patchbay does not connect to it. Its operator can permit it in PATCHBAY_EGRESS_ALLOW.")
	}
	if p.guardian.SafeAddrPort(at) != nil {
		return newBlockedError(host, "The port at %s is not one that Patchbay connects to. Its operator can permit it in PATCHBAY_EGRESS_ALLOW.")
	}
	return nil
}

// describeAddress describes what kind an address is that is not global.
func describeAddress(addr netip.Addr) string {
	switch {
	case addr.IsLoopback():
		return "is this machine's own"
	case addr.IsPrivate():
		return "is private"
	case addr.IsLinkLocalUnicast():
		return "is link-local"
	case addr.IsUnspecified():
		return "is no one's"
	case addr.IsMulticast():
		return "is a multicast group's"
	}
	return "is not a public one"
}
