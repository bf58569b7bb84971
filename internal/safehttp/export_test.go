package safehttp

import (
	"net/netip"
	"net/url"
)

// EndConnections calls at with the address of every allowed connection right before the connect.
func (p *Policy) EndConnections(at func(netip.AddrPort) error) { p.dialer.checkDial = at }

// Known is the number of cached origins.
func (p *Policy) Known() int {
	k := &p.client.Transport.(*roundTripper).known //nolint:forcetypeassert // it is ours
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.origins)
}

// CheckKnown is the check of each request.
func (p *Policy) CheckKnown(u *url.URL) error {
	return p.client.Transport.(*roundTripper).known.checkURL(u) //nolint:forcetypeassert // it is ours
}
