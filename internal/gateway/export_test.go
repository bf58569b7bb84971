package gateway

import (
	"net/netip"
	"time"

	"patchbay/internal/connectors"
)

// Pace exposes the request limiter.
func Pace(rate int) (
	wait func(connectors.TenantID, *connectors.Agent, netip.Addr, time.Time) time.Duration,
	charge func(connectors.TenantID, *connectors.Agent, netip.Addr, time.Time, int) time.Duration,
) {
	p := newRequestLimiter(float64(rate))
	return p.takeRequest, p.chargeMessages
}
