package gateway

import (
	"net/netip"
	"time"

	"patchbay/internal/connectors"
)

// Pace is what a request costs that an agent may make, and what comes with its first message.
func Pace(rate int) (
	wait func(connectors.TenantID, *connectors.Agent, netip.Addr, time.Time) time.Duration,
	charge func(connectors.TenantID, *connectors.Agent, netip.Addr, time.Time, int) time.Duration,
) {
	p := &pace{perSecond: float64(rate)}
	return p.wait, p.charge
}
