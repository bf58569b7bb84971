package mcp

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/mcp/wire"
)

const (
	maxErrorBody  = 64 << 10
	maxRetryAfter = 24 * time.Hour
)

func (c *httpTransport) readErrorResponse(m outgoingMessage, resp *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	failure := &Error{
		Phase:      m.phase,
		Reason:     ReasonHTTPStatus,
		HTTPStatus: resp.StatusCode,
		RetryAfter: parseRetryAfter(resp.Header),
		remote:     newRemoteText(body, len(body) == maxErrorBody),
	}
	if c.isSessionLost(resp.StatusCode, body) {
		c.sessionLost.Store(true)
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
		failure.Challenges = parseChallenges(resp.Header)
		if len(bytes.TrimSpace(body)) == 0 {
			failure.remote = newChallengeText(failure.Challenges)
		}
	case status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented: // 501 refers to POST itself
		failure.Retryable = true
	case rpc:
		typed := newRPCError(m.phase, reply.Error, resp.StatusCode)
		failure.Reason, failure.Detail, failure.supported = typed.Reason, typed.Detail, typed.supported
	}
	return failure
}

// isSessionLost reports whether the server no longer knows our session. It responds with 404; some servers with
// 400 or 401 and a text about the session.
func (c *httpTransport) isSessionLost(status int, body []byte) bool {
	if c.sessionID == "" {
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

// parseRetryAfter reads Retry-After, in seconds or as a date relative to the server's own Date.
func parseRetryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return boundRetryAfter(seconds)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return boundRetryAfter(at.Sub(now).Seconds())
}

func boundRetryAfter(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN, too
		return 0
	}
	return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
}
