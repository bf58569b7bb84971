package gateway

import (
	"net/netip"
	"time"

	"patchbay/internal/connectors"
)

// Pace is what a request costs that an agent may make.
func Pace(rate int) func(connectors.TenantID, *connectors.Agent, netip.Addr, time.Time) time.Duration {
	return (&pace{perSecond: float64(rate)}).wait
}
