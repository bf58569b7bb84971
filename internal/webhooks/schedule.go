package webhooks

import (
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/connectors"
)

// schedule is how long a delivery waits after each failed try: the example of the specification, which gives up after 75 hours.
var schedule = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// crowded is the least wait after an answer that says that there is too much: "throttle", as the specification has it.
	crowded = time.Minute
	// patience is how long nothing may arrive before a webhook is turned off.
	patience = 72 * time.Hour
)

// next is how long to wait after a delivery's failed try. last: there is no further one.
func next(attempts int, a answer) (wait time.Duration, last bool) {
	if attempts > len(schedule) || attempts < 1 {
		return 0, true
	}
	wait = schedule[attempts-1]
	switch a.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		wait = max(wait, crowded, min(a.retryAfter, schedule[len(schedule)-1]))
	}
	return wait, false
}

// retryAfter reads the header (RFC 9110 §10.2.3); 0: it says nothing.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(0, seconds), 7*24*3600)) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}

// end tells whether a webhook is to be turned off after a failed try, and why.
func end(w connectors.Webhook, a answer, now time.Time) connectors.WebhookEnd {
	switch {
	case a.status == http.StatusGone:
		return connectors.WebhookGone
	case w.FailingSince != nil && now.Sub(*w.FailingSince) >= patience:
		return connectors.WebhookFailing
	default:
		return connectors.WebhookOnOrOff
	}
}
