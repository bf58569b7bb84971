package httpcall

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds the wait that an API may ask for.
const maxRetryAfter = time.Hour

// ReadRetryAfter returns how long an API asks to wait: Retry-After (RFC 9110 section 10.2.3), else the reset of a rate limit with nothing left.
func ReadRetryAfter(status int, header http.Header, now time.Time) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable && status != http.StatusForbidden {
		return 0
	}
	if wait := parseWait(header.Get("Retry-After"), now); wait > 0 {
		return wait
	}
	for _, prefix := range []string{"RateLimit-", "X-RateLimit-", "X-Rate-Limit-"} {
		if strings.TrimSpace(header.Get(prefix+"Remaining")) == "0" {
			return parseWait(header.Get(prefix+"Reset"), now)
		}
	}
	return 0
}

// minEpoch separates seconds to wait from times in seconds since 1970.
const minEpoch = 1_000_000_000

// parseWait reads seconds, a time in seconds since 1970, or a date.
func parseWait(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	var wait time.Duration
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 && seconds < 1e10 {
		if seconds >= minEpoch {
			wait = time.Unix(int64(seconds), 0).Sub(now)
		} else {
			wait = time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
		}
	} else if date, err := http.ParseTime(text); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter)
}
