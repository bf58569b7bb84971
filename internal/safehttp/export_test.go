package safehttp

import "net/netip"

// EndConnections has every connection that p allows end where it would begin. at is told its address, right before the
// system would be asked to connect.
func (p *Policy) EndConnections(at func(netip.AddrPort) error) { p.dialer.allowed = at }
