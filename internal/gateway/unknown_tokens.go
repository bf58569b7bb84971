package gateway

import (
	"net/netip"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/middleware"
)

// maxUnknownTokens is how many unknown tokens an address may send at once, and per minute. Each costs a query.
// Cached tokens are not limited.
const maxUnknownTokens = 60

func newUnknownTokens() *limit.Rate[netip.Addr] {
	return limit.NewRate[netip.Addr](maxUnknownTokens/time.Minute.Seconds(), maxUnknownTokens)
}

// wrongProof names the sender of wrong proofs for a bound token. Each costs a verification. Another network with the same token, such as the
// owner's, is not limited by them.
type wrongProof struct {
	network netip.Addr
	token   connectors.AgentTokenID
}

func newWrongProofs() *limit.Rate[wrongProof] {
	return limit.NewRate[wrongProof](maxUnknownTokens/time.Minute.Seconds(), maxUnknownTokens)
}

func newWrongProofLimit(wait time.Duration) error {
	return middleware.NewRateLimitError(wait, "Too many wrong DPoP proofs for this token. Try again shortly.")
}

func newUnknownTokenLimit(wait time.Duration) error {
	return middleware.NewRateLimitError(wait, "Too many unknown tokens from this address. Check the token, and try again shortly.")
}
