package gateway

import (
	"net/netip"
	"time"

	"patchbay/internal/limit"
	"patchbay/internal/middleware"
)

// maxUnknownTokens is how many unknown tokens an address may send at once, and per minute. Each costs a query.
// Cached tokens are not limited.
const maxUnknownTokens = 60

func newUnknownTokens() *limit.Rate[netip.Addr] {
	return limit.NewRate[netip.Addr](maxUnknownTokens/time.Minute.Seconds(), maxUnknownTokens)
}

func newUnknownTokenLimit(wait time.Duration) error {
	return middleware.NewRateLimitError(wait, "Too many unknown tokens from this address. Check the token, and try again shortly.")
}
