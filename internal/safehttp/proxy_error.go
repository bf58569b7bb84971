package safehttp

import (
	"errors"
	"fmt"
	"net"
	"net/http"
)

// ProxyError means that the operator's proxy failed or refused. Nothing reached the target.
type ProxyError struct {
	Status       int    // of the proxy's response; 0: none
	Why          string // a sentence, safe to show
	OperatorHint string // a sentence for the operator, with what to do; empty: Why
	Err          error  // for the log; may be nil. Unwrap does not return it, because it is not the target's error.
}

func (e *ProxyError) Error() string {
	if e.Err == nil {
		return e.Why
	}
	return fmt.Sprintf("%s (%v)", e.Why, e.Err)
}

// Forbidden reports whether the proxy forbids the target: a retry changes nothing.
func (e *ProxyError) Forbidden() bool { return e.Status == http.StatusForbidden }

func newUnreachableError(cause error) *ProxyError {
	e := &ProxyError{
		Why:          "The egress proxy can't be reached. Try again later; the operator can run patchbay doctor.",
		OperatorHint: "The egress proxy can't be reached. Check that it runs and that PATCHBAY_EGRESS_PROXY is right.",
		Err:          cause,
	}
	if failed, ok := errors.AsType[net.Error](cause); ok && failed.Timeout() {
		e.Why = "The egress proxy didn't answer in time. Try again later; the operator can run patchbay doctor."
		e.OperatorHint = "The egress proxy didn't answer in time. Check that it runs and that nothing drops traffic to it."
	}
	return e
}

// proxySentence describes a proxy's response status.
func proxySentence(status int, host string) string {
	switch status {
	case http.StatusProxyAuthRequired:
		return "The egress proxy refused Patchbay's credentials (407). Ask the operator to check PATCHBAY_EGRESS_PROXY."
	case http.StatusForbidden:
		return fmt.Sprintf("The egress proxy blocks %s (403). The proxy's operator can allow it.", displayHost(host))
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Sprintf("The egress proxy couldn't connect to %s (%d). Check the URL and that the server is running.", displayHost(host), status)
	}
	return fmt.Sprintf("The egress proxy answered %d instead of connecting to %s. Ask the operator to check it.", status, displayHost(host))
}
