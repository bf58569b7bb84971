package safehttp

import (
	"net/netip"
	"net/url"
)

// EndConnections has every connection that p allows end where it would begin. at is told its address, right before the
// system would be asked to connect.
func (p *Policy) EndConnections(at func(netip.AddrPort) error) { p.dialer.allowed = at }

// Known is how many places are remembered.
func (p *Policy) Known() int {
	k := &p.client.Transport.(*roundTripper).known //nolint:forcetypeassert // it is ours
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.places)
}

// CheckKnown is what each request is asked.
func (p *Policy) CheckKnown(u *url.URL) error {
	return p.client.Transport.(*roundTripper).known.check(u) //nolint:forcetypeassert // it is ours
}
