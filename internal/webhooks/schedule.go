package webhooks

import (
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/connectors"
)

// schedule holds the delay after each failed try: the specification's example, which gives up after 75 hours.
var schedule = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// minThrottleWait is the minimum delay after a response that throttles.
	minThrottleWait = time.Minute
	// maxFailingTime is the time without a success after which a webhook is disabled.
	maxFailingTime = 72 * time.Hour
)

// nextWait returns the delay after a failed try; last: there is no further one.
func nextWait(attempts int, result attemptResult) (wait time.Duration, last bool) {
	if attempts > len(schedule) || attempts < 1 {
		return 0, true
	}
	wait = schedule[attempts-1]
	switch result.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		wait = max(wait, minThrottleWait, min(result.retryAfter, schedule[len(schedule)-1]))
	}
	return wait, false
}

// parseRetryAfter parses the header (RFC 9110 section 10.2.3); 0: absent or malformed.
func parseRetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(0, seconds), 7*24*3600)) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}

// disableReason returns why a webhook is to be disabled after a failed try; WebhookOnOrOff: it is not.
func disableReason(w connectors.Webhook, result attemptResult, now time.Time) connectors.WebhookEnd {
	switch {
	case result.status == http.StatusGone:
		return connectors.WebhookGone
	case w.FailingSince != nil && now.Sub(*w.FailingSince) >= maxFailingTime:
		return connectors.WebhookFailing
	default:
		return connectors.WebhookOnOrOff
	}
}
