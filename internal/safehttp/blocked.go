package safehttp

import (
	"fmt"
	"net/netip"
	"strconv"
)

// BlockedError says that the policy forbids a connection.
type BlockedError struct {
	Host string // host or address as it was asked for
	Why  string // a sentence, safe to show
}

// Error is the sentence.
func (e *BlockedError) Error() string { return e.Why }

// Permanent is true: asking again changes nothing.
func (e *BlockedError) Permanent() bool { return true }

// blocked makes the error; %s in the sentence is the host.
func blocked(host, sentence string) *BlockedError {
	return &BlockedError{Host: host, Why: fmt.Sprintf(sentence, shown(host))}
}

// ledTo is a refusal of an address that host led to. Where host is a name it says no more than that: whoever may enter a URL
// could otherwise ask what the names of our network resolve to.
func ledTo(host string, refusal error) error {
	if _, err := netip.ParseAddr(host); err == nil || refusal == nil {
		return refusal
	}
	return blocked(host, "The name %s leads to an address where Patchbay does not connect.")
}

// shown is a host as it may stand in a sentence: as it is where it is plain, else quoted and cut.
func shown(host string) string {
	const longest = 100
	if len(host) > longest {
		host = host[:longest] + "…"
	}
	if quoted := strconv.QuoteToASCII(host); quoted != `"`+host+`"` || host == "" {
		return quoted
	}
	return host
}
