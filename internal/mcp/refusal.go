package mcp

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/mcp/wire"
)

const (
	maxRefusalBody = 64 << 10
	maxRetryAfter  = 24 * time.Hour
)

// refusal types an answer whose status is no success.
func (c *httpCarrier) refusal(m outgoing, resp *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusalBody))
	failure := &Error{
		Phase:      m.phase,
		Reason:     ReasonHTTPStatus,
		HTTPStatus: resp.StatusCode,
		RetryAfter: retryAfter(resp.Header),
	}
	if c.sessionLost(resp.StatusCode, body) {
		c.lost.Store(true)
		failure.Err = errSessionLost
	}
	reply, err := wire.Find(body, m.id)
	rpc := err == nil && reply.Error != nil
	if rpc {
		failure.RPCCode = reply.Error.Code
		failure.RPC = (*RPCError)(reply.Error)
	}
	switch status := resp.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		failure.Reason = ReasonUnauthorized
		failure.Challenges = challenges(resp.Header)
	case status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented: // which is said of POST
		failure.Retryable = true
	case rpc:
		typed := rpcError(m.phase, reply.Error, resp.StatusCode)
		failure.Reason, failure.Detail, failure.supported = typed.Reason, typed.Detail, typed.supported
	}
	return failure
}

// sessionLost tells whether the server does not know our session any more: 404 says so, and some servers say it in the
// text of a 400 or 401.
func (c *httpCarrier) sessionLost(status int, body []byte) bool {
	if c.session == "" {
		return false
	}
	switch status {
	case http.StatusNotFound:
		return true
	case http.StatusBadRequest, http.StatusUnauthorized:
		return strings.Contains(strings.ToLower(string(body)), "session")
	}
	return false
}

// retryAfter reads Retry-After, in seconds or as a date by the server's own clock.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return bound(seconds)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return bound(at.Sub(now).Seconds())
}

func bound(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN, too
		return 0
	}
	return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
}
