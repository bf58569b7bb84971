package safehttp

import (
	"fmt"
	"net/netip"
	"strconv"
)

// BlockedError means that the policy forbids a connection.
type BlockedError struct {
	Host string // host or address, as requested
	Why  string // a sentence, safe to show
}

func (e *BlockedError) Error() string { return e.Why }

// Permanent is true: a retry changes nothing.
func (e *BlockedError) Permanent() bool { return true }

// newBlockedError replaces %s in the sentence by the host.
func newBlockedError(host, sentence string) *BlockedError {
	return &BlockedError{Host: host, Why: fmt.Sprintf(sentence, displayHost(host))}
}

// hideAddress replaces the refusal of an address that the name host resolved to by one that names only host.
// Otherwise anyone who may enter a URL could query the internal DNS.
func hideAddress(host string, refusal error) error {
	if _, err := netip.ParseAddr(host); err == nil || refusal == nil {
		return refusal
	}
	return newBlockedError(host, "The name %s resolves to a blocked address.")
}

// displayHost returns a host for use in a sentence: unchanged if it is plain ASCII, else quoted, and cut at 100
// bytes.
func displayHost(host string) string {
	const longest = 100
	if len(host) > longest {
		host = host[:longest] + "…"
	}
	if quoted := strconv.QuoteToASCII(host); quoted != `"`+host+`"` || host == "" {
		return quoted
	}
	return host
}
