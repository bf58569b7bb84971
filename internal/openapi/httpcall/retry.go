package httpcall

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds the wait that an API may ask for.
const maxRetryAfter = time.Hour

// ReadRetryAfter returns how long an API asks to wait: Retry-After (RFC 9110 section 10.2.3), else the reset of a rate limit with nothing
// left, in a RateLimit field (draft-ietf-httpapi-ratelimit-headers section 4) or in the fields before it.
func ReadRetryAfter(status int, header http.Header, now time.Time) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable && status != http.StatusForbidden {
		return 0
	}
	if wait := parseWait(header.Get("Retry-After"), now); wait > 0 {
		return wait
	}
	if wait := readRateLimit(header, now); wait > 0 {
		return wait
	}
	for _, prefix := range []string{"RateLimit-", "X-RateLimit-", "X-Rate-Limit-"} {
		if strings.TrimSpace(header.Get(prefix+"Remaining")) == "0" {
			return parseWait(header.Get(prefix+"Reset"), now)
		}
	}
	return 0
}

// readRateLimit returns the longest wait of the limits in RateLimit that have nothing left. A limit without a reset takes its window
// from RateLimit-Policy.
func readRateLimit(header http.Header, now time.Time) (wait time.Duration) {
	policies := listLimits(header.Values("RateLimit-Policy"))
	for name, limit := range listLimits(header.Values("RateLimit")) {
		if cmp.Or(limit["r"], limit["remaining"]) == "0" {
			wait = max(wait, parseWait(cmp.Or(limit["t"], limit["reset"], policies[name]["w"]), now))
		}
	}
	return wait
}

// listLimits returns the parameters of a list's members (RFC 9651 section 3.1) by their names, as "default";r=0;t=30. Earlier drafts
// have parameters alone, as limit=10, remaining=0, reset=30: they are one limit without a name.
func listLimits(values []string) map[string]map[string]string {
	limits := map[string]map[string]string{}
	for _, member := range splitOutside(strings.Join(values, ","), ',') {
		parts := splitOutside(member, ';')
		name := strings.Trim(strings.TrimSpace(parts[0]), `"`)
		if strings.Contains(parts[0], "=") && !strings.HasPrefix(strings.TrimSpace(parts[0]), `"`) {
			name = ""
		} else {
			parts = parts[1:]
		}
		if limits[name] == nil {
			limits[name] = map[string]string{}
		}
		for _, part := range parts {
			key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			limits[name][strings.ToLower(key)] = strings.TrimSpace(value)
		}
	}
	return limits
}

// splitOutside splits a text at a separator that is in no quoted string.
func splitOutside(text string, separator byte) (parts []string) {
	from, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
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
