package safehttp

import "net/netip"

// checkAddress tells whether a connection may go to at. named says that the operator allowed the name which led here.
func (p *Policy) checkAddress(at netip.AddrPort, named bool) error {
	addr := at.Addr().Unmap()
	at = netip.AddrPortFrom(addr, at.Port())
	host := addr.String()
	covered := p.covers(at)
	excepted := covered || named
	switch {
	case p.isOwn(host, at.Port(), excepted), addr.IsLoopback() && p.isOwn("localhost", at.Port(), excepted):
		return blocked(host, "The address %s is Patchbay itself; it does not connect there.")
	case covered:
		return nil
	case named && !addr.IsUnspecified() && !addr.IsMulticast() && !addr.IsLinkLocalUnicast():
		return nil
	case p.local && addr.IsLoopback():
		return nil
	}
	if p.guardian.SafeAddr(addr) != nil {
		return blocked(host, "The address %s "+kindOf(addr)+"; Patchbay does not connect to it.")
	}
	if p.guardian.SafeAddrPort(at) != nil {
		return blocked(host, "The port at %s is not one that Patchbay connects to.")
	}
	return nil
}

// kindOf says in plain words what an address that is not global is.
func kindOf(addr netip.Addr) string {
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
