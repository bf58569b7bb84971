package safehttp

import (
	"errors"
	"fmt"
	"net"
	"net/http"
)

// ProxyError says that the operator's proxy failed, or refused: nothing came as far as the server that was asked for.
type ProxyError struct {
	Status int    // of the proxy's answer; 0: it gave none
	Why    string // a sentence, safe to show
	Mend   string // the same for whoever runs Patchbay, with what to do; empty: Why says it
	Err    error  // for the log; nil: there is nothing more to tell. It stays out of the chain: it is not the server's.
}

// Error is the sentence, and the cause.
func (e *ProxyError) Error() string {
	if e.Err == nil {
		return e.Why
	}
	return fmt.Sprintf("%s (%v)", e.Why, e.Err)
}

// Forbidden is true where the proxy does not allow it: asking again changes nothing.
func (e *ProxyError) Forbidden() bool { return e.Status == http.StatusForbidden }

func unreachable(cause error) *ProxyError {
	e := &ProxyError{
		Why:  "The egress proxy cannot be reached. Try again later; whoever runs Patchbay finds out more with patchbay doctor.",
		Mend: "The egress proxy cannot be reached. Check that it runs, and that PATCHBAY_EGRESS_PROXY names its host and port.",
		Err:  cause,
	}
	if failed, ok := errors.AsType[net.Error](cause); ok && failed.Timeout() {
		e.Why = "The egress proxy did not answer in time. Try again later; whoever runs Patchbay finds out more with patchbay doctor."
		e.Mend = "The egress proxy did not answer in time. Check that it runs, and that nothing between drops what is sent to it."
	}
	return e
}

// proxySentence says what a proxy's answer means.
func proxySentence(status int, host string) string {
	switch status {
	case http.StatusProxyAuthRequired:
		return "The egress proxy refused Patchbay's user name and password (407). Whoever runs Patchbay checks PATCHBAY_EGRESS_PROXY."
	case http.StatusForbidden:
		return fmt.Sprintf("The egress proxy does not let Patchbay connect to %s (403). Whoever runs the proxy can allow it.", shown(host))
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Sprintf("The egress proxy could not connect to %s (%d). Check the URL, and that the server is running.", shown(host), status)
	}
	return fmt.Sprintf("The egress proxy answered %d in place of connecting to %s. Whoever runs Patchbay checks the proxy.", status, shown(host))
}
